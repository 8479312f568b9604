"""Ask which messages wait at acting masters for another broker group."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain import outbox
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    InBrokerGroup,
    InCluster,
    Limit,
    question,
)
from backend.services.message.outbox import OutboxKey, list_outbox
from backend.views.graph_forms import in_graph
from backend.views.outbox import OutboxOut

OfTopic = Annotated[str | None, Given("Only messages of this topic.", length_max=NAME_LENGTH_MAX)]


@in_graph("OutboxFilter")
@dataclass(frozen=True, slots=True)
class OutboxChoice:
    """Choose messages of acting masters. They must fulfil each condition that is given."""

    cluster_name: InCluster = None
    broker_group_name: InBrokerGroup = None
    topic: OfTopic = None


Chosen = Annotated[OutboxChoice, Given(is_optional_in_graph=True)]


@question("/outbox", field="outbox", tag="messages", reach=Reach.KEPT)
async def show_outbox(
    limit: Limit = 100,
    after: After[OutboxKey] = None,
    chosen: Chosen = OutboxChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> OutboxOut:
    """List the topics whose messages wait at acting masters for another broker group.

    A replica acts while the master of its group is absent. What is due there escapes, if
    `enableRemoteEscape` is on. Brokers report it now.
    """
    found = await list_outbox(
        outbox.OutboxFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return OutboxOut.of(found)
