"""Answer routes of topics (remoting.md 2.7 and 3.3: 105, 217)."""

from collections.abc import Mapping
from typing import Final

import msgspec

from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import knows_static_topics
from backend.domain.route import GroupMembers, RouteEntry, TopicRoute, keep_zone, without_static
from backend.domain.topic import QueueSettings, check_topic
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.remoting import java_json
from backend.remoting.bodies import BrokerData, QueueData, QueueMappingInfo, TopicRouteData
from backend.remoting.command import Command
from backend.remoting.headers import RouteHeader, TopicHeader, decode_header

# Clients from 4.9.4 on read strict JSON. Older clients receive the form of older RocketMQ.
VERSION_WITH_STRICT_JSON: Final = 401
ZONE_MODE_KEY: Final = "__ZONE_MODE"
ZONE_NAME_KEY: Final = "__ZONE_NAME"
JAVA: Final = "JAVA"


def on_get_route(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the route of a topic."""
    header = decode_header(RouteHeader, command.ext)
    route = directory.table.route(header.topic)
    if route.static is not None and not _knows_static_topics(command, header):
        route = without_static(route)
    zone_name = command.ext.get(ZONE_NAME_KEY, "").strip()
    if zone_name and command.ext.get(ZONE_MODE_KEY, "").lower() == "true":
        route = keep_zone(route, zone_name)
    is_strict = command.version >= VERSION_WITH_STRICT_JSON or header.accept_standard_json_only
    return Answer(body=encode_route(route, is_strict=is_strict))


def on_register_topic(command: Command, _session: object, directory: Directory) -> Answer:
    """Add a topic to known groups; if one group is unknown, nothing changes."""
    header = decode_header(TopicHeader, command.ext)
    route = java_json.decode(command.body, TopicRouteData) if command.body else TopicRouteData()
    settings = {
        queue.broker_name: check_topic(header.topic, _settings(queue)) for queue in route.queues
    }
    directory.table.add_topic(header.topic, settings)
    return Answer()


def encode_route(route: TopicRoute, *, is_strict: bool) -> bytes:
    """Write a route as JSON, with numeric keys quoted, or bare as in Java maps."""
    data = TopicRouteData(
        brokers=[broker_data(entry.members) for entry in route.entries],
        queues=[_queue_data(entry) for entry in route.entries],
        topic_queue_mapping_by_broker=(
            msgspec.UNSET if route.static is None else _mappings(route.static.mappings)
        ),
    )
    if is_strict:
        return java_json.encode(data)
    brokers = b",".join(_encode_with_bare_keys(broker) for broker in data.brokers)
    queues = java_json.encode(data.queues)
    body = b'"brokerDatas":[%b],"filterServerTable":{},"queueDatas":%b' % (brokers, queues)
    if route.static is not None:
        body += b',"topicQueueMappingByBroker":{%b}' % b",".join(
            b"%b:%b" % (msgspec.json.encode(name), _encode_mapping_with_bare_keys(mapping))
            for name, mapping in _mappings(route.static.mappings).items()
        )
    return b"{%b}" % body


def broker_data(members: GroupMembers) -> BrokerData:
    """Return the members of a group in the form of the protocol."""
    return BrokerData(
        addresses=dict(members.addresses),
        broker_name=members.broker_group_name,
        cluster=members.cluster_name,
        enable_acting_master=members.acting_master_enabled,
    )


def _queue_data(entry: RouteEntry) -> QueueData:
    return QueueData(
        broker_name=entry.members.broker_group_name,
        permissions=entry.settings.permissions,
        read_queue_count=entry.settings.read_queue_count,
        topic_sys_flag=entry.settings.topic_sys_flag,
        write_queue_count=entry.settings.write_queue_count,
    )


def _knows_static_topics(command: Command, header: RouteHeader) -> bool:
    return knows_static_topics(
        version=command.version,
        is_java=command.language == JAVA,
        sends_lqv=header.mapping_version > 0,
    )


def _mappings(mappings: Mapping[str, MappingInfo]) -> dict[str, QueueMappingInfo]:
    return {
        name: QueueMappingInfo(
            broker_name=one.broker_group_name,
            led=dict(one.led),
            epoch=one.epoch,
            scope=one.scope,
            topic=one.topic_name,
            queue_count=one.queue_count,
        )
        for name, one in mappings.items()
    }


def _settings(queue: QueueData) -> QueueSettings:
    return QueueSettings(
        read_queue_count=queue.read_queue_count,
        write_queue_count=queue.write_queue_count,
        permissions=queue.permissions,
        topic_sys_flag=queue.topic_sys_flag,
    )


def _encode_with_bare_keys(broker: BrokerData) -> bytes:
    addresses = b",".join(
        b"%d:%b" % (broker_id, msgspec.json.encode(address))
        for broker_id, address in broker.addresses.items()
    )
    return b'{"brokerAddrs":{%b},"brokerName":%b,"cluster":%b,"enableActingMaster":%b}' % (
        addresses,
        msgspec.json.encode(broker.broker_name),
        msgspec.json.encode(broker.cluster),
        msgspec.json.encode(broker.enable_acting_master),
    )


def _encode_mapping_with_bare_keys(mapping: QueueMappingInfo) -> bytes:
    led = b",".join(b"%d:%d" % place for place in mapping.led.items())
    quoted = java_json.encode(msgspec.structs.replace(mapping, led={}))
    return quoted.replace(b'"currIdMap":{}', b'"currIdMap":{%b}' % led, 1)
