"""Answer over REST who holds queues in order, and why queues stand still."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from backend.api.context import Context, Within
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND
from backend.api.rest.pages import After, Limit
from backend.api.rest.questions import answer_model, shown
from backend.domain.access import Reach
from backend.domain.queue_lock import Holder, LockFilter
from backend.services.queue_locks import list_locks
from backend.services.queue_pauses import QueuesAsked, explain_queues
from backend.views.locks import LocksOut, QueueExplanationOut

router = APIRouter(tags=["locks"])

NAME_LENGTH_MAX = 300
Name = Annotated[str | None, Query(max_length=NAME_LENGTH_MAX)]
QueueId = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class ExplanationsOut:
    """The queues of a topic as one group reads them, those that stand still first."""

    queues: list[QueueExplanationOut]
    observed_at: datetime


@router.get("/locks", response_model=answer_model(LocksOut), responses=COMMON)
@reaches(Reach.KEPT)
async def show_locks(
    context: Context,
    within: Within,
    limit: Limit = 100,
    after: After = None,
    cluster_name: Name = None,
    consumer_group: Name = None,
    topic: Name = None,
    group_name: Name = None,
    queue_id: QueueId = None,
    client_id: Name = None,
    holder: Holder | None = None,
) -> Any:
    """List the locks of ordered queues, as brokers report them now."""
    chosen = LockFilter(
        cluster_name, consumer_group, topic, group_name, queue_id, client_id, holder, within
    )
    found = await list_locks(
        chosen,
        size=limit,
        after=decode_cursor(after, tuple[str, str, str, str, int, str]),
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return shown(LocksOut.of(found))


@router.get("/clusters/{cluster_name}/topics/{topic_name}/pauses", responses=NOT_FOUND)
async def explain_pauses(
    cluster_name: str,
    topic_name: str,
    context: Context,
    consumer_group: Annotated[str, Query(min_length=1, max_length=NAME_LENGTH_MAX)],
    group_name: Name = None,
    queue_id: QueueId = None,
) -> ExplanationsOut:
    """Say of each queue in a sentence why a consumer group does not read it, or that it does."""
    asked = QueuesAsked(cluster_name, topic_name, consumer_group, group_name, queue_id)
    found = await explain_queues(
        asked, database=context.database, brokers=context.brokers, clock=context.clock
    )
    return ExplanationsOut(
        queues=[QueueExplanationOut.of(one) for one in found.queues], observed_at=found.observed_at
    )
