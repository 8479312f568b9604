"""Take brokers in, hear that they live, and let them go (remoting.md 2.7: 103, 904, 322, 104)."""

import zlib
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from backend.clients.clock import elapsed_ms
from backend.db.replica_sightings import ReplicaKey
from backend.domain.broker import (
    HEARTBEAT_TIMEOUT_MAX_MS,
    DataVersion,
    clamp_heartbeat_timeout_ms,
)
from backend.domain.election import PRIORITY_LOWEST, Sighting
from backend.domain.names import (
    check_address,
    check_cluster_name,
    check_group_name,
    check_topic_name,
)
from backend.domain.replica_group import FIRST_BROKER_ID, UNKNOWN_LIFE, UNKNOWN_POSITION
from backend.domain.topic import QueueSettings, check_queue_settings
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.key_values import ORDER_TOPIC_NAMESPACE
from backend.nameserver.members import LiveBroker, Registration
from backend.nameserver.route_table import Registered
from backend.remoting import bodies, java_json
from backend.remoting.bodies import KeyValueTable, TopicConfig, TopicConfigTable
from backend.remoting.command import Command
from backend.remoting.headers import (
    BrokerHeartbeatHeader,
    LeaseAnswer,
    QueryDataVersionAnswer,
    QueryDataVersionHeader,
    RegisterBrokerAnswer,
    RegisterBrokerHeader,
    UnregisterBrokerHeader,
    decode_header,
    encode_header,
)
from backend.remoting.response_code import ResponseCode

ZONE_NAME_KEY: Final = "__ZONE_NAME"
# Older brokers send their topics without the body around them (remoting.md 1.4).
VERSION_WITH_FULL_BODY: Final = 37
# What a controller waits for a broker that does not say (1.16).
CONTROLLER_TIMEOUT_DEFAULT_MS: Final = 10_000
HEARD_REMARK: Final = "Heart beat success"
CHECKSUM_MASK: Final = 0x7FFF_FFFF
LEASE_GIVEN_BACK: Final = Answer(ext=encode_header(LeaseAnswer(lease_ms=0)), remark=HEARD_REMARK)

AskLease = Callable[[ReplicaKey, Sighting], Awaitable[bool]]

log = structlog.get_logger(__name__)


