"""Ask for the mapping of a static topic as a file."""

from backend.brokers.asking import Brokers
from backend.db.engine import Database
from backend.questions.question import question
from backend.services.logical_queue.importing import export_topic
from backend.views.queue_mapping_files import QueueMappingFileOut


@question(
    "/clusters/{cluster_name}/topics/{topic_name}/queue-mapping-file",
    field="queueMappingFile",
    tag="topics",
    refusals=(404, 409),
)
async def show_queue_mapping_file(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers
) -> QueueMappingFileOut:
    """Show the mapping of a static topic in the form of RocketMQ's mapping files.

    The attributes are those that the brokers have now. Queues that are on their way end with an
    undecided segment.
    """
    plan = await export_topic(cluster_name, topic_name, database=database, brokers=brokers)
    return QueueMappingFileOut.of(plan)
