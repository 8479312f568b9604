"""Ask brokers for the present locks of ordered queues.

Locks are only in the memory of brokers and change every second, so they are not stored here. The
locks of a broker without an answer are unknown (D21).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.brokers.asking import Brokers
from backend.brokers.requests.locks import GetQueueLocks
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_lock import (
    HeldLocks,
    LockFilter,
    MasterLease,
    QueueLock,
)
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers
from backend.services.controller.group_changes import Controller
from backend.services.controller.replica_views import ReplicaGroupView, list_replica_groups
from backend.services.logical_queue.logical_queues import find_mappings

LockKey = tuple[str, str, str, str, int, str]


@dataclass(frozen=True, slots=True)
class LockTable:
    """Hold the locks that were found, in order, and whose are not known."""

    locks: tuple[QueueLock, ...]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class LockPage:
    """Hold one page of locks, and whose are not known."""

    page: Page[QueueLock, LockKey]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_locks(
    chosen: LockFilter,
    *,
    size: int,
    after: LockKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> LockPage:
    """List the locks that are meant by cluster, consumer group, topic, broker group and queue.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    table = await collect_locks(chosen, database=database, brokers=brokers, clock=clock)
    rest = [lock for lock in table.locks if after is None or lock.key > after]
    page = cut_page(
        rest[: size + 1], size=size, key=lambda lock: lock.key, total_count=len(table.locks)
    )
    topics = {(one.broker.cluster_name, one.held.topic) for one in page.items}
    mappings = await find_mappings(topics, database=database)
    shown = page.map(lambda one: one.mapped(mappings[one.broker.cluster_name, one.held.topic]))
    return LockPage(shown, table.unknown, table.observed_at)


async def collect_locks(
    chosen: LockFilter, *, database: Database, brokers: Brokers, clock: Clock
) -> LockTable:
    """Ask all brokers that may hold such locks, many at once.

    Raises:
        InvalidName: the name of the cluster is invalid.
    """
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [key_of(broker) for broker in online if _may_hold(broker, chosen)]
    answers = await brokers.ask_all(asked, GetQueueLocks(chosen.consumer_group_name))
    found = [
        QueueLock(one, held) for one, listed in answers.answers.items() for held in listed.locks
    ]
    return LockTable(
        tuple(sorted(filter(chosen.takes, found), key=lambda lock: lock.key)),
        unknown_brokers(asked, answers, _why_incomplete),
        clock.now(),
    )


async def list_leases(
    cluster_names: Collection[str], *, size: int, after: str | None, controller: Controller
) -> dict[str, Page[MasterLease, str]]:
    """List who leads each cluster's groups, and until when, by group; a cluster may have none.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    pages = await list_replica_groups(cluster_names, size=size, after=after, controller=controller)
    now = controller.clock.now()
    return {cluster: page.map(lambda view: _lease(view, now)) for cluster, page in pages.items()}


def _may_hold(broker: Broker, chosen: LockFilter) -> bool:
    return (
        chosen.cluster_name in (None, broker.cluster_name)
        and chosen.broker_group_name in (None, broker.broker_group_name)
        and chosen.within.includes(broker.cluster_name)
    )


def _why_incomplete(listed: HeldLocks) -> str | None:
    count = len(listed.locks)
    if count == listed.total_count:
        return None
    return f"it lists {count} of its {listed.total_count} locks: ask for one consumer group"


def _lease(found: ReplicaGroupView, now: datetime) -> MasterLease:
    group, left_ms = found.group, found.view.liveness.lease_left_ms
    master = group.master
    return MasterLease(
        cluster_name=group.cluster_name,
        broker_group_name=group.name,
        master_id=group.master_id,
        master_address=None if master is None else master.address,
        master_epoch=group.master_epoch,
        policy=group.lease_policy,
        is_master_alive=found.is_master_alive,
        ends_at=now + timedelta(milliseconds=left_ms) if left_ms > 0 else None,
    )
