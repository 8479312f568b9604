"""Ask for the logical queues of static topics."""

from redis.asyncio import Redis

from backend.clients.losable import read_losable
from backend.db.engine import Database
from backend.domain.logical_queue.errors import StaticTopicNotFound
from backend.questions.question import question
from backend.services.logical_queue.logical_queues import describe_logical_queues, sampled_bounds
from backend.services.samples import latest_samples
from backend.views.logical_queues import LogicalQueuesOut


@question(
    "/clusters/{cluster_name}/topics/{topic_name}/logical-queues",
    field="logicalQueues",
    tag="topics",
    refusals=(404,),
    absences=(StaticTopicNotFound,),
)
async def show_logical_queues(
    cluster_name: str, topic_name: str, *, database: Database, redis: Redis
) -> LogicalQueuesOut:
    """Show the segments of a static topic's logical queues, and its unfinished change."""
    stored = await describe_logical_queues(cluster_name, topic_name, database=database)
    samples = await read_losable(latest_samples(redis, cluster_name), unknown=[])
    return LogicalQueuesOut.of(stored, sampled_bounds(stored.mapping, samples))
