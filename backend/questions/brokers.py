"""Ask for brokers and broker groups."""

from collections.abc import Sequence
from typing import Annotated

from redis.asyncio import Redis

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.clients.losable import read_losable
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.errors import BrokerGroupNotFound, ClusterNotFound
from backend.domain.operation_errors import BrokerUnknown
from backend.domain.page import Page
from backend.domain.protection import Resource, broker_resource
from backend.questions.question import After, Given, Limit, question
from backend.services.cluster.broker_groups import describe_broker_group, list_broker_groups
from backend.services.cluster.brokers import describe_broker, list_brokers, list_brokers_of_groups
from backend.services.cluster.clusters import describe_cluster
from backend.services.cluster.group_members import describe_members
from backend.services.controller.heartbeats import BrokerIdentity, list_heartbeats
from backend.services.protections import find_protections
from backend.views.brokers import BrokerGroupOut, BrokerOut
from backend.views.group_members import GroupMembersOut

GROUPS = "/clusters/{cluster_name}/broker-groups"

NameOfBroker = Annotated[str, Given("Name of the broker: its group and its id, as broker-a-2.")]


@question(
    "/clusters/{cluster_name}/brokers", field="BrokerGroup.brokers", tag="brokers", refusals=(404,)
)
async def show_brokers(
    cluster_name: str,
    limit: Limit = 100,
    after: After[tuple[str, int]] = None,
    *,
    database: Database,
    redis: Redis,
) -> Page[BrokerOut, tuple[str, int]]:
    """List a cluster's brokers by name."""
    page = await list_brokers(cluster_name, size=limit, after=after, database=database)
    shown = await _show(page.items, database=database, redis=redis)
    return Page(tuple(shown), page.next_key, page.total_count)


@question(
    "/clusters/{cluster_name}/brokers/{broker_name}",
    field="broker",
    tag="brokers",
    refusals=(404,),
    absences=(ClusterNotFound, BrokerUnknown),
)
async def show_broker(
    cluster_name: str, broker_name: NameOfBroker, *, database: Database, redis: Redis
) -> BrokerOut:
    """Describe one broker by its name. A failover does not change the name."""
    broker = await describe_broker(cluster_name, broker_name, database=database)
    return (await _show([broker], database=database, redis=redis))[0]


@question(GROUPS, field="Cluster.brokerGroups", tag="broker groups", refusals=(404,))
async def show_broker_groups(
    cluster_name: str, limit: Limit = 100, after: After[str] = None, *, database: Database
) -> Page[BrokerGroupOut, str]:
    """List a cluster's broker groups by name."""
    cluster = await describe_cluster(cluster_name, database=database)
    pages = await list_broker_groups([cluster.id], size=limit, after=after, database=database)
    page = pages[cluster.id]
    brokers = await list_brokers_of_groups([one.id for one in page.items], database=database)
    return page.map(lambda one: BrokerGroupOut.of(one, brokers[one.id]))


@question(
    GROUPS + "/{broker_group_name}",
    field="Cluster.brokerGroup",
    tag="broker groups",
    refusals=(404,),
)
async def show_broker_group(
    cluster_name: str, broker_group_name: str, *, database: Database
) -> BrokerGroupOut:
    """Describe one broker group. The list of brokers of the cluster contains its brokers."""
    group = await describe_broker_group(cluster_name, broker_group_name, database=database)
    brokers = await list_brokers_of_groups([group.id], database=database)
    return BrokerGroupOut.of(group, brokers[group.id])


@question(
    GROUPS + "/{broker_group_name}/members",
    field="brokerGroupMembers",
    tag="broker groups",
    refusals=(404,),
    absences=(BrokerGroupNotFound,),
)
async def show_group_members(
    cluster_name: str,
    broker_group_name: str,
    *,
    database: Database,
    redis: Redis,
    brokers: Brokers,
    clock: Clock,
) -> GroupMembersOut:
    """Describe what each broker of a group does now, and which replica acts for the master."""
    found = await describe_members(
        cluster_name,
        broker_group_name,
        database=database,
        redis=redis,
        brokers=brokers,
        clock=clock,
    )
    return GroupMembersOut.of(found)


async def _show(brokers: Sequence[Broker], *, database: Database, redis: Redis) -> list[BrokerOut]:
    heard = await read_losable(
        list_heartbeats(redis, [broker_key(broker) for broker in brokers]), unknown={}
    )
    resources = [resource_of(broker) for broker in brokers]
    protected = await find_protections(resources, database=database)
    return [
        BrokerOut.of(
            one, heard_at_ms=heard.get(broker_key(one)), protection=protected[resource_of(one)]
        )
        for one in brokers
    ]


def broker_key(broker: Broker) -> BrokerIdentity:
    """Return the key under which the heartbeat of a broker is stored."""
    return BrokerIdentity(broker.cluster_name, broker.broker_group_name, broker.broker_id)


def resource_of(broker: Broker) -> Resource:
    """Return the name under which a broker is protected."""
    return broker_resource(broker.cluster_name, broker.broker_group_name, broker.address)
