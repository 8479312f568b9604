"""Ask for the recorded lag of consumer groups."""

from backend.db.engine import Database
from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.questions.question import After, Limit, question
from backend.services.consumer_group.recorded_lags import list_lags
from backend.views.recorded_lags import RecordedLagOut


@question(
    "/clusters/{cluster_name}/recorded-lags",
    field="recordedLags",
    tag="consumer groups",
    refusals=(404,),
)
async def show_recorded_lags(
    cluster_name: str,
    limit: Limit = 100,
    after: After[tuple[str, str]] = None,
    *,
    database: Database,
) -> Page[RecordedLagOut, tuple[str, str]]:
    """List the recorded lag of consumer groups, by group and topic. No broker is asked."""
    page = await list_lags(
        check_cluster_name(cluster_name), size=limit, after=after, database=database
    )
    return page.map(RecordedLagOut.of)
