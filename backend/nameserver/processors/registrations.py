"""Answer registrations and heartbeats of brokers (remoting.md 2.7: 103, 904, 322, 104)."""

import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

import structlog

from backend.db.replica_reports import ReplicaKey
from backend.domain.broker import (
    HEARTBEAT_TIMEOUT_MAX_MS,
    LEFT_OUT_NAMED_MAX,
    DataVersion,
    LeftOutItem,
    LeftOutItems,
    clamp_heartbeat_timeout_ms,
)
from backend.domain.election import PRIORITY_LOWEST, ReplicaReport
from backend.domain.names import (
    check_address,
    check_broker_group_name,
    check_cluster_name,
)
from backend.domain.replica_group import FIRST_BROKER_ID, UNKNOWN_LIFE, UNKNOWN_POSITION
from backend.domain.topic import QueueSettings, kept_attributes
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.key_values import ORDER_TOPIC_NAMESPACE
from backend.nameserver.members import Registration
from backend.nameserver.presence import RegisteredBroker
from backend.nameserver.registered_mappings import read_mappings
from backend.nameserver.route_table import SINGLE_TOPIC, Registered
from backend.remoting import bodies, java_json
from backend.remoting.bodies import KeyValueTable, TopicConfig, TopicConfigTable, decode_left_out
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
from backend.remoting.sifting import LeftOut

ZONE_NAME_KEY: Final = "__ZONE_NAME"
# Older brokers send their topics without the body around them (remoting.md 1.4).
VERSION_WITH_FULL_BODY: Final = 37
# The heartbeat timeout of a broker that sends none (control-plane.md 1.16).
CONTROLLER_TIMEOUT_DEFAULT_MS: Final = 10_000
HEARD_REMARK: Final = "Heart beat success"
CHECKSUM_MASK: Final = 0x7FFF_FFFF
SHOWN_LENGTH_MAX: Final = 255
LEASE_GIVEN_BACK: Final = Answer(ext=encode_header(LeaseAnswer(lease_ms=0)), remark=HEARD_REMARK)

AskLease = Callable[[ReplicaKey, ReplicaReport], Awaitable[bool]]

log = structlog.get_logger(__name__)


