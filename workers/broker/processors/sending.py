"""Store the sends that the hot path does not handle (remoting.md 2.2: 10, 310, 320).

These are sends to topics that do not exist yet, to retry topics, with a delay, and invalid ones.
The engine appends a send that only lacked its topic or queue file, and each half message. So
records and answers are created in one place.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from regent_engine import (
    LOCAL_START,
    Command,
    Record,
    Store,
    decode_records,
    offset_message_id,
    parse_properties,
    special_properties,
)

from backend.remoting.bodies import TopicConfig
from backend.remoting.command import answer
from backend.remoting.headers import (
    SendMessageAnswer,
    SendMessageHeader,
    decode_send_header,
    encode_header,
    text_of,
)
from backend.remoting.names import (
    CLOSED_TOPICS,
    HALF_TOPIC,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    check_topic_name,
    dead_letter_topic,
    is_state_topic,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.topic import RETRY_PREFIX
from workers.broker.acting.escape_mark import ESCAPED_FROM, is_escape
from workers.broker.broker import Broker
from workers.broker.commit_log.late_answers import unconfirmed
from workers.broker.commit_log.message import (
    COPY_KEY,
    DELAY,
    INNER_COUNT,
    LIGHT_OFFSETS,
    NAME_VALUE_SEPARATOR,
    POP_HANDLE,
    PRIORITY,
    PROPERTY_SEPARATOR,
    SHARDING_KEY,
    TIMER_PROPERTIES,
    UNIQUE_KEY,
    Message,
    delay_level_of,
    is_batch,
    unique_key,
)
from workers.broker.commit_log.timed_message import recall_handle
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import check_send, taking_queues
from workers.broker.replication.acknowledgement import NOWHERE, Outcome
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import WRITABLE, permitted, topic_from_template, topic_of
from workers.broker.transactions.half_message import TRANSACTION_ID, is_half

PROPERTIES_SIZE_MAX: Final = 32_767
_PRIORITY_MAX: Final = 2**31 - 1
"""A priority is a number of Java's `int`."""

_PRIORITY_DIGITS_MAX: Final = 10

# Clients before this version do not send a limit of retries.
_VERSION_WITH_RETRY_LIMIT: Final = 121
_PROPERTIES_FOR_THE_AGENT: Final = frozenset(special_properties())
_SET_BY_BROKERS_ONLY: Final = frozenset({COPY_KEY, POP_HANDLE, LIGHT_OFFSETS})
# Bits of committed messages and inner batches (remoting.md 4.2); no producer sets them.
_SYS_FLAG_SPECIAL: Final = 8 | 64 | 128
_PREPARED: Final = 4
"""The bit of a sysFlag that producers of half messages set."""

log = structlog.get_logger()


@serves(
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    role=RequiredRole.ANY,
    passed_on=True,
    target=None,
)
def on_send(broker: Broker, caller: Caller, command: Command) -> Awaitable[bytes] | bytes:
    """Store a message; create its topic if its producer and this broker allow that."""
    header = decode_send_header(command.code, command.ext)
    check_topic_name(header.topic)
    if header.topic in CLOSED_TOPICS or is_state_topic(header.topic):
        raise Refusal(
            ResponseCode.NO_PERMISSION, f"Sending message to topic[{header.topic}] is forbidden."
        )
    broker.check_writable()
    _check_size(broker, header, command)
    properties = parse_properties(header.properties.encode())
    static = broker.static_topics.find(header.topic)
    if static is not None or broker.local_log.has(header.topic):
        _check_plain(header, properties, "static" if static else "not replicated")
    _check_features(broker, header, properties)
    topic = _topic_of(broker, header) if static is None else broker.find_topic(header.topic)
    _check_permission(broker, topic)
    broker.local_log.check(topic.name)
    if static is None:
        _check_queue(topic, header)
    else:
        check_send(broker, static, header.queue_id)
    if header.batch and not is_batch(command.body):
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "the batch is malformed")
    broker.put_topic_if_missing(topic)
    half = is_half(properties, reconsume_times=header.reconsume_times)
    if half:
        broker.transactions.create_topics()
    if not half and (
        header.topic.startswith(RETRY_PREFIX)
        or not _PROPERTIES_FOR_THE_AGENT.isdisjoint(properties)
    ):
        marked = _marked(broker, caller, properties)
        store = partial(_store, broker, caller, command, header, marked)
    else:
        store = partial(_append_hot, broker, caller, command)
    if is_escape(command, properties):
        return _store_once(broker, command, header, properties, store)
    return store()


