"""Show tools and the control plane what the broker is doing (12, 28, 33; our 7001)."""

import os
import time
from collections.abc import Mapping
from functools import partial
from typing import Final, Literal

from regent_engine import Command, IndexStatus, Store

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
from backend.remoting.names import SCHEDULE_TOPIC
from backend.remoting.response_code import ResponseCode
from backend.remoting.sample import BrokerSample, QueueSample, TopicSample
from workers.broker.broker import Broker
from workers.broker.caller import Caller
from workers.broker.errors import Refusal
from workers.broker.meters import taken_in
from workers.broker.processors.send_back import read_message
from workers.broker.resources import Disk, StoreDisks, resident_bytes, store_disks_of
from workers.broker.settings import BrokerSettings
from workers.broker.topics import check_visible

_QUEUE_ENTRY_SIZE: Final = 20
# Stock's `defaultQueryMaxNum`, which replaces what a query by unique key asks for.
_UNIQUE_KEY_COUNT_MAX: Final = 32
# A frame of 16 MiB is all that clients take; stock lets 64 large messages exceed it.
_QUERY_SIZE_MAX: Final = 12 << 20
# Stock clients wait 18 s for a query by key: before that they are told that it takes too long.
SEARCH_TIMEOUT_MS: Final = 15_000
# A search that began later would have little of that left.
SEARCH_WAIT_MAX_MS: Final = 10_000

KeyKind = Literal["key", "unique_key", "tags"]
_KINDS_OF_KEY: Final[Mapping[str, KeyKind]] = {"U": "unique_key", "T": "tags"}


