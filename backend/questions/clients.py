"""Ask which producers and consumers are connected."""

from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.domain.client import ClientFilter, ClientRole
from backend.questions.question import After, Given, Limit, Search, question
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.consumer_group.clients import describe_client, list_clients
from backend.views.clients import ClientDetailOut, ClientOut, ClientsOut
from backend.views.copying import copied
from backend.views.unknown_brokers import UnknownBrokerOut

ConsumerGroupName = Annotated[
    str | None, Given("Only clients of this producer or consumer group.", length_max=300)
]


@question("/clusters/{cluster_name}/clients", field="clients", tag="clients", refusals=(404,))
async def show_clients(
    cluster_name: str,
    search: Search = None,
    group: ConsumerGroupName = None,
    role: ClientRole | None = None,
    limit: Limit = 100,
    after: After[str] = None,
    *,
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> ClientsOut:
    """List the clients of a cluster by id, as its brokers report them now."""
    found = await list_clients(
        cluster_name,
        ClientFilter(group, role, search),
        size=limit,
        after=after,
        client_snapshots=client_snapshots,
        brokers=brokers,
        clock=clock,
    )
    return ClientsOut.of(found)


@question(
    "/clusters/{cluster_name}/clients/{client_id}",
    field="Query.client",
    tag="clients",
    refusals=(404, 502),
)
async def show_client(
    cluster_name: str,
    client_id: str,
    *,
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> ClientDetailOut:
    """Describe one client and its connections."""
    client, silent = await describe_client(
        cluster_name, client_id, client_snapshots=client_snapshots, brokers=brokers, clock=clock
    )
    unknown = [UnknownBrokerOut.of(one) for one in silent]
    return copied(ClientDetailOut, ClientOut.of(client), unknown=unknown)
