"""Report messages for a time to stock replicas (60, 61) and to operators (our 7020)."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from regent_engine import Command, Store, TimerStatus

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.bodies.timers import TimerCountBody, TimerMetricsBody, TimersBody
from backend.remoting.command import answer
from backend.remoting.names import TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.commit_log.timer_delivery import CHECKPOINT
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves

TOPIC_COUNT_MAX: Final = 1000
"""The topics that one answer lists: those with most messages."""


@serves(RequestCode.GET_TIMER_CHECK_POINT, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_timer_checkpoint(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the progress of timers to a replica of stock.

    Before the first message for a time the broker has no file. Then a broker that delivers returns
    the slot that is next, and others refuse: a stock replica keeps its own progress.
    """
    checkpoint = broker.store.timer_checkpoint()
    if checkpoint is None and broker.timers.is_running:
        read = partial(broker.store.timer_status, broker.clock())
        read_ms, _, offset = (await broker.read_threads.measure(read)).progress
        checkpoint = CHECKPOINT.pack(read_ms, 0, offset, offset, 0, 0, 0)
    if checkpoint is None and broker.settings.has_fixed_role:
        # A master of stock that returns waits for ever if this is refused (control-plane.md 5.7).
        checkpoint = bytes(CHECKPOINT.size)
    if checkpoint is None:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "no message has waited for a time on this broker")
    return answer(command, body=checkpoint)


@serves(RequestCode.GET_TIMER_METRICS, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_timer_metrics(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the number of waiting messages of each topic to a replica of stock.

    The version is that of the checkpoint, which changes within a second of the counts.
    """
    checkpoint = broker.store.timer_checkpoint()
    topics = await broker.read_threads.measure(broker.store.timers_by_topic)
    now_ms = broker.clock()
    counts = {name: TimerCountBody(count=count, timestamp_ms=now_ms) for name, count, _ in topics}
    body = TimerMetricsBody(data_version=_version_of(checkpoint), timing_count=counts)
    return answer(command, body=java_json.encode(body))


def _version_of(checkpoint: bytes | None) -> DataVersion:
    if checkpoint is None:
        return DataVersion()
    *_, written_ms, counter = CHECKPOINT.unpack(checkpoint)
    return DataVersion(counter=counter, timestamp_ms=written_ms)


@dataclass(frozen=True, slots=True)
class _Measured:
    status: TimerStatus
    topics: list[tuple[str, int, int]]


def _measure(store: Store, now_ms: int) -> _Measured:
    return _Measured(store.timer_status(now_ms), store.timers_by_topic())


@serves(RequestCode.GET_TIMERS, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_timers(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return what waits by minute, hour and topic, and how late this broker delivers."""
    now_ms = broker.clock()
    measured = await broker.read_threads.measure(partial(_measure, broker.store, now_ms))
    status = measured.status
    _, end = broker.store.held_offsets(TIMER_TOPIC, 0) or (0, 0)
    read_ms, _, _ = status.progress
    first_ms, last_ms = status.due_ms or (None, None)
    is_late = read_ms > 0 and (broker.timers.is_running or status.overdue_count > 0)
    over_ms = now_ms - read_ms - broker.settings.timer_precision_ms if is_late else 0
    most = sorted(measured.topics, key=lambda one: (-one[1], one[0]))
    body = TimersBody(
        is_delivering=broker.timers.is_running,
        hindrance=broker.timers.hindrance,
        waiting_count=status.waiting_count,
        overdue_count=status.overdue_count,
        held_count=broker.timers.held_count,
        rolled_count=sum(rolled for _, _, rolled in measured.topics),
        untaken_count=max(0, end - status.next_offset),
        behind_ms=max(0, over_ms),
        first_due_ms=first_ms,
        last_due_ms=last_ms,
        minutes=status.by_minute,
        hours=status.by_hour,
        topics=[(name, count) for name, count, _ in most[:TOPIC_COUNT_MAX]],
        topic_count=len(most),
    )
    return answer(command, body=java_json.encode(body))
