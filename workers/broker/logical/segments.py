"""Ask for offsets of a segment: here, or at the broker group that stores it.

All offsets are physical (logical-queues.md 13.2, 13.4, 13.5).
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from regent_engine import Command

from backend.domain.logical_queue.segment import QueueBounds, QueueSegment
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal

if TYPE_CHECKING:
    from workers.broker.broker import Broker


def is_here(broker: "Broker", segment: QueueSegment) -> bool:
    """Return whether this broker group stores a segment."""
    return segment.broker_group_name == broker.settings.broker_name


def bounds_here(broker: "Broker", topic_name: str, segment: QueueSegment) -> QueueBounds:
    """Return the bounds of the queue of a segment that is stored here, as readers see them."""
    low, high = broker.store.offsets(topic_name, segment.queue_id) or (0, 0)
    return QueueBounds(low, high)


async def bounds_of(broker: "Broker", topic_name: str, segment: QueueSegment) -> QueueBounds:
    """Return the bounds of the queue of a segment.

    Raises:
        Refusal: its broker group does not answer.
    """
    if is_here(broker, segment):
        return bounds_here(broker, topic_name, segment)
    low = await _offset(broker, topic_name, segment, RequestCode.GET_MIN_OFFSET)
    high = await _offset(broker, topic_name, segment, RequestCode.GET_MAX_OFFSET)
    return QueueBounds(low, high)


async def position_of(
    broker: "Broker", group: str, topic_name: str, segment: QueueSegment
) -> int | None:
    """Return the committed offset of a group in the queue of a segment.

    Raises:
        Refusal: its broker group does not answer.
    """
    if is_here(broker, segment):
        return broker.offsets.find(group, topic_name, segment.queue_id)
    ext = {"consumerGroup": group, "setZeroIfNotFound": "false"}
    reply = await ask_owner(
        broker, topic_name, segment, RequestCode.QUERY_CONSUMER_OFFSET, ext, none=_NOT_FOUND
    )
    return None if reply.code in _NOT_FOUND else int(reply.ext["offset"])


async def commit_to(
    broker: "Broker",
    group: str,
    topic_name: str,
    segment: QueueSegment,
    *,
    offset: int,
    address: str,
) -> int | None:
    """Record the committed offset of a group in the queue of a segment; return the stored offset.

    Raises:
        Refusal: its broker group does not answer.
    """
    if is_here(broker, segment):
        queue_id = segment.queue_id
        return broker.commit(group, topic_name, queue_id, offset=offset, address=address)
    ext = {"consumerGroup": group, "commitOffset": str(offset)}
    await ask_owner(broker, topic_name, segment, RequestCode.UPDATE_CONSUMER_OFFSET, ext)
    return offset


async def found_by_time(
    broker: "Broker", topic_name: str, segment: QueueSegment, timestamp_ms: int, boundary: str
) -> int | None:
    """Return the offset of a store time in a segment; None if all its messages are older.

    Raises:
        Refusal: its broker group does not answer.
    """
    first = await _search(broker, topic_name, segment, timestamp_ms, "LOWER")
    if first >= (await bounds_of(broker, topic_name, segment)).max_offset:
        return None
    if boundary == "LOWER":
        return first
    return await _search(broker, topic_name, segment, timestamp_ms, boundary)


async def earliest_time(broker: "Broker", topic_name: str, segment: QueueSegment) -> int:
    """Return when the oldest message of a segment was stored; -1 without a message.

    Raises:
        Refusal: its broker group does not answer.
    """
    if is_here(broker, segment):
        find = partial(broker.store.earliest_store_timestamp, topic_name, segment.queue_id)
        return await broker.read_threads.read(find)
    code = RequestCode.GET_EARLIEST_MSG_STORETIME
    reply = await ask_owner(broker, topic_name, segment, code, {})
    return int(reply.ext["timestamp"])


async def ask_owner(
    broker: "Broker",
    topic_name: str,
    segment: QueueSegment,
    code: RequestCode,
    ext: Mapping[str, str],
    *,
    none: frozenset[int] = frozenset(),
) -> Command:
    """Return the answer of the broker group that stores a segment.

    Codes of `none` are answers, too.

    Raises:
        Refusal: it does not answer, or refuses.
    """
    place = f"segment {segment} of topic[{topic_name}]"
    physical = {**ext, "topic": topic_name, "queueId": str(segment.queue_id)}
    reply = await broker.peers.ask(segment.broker_group_name, code, physical, place=place)
    if reply.code != ResponseCode.SUCCESS and reply.code not in none:
        reason = f"the broker group of {place} refuses: code {reply.code}, {reply.remark}"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)
    return reply


_NOT_FOUND = frozenset({int(ResponseCode.QUERY_NOT_FOUND)})


async def _offset(
    broker: "Broker", topic_name: str, segment: QueueSegment, code: RequestCode
) -> int:
    return int((await ask_owner(broker, topic_name, segment, code, {})).ext["offset"])


async def _search(
    broker: "Broker", topic_name: str, segment: QueueSegment, timestamp_ms: int, boundary: str
) -> int:
    if is_here(broker, segment):
        find = partial(
            broker.store.offset_by_time, topic_name, segment.queue_id, timestamp_ms, boundary
        )
        return await broker.read_threads.read(find)
    ext = {"timestamp": str(timestamp_ms), "boundaryType": boundary}
    code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    reply = await ask_owner(broker, topic_name, segment, code, ext)
    return int(reply.ext["offset"])
