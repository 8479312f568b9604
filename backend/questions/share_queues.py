"""Ask which messages POP consumers have, and how far their groups are."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.operation_errors import ShareQueueNotFound
from backend.domain.share_queue import ShareQueueFilter, ShareQueueName
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    Limit,
    OfQueues,
    question,
)
from backend.services.consumer_group.share_queues import (
    ShareQueueKey,
    describe_share_queue,
    list_share_queues,
)
from backend.views.graph_forms import in_graph
from backend.views.share_queues import ShareQueueDetailOut, ShareQueuesOut

TAG = "share queues"
Name = Annotated[str, Given(length_min=1, length_max=NAME_LENGTH_MAX)]
QueueId = Annotated[int, Given("Number of the queue in its broker group.", low=0, high=2**31 - 1)]


@in_graph("ShareQueueFilter")
@dataclass(frozen=True, slots=True)
class ShareQueueChoice(OfQueues):
    """Choose share queues. A share queue must fulfil each condition that is given."""


Chosen = Annotated[ShareQueueChoice, Given(is_optional_in_graph=True)]


@question("/share-queues", field="shareQueues", tag=TAG, reach=Reach.KEPT)
async def show_share_queues(
    limit: Limit = 100,
    after: After[ShareQueueKey] = None,
    chosen: Chosen = ShareQueueChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ShareQueuesOut:
    """List the share queues of POP consumers, as their owners report them now."""
    found = await list_share_queues(
        ShareQueueFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return ShareQueuesOut.of(found)


@question(
    "/clusters/{cluster_name}/broker-groups/{broker_group_name}/share-queue",
    field="shareQueue",
    tag=TAG,
    refusals=(404,),
    absences=(ShareQueueNotFound,),
)
async def show_share_queue(
    cluster_name: str,
    broker_group_name: str,
    topic: Name,
    queue_id: QueueId,
    consumer_group_name: Name,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ShareQueueDetailOut:
    """Show a share queue with the messages that consumers have, or that came back."""
    found = await describe_share_queue(
        cluster_name,
        broker_group_name,
        ShareQueueName(topic, queue_id, consumer_group_name),
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return ShareQueueDetailOut.of(found)
