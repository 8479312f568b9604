"""Ask for the rates of clusters over the last minutes."""

from typing import Annotated

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.names import CLUSTER_NAME_BYTES_MAX, check_cluster_name
from backend.questions.question import Given, question
from backend.services.samples.rate_history import MINUTES_MAX, show_rates
from backend.views.rates import RatesOut

Minutes = Annotated[int, Given(low=1, high=MINUTES_MAX)]
Cluster = Annotated[str | None, Given(length_max=CLUSTER_NAME_BYTES_MAX, rest_name="cluster")]


@question("/rates", field="rates", tag="clusters", reach=Reach.KEPT, refusals=(404,))
async def list_rates(
    minutes: Minutes = 60,
    cluster_name: Cluster = None,
    *,
    within: ClusterScope,
    redis: Redis,
    database: Database,
    clock: Clock,
) -> list[RatesOut]:
    """List the rates of all clusters within reach, or of one, over the last minutes.

    The last hour has a value every few seconds. Earlier values are means of five minutes.
    """
    points = await show_rates(
        minutes,
        cluster_name=None if cluster_name is None else check_cluster_name(cluster_name),
        within=within,
        redis=redis,
        database=database,
        clock=clock,
    )
    return [RatesOut.of(point) for point in points]
