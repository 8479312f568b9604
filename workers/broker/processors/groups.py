"""Create, delete and show consumer groups (remoting.md 2.8).

These are 200, 201, 207, 208, 300, 303, 317 and 352.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial

import msgspec
from regent_engine import Command, Store

from backend.remoting import java_json
from backend.remoting.bodies import (
    MessageQueue,
    QueueProgress,
    QueueTimeSpan,
    QueueTimeSpans,
    SubscriptionGroupConfig,
    TopicConfig,
    encode_broker_consume_stats,
    encode_consume_stats,
)
from backend.remoting.command import answer
from backend.remoting.headers import (
    BrokerConsumeStatsHeader,
    ConsumeStatsHeader,
    ConsumeTimeSpanHeader,
    DeleteGroupHeader,
    GroupHeader,
    TopicHeader,
    decode_header,
)
from backend.remoting.names import (
    BUILT_IN_GROUPS,
    check_consumer_group_name,
    dead_letter_topic,
    retry_topic,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import GROUP_ATTRIBUTES, InvalidAttributes, changed_attributes
from backend.rules.consumer_group import group_fault
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.safe_answers import kept, published
from workers.broker.requests.serving import serves


def _put_target(broker: Broker, command: Command) -> FenceTarget:
    body = command.body or b"{}"
    return _target(broker, java_json.decode(body, SubscriptionGroupConfig).name)


def _delete_target(broker: Broker, command: Command) -> FenceTarget:
    return _target(broker, decode_header(DeleteGroupHeader, command.ext).group)


def _target(broker: Broker, name: str) -> FenceTarget:
    return FenceTarget(f"consumer group {name}", lambda: broker.groups.find(name), is_own=False)


@serves(
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_put_target,
)
def on_put_group(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Create or change a consumer group."""
    group = java_json.decode(command.body or b"{}", SubscriptionGroupConfig)
    check_consumer_group_name(group.name)
    fault = group_fault(group.name, retry_queue_count=group.retry_queue_count)
    if fault is not None:
        raise Refusal(ResponseCode.INVALID_PARAMETER, f"the group {group.name}: {fault}")
    broker.check_changeable()
    former = broker.groups.find(group.name)
    broker.groups.put(msgspec.structs.replace(group, attributes=_merged(former, group)))
    return kept(broker, answer(command))


def _merged(
    former: SubscriptionGroupConfig | None, wished: SubscriptionGroupConfig
) -> dict[str, str]:
    """Apply the attributes of a request, which are changes: `+name` with a value, or `-name`."""
    held = None if former is None else former.attributes
    try:
        return changed_attributes(GROUP_ATTRIBUTES, held, wished.attributes.items())
    except InvalidAttributes as error:
        raise Refusal(ResponseCode.INVALID_PARAMETER, str(error)) from error


