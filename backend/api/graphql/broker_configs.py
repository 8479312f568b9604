"""Present what a broker is set to."""

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shown
from backend.services.broker_configs import describe_config
from backend.views.broker_configs import PropertyOut


@strawberry.type
class BrokerConfig:
    """Present what a broker is set to, by name."""

    address: str
    version: str
    properties: list[PropertyOut] = shown(list[PropertyOut])


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
            properties=[PropertyOut.of(one) for one in found.properties],
        )
