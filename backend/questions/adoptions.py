"""Ask which brokers wait for adoption (D6)."""

from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.page import Page
from backend.questions.question import After, Limit, question
from backend.services.controller.adoptions import list_candidates
from backend.services.controller.group_changes import Controller
from backend.views.adoptions import AdoptionCandidateOut

CandidateKey = tuple[str, str, int]


@question("/adoption-candidates", field="adoptionCandidates", tag="adoptions", reach=Reach.KEPT)
async def show_candidates(
    limit: Limit = 100,
    after: After[CandidateKey] = None,
    *,
    within: ClusterScope,
    controller: Controller,
) -> Page[AdoptionCandidateOut, CandidateKey]:
    """List the brokers that wait for adoption, by cluster, group and id."""
    page = await list_candidates(size=limit, after=after, within=within, controller=controller)
    return page.map(AdoptionCandidateOut.of)
