"""Ask brokers for the present locks of ordered queues.

Locks are only in the memory of brokers and change every second, so they are not stored here. The
locks of a broker without an answer are unknown (D21).
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from backend.brokers.asking import Brokers
from backend.brokers.requests.locks import GetQueueLocks
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.page import Page, check_page_size
from backend.domain.queue_lock import (
    HeldLocks,
    LockFilter,
    MasterLease,
    QueueLock,
)
from backend.services.cluster.reported_lists import Asked, Reported, ReportedPage, collect
from backend.services.controller.group_changes import Controller
from backend.services.controller.replica_views import ReplicaGroupView, list_replica_groups
from backend.services.logical_queue.logical_queues import find_mappings

LockKey = tuple[str, str, str, str, int, str]
Locks = Reported[QueueLock]


async def list_locks(
    chosen: LockFilter,
    *,
    size: int,
    after: LockKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ReportedPage[QueueLock]:
    """List the locks that are meant by cluster, consumer group, topic, broker group and queue.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    found = await collect_locks(chosen, database=database, brokers=brokers, clock=clock)
    page = found.page(size=size, after=after)
    topics = {(one.broker.cluster_name, one.held.topic) for one in page.page.items}
    mappings = await find_mappings(topics, database=database)
    return page.map(lambda one: one.mapped(mappings[one.broker.cluster_name, one.held.topic]))


async def collect_locks(
    chosen: LockFilter, *, database: Database, brokers: Brokers, clock: Clock
) -> Locks:
    """Ask all brokers that may hold such locks, many at once.

    Raises:
        InvalidName: the name of the cluster is invalid.
    """
    return await collect(
        chosen,
        GetQueueLocks(chosen.consumer_group_name),
        items_of=lambda broker, listed: [QueueLock(broker, held) for held in listed.locks],
        why_incomplete=_why_incomplete,
        asked=Asked.ALL,
        database=database,
        brokers=brokers,
        clock=clock,
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
