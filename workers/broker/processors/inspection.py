"""Report the activity of the broker to tools and the control plane (12, 28, 33; our 7001)."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from regent_engine import (
    PARKED_COUNT_MAX,
    Command,
    IndexStatus,
    ProtocolError,
    Store,
    StoreError,
    TimerStatus,
    decode_records,
)

from backend.remoting import java_json
from backend.remoting.bodies import KeyValueTable
from backend.remoting.command import answer
from backend.remoting.headers import (
    QueryMessageAnswer,
    QueryMessageHeader,
    ViewMessageHeader,
    decode_header,
    encode_header,
)
from backend.remoting.names import SCHEDULE_TOPIC, TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sample import BrokerSample, QueueSample, TopicSample
from workers.broker.broker import Broker
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.metrics.meters import TurnTimes, taken_in
from workers.broker.metrics.resources import Disk, StoreDisks, resident_bytes, store_disks_of
from workers.broker.processors.send_back import read_message
from workers.broker.requests.caller import OPEN_COUNT_MAX, Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import check_visible

_QUEUE_ENTRY_SIZE: Final = 20
_UNIT: Final = 1024
# Stock's `defaultQueryMaxNum`, which replaces the limit of a query by unique key.
_UNIQUE_KEY_COUNT_MAX: Final = 32
# A frame of 16 MiB is the limit of clients; in stock, 64 large messages exceed it.
_QUERY_SIZE_MAX: Final = 12 << 20
# Stock clients wait 18 s for a query by key: before that they get an error.
SEARCH_TIMEOUT_MS: Final = 15_000
# A search that began later would have too little of that time left.
SEARCH_WAIT_MAX_MS: Final = 10_000

KeyKind = Literal["key", "unique_key", "tags"]
_KINDS_OF_KEY: Final[Mapping[str, KeyKind]] = {"U": "unique_key", "T": "tags"}


@serves(RequestCode.VIEW_MESSAGE_BY_ID, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_view_message(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the message at a log position."""
    header = decode_header(ViewMessageHeader, command.ext)
    _, content = await read_message(broker, header.log_position)
    return answer(command, body=content)


