"""Find the mappings that a returned broker group has to take over (logical-queues.md 17.5, L50)."""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.db import logical_queues
from backend.db.engine import Database
from backend.domain.logical_queue.mapping import BrokerMapping, QueueCounts, copy_for


@dataclass(frozen=True, slots=True)
class NewerCopy:
    """Hold the copy of a broker group; `is_final` while no change of the topic is unfinished."""

    mapping: BrokerMapping
    counts: QueueCounts
    is_final: bool


async def find_newer_copies(
    cluster_name: str, broker_group_name: str, held: Mapping[str, int], *, database: Database
) -> dict[str, NewerCopy]:
    """Return the copies with a greater epoch than those that a broker group has, by topic.

    During a change the copy has the queues that have moved so far.
    """
    found: dict[str, NewerCopy] = {}
    async with database.connect() as connection:
        epochs = await logical_queues.list_epochs(connection, cluster_name, held)
        for name in sorted(name for name, epoch in epochs.items() if epoch > held[name]):
            topic = await logical_queues.find(connection, cluster_name, name)
            if topic is None or topic.mapping.epoch <= held[name]:
                continue
            counts = topic.mapping.counts.get(broker_group_name)
            if counts is not None:
                mapping = copy_for(topic.mapping, broker_group_name)
                found[name] = NewerCopy(mapping, counts, is_final=topic.unfinished is None)
    return found
