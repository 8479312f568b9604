"""Ask which brokers share a process."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.container import ContainerFilter
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    InCluster,
    Limit,
    question,
)
from backend.services.cluster.containers import list_containers
from backend.views.containers import ContainersOut
from backend.views.graph_forms import in_graph

AtAddress = Annotated[
    str | None, Given("Only the container at this address.", length_max=NAME_LENGTH_MAX)
]


@in_graph("ContainerFilter")
@dataclass(frozen=True, slots=True)
class ContainerChoice:
    """Choose containers. A container must fulfil each condition that is given."""

    cluster_name: InCluster = None
    address: AtAddress = None


Chosen = Annotated[ContainerChoice, Given(is_optional_in_graph=True)]


@question("/containers", field="containers", tag="brokers", reach=Reach.KEPT)
async def show_containers(
    limit: Limit = 100,
    after: After[str] = None,
    chosen: Chosen = ContainerChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ContainersOut:
    """List the broker containers that brokers report, with the brokers that each of them runs."""
    found = await list_containers(
        ContainerFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return ContainersOut.of(found)
