"""Ask which producers and consumers are connected."""

from typing import Annotated

from backend.clients.clock import Clock
from backend.domain.client import ClientFilter, ClientRole
from backend.questions.question import After, Given, Limit, Search, question
from backend.services.clients import ClientSource, list_clients
from backend.services.cluster_census import Censuses
from backend.views.clients import ClientsOut

GroupName = Annotated[
    str | None, Given("Only clients of this producer or consumer group.", length_max=300)
]


@question("/clusters/{cluster_name}/clients", field="clients", tag="clients", refusals=(404,))
async def show_clients(
    cluster_name: str,
    search: Search = None,
    group: GroupName = None,
    role: ClientRole | None = None,
    limit: Limit = 100,
    after: After[str] = None,
    *,
    censuses: Censuses,
    brokers: ClientSource,
    clock: Clock,
) -> ClientsOut:
    """List the clients of a cluster by id, as its brokers report them now."""
    found = await list_clients(
        cluster_name,
        ClientFilter(group, role, search),
        size=limit,
        after=after,
        censuses=censuses,
        brokers=brokers,
        clock=clock,
    )
    return ClientsOut.of(found)
