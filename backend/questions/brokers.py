"""Ask for brokers and broker groups."""

from redis.asyncio import Redis

from backend.clients.losable import read_losable
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.page import Page
from backend.domain.protection import Resource, broker_resource
from backend.questions.question import After, Limit, question
from backend.services.cluster.broker_groups import describe_broker_group, list_broker_groups
from backend.services.cluster.brokers import list_brokers, list_brokers_of_groups
from backend.services.cluster.clusters import describe_cluster
from backend.services.controller.heartbeats import BrokerIdentity, list_heartbeats
from backend.services.protections import find_protections
from backend.views.brokers import BrokerGroupOut, BrokerOut

GROUPS = "/clusters/{cluster_name}/broker-groups"


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
    """List a cluster's brokers by group and id."""
    page = await list_brokers(cluster_name, size=limit, after=after, database=database)
    heard = await read_losable(
        list_heartbeats(redis, [broker_key(broker) for broker in page.items]), unknown={}
    )
    resources = [resource_of(broker) for broker in page.items]
    protected = await find_protections(resources, database=database)
    return page.map(
        lambda one: BrokerOut.of(
            one, heard_at_ms=heard.get(broker_key(one)), protection=protected[resource_of(one)]
        )
    )


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
    GROUPS + "/{group_name}", field="Cluster.brokerGroup", tag="broker groups", refusals=(404,)
)
async def show_broker_group(
    cluster_name: str, group_name: str, *, database: Database
) -> BrokerGroupOut:
    """Show one broker group; its brokers are listed with those of its cluster."""
    group = await describe_broker_group(cluster_name, group_name, database=database)
    brokers = await list_brokers_of_groups([group.id], database=database)
    return BrokerGroupOut.of(group, brokers[group.id])


def broker_key(broker: Broker) -> BrokerIdentity:
    """Return what the heartbeat of a broker is kept under."""
    return BrokerIdentity(broker.cluster_name, broker.group_name, broker.broker_id)


def resource_of(broker: Broker) -> Resource:
    """Return what a broker is called where it is protected."""
    return broker_resource(broker.cluster_name, broker.group_name, broker.address)