def on_register_broker(command: Command, session: object, directory: Directory) -> Answer:
    """Register a broker with its topics, and answer the address of its master to a replica."""
    header = decode_header(RegisterBrokerHeader, command.ext)
    checksum = header.body_crc32
    if checksum != 0 and checksum != zlib.crc32(command.body) & CHECKSUM_MASK:
        return Answer(ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
    table, left_out = _decode_topics(command, is_compressed=header.compressed)
    registration = _registration(header, table.data_version, command.ext.get(ZONE_NAME_KEY))
    left_out_count = len(left_out)
    mappings = read_mappings(table, registration.group_key, directory.table)
    left_out += mappings.left_out
    items = _left_out_items(left_out, decode_left_out(header.left_out))
    names = {*table.topics, *(one.name for one in left_out)}
    if len(names) == SINGLE_TOPIC and header.left_out is None:
        items = _join_known_items(items, names, registration, directory)
    registration = replace(registration, left_out=items)
    _log_left_out(registration, directory)
    topics = {name: _settings(topic) for name, topic in table.topics.items()}
    registered = directory.table.register(
        registration,
        topics,
        connection=session,
        left_out_count=left_out_count,
        mappings=mappings.taken,
    )
    _note(registration, registered, directory)
    order = None
    if directory.settings.returns_order_topics:
        order = directory.key_values.find_table(ORDER_TOPIC_NAMESPACE)
    return Answer(
        ext=_answer_of(registered, mappings.newer_epochs),
        body=b"" if order is None else java_json.encode(KeyValueTable(table=order)),
    )


def on_unregister_broker(command: Command, _session: object, directory: Directory) -> Answer:
    """Unregister a broker."""
    header = decode_header(UnregisterBrokerHeader, command.ext)
    key = (header.cluster_name, header.broker_name)
    live = directory.table.find_live(key, header.broker_id)
    if live is not None and live.report.address == header.broker_address:
        directory.dismiss([live])
        log.info("broker_unregistered", broker_name=key[1], broker_id=header.broker_id)
    return Answer()


def on_broker_heartbeat(
    command: Command, session: object, directory: Directory
) -> Answer | Awaitable[Answer]:
    """Record the heartbeat of a broker; a heartbeat registers no broker.

    One port serves the name server and the controller, so a heartbeat without a controller id is
    for the name server only. RocketMQ's controller answers 2005 to it (S66). A broker that waits
    for the answer asks for a lease. The answer follows when the lease is written.
    """
    header = decode_header(BrokerHeartbeatHeader, command.ext)
    _hear(header.cluster_name, header.broker_address, directory)
    if header.broker_id is None or header.broker_id < FIRST_BROKER_ID:
        return Answer()
    key = (header.cluster_name, header.broker_name, header.broker_id)
    last_report = read_report(header)
    if last_report.timeout_ms <= 0:
        return _take_leave(key, last_report, directory)
    held = directory.presence.find_replica(key)
    if held is None:
        check_cluster_name(header.cluster_name)
        check_broker_group_name(header.broker_name)
    # A broker with a newer epoch may have become master. It acknowledges nothing without a lease.
    is_urgent = held is not None and held.report.epoch < last_report.epoch
    # A broker that reports no epoch only registers routes. A lease would name a master role that
    # the broker does not know of.
    asks_lease = not command.is_oneway and header.epoch is not None
    is_heard = directory.presence.hear(
        key, last_report, connection=session, takes_notices=asks_lease
    )
    if not is_heard:
        return Answer(ResponseCode.SYSTEM_BUSY, remark="too many brokers are registered already")
    if not asks_lease:
        return Answer(remark=HEARD_REMARK)
    reports = directory.reports
    ask = reports.ask_lease_at_once if is_urgent else reports.ask_lease
    return _grant_lease(key, last_report, ask)


async def _grant_lease(key: ReplicaKey, last_report: ReplicaReport, ask: AskLease) -> Answer:
    is_granted = await ask(key, last_report)
    lease = LeaseAnswer(lease_ms=last_report.timeout_ms if is_granted else 0)
    return Answer(ext=encode_header(lease), remark=HEARD_REMARK)


async def _take_leave(key: ReplicaKey, last_report: ReplicaReport, directory: Directory) -> Answer:
    """Replace a broker that gives back its lease with a timeout of 0."""
    await directory.failover.take_leave(key, last_report)
    return LEASE_GIVEN_BACK


def on_query_data_version(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer whether a broker has to register its topics again."""
    header = decode_header(QueryDataVersionHeader, command.ext)
    asked = java_json.decode(command.body, bodies.DataVersion)
    broker = _hear(header.cluster_name, header.broker_address, directory)
    held = None if broker is None else broker.report.data_version
    return Answer(
        ext=encode_header(QueryDataVersionAnswer(changed=held != _data_version(asked))),
        body=b"" if held is None else java_json.encode(_data_version_body(held)),
    )


def read_report(header: BrokerHeartbeatHeader) -> ReplicaReport:
    """Read the report of a replica from its heartbeat; absent values are unknown."""
    timeout_ms = header.heartbeat_timeout_ms
    if timeout_ms is None:
        timeout_ms = CONTROLLER_TIMEOUT_DEFAULT_MS
    return ReplicaReport(
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


def _decode_topics(
    command: Command, *, is_compressed: bool
) -> tuple[TopicConfigTable, list[LeftOut]]:
    if command.version < VERSION_WITH_FULL_BODY:
        if not command.body:
            return TopicConfigTable(), []
        return bodies.decode_topic_table(command.body)
    body, left_out = bodies.decode_register_broker_body(
        command.body, compressed=is_compressed, version=command.version
    )
    return body.topic_table, left_out


def _left_out_items(left_out: list[LeftOut], own: bodies.LeftOutTable) -> LeftOutItems:
    """Join the items that this process left out with the items that the broker left out."""
    named = [
        *(LeftOutItem(one.kind, one.name, one.reason) for one in own.items),
        *(LeftOutItem(bodies.kind_of(one), one.name, one.reason) for one in left_out),
    ]
    first = tuple(
        LeftOutItem(_shown(one.kind), _shown(one.name), _shown(one.reason))
        for one in named[:LEFT_OUT_NAMED_MAX]
    )
    return LeftOutItems(max(own.count, len(own.items)) + len(left_out), first)


def _join_known_items(
    items: LeftOutItems, names: set[str], registration: Registration, directory: Directory
) -> LeftOutItems:
    """Add the items of former registrations: a registration of one topic does not repeat them."""
    live = directory.table.find_live(registration.group_key, registration.broker_id)
    if live is None:
        return items
    former = live.report.left_out
    kept = tuple(one for one in former.first if one.name not in names)
    return LeftOutItems(
        items.count + former.count - (len(former.first) - len(kept)),
        (*items.first, *kept)[:LEFT_OUT_NAMED_MAX],
    )


def _log_left_out(registration: Registration, directory: Directory) -> None:
    """Log the items that are left out, once for each change."""
    live = directory.table.find_live(registration.group_key, registration.broker_id)
    left_out = registration.left_out
    if not left_out.count or (live is not None and live.report.left_out == left_out):
        return
    log.warning(
        "registration_items_left_out",
        broker_name=registration.broker_group_name,
        broker_id=registration.broker_id,
        count=left_out.count,
        items=[f"{one.kind} {one.name}: {one.reason}" for one in left_out.first],
    )


def _shown(text: str) -> str:
    """Escape a text for logs, Postgres and terminals."""
    printable = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return printable[:SHOWN_LENGTH_MAX]


def _registration(
    header: RegisterBrokerHeader, version: bodies.DataVersion, zone_name: str | None
) -> Registration:
    return Registration(
        cluster_name=check_cluster_name(header.cluster_name),
        broker_group_name=check_broker_group_name(header.broker_name),
        broker_id=header.broker_id,
        address=check_address(header.broker_address),
        ha_address=check_address(header.ha_address),
        timeout_ms=clamp_heartbeat_timeout_ms(header.heartbeat_timeout_ms),
        data_version=_data_version(version),
        acting_master_enabled=header.enable_acting_master,
        zone_name=zone_name,
    )


def _settings(topic: TopicConfig) -> QueueSettings:
    return QueueSettings(
        read_queue_count=topic.read_queue_count,
        write_queue_count=topic.write_queue_count,
        permissions=topic.permissions,
        topic_sys_flag=topic.topic_sys_flag,
        is_ordered=topic.is_ordered,
        attributes=kept_attributes(topic.attributes),
    )


def _note(registration: Registration, registered: Registered, directory: Directory) -> None:
    live = directory.table.find_live(registration.group_key, registration.broker_id)
    if registered.moved_from is not None:
        directory.write_behind.note_departed(registered.moved_from)
    if live is None or not registered.is_accepted:
        log.warning("stale_master_refused", broker_name=registration.broker_group_name)
        return
    directory.write_behind.note_registered(registration, registered.changed_topics)
    directory.write_behind.note_counts(registered.counts)
    directory.write_behind.note_heard(live)


def _hear(cluster_name: str, address: str, directory: Directory) -> RegisteredBroker | None:
    broker = directory.presence.hear_registered((cluster_name, address))
    if broker is not None:
        directory.write_behind.note_heard(broker)
    return broker


def _answer_of(registered: Registered, newer_epochs: Mapping[str, int]) -> dict[str, str]:
    """Encode the master of a replica, and the topics whose mapping is outdated."""
    master = None if registered.master is None else registered.master.report
    return encode_header(
        RegisterBrokerAnswer(
            ha_address=None if master is None else master.ha_address,
            master_address=None if master is None else master.address,
            newer_epochs=java_json.encode(newer_epochs).decode() if newer_epochs else None,
        )
    )


def _data_version(last_report: bodies.DataVersion) -> DataVersion:
    return DataVersion(
        state_version=last_report.state_version,
        timestamp_ms=last_report.timestamp_ms,
        counter=last_report.counter,
    )


def _data_version_body(held: DataVersion) -> bodies.DataVersion:
    return bodies.DataVersion(
        state_version=held.state_version, timestamp_ms=held.timestamp_ms, counter=held.counter
    )
