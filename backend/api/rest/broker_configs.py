"""Answer what a broker is set to over REST."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict

from backend.api.context import Context
from backend.api.rest.errors import NOT_FOUND, refused_with
from backend.api.rest.versions import TAGGED, put_tag
from backend.domain.broker_property import PropertyEffect, PropertyType
from backend.services.broker_configs import describe_config

router = APIRouter(tags=["brokers"])


class PropertyOut(BaseModel):
    """A property: `value` is in force, `stored` in the broker's file; null is not told."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    type: PropertyType
    effect: PropertyEffect
    value: str
    stored: str | None
    default: str | None
    low: int | None
    high: int | None
    choices: list[str]


class BrokerConfigOut(BaseModel):
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
        properties=[PropertyOut.model_validate(one) for one in found.properties],
    )
