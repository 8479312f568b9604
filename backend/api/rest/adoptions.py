"""Answer who waits for adoption over REST (D6)."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.services.adoptions import StoredCandidate, list_candidates

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


@router.get("/adoption-candidates", responses=COMMON)
@reaches(Reach.KEPT)
async def show_candidates(
    context: Context, within: Within, limit: Limit = 100, after: After = None
) -> PageOut[AdoptionCandidateOut]:
    """List who waits for adoption by cluster, group and id."""
    page = await list_candidates(
        size=limit,
        after=decode_cursor(after, tuple[str, str, int]),
        within=within,
        controller=context.name_server.controller,
    )
    return page_out(page, _candidate_out)


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