def _check_size(broker: Broker, header: SendMessageHeader, command: Command) -> None:
    if not command.body:
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "the message has no body")
    if len(command.body) > broker.settings.message_size_max_bytes:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"the body is larger than {broker.settings.message_size_max_bytes} bytes",
        )
    if len(header.properties.encode()) > PROPERTIES_SIZE_MAX:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"the properties are longer than {PROPERTIES_SIZE_MAX} bytes",
        )


def _check_features(broker: Broker, header: SendMessageHeader, properties: dict[str, str]) -> None:
    if header.batch and header.topic.startswith(RETRY_PREFIX):
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "batch messages cannot go to retry topics")
    half = is_half(properties, reconsume_times=header.reconsume_times)
    if half and broker.settings.rejects_transactions:
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            f"the broker[{broker.settings.advertised_ip}] sending transaction message is forbidden",
        )
    if half and header.batch:
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "half messages are sent one by one")
    if half and header.topic.startswith(RETRY_PREFIX):
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "half messages cannot go to retry topics")
    if header.sys_flag & _SYS_FLAG_SPECIAL or (header.sys_flag & _PREPARED and not half):
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"sysFlag {header.sys_flag} marks part of a transaction or an inner batch,"
            " which is not sent so",
        )
    if INNER_COUNT in properties:
        # As stock does: a stock replica treats a record with an INNER_BASE that is no number as
        # damaged.
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"{INNER_COUNT} is a property of inner batches only",
        )
    _check_values(header.properties)
    broker.find_slot(properties)


def _check_values(text: str) -> None:
    """Refuse a delay, timer or transaction property without a value.

    Stock drops such a property, and delivers the message at once.
    """
    for entry in text.split(PROPERTY_SEPARATOR):
        name, _, value = entry.partition(NAME_VALUE_SEPARATOR)
        if name in _PROPERTIES_FOR_THE_AGENT and not value:
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, f"the property {name} has no value")


def _topic_of(broker: Broker, header: SendMessageHeader) -> TopicConfig:
    """Find the topic, or describe the new one by the template that the producer names."""
    topic = broker.topics.find(header.topic)
    if topic is not None:
        return topic
    if header.topic.startswith(RETRY_PREFIX):
        broker.check_group_exists(header.topic.removeprefix(RETRY_PREFIX))
        created: TopicConfig | None = topic_of(header.topic, 1)
    else:
        template = broker.topics.find(header.default_topic)
        created = template and topic_from_template(
            header.topic, template, header.default_topic_queue_count
        )
    if created is None:
        raise Refusal(
            ResponseCode.TOPIC_NOT_EXIST, f"topic[{header.topic}] not exist, apply first please!"
        )
    return created


def _check_plain(header: SendMessageHeader, properties: dict[str, str], why: str) -> None:
    """Refuse transactions and delays to a static topic (L63), or to one that is not replicated.

    Their message is stored later, when the queue may be elsewhere. Until then it is in the
    replicated log.
    """
    half = is_half(properties, reconsume_times=header.reconsume_times)
    is_delayed = delay_level_of(properties) or any(name in properties for name in TIMER_PROPERTIES)
    if half or is_delayed:
        kind = "transactional" if half else "delayed"
        reason = f"the topic[{header.topic}] is {why}, and takes no {kind} messages"
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, reason)


def _check_permission(broker: Broker, topic: TopicConfig) -> None:
    if not permitted(topic, broker.settings.permissions) & WRITABLE:
        raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{topic.name}] is not writable")


