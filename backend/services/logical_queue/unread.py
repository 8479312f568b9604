"""Find the logical queues that all consumer groups have read to the end."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.brokers.asking import Brokers
from backend.brokers.requests.physical_positions import GetPhysicalPositions
from backend.brokers.requests.topics import GetGroupsOfTopic
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.reading import count_unread, find_position
from backend.services.logical_queue.bounds import Asked, find_bounds
from backend.services.logical_queue.copies import TopicHolders


@dataclass(frozen=True, slots=True)
class UnreadQueues:
    """Hold how many messages of some logical queues each consumer group has still to read.

    `counts` has the number by consumer group and global id; None is unknown. Queues and groups
    without an unread message are absent.
    """

    counts: Mapping[str, Mapping[int, int | None]] = field(default_factory=dict)

    def without(self, consumer_groups: Collection[str]) -> "UnreadQueues":
        """Leave some consumer groups out."""
        kept = {name: one for name, one in self.counts.items() if name not in consumer_groups}
        return UnreadQueues(kept)

    @property
    def unread_ids(self) -> frozenset[int]:
        """Return the queues that a group has not read to the end."""
        return frozenset(global_id for one in self.counts.values() for global_id in one)

    @property
    def sentence(self) -> str:
        """Describe what is unread."""
        parts = [
            f"{name} has {_sum_text(one.values())} to read"
            for name, one in sorted(self.counts.items())
        ]
        rest = len(parts) - 3
        return "; ".join(parts[:3]) + (f"; {rest} more groups are behind" if rest > 0 else "")

    def as_value(self) -> dict[str, Any]:
        """Return the value for the journal."""
        return {"groups": {name: _sum_text(one.values()) for name, one in self.counts.items()}}


async def find_unread(
    mapping: TopicMapping, global_ids: Iterable[int], holders: TopicHolders, brokers: Brokers
) -> UnreadQueues:
    """Count what every consumer group of a topic has still to read of some logical queues.

    A consumer group belongs to the topic if it is online, or has a position in any of its queues.

    Raises:
        NoAnswer: the master of a broker group that stores messages of the queues does not answer.
    """
    bounds = await find_bounds(mapping, holders, brokers)
    asked = [Asked(name, holders.addresses[name]) for name in holders.copies]
    positions: dict[str, dict[Place, int]] = {}
    for one in asked:
        for name in await brokers.ask(one.address, GetGroupsOfTopic(mapping.topic_name)):
            positions.setdefault(name, {})
        found = await brokers.ask(one.address, GetPhysicalPositions(mapping.topic_name))
        for name, offsets in found.items():
            places = {(one.broker_group_name, at): offset for at, offset in offsets.items()}
            positions.setdefault(name, {}).update(places)
    # Without any consumer group there is nothing that is waited for.
    counts: dict[str, dict[int, int | None]] = {}
    for global_id in global_ids:
        queue = mapping.queue(global_id)
        for name, held in positions.items():
            if queue is None:
                continue
            # A group without a position has everything to read.
            found_unread = count_unread(queue, find_position(queue, held) or 0, bounds)
            if found_unread is None or found_unread.lag:
                lag = None if found_unread is None else found_unread.lag
                counts.setdefault(name, {})[global_id] = lag
    return UnreadQueues(counts)


def _sum_text(counts: Iterable[int | None]) -> str:
    listed = list(counts)
    known = sum(one for one in listed if one is not None)
    return f"at least {known}" if None in listed else str(known)
