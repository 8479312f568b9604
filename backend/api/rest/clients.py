"""Answer one client and its connections over REST."""

from dataclasses import dataclass

from fastapi import APIRouter

from backend.api.context import Context
from backend.api.rest.errors import SILENT
from backend.services.clients import describe_client
from backend.views.clients import ClientOut
from backend.views.copying import copied
from backend.views.unknown_brokers import UnknownBrokerOut

router = APIRouter(tags=["clients"])


@dataclass(frozen=True, slots=True)
class ClientDetailOut(ClientOut):
    """A client, and the brokers that did not list their clients."""

    unknown: list[UnknownBrokerOut]


@router.get("/clusters/{cluster_name}/clients/{client_id}", responses=SILENT)
async def show_client(cluster_name: str, client_id: str, context: Context) -> ClientDetailOut:
    """Describe one client and its connections."""
    client, unknown = await describe_client(
        cluster_name,
        client_id,
        censuses=context.censuses,
        brokers=context.brokers,
        clock=context.clock,
    )
    return copied(
        ClientDetailOut,
        ClientOut.of(client),
        unknown=[UnknownBrokerOut.of(one) for one in unknown],
    )
