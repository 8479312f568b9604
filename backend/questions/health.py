"""Ask how well broker groups can do their work, and what is missing."""

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.questions.question import InCluster, question
from backend.services.cluster.health import Listener, describe_health
from backend.views.health import HealthOut


@question("/health", field="health", tag="health", reach=Reach.KEPT, refusals=(404,))
async def show_health(
    cluster_name: InCluster = None,
    *,
    within: ClusterScope,
    listener: Listener,
    database: Database,
    redis: Redis,
    clock: Clock,
) -> HealthOut:
    """Judge the health of all broker groups, or of the groups of one cluster."""
    observed = await describe_health(
        cluster_name=cluster_name,
        within=within,
        listener=listener,
        database=database,
        redis=redis,
        clock=clock,
    )
    return HealthOut.of(observed)
