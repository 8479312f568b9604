"""Ask brokers for the bounds of the physical queues of a static topic."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.brokers.requests.physical_positions import GetPhysicalPositions
from backend.brokers.requests.topics import GetTopicEnds
from backend.domain.logical_queue.expiry import Overlap, close_forced, last_known_end
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.planning import Bounds
from backend.domain.logical_queue.segment import QueueBounds
from backend.services.logical_queue.copies import TopicHolders


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold the master of a broker group."""

    broker_group_name: str
    address: str


async def find_bounds(
    mapping: TopicMapping | None, holders: TopicHolders, brokers: Brokers
) -> Bounds:
    """Return the bounds of physical queues, by place; those of silent broker groups are absent."""
    if mapping is None:
        return {}
    asked = [
        Asked(name, holders.addresses[name])
        for name in mapping.counts
        if name in holders.masters and holders.masters[name].layout is not None
    ]
    answers = (await brokers.ask_all(asked, GetTopicEnds(mapping.topic_name))).answers
    return {
        (one.broker_group_name, queue_id): QueueBounds(ends.low, ends.high)
        for one, by_queue in answers.items()
        for queue_id, ends in by_queue.items()
    }


async def find_last_known_ends(
    mapping: TopicMapping, global_ids: Iterable[int], holders: TopicHolders, brokers: Brokers
) -> Mapping[int, int]:
    """Return the last known logical end of queues whose master is away, by global id.

    The replicas of the source report how much they hold, and what consumer groups have read. A
    queue without any report is absent.
    """
    ends: dict[Place, list[int]] = {}
    replicas = [one for one in holders.replicas if one.broker_group_name in holders.silent]
    held = (await brokers.ask_all(replicas, GetTopicEnds(mapping.topic_name))).answers
    read = (await brokers.ask_all(replicas, GetPhysicalPositions(mapping.topic_name))).answers
    for broker, by_queue in held.items():
        for queue_id, one in by_queue.items():
            ends.setdefault((broker.broker_group_name, queue_id), []).append(one.high)
    for broker, by_group in read.items():
        for offsets in by_group.values():
            for queue_id, offset in offsets.items():
                ends.setdefault((broker.broker_group_name, queue_id), []).append(offset)
    found = {}
    for global_id in global_ids:
        queue = mapping.queue(global_id)
        if queue is not None and queue.leader is not None and queue.leader.place in ends:
            found[global_id] = last_known_end(queue.leader, ends[queue.leader.place], ())
    return found


def find_overlaps(mapping: TopicMapping, bounds: Bounds) -> tuple[Overlap, ...]:
    """Return the messages of returned sources that a forced move has given other offsets (L46)."""
    found = []
    for global_id, generation in sorted(mapping.forced):
        queue = mapping.queue(global_id)
        for segment in () if queue is None else queue.segments:
            if segment.generation == generation and segment.place in bounds:
                end = bounds[segment.place].max_offset
                found.append(close_forced(mapping, global_id, generation, end)[1])
    return tuple(one for one in found if one is not None)
