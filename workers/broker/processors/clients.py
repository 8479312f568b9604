"""Answer clients about themselves and their groups (remoting.md 2.3: 34, 35, 38, 46).

Tools get the list of connected clients (2.8: 203, 204, 328; our 7006).
"""

from collections.abc import Iterable
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import (
    CheckClientBody,
    ClientConnection,
    ConnectedClient,
    ConnectedClients,
    ConsumerConnection,
    ConsumerData,
    ConsumerIds,
    GroupMembership,
    GroupMemberships,
    HeartbeatData,
    MemberSubscription,
    ProducerConnection,
    ProducerInfo,
    ProducerTable,
    decode_heartbeat,
)
from backend.remoting.command import answer
from backend.remoting.headers import (
    ConsumerGroupHeader,
    ProducerGroupHeader,
    UnregisterClientHeader,
    decode_header,
    text_of,
)
from backend.remoting.headers.locks import MembershipsHeader
from backend.remoting.names import retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sifting import LeftOut
from workers.broker.broker import Broker
from workers.broker.commit_log.message_filters import check_subscription
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import is_logical
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.clients import Client
from workers.broker.tables.topics import topic_of

UNIT_SUBSCRIPTION_FLAG = 2
# About 300 bytes each, of a frame of 16 MiB.
REPORTED_COUNT_MAX: Final = 20_000
LEFT_OUT_COUNT_MAX: Final = 10_000
REPORTED_ITEMS_MAX: Final = 5

log = structlog.get_logger()


