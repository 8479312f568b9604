"""Write to Postgres the registrations of brokers at the name server.

Both use cases write a state, not an event: if one is carried out twice, or only the last of many,
the rows are the same. Events report each change of the row of a broker, and of the topics of its
group.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from backend.clients.clock import Clock
from backend.db import broker_groups, brokers, clusters, events, placements
from backend.db.brokers import BrokerRegistration
from backend.db.engine import Connection, Database
from backend.domain.broker_name import BrokerName
from backend.domain.event import (
    BROKER_LOST,
    BROKER_REGISTERED,
    TOPIC_CHANGED,
    TOPIC_PLACED,
    NewEvent,
    acting_events,
    topic_events,
)
from backend.domain.names import (
    check_address,
    check_broker_group_name,
    check_cluster_name,
)
from backend.domain.route import TopologyChange
from backend.domain.topic import QueueSettings, check_topic
from backend.rules.group_mode import GroupMode


@dataclass(frozen=True, slots=True)
class RegisterBroker:
    """Ask to register a broker, with the topics that its group now holds.

    Topics that are not named do not change.
    """

    cluster_name: str
    broker_group_name: str
    broker: BrokerRegistration
    mode: GroupMode = GroupMode.STATIC
    topics: Mapping[str, QueueSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MarkBrokerOffline:
    """Ask to mark a broker offline; with an address, only if the broker still has it."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str | None = None


async def register_broker(
    command: RegisterBroker, *, database: Database, clock: Clock
) -> TopologyChange | None:
    """Write a broker, its group, its cluster and its topics; return the change if there is one.

    Raises:
        InvalidName: the name of the cluster, of the group or of a topic is invalid. InvalidAddress:
        no client can connect to the address of the broker. InvalidTopicSettings: a topic's counts
        or permissions are out of range.
    """
    _check(command)
    now = clock.now()
    async with database.begin() as connection:
        cluster_id = await clusters.find_or_add(connection, command.cluster_name, at=now)
        group_id = await broker_groups.find_or_add(
            connection, cluster_id, command.broker_group_name, mode=command.mode, at=now
        )
        is_changed = await brokers.save(connection, group_id, command.broker, at=now)
        namesake_count = await brokers.remove_namesakes(
            connection,
            group_id,
            broker_id=command.broker.broker_id,
            address=command.broker.address,
        )
        is_changed |= namesake_count > 0
        if is_changed:
            details = {"address": command.broker.address, "ha_address": command.broker.ha_address}
            subject = await _subject(connection, command, command.broker.broker_id)
            registered = NewEvent(BROKER_REGISTERED, command.cluster_name, subject, now, details)
            await events.stage(connection, [registered])
            await _note_acting(connection, group_id, at=now)
        saved = await placements.save(
            connection,
            cluster_id=cluster_id,
            broker_group_id=group_id,
            placements=command.topics,
        )
        if not (is_changed or saved):
            return None
        of_group = command.cluster_name, command.broker_group_name
        of_topics = [
            *topic_events(TOPIC_PLACED, *of_group, saved.placed, at=now),
            *topic_events(TOPIC_CHANGED, *of_group, saved.changed, at=now),
        ]
        await events.stage(connection, of_topics)
        version = await clusters.raise_route_version(connection, cluster_id, at=now)
    return TopologyChange(command.cluster_name, version)


async def mark_broker_offline(
    command: MarkBrokerOffline, *, database: Database, clock: Clock
) -> TopologyChange | None:
    """Mark a broker offline; return the change, or None if the broker was offline already."""
    async with database.begin() as connection:
        group = await broker_groups.lock(
            connection, command.cluster_name, command.broker_group_name
        )
        if group is None or not await brokers.mark_offline(
            connection, group.id, broker_id=command.broker_id, address=command.address
        ):
            return None
        now = clock.now()
        subject = await _subject(connection, command, command.broker_id)
        lost = NewEvent(BROKER_LOST, command.cluster_name, subject, now)
        await events.stage(connection, [lost])
        await _note_acting(connection, group.id, at=now)
        cluster = await clusters.get(connection, command.cluster_name)
        version = await clusters.raise_route_version(connection, cluster.id, at=now)
    return TopologyChange(command.cluster_name, version)


async def _note_acting(connection: Connection, group_id: int, *, at: datetime) -> None:
    """Record which replica acts for an absent master now, with the events of a change."""
    changed = await broker_groups.note_acting(connection, group_id, at=at)
    if changed is not None:
        await events.stage(connection, acting_events(*changed, at=at))


async def _subject(
    connection: Connection, command: RegisterBroker | MarkBrokerOffline, broker_id: int
) -> str:
    """Name a broker in an event by its group and its own id, not by its registered id (D31)."""
    broker_group_name = command.broker_group_name
    found = await brokers.find(
        connection, command.cluster_name, broker_group_name, broker_id=broker_id
    )
    return str(BrokerName(broker_group_name, broker_id) if found is None else found.name)


def _check(command: RegisterBroker) -> None:
    check_cluster_name(command.cluster_name)
    check_broker_group_name(command.broker_group_name)
    check_address(command.broker.address)
    for name, settings in command.topics.items():
        check_topic(name, settings)
