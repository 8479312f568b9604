"""Serve committed offsets and the ends of queues (remoting.md 2.3: 14, 15, 29-32)."""

from collections.abc import Awaitable
from functools import partial

import msgspec
from regent_engine import Command

from backend.remoting.bodies import TopicConfig
from backend.remoting.command import answer
from backend.remoting.headers import (
    QueryConsumerOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    UpdateConsumerOffsetHeader,
    decode_header,
)
from backend.remoting.headers.fencing import FENCE_FIELD
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical import positions
from workers.broker.logical.led_queue import LedQueue, find_led
from workers.broker.logical.share_owning import place_of_record
from workers.broker.metrics.resources import memory_bytes
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import check_visible


@serves(RequestCode.QUERY_CONSUMER_OFFSET, role=RequiredRole.READABLE, passed_on=True, target=None)
def on_query_consumer_offset(
    broker: Broker, _caller: Caller, command: Command
) -> Awaitable[bytes] | bytes:
    """Return the committed offset of a group in a queue.

    A replica asks its master: a commit that was answered may not be here yet (I9).
    """
    header = decode_header(QueryConsumerOffsetHeader, command.ext)
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        return _find_logical(broker, command, header, led)
    if header.set_zero_if_not_found and _committed(broker, header) is None:
        return _begin_young(broker, command, header)
    return _offset_answer(command, _committed(broker, header))


async def _find_logical(
    broker: Broker, command: Command, header: QueryConsumerOffsetHeader, led: LedQueue
) -> bytes:
    """Return the committed offset of a group in a logical queue, from its newest position."""
    offset = await positions.committed_position(broker, led, header.consumer_group)
    is_only = led.queue.decided == (led.leader,) and led.leader.delta == 0
    if offset is None and header.set_zero_if_not_found and is_only:
        first = msgspec.structs.replace(header, queue_id=led.leader.queue_id)
        if await broker.read_threads.read(partial(_is_young, broker, first)):
            offset = 0
    return _offset_answer(command, offset)


async def _begin_young(
    broker: Broker, command: Command, header: QueryConsumerOffsetHeader
) -> bytes:
    """Let a group begin at the first offset if it misses no message."""
    is_young = await broker.read_threads.read(partial(_is_young, broker, header))
    # It may have committed while the disk was read.
    offset = _committed(broker, header)
    if offset is None and is_young:
        offset = broker.store.first_offset(header.topic)
    return _offset_answer(command, offset)


def _committed(broker: Broker, header: QueryConsumerOffsetHeader) -> int | None:
    return broker.offsets.find(header.consumer_group, header.topic, header.queue_id)


def _offset_answer(command: Command, offset: int | None) -> bytes:
    if offset is None:
        raise Refusal(
            ResponseCode.QUERY_NOT_FOUND,
            "Not found, maybe this group consumer boot first",
        )
    return answer(command, ext={"offset": str(offset)})


def _commit_target(broker: Broker, command: Command) -> FenceTarget:
    header = decode_header(UpdateConsumerOffsetHeader, command.ext)
    group, topic, queue_id = header.consumer_group, header.topic, header.queue_id or 0
    led = find_led(broker, command.ext, topic, queue_id)

    async def read() -> dict[str, int]:
        if led is None:
            offset = broker.offsets.find(group, topic, queue_id)
        else:
            offset = await positions.committed_position(broker, led, group)
        return {} if offset is None else {str(queue_id): offset}

    return FenceTarget(f"offsets of {group} in {topic}", read, is_own=False)


@serves(
    RequestCode.UPDATE_CONSUMER_OFFSET,
    role=RequiredRole.MASTER_TAKES,
    passed_on=True,
    target=_commit_target,
)
def on_update_consumer_offset(
    broker: Broker, caller: Caller, command: Command
) -> Awaitable[bytes] | bytes:
    """Record the committed offset of a group in a queue."""
    header = decode_header(UpdateConsumerOffsetHeader, command.ext)
    # First of all: the group may exist at the leader of a logical queue only.
    led = find_led(broker, command.ext, header.topic, header.queue_id or 0)
    broker.check_group_exists(header.consumer_group)
    topic = broker.find_topic(header.topic)
    if header.queue_id is None or header.commit_offset is None:
        missing = "queueId" if header.queue_id is None else "commitOffset"
        raise Refusal(ResponseCode.INVALID_PARAMETER, f"the field {missing} is missing")
    if led is not None:
        return _commit_logical(broker, caller, command, header, led)
    if broker.resets.is_pending(header.consumer_group, header.topic, header.queue_id):
        return answer(command, remark="Offset has been previously reset")
    _check_queue(broker, topic, header.queue_id)
    committed = broker.commit(
        header.consumer_group,
        header.topic,
        header.queue_id,
        offset=header.commit_offset,
        address=caller.address,
    )
    if FENCE_FIELD in command.ext and committed is not None:
        # An operator moves a group without consumers. Its next POP begins there.
        place = place_of_record(broker, topic.name, header.queue_id, committed)
        if place is not None:
            broker.shares.reset(topic.name, header.consumer_group, *place)
    return _committed_answer(broker, command, header.commit_offset, committed)