@serves(RequestCode.QUERY_MESSAGE, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_query_message(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the messages with a key, the oldest first; above the limit, the newest ones."""
    header = decode_header(QueryMessageHeader, command.ext)
    check_visible(header.topic)
    kind = _KINDS_OF_KEY.get(header.index_type or "", "key")
    count_max = max(0, header.count_max)
    if command.ext.get("_UNIQUE_KEY_QUERY", "").lower() == "true":
        kind, count_max = "unique_key", _UNIQUE_KEY_COUNT_MAX
    # A long chain on a cold disk takes a while: others are served meanwhile, and the search has its
    # own threads, so it delays no other work of this broker.
    search = partial(_search, broker.store, header, kind, count_max, asked_at_s=time.monotonic())
    status, body = await broker.read_threads.search(search)
    found = QueryMessageAnswer(
        index_end_timestamp_ms=status.end_timestamp_ms, index_end_position=status.end_position
    )
    if not body:
        return answer(
            command,
            code=ResponseCode.QUERY_NOT_FOUND,
            ext=encode_header(found),
            remark="can not find message, maybe time range not correct",
        )
    return answer(command, ext=encode_header(found), body=body)


def _search(
    store: Store, header: QueryMessageHeader, kind: KeyKind, count_max: int, *, asked_at_s: float
) -> tuple[IndexStatus, bytes]:
    """Return the end of the index when the search began, and the messages found.

    The part that the index does not contain yet is searched in the log.

    Raises:
        StoreError: it took too long, including the wait for a thread; or nothing was found, and
            the index lacks so much of the log that the result is unknown.
        Refusal: the wait alone took too long.
    """
    waited_ms = int((time.monotonic() - asked_at_s) * 1000)
    if waited_ms > SEARCH_WAIT_MAX_MS:
        reason = f"other searches by key kept this one waiting for {waited_ms} ms: try again"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)
    status = store.index_status()
    found = store.find_by_key(
        header.topic,
        header.key,
        kind=kind,
        count_max=count_max,
        size_max=_QUERY_SIZE_MAX,
        begin_ms=header.begin_timestamp,
        end_ms=header.end_timestamp,
        timeout_ms=max(0, SEARCH_TIMEOUT_MS - waited_ms),
        with_tail=True,
    )
    return status, b"".join(record for _, record in reversed(found))


@serves(RequestCode.GET_BROKER_RUNTIME_INFO, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_runtime_info(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return figures of the running broker under the keys of stock tools."""
    levels = sorted(broker.state.delays.progress)
    measured = await broker.read_threads.measure(
        partial(_measure_store, broker.store, broker.settings, levels, broker.clock())
    )
    table = KeyValueTable(table=_runtime_info(broker, measured))
    return answer(command, body=java_json.encode(table))


@serves(RequestCode.GET_BROKER_SAMPLE, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_sample(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return one sample for the history to the control plane (D25)."""
    ends, disk = await broker.read_threads.measure(
        partial(_measure_queues, broker.store, broker.settings)
    )
    return answer(command, body=java_json.encode(_sample(broker, ends, disk)))


def _measure_queues(
    store: Store, settings: BrokerSettings
) -> tuple[list[tuple[str, int, int, int]], Disk]:
    """Find the ends of all queues: while readers are limited, each needs a look at its entries."""
    return store.queues(), store_disks_of(settings).fuller


def _sample(broker: Broker, ends: list[tuple[str, int, int, int]], disk: Disk) -> BrokerSample:
    """Take one sample of counters, positions and resources."""
    store, settings, meters = broker.store, broker.settings, broker.meters
    membership = broker.membership
    counters = store.counters()
    messages_in, bytes_in = taken_in(counters)
    queues: dict[str, list[QueueSample]] = {}
    entry_count = 0
    for topic, queue_id, low, high in ends:
        entry_count += high - low
        sample = QueueSample(queue_id=queue_id, min_offset=low, max_offset=high)
        queues.setdefault(topic, []).append(sample)
    topics = [
        TopicSample(
            name=topic.name, messages_in=count, bytes_in=size, queues=queues.get(topic.name, [])
        )
        for topic in broker.topics.all()
        for count, size in [counters.topics.get(topic.name, (0, 0))]
    ]
    log_bytes = store.max_position - store.min_position
    return BrokerSample(
        observed_at_ms=broker.clock(),
        booted_at_ms=meters.booted_at_ms,
        cluster_name=settings.cluster_name,
        broker_name=settings.broker_name,
        broker_id=membership.role_id,
        own_id=membership.own_id,
        messages_in=messages_in,
        bytes_in=bytes_in,
        messages_out=meters.messages_out,
        bytes_out=meters.bytes_out,
        commit_log_min_position=store.min_position,
        commit_log_max_position=store.max_position,
        flushed_position=store.flushed_position,
        store_bytes=log_bytes + entry_count * _QUEUE_ENTRY_SIZE,
        # So that a ratio of these figures equals the ratio of retention.
        disk_total_bytes=disk.usable_bytes,
        disk_free_bytes=disk.free_bytes,
        resident_bytes=resident_bytes(),
        cpu_seconds=time.process_time(),
        topics=topics,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """Figures that may wait for the disk, or for the writer of the index."""

    disks: StoreDisks
    index: IndexStatus
    earliest_at_ms: int
    delay_ends: dict[int, int]
    timers: TimerStatus


def _measure_store(
    store: Store, settings: BrokerSettings, levels: list[int], now_ms: int
) -> _Measured:
    """Measure the disks, then the store: last the ends of the delay levels."""
    disks, index = store_disks_of(settings), store.index_status()
    earliest_at_ms = _earliest_time(store)
    ends = {level: store.offsets(SCHEDULE_TOPIC, level - 1) or (0, 0) for level in levels}
    return _Measured(
        disks,
        index,
        earliest_at_ms,
        {level: high for level, (_, high) in ends.items()},
        store.timer_status(now_ms),
    )


def _earliest_time(store: Store) -> int:
    """Return when the oldest record of the log was stored; -1 without a readable one."""
    try:
        content = store.record(store.min_position)
        return decode_records(content)[0].store_timestamp_ms if content else -1
    except (StoreError, ProtocolError):
        return -1


def _runtime_info(broker: Broker, measured: _Measured) -> dict[str, str]:
    info = (
        _store_figures(broker)
        | _disk_figures(broker, measured)
        | _timer_figures(broker, measured)
        | _thread_pools()
        | _own_figures(broker)
        | broker.membership.figures()
        | _delay_progress(broker, measured.delay_ends)
    )
    return {name: str(value) for name, value in info.items()}


def _store_figures(broker: Broker) -> dict[str, str | int | float]:
    store, meters = broker.store, broker.meters
    put_count, put_bytes = taken_in(store.counters())
    put_times, pull_times = TurnTimes(*broker.hot.put_times), TurnTimes(*broker.hot.pull_times)
    today, yesterday = meters.mornings(broker.clock(), put_count)
    return {
        "brokerVersionDesc": "V5_5_0",
        "brokerVersion": 513,
        "brokerActive": "true" if broker.is_writable else "false",
        "bootTimestamp": meters.booted_at_ms,
        "runtime": _duration(broker.elapsed_ms() - meters.started_ms),
        "putTps": meters.put_rates(),
        "getTransferredTps": meters.got_rates(),
        "getFoundTps": meters.found_rates(),
        "getMissTps": meters.missed_rates(),
        "getTotalTps": meters.asked_rates(),
        "putMessageTimesTotal": put_count,
        "putMessageSizeTotal": put_bytes,
        "putMessageAverageSize": put_bytes / max(1, put_count),
        "putMessageFailedTimes": meters.put_failure_count,
        "putMessageEntireTimeMax": put_times.longest_ms,
        "putMessageDistributeTime": put_times.distribution(),
        "putLatency99": f"{put_times.percentile(0.99):.2f}",
        "putLatency999": f"{put_times.percentile(0.999):.2f}",
        "getMessageEntireTimeMax": pull_times.longest_ms,
        "msgPutTotalTodayNow": put_count,
        "msgPutTotalTodayMorning": today.put_count,
        "msgPutTotalYesterdayMorning": yesterday.put_count,
        "msgGetTotalTodayNow": meters.messages_out,
        "msgGetTotalTodayMorning": today.got_count,
        "msgGetTotalYesterdayMorning": yesterday.got_count,
        "commitLogMinOffset": store.min_position,
        "commitLogMaxOffset": store.max_position,
        "remainHowManyDataToFlush": _size(store.max_position - store.flushed_position),
        # There is no pool of buffers before the log, and stock reports that with this number.
        "remainTransientStoreBufferNumbs": 2**31 - 1,
        # Queues are written together with the log, so nothing waits in between.
        "dispatchMaxBuffer": 0,
        "pageCacheLockTimeMills": 0,
        "startAcceptSendRequestTimeStamp": 0,
    }


def _disk_figures(broker: Broker, measured: _Measured) -> dict[str, str | int | float]:
    """Return sizes and ratios of the space for ordinary processes, as retention does."""
    log, settings = measured.disks.log, broker.settings
    log_dir = settings.log_dir
    free, whole = _size(log.free_bytes), _size(log.usable_bytes)
    return {
        "commitLogDiskRatio": log.used_ratio,
        f"commitLogDiskRatio_{log_dir}": log.used_ratio,
        "consumeQueueDiskRatio": measured.disks.queues.used_ratio,
        "commitLogDirCapacity": f"Total : {whole}, Free : {free}.",
        "dispatchBehindBytes": _bytes_not_indexed(broker, measured.index),
        "earliestMessageTimeStamp": measured.earliest_at_ms,
    }


def _timer_figures(broker: Broker, measured: _Measured) -> dict[str, str | int | float]:
    """Return how messages stand that wait for a time; a replica delivers none, and is not behind.

    The last one is ours: the start of an hour in milliseconds, and the number of messages that are
    due in it.
    """
    timers = measured.timers
    _, end = broker.store.held_offsets(TIMER_TOPIC, 0) or (0, 0)
    read_ms = timers.progress[0]
    is_behind = broker.timers.is_running and read_ms > 0
    put_rate, delivered_rate = broker.timers.rates()
    return {
        "timerReadBehind": max(0, broker.clock() - read_ms) // 1000 if is_behind else 0,
        "timerOffsetBehind": max(0, end - timers.next_offset),
        "timerCongestNum": timers.waiting_count,
        "timerEnqueueTps": f"{put_rate:.1f}",
        "timerDequeueTps": f"{delivered_rate:.1f}",
        "timersByHour": " ".join(f"{hour_ms}:{count}" for hour_ms, count in timers.by_hour),
    }


def _own_figures(broker: Broker) -> dict[str, str | int | float]:
    """Return figures that stock does not have; a container has another address."""
    meters, container = broker.meters, broker.container
    return {
        "pullHeldCount": len(broker.polling),
        "passedOnCount": meters.passed_on_count,
        "passedOnUnansweredCount": meters.passed_on_unanswered_count,
        "notPassedOnCount": meters.not_passed_on_count,
        "pid": os.getpid(),
        "brokerContainerAddr": "" if container is None else container.address,
    }


def _size(size_bytes: int) -> str:
    """Write a size as stock's tools do, with a unit of 1024."""
    if size_bytes < _UNIT:
        return f"{size_bytes} B"
    size, units = float(size_bytes), iter("KMGTPE")
    unit = ""
    while size >= _UNIT:
        size, unit = size / _UNIT, next(units)
    return f"{size:.1f} {unit}iB"


def _bytes_not_indexed(broker: Broker, index: IndexStatus) -> int:
    """Queues are written together with the log; only the key index can be behind it."""
    if not broker.settings.index_enabled:
        return 0
    return max(0, broker.store.max_position - index.position)


def _thread_pools() -> dict[str, str | int | float]:
    """Stock tools show queues of thread pools; here one loop serves all, so nothing queues.

    The capacity of such a queue is the limit of open requests: pulls of all clients, others of one
    connection.
    """
    figures: dict[str, str | int | float] = {}
    for pool in ("send", "pull", "query", "litePull", "ack"):
        is_pull = pool in {"pull", "litePull"}
        figures[f"{pool}ThreadPoolQueueSize"] = 0
        figures[f"{pool}ThreadPoolQueueCapacity"] = PARKED_COUNT_MAX if is_pull else OPEN_COUNT_MAX
        figures[f"{pool}ThreadPoolQueueHeadWaitTimeMills"] = 0
    # Stock's spelling.
    figures["EndTransactionQueueSize"] = 0
    figures["EndTransactionThreadPoolQueueCapacity"] = OPEN_COUNT_MAX
    return figures


def _delay_progress(broker: Broker, ends: dict[int, int]) -> dict[str, str | int | float]:
    progress = broker.state.delays.progress
    # Messages delivered since the ends were read are included.
    return {
        f"scheduleMessageOffset_{level}": f"{progress[level]},{max(end, progress[level])}"
        for level, end in ends.items()
        if level in progress
    }


def _duration(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"[ {days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]"
