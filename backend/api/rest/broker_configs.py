"""Answer what a broker is set to over REST."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Response

from backend.api.context import Context
from backend.api.rest.errors import NOT_FOUND, refused_with
from backend.api.rest.versions import TAGGED, put_tag
from backend.services.broker_configs import describe_config
from backend.views.broker_configs import PropertyOut

router = APIRouter(tags=["brokers"])


@dataclass(frozen=True, slots=True)
class BrokerConfigOut:
    """What a broker is set to, by name."""

    address: str
    properties: list[PropertyOut]


@router.get(
    "/clusters/{cluster_name}/broker-groups/{group_name}/brokers/{broker_id}/config",
    responses={**NOT_FOUND, **refused_with(502), 200: TAGGED},
)
async def show_broker_config(
    cluster_name: str,
    group_name: str,
    broker_id: Annotated[int, Path(ge=0, le=2**63 - 1)],
    context: Context,
    response: Response,
) -> BrokerConfigOut:
    """Describe every property of a broker; the broker itself is asked."""
    found = await describe_config(
        cluster_name, group_name, broker_id, database=context.database, brokers=context.brokers
    )
    put_tag(response, found.version)
    return BrokerConfigOut(
        address=found.broker.address,
        properties=[PropertyOut.of(one) for one in found.properties],
    )
