"""Rebuild the mapping of a static topic that the tables have lost."""

from uuid import UUID

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db import logical_queues
from backend.db.engine import Database
from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange
from backend.domain.logical_queue.errors import QueueMappingBroken
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.rebuild import rebuild
from backend.domain.logical_queue.segment import BLOCK_SIZE, OffsetMode
from backend.services.logical_queue.copies import ask_holders


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
