"""Read the mappings of static topics, and rebuild one that the tables have lost."""

from collections.abc import Sequence
from uuid import UUID

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db import clusters, logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StaticTopicSummary, StoredTopic
from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange
from backend.domain.logical_queue.errors import QueueMappingBroken
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.rebuild import rebuild
from backend.domain.logical_queue.segment import BLOCK_SIZE, OffsetMode
from backend.domain.names import check_cluster_name, check_topic_name
from backend.services.logical_queue.copies import ask_holders


async def describe_mapping(
    cluster_name: str, topic_name: str, *, database: Database
) -> StoredTopic:
    """Return a static topic: its mapping, and its unfinished change.

    Raises:
        InvalidName: a name is invalid. StaticTopicNotFound: the cluster has no such static topic.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    async with database.connect() as connection:
        return await logical_queues.get(connection, cluster_name, topic_name)


async def list_static_topics(
    cluster_name: str, *, database: Database
) -> Sequence[StaticTopicSummary]:
    """List the static topics of a cluster by name.

    Raises:
        InvalidName: the name is invalid. ClusterNotFound: there is no cluster of the name.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        return await logical_queues.list_of_cluster(connection, cluster_name)


async def import_topic(
    import_id: UUID,
    cluster_name: str,
    topic_name: str,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
    offset_mode: OffsetMode = OffsetMode.CONTIGUOUS,
    block_size: int = BLOCK_SIZE,
) -> TopicMapping:
    """Rebuild the rows of a static topic from its brokers, which all have to answer (L65).

    Raises:
        QueueMappingBroken: a broker group does not answer, the copies break an invariant, or a
        change was under way. StaticTopicExists: the rows are there.
    """
    holders = await ask_holders(cluster_name, topic_name, database=database, brokers=brokers)
    if holders.silent:
        reasons = [f"broker group {name}: {reason}" for name, reason in holders.silent.items()]
        raise QueueMappingBroken(topic_name, tuple(reasons))
    mapping = rebuild(topic_name, holders.copies, offset_mode=offset_mode, block_size=block_size)
    change = QueueChange(
        ChangeKind.IMPORT,
        mapping,
        mapping,
        state=ChangeState.DONE,
        converged=frozenset(mapping.counts),
    )
    async with database.begin() as connection:
        at = clock.now()
        await logical_queues.add(connection, cluster_name, mapping, at=at)
        await logical_queues.add_change(connection, cluster_name, import_id, change, at=at)
    return mapping
