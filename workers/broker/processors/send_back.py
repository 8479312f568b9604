"""Accept a message that its consumer could not process (remoting.md 2.3: 36)."""

from functools import partial

from regent_engine import (
    LOCAL_START,
    Command,
    ProtocolError,
    Record,
    decode_records,
    offset_message_id,
)

from backend.remoting.bodies import SubscriptionGroupConfig
from backend.remoting.command import answer
from backend.remoting.headers import SendBackHeader, decode_header
from backend.remoting.names import dead_letter_topic, is_state_topic, retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.commit_log.message import (
    DELAY,
    ORIGIN_MESSAGE_ID,
    RETRY_TOPIC,
    UNIQUE_KEY,
    Message,
)
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.share_owning import own_queue, place_of_record
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import WRITABLE, topic_of

FIRST_RETRY_LEVEL = 3
# The producer can set the number of returns to any value of the record's field.
_RECONSUME_TIMES_MAX = 2**31 - 1


@serves(RequestCode.CONSUMER_SEND_MSG_BACK, role=RequiredRole.ANY, passed_on=True, target=None)
async def on_send_back(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Store a copy that is delivered after a delay, or a dead letter after too many retries."""
    header = decode_header(SendBackHeader, command.ext)
    if _find_group(broker, header.group).retry_queue_count <= 0:
        return answer(command)
    record, _ = await read_message(broker, header.log_position)
    _check_origin(broker, header, record)
    if header.delay_level < 0:
        await _own_place(broker, header.group, record)
    # While the disk was read, this broker may have lost its role, and the group may be deleted.
    group = _find_group(broker, header.group)
    if group.retry_queue_count <= 0:
        return answer(command)
    limit = group.retry_count_max
    if header.max_reconsume_times is not None:
        limit = header.max_reconsume_times
    place = place_of_record(broker, record.topic, record.queue_id, record.queue_offset)
    if header.delay_level < 0 and place is not None:
        queue_id, offset = place
        finished = await broker.shares.give_up(record.topic, queue_id, group.name, offset, count=1)
        if finished is not None:
            # The group receives the message by POP: its dead letter ends the delivery as well.
            broker.meters.traffic.sent_back(group.name, record.topic)
            return await _stored(broker, command, finished.position)
    is_given_up = record.reconsume_times >= limit or header.delay_level < 0
    level = max(1, header.delay_level or FIRST_RETRY_LEVEL + record.reconsume_times)
    copy = broker.turn_aside(_copy(broker, group, record, level=0 if is_given_up else level))
    appended = broker.append(copy)
    broker.meters.traffic.sent_back(group.name, record.topic)
    return await _stored(broker, command, appended.log_position + appended.size)


async def _stored(broker: Broker, command: Command, position: int) -> bytes:
    late = answer(command, code=ResponseCode.SYSTEM_ERROR, remark="FLUSH_DISK_TIMEOUT")
    return await broker.membership.stored(position, answer(command), late)


async def _own_place(broker: Broker, group_name: str, record: Record) -> None:
    """Own the share queue of a message, if its group receives the message by POP.

    Raises:
        Refusal: a former leader of the logical queue does not answer, or the queue is being moved.
    """
    place = place_of_record(broker, record.topic, record.queue_id, record.queue_offset)
    if place is None:
        return
    queue_id, _ = place
    if broker.hot.share_ownership(record.topic, queue_id, group_name) is not None:
        await own_queue(broker, record.topic, queue_id, group_name)


def _check_origin(broker: Broker, header: SendBackHeader, record: Record) -> None:
    """Check that a message of a static topic is stored here, not at another broker group.

    A client without static topics knows one broker group of the topic, and sends the message back
    to that one (logical-queues.md 18.3). The log position is that of the broker group that stores
    it. After a refusal the client sends the message to its retry topic.

    Raises:
        Refusal: the message at the position is another one.
    """
    if header.origin_topic is None or broker.static_topics.find(header.origin_topic) is None:
        return
    first_id = offset_message_id(*record.store_host, record.log_position)
    if header.origin_message_id not in {first_id, record.properties.get(UNIQUE_KEY)}:
        reason = f"can not find message {header.origin_message_id} of a static topic here"
        raise Refusal(ResponseCode.SYSTEM_ERROR, reason)


def _find_group(broker: Broker, name: str) -> SubscriptionGroupConfig:
    group = broker.check_group_exists(name)
    if not broker.is_writable or not broker.settings.permissions & WRITABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, "the broker sending message is forbidden")
    return group


async def read_message(broker: Broker, log_position: int) -> tuple[Record, bytes]:
    """Read one whole message of the log, decoded and as it is stored.

    Raises:
        Refusal: there is no message at that position.
    """
    is_in_first = broker.store.min_position <= log_position < broker.store.max_position
    if not is_in_first and log_position < LOCAL_START:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {log_position}"
        )
    read = partial(broker.store.record, log_position)
    content = await broker.read_threads.read(read) or b""
    try:
        records = decode_records(content)
    except ProtocolError:
        records = []
    if not records or is_state_topic(records[0].topic):
        raise Refusal(
            ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {log_position}"
        )
    return records[0], content


def _copy(broker: Broker, group: SubscriptionGroupConfig, record: Record, *, level: int) -> Message:
    """Describe the copy: level 0 makes it a dead letter."""
    if level:
        topic = topic_of(retry_topic(group.name), group.retry_queue_count)
        queue_id = broker.source.randrange(group.retry_queue_count)
    else:
        topic, queue_id = topic_of(dead_letter_topic(group.name), 1), 0
    broker.put_topic_if_missing(topic)
    host, port = record.store_host
    first_id = offset_message_id(host, port, record.log_position)
    origin = {RETRY_TOPIC: record.topic, ORIGIN_MESSAGE_ID: first_id}
    return Message(
        topic=topic.name,
        queue_id=queue_id,
        body=record.body,
        properties=origin | record.properties | {DELAY: str(level)},
        flag=record.flag,
        sys_flag=record.sys_flag,
        born_timestamp_ms=record.born_timestamp_ms,
        born_host=record.born_host,
        reconsume_times=min(record.reconsume_times + 1, _RECONSUME_TIMES_MAX),
    )
