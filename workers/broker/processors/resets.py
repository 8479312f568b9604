"""Set the offsets of a consumer group (remoting.md 2.8: 222)."""

from functools import partial

from regent_engine import Command, Store

from backend.remoting import java_json
from backend.remoting.bodies import MessageQueue, TopicConfig
from backend.remoting.command import answer
from backend.remoting.headers import ResetOffsetHeader, decode_header
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.share_owning import place_of_record
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.safe_answers import kept
from workers.broker.requests.serving import serves

_NOT_GIVEN = -1


def _reset_target(broker: Broker, command: Command) -> FenceTarget:
    header = decode_header(ResetOffsetHeader, command.ext)

    def read() -> dict[str, int]:
        return {
            str(queue_id): offset
            for queue_id, offset in broker.offsets.of_topic(header.group, header.topic).items()
            if header.queue_id in {-1, queue_id}
        }

    return FenceTarget(f"offsets of {header.group} in {header.topic}", read, is_own=False)


@serves(
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=False,
    target=_reset_target,
)
async def on_reset_offset(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Set a group's offsets in a topic, and move its consumers there.

    Connected members get the new offset with their next pull; held pulls are answered.
    """
    header = decode_header(ResetOffsetHeader, command.ext)
    topic = _find_topic(broker, header)
    wanted = await _offsets(broker, topic, header)
    # While the disk was read, this broker may have lost its role, and messages may have expired.
    if _find_topic(broker, header) is not topic:
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"the topic[{topic.name}] was changed: try again")
    offsets = {
        queue_id: _inside(broker, topic.name, queue_id, offset)
        for queue_id, offset in wanted.items()
    }
    for queue_id, offset in offsets.items():
        place = place_of_record(broker, topic.name, queue_id, offset)
        if place is None or not broker.shares.reset(topic.name, header.group, *place):
            broker.resets.add(header.group, topic.name, queue_id=queue_id, offset=offset)
        # No commit of a pull from before comes after it.
        broker.offsets.commit(header.group, topic.name, queue_id=queue_id, offset=offset)
        broker.readers.note_next(header.group, topic.name, queue_id, None)
    broker.polling.release_topic(topic.name)
    entries = (
        (
            MessageQueue(
                broker_name=broker.settings.broker_name, queue_id=queue_id, topic=topic.name
            ),
            offset,
        )
        for queue_id, offset in offsets.items()
    )
    body = b'{"offsetTable":' + java_json.encode_object_map(entries) + b"}"
    return await kept(broker, answer(command, body=body))


def _find_topic(broker: Broker, header: ResetOffsetHeader) -> TopicConfig:
    """Return the topic in which the order can be carried out now.

    Raises:
        Refusal: it can not.
    """
    broker.check_changeable()
    topic = broker.find_topic(header.topic)
    broker.local_log.check(topic.name)
    broker.check_group_exists(header.group)
    return topic


def _inside(broker: Broker, topic: str, queue_id: int, offset: int) -> int:
    low, high = broker.store.offsets(topic, queue_id) or (0, 0)
    return min(max(offset, low), high)


async def _offsets(broker: Broker, topic: TopicConfig, header: ResetOffsetHeader) -> dict[int, int]:
    """Return the offset of each queue to reset.

    Raises:
        Refusal: the queue does not exist, or the offset is out of its range.
    """
    if header.queue_id == _NOT_GIVEN:
        queue_ids = range(topic.read_queue_count)
    elif 0 <= header.queue_id < topic.read_queue_count:
        queue_ids = range(header.queue_id, header.queue_id + 1)
    else:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"Invalid queue id {header.queue_id}, the topic has {topic.read_queue_count}",
        )
    if header.queue_id != _NOT_GIVEN and header.offset not in {None, _NOT_GIVEN}:
        assert header.offset is not None
        low, high = broker.store.offsets(topic.name, header.queue_id) or (0, 0)
        if not low <= header.offset <= high:
            raise Refusal(
                ResponseCode.SYSTEM_ERROR,
                f"Target offset {header.offset} not in consume queue range [{low}-{high}]",
            )
        return {header.queue_id: header.offset}
    read = partial(_offset_at, broker.store, topic.name, header.timestamp_ms)
    return dict(zip(queue_ids, await broker.read_threads.read_each(read, queue_ids), strict=True))


def _offset_at(store: Store, topic: str, timestamp_ms: int, queue_id: int) -> int:
    ends = store.offsets(topic, queue_id)
    if ends is None:
        return 0
    if timestamp_ms < 0:
        return ends[1]
    return store.offset_by_time(topic, queue_id, timestamp_ms, "LOWER")
