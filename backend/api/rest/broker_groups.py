"""Answer broker groups over REST."""

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.broker import Broker
from backend.domain.broker_group import BrokerGroup, find_master
from backend.services.broker_groups import describe_broker_group, list_broker_groups
from backend.services.brokers import list_brokers_of_groups
from backend.services.clusters import describe_cluster

router = APIRouter(tags=["broker groups"])


class BrokerGroupOut(BaseModel):
    """A broker group; `master` is the address that takes writes, or null."""

    name: str
    cluster_name: str
    mode: str
    broker_count: int
    online_broker_count: int
    master: str | None


@router.get("/clusters/{cluster_name}/broker-groups", responses=NOT_FOUND)
async def show_broker_groups(
    cluster_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[BrokerGroupOut]:
    """List a cluster's broker groups by name."""
    key = decode_cursor(after, str)
    cluster = await describe_cluster(cluster_name, database=context.database)
    pages = await list_broker_groups([cluster.id], size=limit, after=key, database=context.database)
    page = pages[cluster.id]
    brokers = await list_brokers_of_groups(
        [group.id for group in page.items], database=context.database
    )
    return page_out(page, lambda group: _group_out(group, brokers[group.id]))


@router.get("/clusters/{cluster_name}/broker-groups/{group_name}", responses=NOT_FOUND)
async def show_broker_group(cluster_name: str, group_name: str, context: Context) -> BrokerGroupOut:
    """Show one broker group; its brokers are listed with those of its cluster."""
    group = await describe_broker_group(cluster_name, group_name, database=context.database)
    brokers = await list_brokers_of_groups([group.id], database=context.database)
    return _group_out(group, brokers[group.id])


def _group_out(group: BrokerGroup, brokers: list[Broker]) -> BrokerGroupOut:
    master = find_master(brokers)
    return BrokerGroupOut(
        name=group.name,
        cluster_name=group.cluster_name,
        mode=group.mode.value,
        broker_count=len(brokers),
        online_broker_count=sum(broker.is_online for broker in brokers),
        master=None if master is None else master.address,
    )
