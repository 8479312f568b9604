"""Ask brokers who holds which queue in order, now.

Locks live in the memory of brokers alone and change every second, so nothing of them is kept here.
A broker that does not tell is shown as one whose locks are not known (D21).
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_lock import (
    BrokerKey,
    HeldLocks,
    Lease,
    LockFilter,
    QueueLock,
)
from backend.services.group_changes import Controller
from backend.services.replica_views import ReplicaGroupView, list_replica_groups

CONCURRENT_COUNT_MAX: Final = 64

LockKey = tuple[str, str, str, str, int, str]


class LockSource(Protocol):
    """Speaks to brokers."""

    async def queue_locks(self, address: str, *, consumer_group: str | None = None) -> HeldLocks:
        """Ask a broker for its locks; as `Brokers.queue_locks`."""
        ...


@dataclass(frozen=True, slots=True)
class UnknownLocks:
    """Name a broker whose locks, or some of them, are not known, and say why."""

    broker: BrokerKey
    why: str


@dataclass(frozen=True, slots=True)
class LockTable:
    """Hold the locks that were found, in order, and whose are not known."""

    locks: tuple[QueueLock, ...]
    unknown: tuple[UnknownLocks, ...]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class LockPage:
    """Hold one page of locks, and whose are not known."""

    page: Page[QueueLock, LockKey]
    unknown: tuple[UnknownLocks, ...]
    observed_at: datetime


async def list_locks(
    chosen: LockFilter,
    *,
    size: int,
    after: LockKey | None,
    database: Database,
    brokers: LockSource,
    clock: Clock,
) -> LockPage:
    """List the locks that are meant by cluster, consumer group, topic, broker group and queue.

    Raises:
        InvalidName: no cluster may be called so.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    table = await collect_locks(chosen, database=database, brokers=brokers, clock=clock)
    rest = [lock for lock in table.locks if after is None or lock.key > after]
    page = cut_page(
        rest[: size + 1], size=size, key=lambda lock: lock.key, total_count=len(table.locks)
    )
    return LockPage(page, table.unknown, table.observed_at)


async def collect_locks(
    chosen: LockFilter, *, database: Database, brokers: LockSource, clock: Clock
) -> LockTable:
    """Ask all brokers that may hold such locks, many at once.

    Raises:
        InvalidName: no cluster may be called so.
    """
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [broker for broker in online if _may_hold(broker, chosen)]
    slots = asyncio.Semaphore(CONCURRENT_COUNT_MAX)
    told = await asyncio.gather(
        *(_ask(key_of(one), brokers, chosen.consumer_group, slots) for one in asked)
    )
    locks = [lock for found, _ in told for lock in found if chosen.takes(lock)]
    return LockTable(
        tuple(sorted(locks, key=lambda lock: lock.key)),
        tuple(unknown for _, unknown in told if unknown is not None),
        clock.now(),
    )


async def list_leases(
    cluster_names: Collection[str], *, size: int, after: str | None, controller: Controller
) -> dict[str, Page[Lease, str]]:
    """List who leads each cluster's groups, and until when, by group; a cluster may have none.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    pages = await list_replica_groups(cluster_names, size=size, after=after, controller=controller)
    now = controller.clock.now()
    return {cluster: page.map(lambda view: _lease(view, now)) for cluster, page in pages.items()}


def key_of(broker: Broker) -> BrokerKey:
    """Name a broker where it is asked."""
    return BrokerKey(broker.cluster_name, broker.group_name, broker.broker_id, broker.address)


def _may_hold(broker: Broker, chosen: LockFilter) -> bool:
    return (
        chosen.cluster_name in (None, broker.cluster_name)
        and chosen.group_name in (None, broker.group_name)
        and chosen.within.includes(broker.cluster_name)
    )


async def _ask(
    broker: BrokerKey, brokers: LockSource, consumer_group: str | None, slots: asyncio.Semaphore
) -> tuple[Sequence[QueueLock], UnknownLocks | None]:
    async with slots:
        try:
            told = await brokers.queue_locks(broker.address, consumer_group=consumer_group)
        except (BrokerUnreachable, BrokerRefused) as error:
            return (), UnknownLocks(broker, error.reason)
    locks = [QueueLock(broker, held) for held in told.locks]
    if len(locks) == told.total_count:
        return locks, None
    why = f"it lists {len(locks)} of its {told.total_count} locks: ask for one consumer group"
    return locks, UnknownLocks(broker, why)


def _lease(found: ReplicaGroupView, now: datetime) -> Lease:
    group, left_ms = found.group, found.view.liveness.lease_left_ms
    master = group.master
    return Lease(
        cluster_name=group.cluster_name,
        group_name=group.name,
        master_id=group.master_id,
        master_address=None if master is None else master.address,
        master_epoch=group.master_epoch,
        policy=group.lease_policy,
        is_master_alive=found.is_master_alive,
        ends_at=now + timedelta(milliseconds=left_ms) if left_ms > 0 else None,
    )
