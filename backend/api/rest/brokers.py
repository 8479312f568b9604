"""Answer brokers over REST."""

from collections.abc import Mapping
from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.clients.losable import read_losable
from backend.domain.broker import Broker
from backend.domain.protection import Protection, Resource, broker_resource
from backend.services.brokers import list_brokers
from backend.services.heartbeats import BrokerKey, list_heartbeats
from backend.services.protections import find_protections
from backend.views.protections import ProtectionOut

router = APIRouter(tags=["brokers"])


class BrokerOut(BaseModel):
    """A broker; null is an unknown heartbeat, or no protection.

    A missing broker is not registered: only a controller knows it, by its id in the group.
    """

    group_name: str
    broker_id: int
    role: str
    state: str
    address: str
    ha_address: str | None
    registered_at: datetime
    last_heartbeat_at: datetime | None
    is_registered: bool
    protection: ProtectionOut | None


@router.get("/clusters/{cluster_name}/brokers", responses=NOT_FOUND)
async def show_brokers(
    cluster_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[BrokerOut]:
    """List a cluster's brokers by group and id."""
    page = await list_brokers(
        cluster_name,
        size=limit,
        after=decode_cursor(after, tuple[str, int]),
        database=context.database,
    )
    heartbeats = await read_losable(
        list_heartbeats(context.redis, [_key(broker) for broker in page.items]), unknown={}
    )
    protected = await find_protections(
        [_resource(broker) for broker in page.items], database=context.database
    )
    return page_out(
        page, lambda broker: _broker_out(broker, heartbeats, protected[_resource(broker)])
    )


def _broker_out(
    broker: Broker, heartbeats: Mapping[BrokerKey, int], protection: Protection | None
) -> BrokerOut:
    heard_at_ms = heartbeats.get(_key(broker))
    heard_at = None if heard_at_ms is None else datetime.fromtimestamp(heard_at_ms / 1000, UTC)
    return BrokerOut(
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        role=broker.role.value,
        state=broker.state.value,
        address=broker.address,
        ha_address=broker.ha_address,
        registered_at=broker.registered_at,
        last_heartbeat_at=heard_at if broker.is_registered else broker.last_heard_at,
        is_registered=broker.is_registered,
        protection=ProtectionOut.of(protection),
    )


def _key(broker: Broker) -> BrokerKey:
    return BrokerKey(broker.cluster_name, broker.group_name, broker.broker_id)


def _resource(broker: Broker) -> Resource:
    return broker_resource(broker.cluster_name, broker.group_name, broker.address)
