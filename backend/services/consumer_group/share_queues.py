"""Ask brokers for the share queues that they serve: only they know what consumers have (ADR 22)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.shares import GetShareMessages, GetShareQueues
from backend.clients.clock import Clock
from backend.db import broker_groups, clusters, share_leases
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.domain.broker_name import BrokerName
from backend.domain.names import check_cluster_name
from backend.domain.operation_errors import BrokerSilent, ShareQueueNotFound
from backend.domain.page import check_page_size
from backend.domain.share_lease import ShareLease
from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import (
    HeldShareQueues,
    ShareMessage,
    ShareQueue,
    ShareQueueFilter,
    ShareQueueName,
)
from backend.services.cluster.broker_questions import NO_MASTER, key_of
from backend.services.cluster.reported_lists import Asked, ReportedPage, collect

ShareQueueKey = tuple[str, str, str, str, int]
NOT_LEADING = "it does not lead its broker group now"


@dataclass(frozen=True, slots=True)
class ShareQueueDetail:
    """Hold a share queue, and its messages that were delivered and are not finished."""

    queue: ShareQueue
    messages: tuple[ShareMessage, ...]
    observed_at: datetime


async def list_share_queues(
    chosen: ShareQueueFilter,
    *,
    size: int,
    after: ShareQueueKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ReportedPage[ShareQueue]:
    """List the share queues that fulfil the conditions, by consumer group.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    found = await collect(
        chosen,
        GetShareQueues(chosen.topic, chosen.consumer_group_name),
        items_of=lambda broker, listed: [
            ShareQueue.of_master(broker, held) for held in listed.queues
        ],
        why_incomplete=_why_incomplete,
        asked=Asked.SERVING,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    listed = found.page(size=size, after=after)
    leased = await _with_owners(listed.page.items, database)
    return replace(listed, page=replace(listed.page, items=leased))


async def describe_share_queue(
    cluster_name: str,
    broker_group_name: str,
    name: ShareQueueName,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ShareQueueDetail:
    """Describe a share queue and its messages in flight, as the broker that serves it reports it.

    Raises:
        InvalidName: the name of the cluster is invalid.
        ClusterNotFound, BrokerGroupNotFound: there is no such cluster or broker group.
        ShareQueueNotFound: the consumer group has no share queue there.
        BrokerSilent: neither a master of the group nor a replica that acts for it answers.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        group = await broker_groups.get(connection, cluster_name, broker_group_name)
        known = (await broker_rows.list_of_groups(connection, [group.id]))[group.id]
    # The master has the least id, then the replica that acts for it (S83).
    online = sorted((one for one in known if one.is_online), key=lambda one: one.broker_id)
    if not online:
        raise BrokerSilent(broker_group_name, NO_MASTER)
    serving = key_of(online[0])
    try:
        found = await brokers.ask(serving.address, GetShareMessages(name))
    except NoAnswer as error:
        raise BrokerSilent(serving.address, error.reason) from error
    if not found.is_leading:
        raise BrokerSilent(serving.address, NOT_LEADING)
    if found.queue is None:
        raise ShareQueueNotFound(cluster_name, broker_group_name, name)
    (queue,) = await _with_owners([ShareQueue.of_master(serving, found.queue)], database)
    return ShareQueueDetail(queue, found.messages, clock.now())


async def _with_owners(queues: Sequence[ShareQueue], database: Database) -> tuple[ShareQueue, ...]:
    """Return share queues with the owners and waiters that the arbiter has: in SHARED mode any."""
    groups = {
        (one.broker.cluster_name, one.broker.broker_group_name)
        for one in queues
        if one.held.mode is ShareMode.SHARED
    }
    if not groups:
        return tuple(queues)
    leases = await share_leases.list_of_groups(pipeline_of(database), groups)
    async with database.connect() as connection:
        online = [key_of(one) for one in await broker_rows.list_online(connection)]
    addresses = {(one.cluster_name, one.name): one.address for one in online}
    return tuple(_with_owner(one, leases, addresses) for one in queues)


def _with_owner(
    queue: ShareQueue,
    leases: Mapping[tuple[str, str], Mapping[ShareQueueName, ShareLease]],
    addresses: Mapping[tuple[str, BrokerName], str],
) -> ShareQueue:
    if queue.held.mode is not ShareMode.SHARED:
        return queue
    cluster_name, group_name = queue.broker.cluster_name, queue.broker.broker_group_name
    lease = leases.get((cluster_name, group_name), {}).get(queue.name, ShareLease())
    owner = None if lease.owner is None else BrokerName(group_name, lease.owner.broker_id)
    return replace(
        queue,
        owner=owner,
        owner_address=None if owner is None else addresses.get((cluster_name, owner)),
        waiters=tuple(BrokerName(group_name, one.broker_id) for one in lease.waiters),
    )


def _why_incomplete(listed: HeldShareQueues) -> str | None:
    if not listed.is_leading:
        return NOT_LEADING
    count = len(listed.queues)
    if count == listed.total_count:
        return None
    return f"it lists {count} of its {listed.total_count} share queues: ask for one consumer group"