async def _commit_logical(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: UpdateConsumerOffsetHeader,
    led: LedQueue,
) -> bytes:
    """Record the committed offset of a group in a logical queue, at the segment that has it."""
    group, offset = header.consumer_group, header.commit_offset or 0
    if broker.resets.is_pending(group, led.topic_name, led.leader.queue_id):
        return answer(command, remark="Offset has been previously reset")
    committed = await positions.commit(broker, led, group, offset, address=caller.address)
    if FENCE_FIELD in command.ext and committed is not None:
        # An operator moves a group without consumers. Its next POP begins there.
        broker.shares.reset(led.topic_name, group, led.queue.global_id, committed)
        broker.polling.release_topic(led.topic_name)
    return _committed_answer(broker, command, offset, committed)


def _committed_answer(
    broker: Broker, command: Command, offset: int, committed: int | None
) -> bytes:
    if committed is None:
        reason = f"the offset {offset} is negative: nothing was committed"
        raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
    if broker.membership.appends_commits and not command.is_oneway:
        broker.changes.append()
    if committed != offset:
        problem = f"the offset {offset} is beyond the end of the queue"
        return answer(command, remark=f"{problem}: {committed} was committed")
    return answer(command)


def _check_queue(broker: Broker, topic: TopicConfig, queue_id: int) -> None:
    """Check that a queue belongs to the topic, or still has messages after a reduction of queues.

    Raises:
        Refusal: there is no such queue.
    """
    count = max(topic.read_queue_count, topic.write_queue_count)
    if not 0 <= queue_id < count and broker.store.held_offsets(topic.name, queue_id) is None:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"the topic[{topic.name}] has no queue {queue_id}, but the queues 0 to {count - 1}",
        )


@serves(
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, role=RequiredRole.READABLE, passed_on=False, target=None
)
async def on_search_offset(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Find the offset of a time in a queue."""
    header = decode_header(SearchOffsetHeader, command.ext)
    check_visible(header.topic)
    broker.local_log.check(header.topic)
    boundary = header.boundary_type.upper()
    if boundary not in {"LOWER", "UPPER"}:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the field boundaryType is malformed")
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        found = await positions.offset_by_time(broker, led, header.timestamp_ms, boundary)
        return answer(command, ext={"offset": str(found)})
    # Each step of the binary search reads an entry and its record, anywhere on the disk.
    find = partial(
        broker.store.offset_by_time,
        header.topic,
        header.queue_id,
        header.timestamp_ms,
        boundary,
    )
    return answer(command, ext={"offset": str(await broker.read_threads.read(find))})


@serves(RequestCode.GET_MAX_OFFSET, role=RequiredRole.READABLE, passed_on=False, target=None)
def on_get_max_offset(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the offset of the next message of a queue."""
    header = decode_header(QueueHeader, command.ext)
    check_visible(header.topic)
    broker.local_log.check(header.topic)
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        return answer(command, ext={"offset": str(positions.end_of(broker, led))})
    _, high = broker.store.offsets(header.topic, header.queue_id) or (0, 0)
    return answer(command, ext={"offset": str(high)})


@serves(RequestCode.GET_MIN_OFFSET, role=RequiredRole.READABLE, passed_on=False, target=None)
def on_get_min_offset(
    broker: Broker, _caller: Caller, command: Command
) -> Awaitable[bytes] | bytes:
    """Return the offset of the oldest message of a queue."""
    header = decode_header(QueueHeader, command.ext)
    check_visible(header.topic)
    broker.local_log.check(header.topic)
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        return _begin_logical(broker, command, led)
    low, _ = broker.store.offsets(header.topic, header.queue_id) or (0, 0)
    return answer(command, ext={"offset": str(low)})


async def _begin_logical(broker: Broker, command: Command, led: LedQueue) -> bytes:
    return answer(command, ext={"offset": str(await positions.begin_of(broker, led))})


@serves(
    RequestCode.GET_EARLIEST_MSG_STORETIME, role=RequiredRole.READABLE, passed_on=False, target=None
)
async def on_get_earliest_store_time(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return when the oldest message of a queue was stored, -1 when it is empty."""
    header = decode_header(QueueHeader, command.ext)
    check_visible(header.topic)
    broker.local_log.check(header.topic)
    led = find_led(broker, command.ext, header.topic, header.queue_id)
    if led is not None:
        found = await positions.earliest_store_time(broker, led)
        return answer(command, ext={"timestamp": str(found)})
    find = partial(broker.store.earliest_store_timestamp, header.topic, header.queue_id)
    return answer(command, ext={"timestamp": str(await broker.read_threads.read(find))})


def _is_young(broker: Broker, header: QueryConsumerOffsetHeader) -> bool:
    """Return whether the first message of a queue is still in memory, so that none is skipped."""
    low, _ = broker.store.offsets(header.topic, header.queue_id) or (0, 0)
    first = broker.store.first_offset(header.topic)
    if low > first:
        return False
    if broker.local_log.has(header.topic):
        # Its log is another one, whose end says nothing.
        return True
    entries = broker.store.entries(header.topic, header.queue_id, 0, 1)
    hot_size = memory_bytes() * broker.settings.memory_percent // 100
    return not entries or broker.store.max_position - entries[0][0] <= hot_size
