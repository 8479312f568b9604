"""Ask which clients hold the locks of ordered queues, and why queues are paused."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain import queue_lock
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.queue_lock import Holder
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    InBrokerGroup,
    InQueue,
    Limit,
    OfQueues,
    question,
)
from backend.services.consumer_group.queue_locks import list_locks
from backend.services.consumer_group.queue_pauses import QueuesAsked, explain_queues
from backend.views.graph_forms import in_graph
from backend.views.locks import ExplanationsOut, LocksOut

LockKey = tuple[str, str, str, str, int, str]
OfClient = Annotated[str | None, Given("Only of this client.", length_max=NAME_LENGTH_MAX)]
OfHolder = Annotated[
    Holder | None, Given("Only of clients that are connected, or of clients that are gone.")
]
ConsumerGroup = Annotated[str, Given(length_min=1, length_max=NAME_LENGTH_MAX)]


@in_graph("LockFilter")
@dataclass(frozen=True, slots=True)
class LockChoice(OfQueues):
    """Choose locks. A lock must fulfil each condition that is given."""

    client_id: OfClient = None
    holder: OfHolder = None


Chosen = Annotated[LockChoice, Given(is_optional_in_graph=True)]


@question("/locks", field="locks", tag="locks", reach=Reach.KEPT)
async def show_locks(
    limit: Limit = 100,
    after: After[LockKey] = None,
    chosen: Chosen = LockChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> LocksOut:
    """List the locks of ordered queues, as brokers report them now."""
    found = await list_locks(
        queue_lock.LockFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return LocksOut.of(found)


@question(
    "/clusters/{cluster_name}/topics/{topic_name}/pauses",
    field="queueExplanations",
    tag="locks",
    refusals=(404,),
    graph_part="queues",
)
async def explain_pauses(
    cluster_name: str,
    topic_name: str,
    consumer_group_name: ConsumerGroup,
    broker_group_name: InBrokerGroup = None,
    queue_id: InQueue = None,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ExplanationsOut:
    """Explain for each queue why a consumer group does not read it, or that it does."""
    asked = QueuesAsked(cluster_name, topic_name, consumer_group_name, broker_group_name, queue_id)
    found = await explain_queues(asked, database=database, brokers=brokers, clock=clock)
    return ExplanationsOut.of(found)