def _check_queue(topic: TopicConfig, header: SendMessageHeader) -> None:
    if header.queue_id >= max(topic.read_queue_count, topic.write_queue_count):
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"request queueId[{header.queue_id}] is illegal, topic [{topic.name}] has "
            f"{topic.read_queue_count} queues to read and {topic.write_queue_count} to write",
        )


def _marked(broker: Broker, caller: Caller, properties: dict[str, str]) -> dict[str, str]:
    """Add the broker's properties to a message, and remove those that only brokers may set."""
    kept = {name: value for name, value in properties.items() if name not in _SET_BY_BROKERS_ONLY}
    key = kept.get(UNIQUE_KEY) or unique_key(caller.peer, broker.clock(), broker.source)
    return kept | {
        UNIQUE_KEY: key,
        "CLUSTER": broker.settings.cluster_name,
        "MSG_REGION": broker.settings.region_id,
        "TRACE_ON": text_of(broker.settings.trace_on),
    }


async def _store_once(
    broker: Broker,
    command: Command,
    header: SendMessageHeader,
    properties: dict[str, str],
    store: Callable[[], Awaitable[bytes]],
) -> bytes:
    """Store a message that escaped from another broker group, unless it is stored already (D17).

    Its acting master sends it again if an answer is lost. The log and its index have the key, so
    each later master of this group knows it.

    Raises:
        StoreError: too much of the log is not indexed to say whether it is stored.
    """
    async with broker.escape_lock:
        former = None
        if broker.settings.index_enabled:
            find = partial(_find_escaped, broker.store, header.topic, properties)
            former = await broker.read_threads.search(find)
            # The role may have changed during the search.
            broker.check_writable()
        if former is None:
            outcome = store()
    if former is None:
        return await outcome
    log.info("escaped_message_stored_before", key=properties[ESCAPED_FROM])
    return await _answer_again(broker, command, *former)


def _find_escaped(
    store: Store, topic_name: str, properties: dict[str, str]
) -> tuple[Record, int] | None:
    """Return the stored message with the same key, and where it ends; searches the disk.

    A committed message may wait here again, and may be pending as a half message.
    """
    names = [topic_name]
    if TRANSACTION_ID in properties:
        names += [HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC]
    for name in names:
        found = store.find_by_key(name, properties[UNIQUE_KEY], kind="unique_key", with_tail=True)
        for position, content in found:
            (record,) = decode_records(content)
            if record.properties.get(ESCAPED_FROM) == properties[ESCAPED_FROM]:
                return record, position + len(content)
    return None


async def _answer_again(broker: Broker, command: Command, record: Record, end: int) -> bytes:
    """Answer as if the message were stored now, where it is."""
    unique_key = record.properties[UNIQUE_KEY]
    place = record.queue_id, record.queue_offset
    stored = _Stored(record.log_position, end, *place, unique_key, recall_handle=None)
    return await _answer_when_stored(broker, command, stored)


def _store(
    broker: Broker,
    caller: Caller,
    command: Command,
    header: SendMessageHeader,
    properties: dict[str, str],
) -> Awaitable[bytes]:
    if header.batch:
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, "batch messages cannot be delayed")
    topic_name, queue_id = header.topic, header.queue_id
    if topic_name.startswith(RETRY_PREFIX):
        consumer_group_name = topic_name.removeprefix(RETRY_PREFIX)
        broker.check_group_exists(consumer_group_name)
        if _is_given_up(broker, command, header, consumer_group_name):
            topic_name, queue_id = dead_letter_topic(consumer_group_name), 0
            broker.put_topic_if_missing(topic_of(topic_name, 1))
            properties = properties | {DELAY: "-1"}
    static = broker.static_topics.find(topic_name)
    if queue_id < 0:
        queue_ids = range(max(1, broker.find_topic(topic_name).write_queue_count))
        queue_id = broker.source.choice(
            queue_ids if static is None else taking_queues(broker, static)
        )
    if PRIORITY in properties and static is None:
        count = broker.find_topic(topic_name).write_queue_count
        queue_id, properties = _prioritized(queue_id, properties, queue_count=count)
    segment = None if static is None else static.mapping.hosted[queue_id][-1]
    message = Message(
        topic=topic_name,
        queue_id=queue_id if segment is None else segment.queue_id,
        body=command.body,
        properties=properties,
        flag=header.flag,
        sys_flag=header.sys_flag,
        born_timestamp_ms=header.born_timestamp_ms,
        born_host=caller.peer,
        reconsume_times=header.reconsume_times,
    )
    message = broker.turn_aside(message)
    appended = broker.append(message)
    offset = appended.queue_offset
    if segment is not None:
        offset = segment.to_logical_strict(offset)
    handle = recall_handle(message, broker.settings.broker_name)
    end = appended.log_position + appended.size
    key = properties[UNIQUE_KEY]
    stored = _Stored(appended.log_position, end, queue_id, offset, key, handle)
    return _answer_when_stored(broker, command, stored)


