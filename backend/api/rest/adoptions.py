"""Answer who waits for adoption over REST, and take the order to adopt (D6)."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from backend.api.context import Context, SignedIn, operator_cause, require_change
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import COMMON
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.api.rest.replica_groups import (
    GROUP,
    IDS_MAX,
    ORDERED,
    BrokerId,
    Epoch,
    ReplicaGroupOut,
    group_out,
    named,
)
from backend.domain.adoption import AdoptionOrder
from backend.services.adoptions import AdoptReplicas, StoredCandidate, adopt, list_candidates
from backend.services.replica_views import view_group

router = APIRouter(tags=["adoptions"])


class AdoptionCandidateOut(BaseModel):
    """A broker that claims an id of a lost group; null is what it did not tell.

    `master_id` is who serves as master for all that it knows, and 0 when it knows of none.
    """

    cluster_name: str
    group_name: str
    broker_id: int
    address: str
    has_code: bool
    epoch: int | None
    max_offset: int | None
    master_id: int | None
    is_verified: bool | None
    first_heard_at: datetime
    heard_at: datetime


class AdoptIn(BaseModel):
    """Order brokers to be adopted under the ids they claim.

    The expected epoch is 0 for a group that is not there. Without a choice of the master, what is
    known decides; `least_epoch` stands for epochs that nobody told.
    """

    model_config = ConfigDict(extra="forbid")

    broker_ids: Annotated[list[BrokerId], Field(min_length=1, max_length=IDS_MAX)]
    expected_master_epoch: Epoch = 0
    master_id: BrokerId | None = None
    least_epoch: Epoch | None = None
    accepts_loss: bool = False


@router.get("/adoption-candidates", responses=COMMON)
async def show_candidates(
    context: Context, limit: Limit = 100, after: After = None
) -> PageOut[AdoptionCandidateOut]:
    """List who waits for adoption by cluster, group and id."""
    page = await list_candidates(
        size=limit,
        after=decode_cursor(after, tuple[str, str, int]),
        controller=context.name_server.controller,
    )
    return page_out(page, _candidate_out)


@router.post(GROUP + "/adopt", responses=ORDERED)
async def adopt_replicas(
    cluster_name: str, group_name: str, order: AdoptIn, context: Context, session: SignedIn
) -> ReplicaGroupOut:
    """Take brokers in; a group that was lost begins again and has its master elected then."""
    controller = context.name_server.controller
    command = AdoptReplicas(
        named(cluster_name, group_name),
        AdoptionOrder(
            frozenset(order.broker_ids),
            master_id=order.master_id,
            least_epoch=order.least_epoch,
            accepts_loss=order.accepts_loss,
        ),
        cause=operator_cause(require_change(session)),
        expected_epoch=order.expected_master_epoch,
    )
    return group_out(view_group(await adopt(command, controller), controller))


def _candidate_out(stored: StoredCandidate) -> AdoptionCandidateOut:
    one = stored.candidate
    return AdoptionCandidateOut(
        cluster_name=stored.cluster_name,
        group_name=stored.group_name,
        broker_id=one.broker_id,
        address=one.address,
        has_code=one.register_code is not None,
        epoch=one.epoch,
        max_offset=one.max_offset,
        master_id=one.master_id,
        is_verified=one.is_verified,
        first_heard_at=stored.first_heard_at,
        heard_at=stored.heard_at,
    )