def on_register_broker(command: Command, session: object, directory: Directory) -> Answer:
    """Take a broker in with its topics, and tell a replica who its master is."""
    header = decode_header(RegisterBrokerHeader, command.ext)
    checksum = header.body_crc32
    if checksum != 0 and checksum != zlib.crc32(command.body) & CHECKSUM_MASK:
        return Answer(ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
    table = _decode_topics(command, is_compressed=header.compressed)
    registration = _registration(header, table.data_version, command.ext.get(ZONE_NAME_KEY))
    topics = {name: _settings(name, topic) for name, topic in table.topics.items()}
    registered = directory.table.register(
        registration, topics, now_ms=elapsed_ms(), connection=session
    )
    _note(registration, registered, directory)
    order = directory.key_values.find_table(ORDER_TOPIC_NAMESPACE)
    return Answer(
        ext=_master_of(registered),
        body=b"" if order is None else java_json.encode(KeyValueTable(table=order)),
    )


def on_unregister_broker(command: Command, _session: object, directory: Directory) -> Answer:
    """Let a broker go that says good-bye."""
    header = decode_header(UnregisterBrokerHeader, command.ext)
    key = (header.cluster_name, header.broker_name)
    live = directory.table.find_live(key, header.broker_id)
    if live is not None and live.registration.address == header.broker_address:
        directory.dismiss([live])
        log.info("broker_unregistered", broker_name=key[1], broker_id=header.broker_id)
    return Answer()


def on_broker_heartbeat(
    command: Command, session: object, directory: Directory
) -> Answer | Awaitable[Answer]:
    """Hear that a broker lives; one that is not registered is not known by this.

    One port hears for the name server and the controller, so a heartbeat without a controller's id
    is the name server's alone, where stock's controller answers 2005 (S66). Who waits for the
    answer asks for a lease, and gets it when it is written.
    """
    header = decode_header(BrokerHeartbeatHeader, command.ext)
    _hear(header.cluster_name, header.broker_address, directory)
    if header.broker_id is None or header.broker_id < FIRST_BROKER_ID:
        return Answer()
    key = (header.cluster_name, header.broker_name, header.broker_id)
    told = _sighting(header)
    if told.timeout_ms <= 0:
        return _take_leave(key, told, directory)
    held = directory.heartbeats.find(key)
    if held is None:
        check_cluster_name(header.cluster_name)
        check_group_name(header.broker_name)
    # A broker of another epoch may have become master, and acknowledges nothing without a lease.
    is_urgent = held is not None and held.told.epoch < told.epoch
    # Who tells no epoch only registers routes: a lease would bind it to an office unknown to it.
    asks_lease = not command.is_oneway and header.epoch is not None
    is_heard = directory.heartbeats.hear(key, told, connection=session, takes_notices=asks_lease)
    if not is_heard:
        return Answer(ResponseCode.SYSTEM_BUSY, remark="too many brokers are heard already")
    if not asks_lease:
        return Answer(remark=HEARD_REMARK)
    sightings = directory.sightings
    ask = sightings.ask_lease_at_once if is_urgent else sightings.ask_lease
    return _grant_lease(key, told, ask)


async def _grant_lease(key: ReplicaKey, told: Sighting, ask: AskLease) -> Answer:
    is_granted = await ask(key, told)
    lease = LeaseAnswer(lease_ms=told.timeout_ms if is_granted else 0)
    return Answer(ext=encode_header(lease), remark=HEARD_REMARK)


async def _take_leave(key: ReplicaKey, told: Sighting, directory: Directory) -> Answer:
    """Have a broker replaced that asks not to be waited for: it gives its lease back."""
    await directory.failover.take_leave(key, told)
    return LEASE_GIVEN_BACK


def on_query_data_version(command: Command, _session: object, directory: Directory) -> Answer:
    """Tell a broker whether it has to register its topics anew."""
    header = decode_header(QueryDataVersionHeader, command.ext)
    asked = java_json.decode(command.body, bodies.DataVersion)
    broker = _hear(header.cluster_name, header.broker_address, directory)
    held = None if broker is None else broker.registration.data_version
    return Answer(
        ext=encode_header(QueryDataVersionAnswer(changed=held != _data_version(asked))),
        body=b"" if held is None else java_json.encode(_data_version_body(held)),
    )


def _sighting(header: BrokerHeartbeatHeader) -> Sighting:
    timeout_ms = header.heartbeat_timeout_ms
    if timeout_ms is None:
        timeout_ms = CONTROLLER_TIMEOUT_DEFAULT_MS
    return Sighting(
        age_ms=0,
        timeout_ms=min(max(timeout_ms, 0), HEARTBEAT_TIMEOUT_MAX_MS),
        epoch=_or(header.epoch, UNKNOWN_POSITION),
        max_offset=_or(header.max_offset, UNKNOWN_POSITION),
        confirm_offset=_or(header.confirm_offset, UNKNOWN_POSITION),
        priority=_or(header.election_priority, PRIORITY_LOWEST),
        is_verified=header.is_verified is not False,
        is_cordoned=header.is_cordoned is True,
        is_learner=header.is_learner is True,
        life=_or(header.process_life, UNKNOWN_LIFE),
        confirm_epoch=_or(header.confirm_epoch, _or(header.epoch, UNKNOWN_POSITION)),
        refused_cut=_or(header.refused_cut, UNKNOWN_POSITION),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _decode_topics(command: Command, *, is_compressed: bool) -> TopicConfigTable:
    if command.version < VERSION_WITH_FULL_BODY:
        if not command.body:
            return TopicConfigTable()
        return java_json.decode(command.body, TopicConfigTable)
    body = bodies.decode_register_broker_body(
        command.body, compressed=is_compressed, version=command.version
    )
    return body.topic_table


def _registration(
    header: RegisterBrokerHeader, version: bodies.DataVersion, zone_name: str | None
) -> Registration:
    return Registration(
        cluster_name=check_cluster_name(header.cluster_name),
        group_name=check_group_name(header.broker_name),
        broker_id=header.broker_id,
        address=check_address(header.broker_address),
        ha_address=check_address(header.ha_address),
        heartbeat_timeout_ms=clamp_heartbeat_timeout_ms(header.heartbeat_timeout_ms),
        data_version=_data_version(version),
        acting_master_enabled=header.enable_acting_master,
        zone_name=zone_name,
    )


def _settings(name: str, topic: TopicConfig) -> QueueSettings:
    settings = QueueSettings(
        read_queue_count=topic.read_queue_count,
        write_queue_count=topic.write_queue_count,
        permissions=topic.permissions,
        topic_sys_flag=topic.topic_sys_flag,
        is_ordered=topic.is_ordered,
    )
    return check_queue_settings(check_topic_name(name), settings)


def _note(registration: Registration, registered: Registered, directory: Directory) -> None:
    live = directory.table.find_live(registration.group_key, registration.broker_id)
    if registered.moved_from is not None:
        directory.write_behind.note_departed(registered.moved_from)
    if live is None or not registered.is_accepted:
        log.warning("stale_master_refused", broker_name=registration.group_name)
        return
    directory.write_behind.note_registered(registration, registered.changed_topics)
    directory.write_behind.note_heard(live)


def _hear(cluster_name: str, address: str, directory: Directory) -> LiveBroker | None:
    broker = directory.table.heard(cluster_name, address, now_ms=elapsed_ms())
    if broker is not None:
        directory.write_behind.note_heard(broker)
    return broker


def _master_of(registered: Registered) -> dict[str, str]:
    if registered.master is None:
        return {}
    master = registered.master.registration
    return encode_header(
        RegisterBrokerAnswer(ha_address=master.ha_address, master_address=master.address)
    )


def _data_version(told: bodies.DataVersion) -> DataVersion:
    return DataVersion(
        state_version=told.state_version, timestamp_ms=told.timestamp_ms, counter=told.counter
    )


def _data_version_body(held: DataVersion) -> bodies.DataVersion:
    return bodies.DataVersion(
        state_version=held.state_version, timestamp_ms=held.timestamp_ms, counter=held.counter
    )