@serves(RequestCode.HEART_BEAT, role=RequiredRole.ANY, passed_on=False, target=None)
def on_heartbeat(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Register a client and its subscriptions, before its first pull can arrive."""
    heartbeat, left_out = decode_heartbeat(command.body or b"{}")
    if not heartbeat.client_id:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the field clientID is missing")
    client = Client(
        client_id=heartbeat.client_id,
        address=caller.address,
        language=command.language,
        version=command.version,
        seen_at_ms=broker.elapsed_ms(),
    )
    _name_left_out(broker, client, left_out)
    for producer in heartbeat.producers:
        broker.producers.register(producer.group_name, caller, client)
    changes = [
        _register_consumer(broker, caller, client, heartbeat, consumer)
        for consumer in heartbeat.consumers
    ]
    is_changed = any(changes) if heartbeat.fingerprint else True
    reply = answer(
        command,
        ext={"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": text_of(is_changed)},
        remark=_reported_left_out(left_out),
    )
    if broker.changes.is_any_unwritten:
        # A group or a retry topic that was created on first use is as safe as a message.
        broker.changes.append()
    return reply


def _reported_left_out(left_out: list[LeftOut]) -> str | None:
    """Name in the answer the invalid items of the heartbeat."""
    if not left_out:
        return None
    named = ", ".join(
        f"{'/'.join(one.path)}: {one.reason}" for one in left_out[:REPORTED_ITEMS_MAX]
    )
    return f"{len(left_out)} items are left out, all others are taken: {named}"


def _name_left_out(broker: Broker, client: Client, left_out: list[LeftOut]) -> None:
    """Log the first invalid items of a client's heartbeat, each once."""
    for one in left_out[:REPORTED_ITEMS_MAX]:
        key = (client.client_id, one.path)
        if key in broker.left_out_of_clients:
            continue
        if len(broker.left_out_of_clients) >= LEFT_OUT_COUNT_MAX:
            broker.left_out_of_clients.clear()
        broker.left_out_of_clients.add(key)
        log.warning(
            "heartbeat_item_left_out",
            client_id=client.client_id,
            address=client.address,
            item="/".join(one.path),
            reason=one.reason,
            count=len(left_out),
        )


def _register_consumer(
    broker: Broker,
    caller: Caller,
    client: Client,
    heartbeat: HeartbeatData,
    consumer: ConsumerData,
) -> bool:
    """Register one group; True when its fingerprint differs from the stored one.

    A group that is unknown and may not be created is ignored without an error, as in stock.
    """
    try:
        _make_retry_topic(broker, consumer)
    except Refusal:
        return False
    is_light = heartbeat.fingerprint != 0 and heartbeat.without_subscriptions
    change = broker.consumers.register(consumer, caller, client, with_subscriptions=not is_light)
    for topic_name in change.topics:
        _release_pulls(broker, consumer.group_name, topic_name)
    if change.is_rebalance_due:
        broker.notify_members(consumer.group_name)
    if not heartbeat.fingerprint:
        return False
    return broker.consumers.compare_fingerprint(consumer.group_name, heartbeat.fingerprint)


def _release_pulls(broker: Broker, consumer_group_name: str, topic_name: str) -> None:
    """Answer held pulls, so that consumers pull again with the new subscription of their group."""
    broker.polling.release_group(consumer_group_name, topic_name)


def _make_retry_topic(broker: Broker, consumer: ConsumerData) -> None:
    """Create the topic that consumers subscribe to before any message has failed."""
    name = retry_topic(consumer.group_name)
    group = broker.find_group(consumer.group_name)
    if group.retry_queue_count > 0:
        flag = UNIT_SUBSCRIPTION_FLAG if consumer.unit_mode else 0
        topic = topic_of(name, group.retry_queue_count, topic_sys_flag=flag)
        broker.put_topic_if_missing(topic)


@serves(RequestCode.UNREGISTER_CLIENT, role=RequiredRole.ANY, passed_on=False, target=None)
def on_unregister_client(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Remove a client from the groups it names."""
    header = decode_header(UnregisterClientHeader, command.ext)
    if header.producer_group:
        broker.producers.unregister(header.producer_group, caller)
    if header.consumer_group and broker.consumers.unregister(header.consumer_group, caller):
        broker.notify_members(header.consumer_group)
    if header.consumer_group:
        departed = broker.shares.departed
        departed.note(caller.connection_id, header.consumer_group, header.client_id)
        broker.shares.client_gone(caller.connection_id, header.consumer_group)
    return answer(command)


@serves(RequestCode.GET_CONSUMER_LIST_BY_GROUP, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_consumer_list(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the members of a group; an empty group is an error, because clients would stop.

    Another broker that completes a list gets the members that this broker knows itself.
    """
    name = decode_header(ConsumerGroupHeader, command.ext).consumer_group
    lists = broker.member_lists
    ids = await lists.find(name) if is_logical(command.ext) else lists.find_own(name)
    if ids is None:
        raise Refusal(ResponseCode.SYSTEM_ERROR, f"no consumer for this group, {name}")
    return answer(command, body=java_json.encode(ConsumerIds(ids=ids)))


@serves(RequestCode.CHECK_CLIENT_CONFIG, role=RequiredRole.ANY, passed_on=False, target=None)
def on_check_client(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Check a subscription before its consumer starts."""
    if command.body:
        subscription = java_json.decode(command.body, CheckClientBody).subscription
        if subscription is not None:
            check_subscription(broker.settings, subscription)
    return answer(command)


@serves(
    RequestCode.GET_CONSUMER_CONNECTION_LIST, role=RequiredRole.ANY, passed_on=False, target=None
)
def on_get_consumer_connections(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the members of a consumer group to tools."""
    header = decode_header(ConsumerGroupHeader, command.ext)
    group = broker.consumers.find(header.consumer_group)
    if group is None:
        raise Refusal(
            ResponseCode.CONSUMER_NOT_ONLINE,
            f"the consumer group[{header.consumer_group}] not online",
        )
    body = ConsumerConnection(
        connections=_connections(group.members.values()),
        consume_from_where=group.consume_from_where,
        consume_type=group.consume_type,
        message_model=group.message_model,
        subscriptions=group.subscriptions,
    )
    return answer(command, body=java_json.encode(body))


@serves(
    RequestCode.GET_PRODUCER_CONNECTION_LIST, role=RequiredRole.ANY, passed_on=False, target=None
)
def on_get_producer_connections(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the members of a producer group to tools."""
    header = decode_header(ProducerGroupHeader, command.ext)
    members = broker.producers.find(header.producer_group)
    if members is None:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"the producer group[{header.producer_group}] not exist",
        )
    body = ProducerConnection(connections=_connections(members.values()))
    return answer(command, body=java_json.encode(body))


@serves(RequestCode.GET_ALL_PRODUCER_INFO, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_all_producers(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the members of all producer groups; without any it is an error, as in stock."""
    groups: dict[str, list[ProducerInfo]] = {}
    now_ms, elapsed_ms = broker.clock(), broker.elapsed_ms()
    for name, _, client in broker.producers.all():
        info = ProducerInfo(
            client_id=client.client_id,
            remote_address=client.address,
            language=client.language,
            version=client.version,
            heard_at_ms=now_ms - (elapsed_ms - client.seen_at_ms),
        )
        groups.setdefault(name, []).append(info)
    if not groups:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "no producer is connected")
    return answer(command, body=java_json.encode(ProducerTable(groups=groups)))


@serves(RequestCode.GET_CLIENTS, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_clients(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return every client and its groups to the control plane (7006)."""
    clients: dict[Caller, Client] = {}
    produced: dict[Caller, list[str]] = {}
    consumed: dict[Caller, list[str]] = {}
    for table, members in ((produced, broker.producers.all()), (consumed, broker.consumers.all())):
        for name, channel, client in members:
            known = clients.get(channel)
            if known is None or known.seen_at_ms < client.seen_at_ms:
                clients[channel] = client
            table.setdefault(channel, []).append(name)
    now_ms = broker.elapsed_ms()
    reported = [
        ConnectedClient(
            client_id=client.client_id,
            address=client.address,
            language=client.language,
            version=client.version,
            heard_ms=max(0, now_ms - client.seen_at_ms),
            producer_groups=sorted(produced.get(channel, ())),
            consumer_groups=sorted(consumed.get(channel, ())),
        )
        for channel, client in clients.items()
    ]
    body = ConnectedClients(total_count=len(reported), clients=reported[:REPORTED_COUNT_MAX])
    return answer(command, body=java_json.encode(body))


@serves(RequestCode.GET_MEMBERSHIPS, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_memberships(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return each member's subscriptions, of all groups or one, to the control plane (7007)."""
    wanted = decode_header(MembershipsHeader, command.ext).consumer_group
    now_ms = broker.elapsed_ms()
    memberships: list[GroupMembership] = []
    total_count = 0
    for name, channel, client in broker.consumers.all():
        if wanted not in (None, name):
            continue
        total_count += 1
        group = broker.consumers.find(name)
        view = None if group is None else group.views.get(channel)
        if view is None or view.subscriptions is None or len(memberships) >= REPORTED_COUNT_MAX:
            continue
        memberships.append(
            GroupMembership(
                group=name,
                client_id=client.client_id,
                address=client.address,
                heard_ms=max(0, now_ms - client.seen_at_ms),
                message_model=view.message_model,
                consume_type=view.consume_type,
                consume_from_where=view.consume_from_where,
                subscriptions=[
                    MemberSubscription(
                        topic=one.topic,
                        expression_type=one.expression_type,
                        expression=one.expression,
                    )
                    for one in view.subscriptions
                ],
            )
        )
    body = GroupMemberships(total_count=total_count, members=memberships)
    return answer(command, body=java_json.encode(body))


def _connections(clients: Iterable[Client]) -> list[ClientConnection]:
    return [
        ClientConnection(
            client_address=client.address,
            client_id=client.client_id,
            language=client.language,
            version=client.version,
        )
        for client in clients
    ]
