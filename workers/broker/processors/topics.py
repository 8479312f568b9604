"""Create, change, delete and show topics (remoting.md 2.8: 17, 21, 202, 215, 305, 351)."""

from collections.abc import Awaitable
from functools import partial

import msgspec
from regent_engine import Command, Store

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.stock_json import encode_mapping, without_ends
from backend.remoting import java_json
from backend.remoting.bodies import (
    MessageQueue,
    StaticTopicConfig,
    TopicConfig,
    TopicList,
    TopicOffset,
    encode_topic_stats,
)
from backend.remoting.command import answer
from backend.remoting.headers import (
    CreateTopicHeader,
    DeleteTopicHeader,
    TopicHeader,
    decode_header,
)
from backend.remoting.headers.logical_queues import (
    MAPPING_VERSION,
    MappingHeader,
    TopicConfigHeader,
)
from backend.remoting.names import (
    SYSTEM_TOPICS,
    check_topic_name,
    is_system_topic,
    old_pop_retry_topic,
    pop_retry_topic,
    reply_topic,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import (
    TOPIC_ATTRIBUTES,
    InvalidAttributes,
    changed_attributes,
    is_replicated,
    parse_changes,
)
from workers.broker.broker import Broker
from workers.broker.commit_log.local_log import check_replicate
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import check_dynamic
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.safe_answers import kept, published
from workers.broker.requests.serving import serves
from workers.broker.shares.share_mode import check_share_mode


def _target(broker: Broker, command: Command) -> FenceTarget:
    name = decode_header(TopicHeader, command.ext).topic
    return FenceTarget(f"topic {name}", lambda: broker.topics.find(name), is_own=False)


@serves(
    RequestCode.UPDATE_AND_CREATE_TOPIC,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_target,
)
def on_create_topic(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Create or change a topic; name servers know it before the answer is sent."""
    header = decode_header(CreateTopicHeader, command.ext)
    check_topic_open(broker, header.topic)
    check_dynamic(broker, header.topic)
    broker.check_changeable()
    former = broker.topics.find(header.topic)
    attributes = merged_attributes(former, header.attributes)
    check_share_mode(broker, header.topic, former, attributes)
    check_replicate(broker, header.topic, attributes)
    topic = TopicConfig(
        name=header.topic,
        read_queue_count=header.read_queue_count,
        write_queue_count=header.write_queue_count,
        permissions=header.permissions,
        filter_type=header.filter_type,
        topic_sys_flag=header.topic_sys_flag,
        is_ordered=header.is_ordered,
        attributes=attributes,
    )
    if is_replicated(attributes):
        return _put(broker, command, topic)
    return _put_local(broker, command, topic)


def _put(broker: Broker, command: Command, topic: TopicConfig) -> Awaitable[bytes]:
    keep = published if broker.put_topic(topic) else kept
    return keep(broker, answer(command))


async def _put_local(broker: Broker, command: Command, topic: TopicConfig) -> bytes:
    """Create or change a topic that is not replicated, once the log of such topics is open."""
    former = broker.topics.find(topic.name)
    await broker.local_log.make_ready(topic.attributes)
    broker.check_changeable()
    if broker.topics.find(topic.name) is not former:
        reason = f"the topic[{topic.name}] was changed at the same time: try again"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)
    return await _put(broker, command, topic)


@serves(
    RequestCode.DELETE_TOPIC_IN_BROKER,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_target,
)
def on_delete_topic(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Delete a topic with its queues and offsets; a topic that does not exist is no error.

    Messages that wait in retry topics of POP were of the topic, and go along (remoting.md 2.8).
    """
    header = decode_header(DeleteTopicHeader, command.ext)
    if is_system_topic(header.topic) or header.topic in _own_topics(broker):
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"The topic[{header.topic}] is conflict with system topic.",
        )
    is_held = broker.topics.find(header.topic) or broker.static_topics.find(header.topic)
    if is_held is None and broker.topics.find_left_out(header.topic) is None:
        return kept(broker, answer(command))
    if header.only_empty and _message_count(broker, header.topic):
        raise Refusal(
            ResponseCode.ILLEGAL_OPERATION, f"the topic[{header.topic}] is not empty any more"
        )
    retries = _pop_retry_topics(broker, header.topic)
    if header.only_empty:
        retries = [one for one in retries if not _message_count(broker, one)]
    for name in [header.topic, *retries]:
        broker.remove_topic(name)
    return published(broker, answer(command))


def _pop_retry_topics(broker: Broker, topic_name: str) -> list[str]:
    """Return the topics in which messages of a topic wait for POP consumers."""
    names = []
    for group in broker.offsets.groups_of(topic_name):
        names.append(pop_retry_topic(group, topic_name))
        # A name of the old form may be that of another group's retry topic.
        if broker.groups.find(f"{group}_{topic_name}") is None:
            names.append(old_pop_retry_topic(group, topic_name))
    return [name for name in names if broker.topics.find(name) is not None]


@serves(RequestCode.GET_TOPIC_CONFIG, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_topic_config(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the layout of one topic, with its mapping if that is wanted."""
    header = decode_header(TopicConfigHeader, command.ext)
    topic = broker.find_topic(header.topic)
    static = broker.static_topics.find(header.topic) if header.is_logical else None
    if static is None:
        return answer(command, body=java_json.encode(topic))
    config = StaticTopicConfig(mapping=_detail(static, header), **msgspec.structs.asdict(topic))
    return answer(command, body=java_json.encode(config))


@serves(RequestCode.GET_ALL_TOPIC_CONFIG, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_all_topics(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return all topics and mappings at once; stock's pages lose one entry at each border."""
    header = decode_header(MappingHeader, command.ext)
    details = {name: _detail(static, header) for name, static in broker.static_topics.all.items()}
    table = msgspec.structs.replace(
        broker.topics.as_body(),
        mapping_data_version=broker.static_topics.data_version,
        mapping_details=details,
    )
    return answer(command, body=java_json.encode(table))


@serves(RequestCode.GET_TOPIC_STATS_INFO, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_topic_stats(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the first and last offsets of a topic's queues."""
    topic = broker.find_topic(decode_header(TopicHeader, command.ext).topic)
    broker.local_log.check(topic.name)
    queue_ids = range(max(topic.read_queue_count, topic.write_queue_count))
    stats = await broker.read_threads.read_each(
        partial(_stats, broker.store, broker.settings.broker_name, topic.name), queue_ids
    )
    return answer(command, body=encode_topic_stats(stats))


@serves(
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
    role=RequiredRole.ANY,
    passed_on=False,
    target=None,
)
def on_get_system_topics(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the topics that no user may create or delete."""
    names = sorted(SYSTEM_TOPICS | _own_topics(broker))
    return answer(command, body=java_json.encode(TopicList(topic_list=names)))


def _detail(static: BrokerTopic, header: MappingHeader) -> msgspec.Raw:
    """Return a mapping as its requester understands it."""
    is_plain = header.mapping_version < MAPPING_VERSION
    mapping = without_ends(static.mapping) if is_plain else static.mapping
    return msgspec.Raw(encode_mapping(mapping).encode())


def merged_attributes(former: TopicConfig | None, changes: str) -> dict[str, str]:
    """Return the attributes of a topic after changes.

    Raises:
        Refusal: a change is invalid.
    """
    held = None if former is None else former.attributes
    try:
        return changed_attributes(TOPIC_ATTRIBUTES, held, parse_changes(changes))
    except InvalidAttributes as error:
        raise Refusal(ResponseCode.INVALID_PARAMETER, str(error)) from error


def check_topic_open(broker: Broker, name: str) -> None:
    """Check that users may create a topic of a name.

    Raises:
        InvalidName: it is no name of a topic. Refusal: it is a topic of the system.
    """
    check_topic_name(name)
    if is_system_topic(name) or name in _own_topics(broker):
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"The topic[{name}] is conflict with system topic."
        )


def _message_count(broker: Broker, name: str) -> int:
    """Count the messages in all queues of a topic, including removed queues."""
    return sum(high - low for topic, _, low, high in broker.store.queues() if topic == name)


def _own_topics(broker: Broker) -> frozenset[str]:
    settings = broker.settings
    cluster_name = settings.cluster_name
    return frozenset({cluster_name, settings.broker_name, reply_topic(cluster_name)})


def _stats(
    store: Store, broker_name: str, topic: str, queue_id: int
) -> tuple[MessageQueue, TopicOffset]:
    low, high = store.offsets(topic, queue_id) or (0, 0)
    timestamp_ms = 0
    if high > low:
        timestamp_ms = max(0, store.store_timestamp(topic, queue_id, high - 1))
    return (
        MessageQueue(broker_name=broker_name, queue_id=queue_id, topic=topic),
        TopicOffset(last_update_timestamp_ms=timestamp_ms, max_offset=high, min_offset=low),
    )
