"""Judge the health of broker groups from Postgres and from the heartbeats of this process.

One statement reads all groups. Samples in Redis add the state of the disks, if Redis answers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db import clusters, health
from backend.db.engine import Connection, Database
from backend.db.health import GroupRow, ReplicaReportRow, ReplicaRow
from backend.domain.broker import MASTER_ID
from backend.domain.cluster_scope import ClusterScope
from backend.domain.election import ReplicaReport
from backend.domain.health import (
    RETURNS_WITHIN,
    BrokerFacts,
    GroupFacts,
    GroupHealth,
    Health,
    Presence,
    judge_group,
    judge_health,
    judge_presence,
)
from backend.domain.names import check_cluster_name
from backend.services.controller.group_changes import HeartbeatSource
from backend.services.samples.full_disks import DiskKey, read_full_disks


@dataclass(frozen=True, slots=True)
class Listener:
    """Hold the source of heartbeats in this process, and how long it has listened."""

    heartbeat_source: HeartbeatSource
    listened_ms: int


@dataclass(frozen=True, slots=True)
class ObservedHealth:
    """Hold a judgement, and when it was made."""

    health: Health
    observed_at: datetime


async def describe_health(
    *,
    cluster_name: str | None,
    within: ClusterScope,
    listener: Listener,
    database: Database,
    redis: Redis,
    clock: Clock,
) -> ObservedHealth:
    """Judge all groups within reach, or those of one cluster.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
    """
    if cluster_name is not None:
        check_cluster_name(cluster_name)
    async with database.connect() as connection:
        if cluster_name is not None:
            await clusters.get(connection, cluster_name)
        rows = await health.list_groups(
            connection, cluster_name=cluster_name, heard_by=listener.heartbeat_source.id
        )
    reached = [row for row in rows if within.includes(row.cluster_name)]
    full_disks = await read_full_disks(redis)
    return ObservedHealth(
        judge_health(read_facts(reached, full_disks=full_disks, listener=listener)), clock.now()
    )


async def describe_groups_health(
    names: Collection[tuple[str, str]], *, listener: Listener, database: Database, redis: Redis
) -> dict[tuple[str, str], GroupHealth]:
    """Judge some groups, by cluster and name; groups without a broker are left out."""
    broker_group_names = sorted({broker_group_name for _, broker_group_name in names})
    async with database.connect() as connection:
        rows = await health.list_groups(
            connection, broker_group_names=broker_group_names, heard_by=listener.heartbeat_source.id
        )
    full_disks = await read_full_disks(redis)
    judged = map(judge_group, read_facts(rows, full_disks=full_disks, listener=listener))
    return {(one.cluster_name, one.broker_group_name): one for one in judged}


async def list_recorded_facts(connection: Connection) -> list[GroupFacts]:
    """List the facts of Postgres about every group, for a process without heartbeats."""
    return read_facts(await health.list_groups(connection), full_disks=(), listener=None)


def read_facts(
    rows: Sequence[GroupRow], *, full_disks: Collection[DiskKey], listener: Listener | None
) -> list[GroupFacts]:
    """Combine the facts of each group with a broker."""
    hearing = {one.heard_by for row in rows for one in row.reports if one.report.is_alive}
    facts = (
        _controlled(row, full_disks, hearing, listener)
        if row.is_controlled
        else _static(row, full_disks)
        for row in rows
    )
    return [one for one in facts if one.brokers]


def _controlled(
    row: GroupRow,
    full_disks: Collection[DiskKey],
    hearing: Collection[UUID],
    listener: Listener | None,
) -> GroupFacts:
    own: Mapping[int, ReplicaReport] = {}
    if listener is not None:
        own = listener.heartbeat_source.reports_of(row.cluster_name, row.broker_group_name)
    listened = _listened(hearing, listener)
    members = frozenset(row.sync_state_set or ())
    return GroupFacts(
        cluster_name=row.cluster_name,
        broker_group_name=row.broker_group_name,
        is_controlled=True,
        master_id=row.master_id,
        brokers=tuple(
            _replica_facts(
                replica,
                own.get(replica.broker_id),
                [one for one in row.reports if one.broker_id == replica.broker_id],
                hearing=hearing,
                listened=listened,
                is_in_sync=replica.broker_id in members,
                is_disk_full=(row.cluster_name, row.broker_group_name, replica.broker_id)
                in full_disks,
            )
            for replica in row.replicas
        ),
        is_master_lost=row.is_master_lost,
        has_writable_topics=row.has_writable_topics if row.has_topics else None,
    )


def _listened(hearing: Collection[UUID], listener: Listener | None) -> timedelta:
    """Return how long processes have listened for replicas, as far as this process knows."""
    if listener is not None:
        return timedelta(milliseconds=listener.listened_ms)
    # A process with heartbeats removes by itself the replicas that it no longer hears.
    return RETURNS_WITHIN if hearing else timedelta()


def _replica_facts(
    replica: ReplicaRow,
    own: ReplicaReport | None,
    others: Sequence[ReplicaReportRow],
    *,
    hearing: Collection[UUID],
    listened: timedelta,
    is_in_sync: bool,
    is_disk_full: bool,
) -> BrokerFacts:
    latest = min(others, key=lambda one: one.age_ms, default=None)
    report = own if latest is None else latest.report
    if own is not None and report is not None and own.age_ms <= report.age_ms:
        report = own
    heard = [one.heard_at for one in others]
    if replica.last_heard_at is not None:
        heard.append(replica.last_heard_at)
    ages_ms = [one.age_ms for one in others]
    if replica.age_ms is not None:
        ages_ms.append(max(0, replica.age_ms))
    is_heard = report is not None and report.is_alive
    # If another process treated the replica as lost later, this process did not abandon it.
    given_up_ms = replica.age_ms
    is_abandoned = latest is not None and latest.heard_by not in hearing
    if latest is not None and given_up_ms is not None and given_up_ms <= latest.age_ms:
        is_abandoned = False
    presence = judge_presence(
        is_heard=is_heard,
        last_heard=timedelta(milliseconds=min(ages_ms)) if ages_ms else None,
        listened=listened,
        is_listener_gone=is_abandoned,
    )
    return BrokerFacts(
        broker_id=replica.broker_id,
        address=replica.address,
        presence=presence,
        last_heard_at=max(heard, default=None),
        is_in_sync=is_in_sync,
        is_verified=report is None or report.is_verified,
        is_cordoned=report is not None and report.is_cordoned,
        is_learner=report is not None and report.is_learner,
        is_disk_full=is_disk_full and is_heard,
    )


def _static(row: GroupRow, full_disks: Collection[DiskKey]) -> GroupFacts:
    """Read a group without a controller from its registrations, by their ids."""
    has_master = any(one.broker_id == MASTER_ID for one in row.registrations)
    return GroupFacts(
        cluster_name=row.cluster_name,
        broker_group_name=row.broker_group_name,
        is_controlled=False,
        master_id=MASTER_ID if has_master else None,
        brokers=tuple(
            BrokerFacts(
                broker_id=one.broker_id,
                address=one.address,
                presence=Presence.ALIVE if one.is_online else Presence.DOWN,
                is_disk_full=(row.cluster_name, row.broker_group_name, one.broker_id) in full_disks,
            )
            for one in row.registrations
        ),
        has_writable_topics=row.has_writable_topics if row.has_topics else None,
        acting_id=row.acting_id,
        acting_since=row.acting_since,
    )
