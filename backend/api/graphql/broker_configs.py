"""Present what a broker is set to."""

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64, int64
from backend.domain import broker_property as domain
from backend.services.broker_configs import describe_config

PropertyType = strawberry.enum(domain.PropertyType, description=None)
PropertyEffect = strawberry.enum(domain.PropertyEffect, description=None)


@strawberry.type
class BrokerProperty:
    """Present a property: `value` is in force, `stored` in the broker's file; null is not told."""

    name: str
    type: domain.PropertyType
    effect: domain.PropertyEffect
    value: str
    stored: str | None
    default: str | None
    low: Int64 | None
    high: Int64 | None
    choices: list[str]


@strawberry.type
class BrokerConfig:
    """Present what a broker is set to, by name."""

    address: str
    version: str
    properties: list[BrokerProperty]


@strawberry.type
class BrokerConfigQuery:
    """Ask for settings of brokers."""

    @strawberry.field
    async def broker_config(
        self, info: Info, cluster_name: str, group_name: str, broker_id: Int64
    ) -> BrokerConfig:
        """Describe every property of a broker; the broker itself is asked."""
        api = info.context.api
        found = await describe_config(
            cluster_name, group_name, broker_id, database=api.database, brokers=api.brokers
        )
        return BrokerConfig(
            address=found.broker.address,
            version=found.version,
            properties=[
                BrokerProperty(
                    name=one.name,
                    type=one.type,
                    effect=one.effect,
                    value=one.value,
                    stored=one.stored,
                    default=one.default,
                    low=int64(one.low),
                    high=int64(one.high),
                    choices=list(one.choices),
                )
                for one in found.properties
            ],
        )
