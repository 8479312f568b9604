"""Ask which errors and lost leases the members of broker groups had in their share queues."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.page import Page
from backend.domain.share_incident import IncidentFilter
from backend.questions.question import (
    After,
    Given,
    InBrokerGroup,
    InCluster,
    InQueue,
    Limit,
    OfConsumerGroup,
    OfTopic,
    question,
)
from backend.services.share_queue.incidents import list_incidents
from backend.views.graph_forms import in_graph
from backend.views.share_incidents import ShareIncidentOut

IsOpen = Annotated[bool | None, Given("Only open incidents, or only those that are over.")]


@in_graph("ShareIncidentFilter")
@dataclass(frozen=True, slots=True)
class ShareIncidentChoice:
    """Choose incidents. An incident must fulfil each condition that is given.

    A share queue has the incidents of its name, and those of its broker group without a name.
    """

    cluster_name: InCluster = None
    broker_group_name: InBrokerGroup = None
    consumer_group_name: OfConsumerGroup = None
    topic: OfTopic = None
    queue_id: InQueue = None
    is_open: IsOpen = None


Chosen = Annotated[ShareIncidentChoice, Given(is_optional_in_graph=True)]


@question("/share-incidents", field="shareIncidents", tag="share queues", reach=Reach.KEPT)
async def show_share_incidents(
    limit: Limit = 100,
    after: After[int] = None,
    chosen: Chosen = ShareIncidentChoice(),
    *,
    within: ClusterScope,
    database: Database,
) -> Page[ShareIncidentOut, int]:
    """List the incidents of share queues, the newest first."""
    page = await list_incidents(
        size=limit,
        before=after,
        chosen=IncidentFilter(**asdict(chosen), within=within),
        database=database,
    )
    return page.map(ShareIncidentOut.of)