@serves(
    RequestCode.DELETE_SUBSCRIPTIONGROUP,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=True,
    target=_delete_target,
)
def on_delete_group(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Delete a consumer group; a group that does not exist is no error.

    If its offsets are deleted, its retries and dead letters are too. Stock's tool deletes those
    topics itself, broker by broker, but not if it is called for one broker.
    """
    header = decode_header(DeleteGroupHeader, command.ext)
    if header.group in BUILT_IN_GROUPS:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"the group {header.group} belongs to the broker"
        )
    broker.check_changeable()
    topics = [retry_topic(header.group), dead_letter_topic(header.group)]
    gone = _known(broker, topics) if header.cleans_offsets else []
    if gone:
        broker.check_writable(to_make_room=True)
    broker.groups.remove(header.group)
    broker.request_modes.remove(group=header.group)
    broker.shares.remove(group=header.group)
    broker.resets.forget(group=header.group)
    broker.readers.remove_group(header.group)
    broker.meters.traffic.forget_group(header.group)
    broker.take_progress()
    if header.cleans_offsets:
        broker.offsets.remove_group(header.group)
    for topic in gone:
        broker.remove_topic(topic.name)
    keep = published if gone else kept
    return keep(broker, answer(command))


@serves(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_groups_of_topic(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the groups that consume a topic, now or in the past."""
    topic = decode_header(TopicHeader, command.ext).topic
    names = {*broker.consumers.groups_of(topic), *broker.offsets.groups_of(topic)}
    return answer(command, body=java_json.encode({"groupList": sorted(names)}))


@serves(
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, role=RequiredRole.ANY, passed_on=False, target=None
)
def on_get_group(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the settings of one group."""
    group = broker.check_group_exists(decode_header(GroupHeader, command.ext).group)
    return answer(command, body=java_json.encode(group))


@serves(
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    role=RequiredRole.ANY,
    passed_on=False,
    target=None,
)
def on_get_all_groups(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return all groups at once."""
    return answer(command, body=java_json.encode(broker.groups.as_body()))


@serves(RequestCode.GET_CONSUME_STATS, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_consume_stats(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the offsets of a group; topics that are unknown, or not here, are left out."""
    header = decode_header(ConsumeStatsHeader, command.ext)
    group = header.consumer_group
    if header.topic_list:
        # Each once: a list that repeats a topic with many queues would create an answer of
        # gigabytes.
        names = list(dict.fromkeys(name for name in header.topic_list.split(";") if name))
    else:
        committed = [header.topic] if header.topic else broker.offsets.topics_of(group)
        names = _subscribed(broker, group, committed)
    topics = _known(broker, names)
    entries = await _progress(broker, group, topics)
    rate = sum(_read_rate(broker, group, topic) for topic in topics)
    return answer(command, body=encode_consume_stats(entries, read_rate=rate))


@serves(RequestCode.GET_BROKER_CONSUME_STATS, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_all_consume_stats(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the offsets of every group in every topic that it reads."""
    only_ordered = decode_header(BrokerConsumeStatsHeader, command.ext).only_ordered
    groups: list[tuple[str, list[bytes]]] = []
    lag, in_flight, committed = 0, 0, broker.offsets.topics_by_group()
    for group in sorted(broker.groups.as_body().groups):
        names = _subscribed(broker, group, committed.get(group, []))
        stats: list[bytes] = []
        for topic in _known(broker, names):
            if only_ordered and not topic.is_ordered:
                continue
            entries = await _progress(broker, group, [topic])
            lag += sum(_lag(one) for _, one in entries)
            in_flight += sum(_in_flight(one) for _, one in entries)
            rate = _read_rate(broker, group, topic)
            stats.append(encode_consume_stats(entries, read_rate=rate))
        groups.append((group, stats))
        # There may be thousands, and clients are served between them.
        await asyncio.sleep(0)
    host, port = broker.store_host
    body = encode_broker_consume_stats(f"{host}:{port}", groups, lag=lag, in_flight=in_flight)
    return answer(command, body=body)


def _lag(progress: QueueProgress) -> int:
    """Count the unread messages of a queue; expired messages are no lag."""
    return max(0, progress.broker_offset - max(progress.consumer_offset, progress.min_offset))


def _in_flight(progress: QueueProgress) -> int:
    """Count the messages that a group has received and not committed, without expired ones."""
    return max(0, progress.pull_offset - max(progress.consumer_offset, progress.min_offset))


def _subscribed(broker: Broker, group: str, names: list[str]) -> list[str]:
    """Leave out topics that a connected group does not read any more."""
    online = broker.consumers.find(group)
    return names if online is None else [name for name in names if name in online.subscriptions]


def _known(broker: Broker, names: list[str]) -> list[TopicConfig]:
    found = (broker.topics.find(name) for name in names)
    served = broker.local_log.serves
    return [topic for topic in found if topic is not None and served(topic)]


def _read_rate(broker: Broker, group: str, topic: TopicConfig) -> float:
    return broker.meters.traffic.read_rate(group, topic.name, broker.elapsed_ms())


async def _progress(
    broker: Broker, consumer_group_name: str, topics: list[TopicConfig]
) -> list[tuple[MessageQueue, QueueProgress]]:
    offsets = (
        (topic.name, queue_id, *_offsets(broker, consumer_group_name, topic.name, queue_id))
        for topic in topics
        for queue_id in range(topic.read_queue_count)
    )
    read = partial(_queue_progress, broker.store, broker.settings.broker_name)
    return await broker.read_threads.read_each(read, offsets)


def _offsets(broker: Broker, group: str, topic: str, queue_id: int) -> tuple[int, int]:
    """Return a group's committed offset in a queue, and the end of its received messages.

    Clients parse these as numbers, so an offset that was never committed is sent as the first
    one, mostly 0. In a queue of a static topic it is sent as -1, since stock's tools then look for
    it in the segment before.
    """
    is_static = broker.static_topics.find(topic) is not None
    never = -1 if is_static else broker.store.first_offset(topic)
    found = broker.offsets.find(group, topic, queue_id)
    committed = never if found is None else max(never, found)
    reader = broker.readers.find(group, topic, queue_id)
    pulled = 0 if reader is None else reader.next_offset or 0
    return committed, max(committed, pulled)


def _queue_progress(
    store: Store, broker_name: str, wanted: tuple[str, int, int, int]
) -> tuple[MessageQueue, QueueProgress]:
    topic, queue_id, committed, pulled = wanted
    low, high = store.offsets(topic, queue_id) or (0, 0)
    timestamp_ms = 0
    if committed > 0:
        timestamp_ms = store.store_timestamp(topic, queue_id, committed - 1)
    return (
        MessageQueue(broker_name=broker_name, queue_id=queue_id, topic=topic),
        QueueProgress(
            broker_offset=high,
            consumer_offset=committed,
            last_timestamp_ms=max(0, timestamp_ms),
            pull_offset=pulled,
            min_offset=low,
        ),
    )


@serves(RequestCode.QUERY_CONSUME_TIME_SPAN, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_time_spans(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the ages of a topic's messages, and of the first one that a group has not consumed."""
    header = decode_header(ConsumeTimeSpanHeader, command.ext)
    topic = broker.find_topic(header.topic)
    broker.local_log.check(topic.name)
    committed = (
        (queue_id, broker.offsets.find(header.group, topic.name, queue_id) or 0)
        for queue_id in range(topic.read_queue_count)
    )
    read = partial(_time_span, broker, topic.name)
    spans = await broker.read_threads.read_each(read, committed)
    return answer(command, body=java_json.encode(QueueTimeSpans(spans=spans)))


def _time_span(broker: Broker, topic: str, wanted: tuple[int, int]) -> QueueTimeSpan:
    store, (queue_id, committed) = broker.store, wanted
    low, high = store.offsets(topic, queue_id) or (0, 0)
    waiting = min(max(committed, low), high)

    def stored_at_ms(offset: int) -> int:
        return store.store_timestamp(topic, queue_id, offset) if low <= offset < high else -1

    oldest_ms, unread_ms = stored_at_ms(low), stored_at_ms(waiting)
    return QueueTimeSpan(
        min_timestamp_ms=oldest_ms,
        max_timestamp_ms=stored_at_ms(high - 1),
        consumed_timestamp_ms=stored_at_ms(committed - 1) if committed > 0 else oldest_ms,
        delay_ms=max(0, broker.clock() - unread_ms) if unread_ms >= 0 else 0,
        queue=MessageQueue(broker_name=broker.settings.broker_name, queue_id=queue_id, topic=topic),
    )