async def on_view_message(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give the one message at a log position."""
    header = decode_header(ViewMessageHeader, command.ext)
    _, content = await read_message(broker, header.log_position)
    return answer(command, body=content)


async def on_query_message(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give the messages with a key, the oldest first; of too many the newest."""
    header = decode_header(QueryMessageHeader, command.ext)
    check_visible(header.topic)
    kind = _KINDS_OF_KEY.get(header.index_type or "", "key")
    count_max = max(0, header.count_max)
    if command.ext.get("_UNIQUE_KEY_QUERY", "").lower() == "true":
        kind, count_max = "unique_key", _UNIQUE_KEY_COUNT_MAX
    # A long chain on a cold disk takes a while: others are served meanwhile, and on its own threads
    # it keeps no other work of this broker waiting.
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
    """Give what the index held when the search began, and the messages found.

    Raises:
        StoreError: it took too long, the wait for a thread included.
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
    )
    return status, b"".join(record for _, record in reversed(found))


async def on_get_runtime_info(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Show figures of the running broker under the keys that stock tools read."""
    levels = sorted(broker.state.delays.progress)
    measured = await broker.read_threads.measure(
        partial(_measure_store, broker.store, broker.settings, levels)
    )
    table = KeyValueTable(table=_runtime_info(broker, *measured))
    return answer(command, body=java_json.encode(table))


async def on_get_sample(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give the control plane one sample for the history (D25)."""
    ends, disk = await broker.read_threads.measure(
        partial(_measure_queues, broker.store, broker.settings)
    )
    return answer(command, body=java_json.encode(_sample(broker, ends, disk)))


def _measure_queues(
    store: Store, settings: BrokerSettings
) -> tuple[list[tuple[str, int, int, int]], Disk]:
    """Find the ends of all queues: while readers are limited, each with a look at its entries."""
    return store.queues(), store_disks_of(settings).fuller


def _sample(broker: Broker, ends: list[tuple[str, int, int, int]], disk: Disk) -> BrokerSample:
    """Take one sample of counters, positions and resources."""
    store, settings, meters = broker.store, broker.settings, broker.meters
    replication = broker.replication
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
        broker_id=settings.broker_id if replication is None else replication.role_id,
        own_id=settings.broker_id if replication is None else replication.own_id,
        messages_in=messages_in,
        bytes_in=bytes_in,
        messages_out=meters.messages_out,
        bytes_out=meters.bytes_out,
        commit_log_min_position=store.min_position,
        commit_log_max_position=store.max_position,
        flushed_position=store.flushed_position,
        store_bytes=log_bytes + entry_count * _QUEUE_ENTRY_SIZE,
        # So that whoever makes a share of it names the one that retention goes by.
        disk_total_bytes=disk.usable_bytes,
        disk_free_bytes=disk.free_bytes,
        resident_bytes=resident_bytes(),
        cpu_seconds=time.process_time(),
        topics=topics,
    )


def _measure_store(
    store: Store, settings: BrokerSettings, levels: list[int]
) -> tuple[StoreDisks, IndexStatus, dict[int, int]]:
    """Find what may wait for the disk, or for who writes the index: last where delays end."""
    ends = {level: store.offsets(SCHEDULE_TOPIC, level - 1) or (0, 0) for level in levels}
    highs = {level: high for level, (_, high) in ends.items()}
    return store_disks_of(settings), store.index_status(), highs


def _runtime_info(
    broker: Broker, disks: StoreDisks, index: IndexStatus, delay_ends: dict[int, int]
) -> dict[str, str]:
    store, meters = broker.store, broker.meters
    put_count, _ = taken_in(store.counters())
    info: dict[str, str | int] = {
        "brokerVersionDesc": "V5_5_0",
        "brokerVersion": 513,
        "brokerActive": "true" if broker.is_writable else "false",
        "bootTimestamp": meters.booted_at_ms,
        "runtime": _duration(broker.elapsed_ms() - meters.started_ms),
        "putTps": meters.put_rates(),
        "getTransferredTps": meters.got_rates(),
        "getFoundTps": meters.got_rates(),
        "getTotalTps": meters.got_rates(),
        "getMissTps": "0.000 0.000 0.000",
        "msgPutTotalTodayNow": put_count,
        "msgPutTotalTodayMorning": 0,
        "msgPutTotalYesterdayMorning": 0,
        "msgGetTotalTodayNow": meters.messages_out,
        "msgGetTotalTodayMorning": 0,
        "msgGetTotalYesterdayMorning": 0,
        "commitLogMinOffset": store.min_position,
        "commitLogMaxOffset": store.max_position,
        "remainHowManyDataToFlush": f"{store.max_position - store.flushed_position} bytes",
        "commitLogDiskRatio": _used_ratio(disks.log),
        "consumeQueueDiskRatio": _used_ratio(disks.queues),
        "commitLogDirCapacity": (
            f"Total : {disks.log.total_bytes} B, Free : {disks.log.free_bytes} B"
        ),
        "dispatchBehindBytes": _bytes_not_indexed(broker, index),
        "pageCacheLockTimeMills": 0,
        "startAcceptSendRequestTimeStamp": 0,
        "timerReadBehind": 0,
        "timerOffsetBehind": 0,
        "timerCongestNum": 0,
        "timerEnqueueTps": "0.0",
        "timerDequeueTps": "0.0",
        "pullHeldCount": len(broker.polling),
        "passedOnCount": meters.passed_on_count,
        "passedOnUnansweredCount": meters.passed_on_unanswered_count,
        "notPassedOnCount": meters.not_passed_on_count,
        "pid": os.getpid(),
    }
    info |= _thread_pools() | _delay_progress(broker, delay_ends)
    return {name: str(value) for name, value in info.items()}


def _used_ratio(disk: Disk) -> str:
    return f"{1 - disk.free_bytes / max(1, disk.total_bytes):.2f}"


def _bytes_not_indexed(broker: Broker, index: IndexStatus) -> int:
    """Queues are written with the log; only the key index can be behind it."""
    if not broker.settings.index_enabled:
        return 0
    return max(0, broker.store.max_position - index.position)


def _thread_pools() -> dict[str, str | int]:
    """Stock tools show queues of thread pools; one loop serves all, so nothing queues here."""
    pools = ("send", "pull", "query", "litePull", "ack", "EndTransaction")
    figures: dict[str, str | int] = {}
    for pool in pools:
        figures[f"{pool}ThreadPoolQueueSize"] = 0
        figures[f"{pool}ThreadPoolQueueCapacity"] = 0
        figures[f"{pool}ThreadPoolQueueHeadWaitTimeMills"] = 0
    return figures


def _delay_progress(broker: Broker, ends: dict[int, int]) -> dict[str, str | int]:
    progress = broker.state.delays.progress
    # What was delivered since the ends were looked at counts.
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