def _prioritized(
    queue_id: int, properties: dict[str, str], *, queue_count: int
) -> tuple[int, dict[str, str]]:
    """Return the queue of a message with a priority, which is its id up to the last queue.

    A delayed message and one of a FIFO queue have no priority, and lose the property, as by stock.
    """
    if not properties.keys().isdisjoint({DELAY, SHARDING_KEY, *TIMER_PROPERTIES}):
        return queue_id, {name: value for name, value in properties.items() if name != PRIORITY}
    priority = properties[PRIORITY]
    # A number that is no natural one says nothing.
    is_natural = priority.isascii() and priority.isdigit() and len(priority) <= _PRIORITY_DIGITS_MAX
    if not is_natural or int(priority) > _PRIORITY_MAX:
        return queue_id, properties
    return min(int(priority), max(1, queue_count) - 1), properties


def _is_given_up(
    broker: Broker, command: Command, header: SendMessageHeader, consumer_group_name: str
) -> bool:
    """Return whether a message was retried often enough to be a dead letter."""
    limit = broker.find_group(consumer_group_name).retry_count_max
    if command.version >= _VERSION_WITH_RETRY_LIMIT and header.max_reconsume_times is not None:
        limit = header.max_reconsume_times
    # An orderly consumer only resends a message that it has given up (storage-and-ha.md 6.2).
    return header.reconsume_times > limit or broker.locks.holds_any(
        consumer_group_name, broker.elapsed_ms()
    )


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored message; queue id and offset are those of the answer, logical in a static topic."""

    log_position: int
    end: int
    queue_id: int
    offset: int
    unique_key: str
    recall_handle: str | None


async def _answer_when_stored(broker: Broker, command: Command, stored: _Stored) -> bytes:
    host, port = broker.store_host
    ext = encode_header(
        SendMessageAnswer(
            message_id=offset_message_id(host, port, stored.log_position),
            queue_id=stored.queue_id,
            queue_offset=stored.offset,
            transaction_id=stored.unique_key,
            recall_handle=stored.recall_handle,
            region=broker.settings.region_id,
            trace_on=broker.settings.trace_on,
        )
    )
    late = answer(command, code=ResponseCode.FLUSH_DISK_TIMEOUT, ext=ext)
    end = stored.end if stored.log_position < LOCAL_START else NOWHERE
    return await broker.membership.stored(end, answer(command, ext=ext), late)


def _append_hot(broker: Broker, caller: Caller, command: Command) -> Awaitable[bytes]:
    """Let the engine append a message whose topic or queue file was made in the meantime."""
    received = broker.hot.append(command, caller.peer, broker.clock())
    if received is None:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the message cannot be stored")
    if (failure := received.store_failure) is not None:
        broker.store_failed(failure)
    broker.appended(is_turn_due=received.is_turn_due)
    reply = received.replies or received.deferred
    return broker.membership.stored(
        received.deferred_position, reply, unconfirmed(reply, Outcome.UNFLUSHED)
    )
