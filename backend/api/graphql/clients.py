"""Present one client and its connections."""

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.views import shown, shows
from backend.domain.message_errors import ClientNotFound
from backend.services.consumer_group import clients as service
from backend.views.clients import ClientOut
from backend.views.field_texts import UNKNOWN_BROKERS
from backend.views.graph_forms import Text
from backend.views.unknown_brokers import UnknownBrokerOut


@strawberry.type
class ClientDetail:
    """Present one client, and the brokers that did not list their clients."""

    client: ClientOut = shown(ClientOut, Text("The client and its connections."))
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut], UNKNOWN_BROKERS)


@strawberry.type
class ClientQuery:
    """Ask for clients."""

    @shows(ClientDetail | None)
    async def client(self, info: Info, cluster_name: str, client_id: str) -> ClientDetail | None:
        """Describe one client and its connections."""
        api = info.context.api
        try:
            found, unknown = await service.describe_client(
                cluster_name,
                client_id,
                client_snapshots=api.client_snapshots,
                brokers=api.brokers,
                clock=api.clock,
            )
        except ClientNotFound:
            return None
        return ClientDetail(
            client=ClientOut.of(found), unknown=[UnknownBrokerOut.of(one) for one in unknown]
        )
