"""Build the mapping of a topic from the copies of its brokers, when the tables are lost.

Each leader stores the whole lists of its queues (logical-queues.md 2.8). Attributes of the topic
say how offsets continue, and where removed queues ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.errors import QueueMappingBroken
from backend.domain.logical_queue.mapping import LogicalQueue, TopicCopy, TopicMapping
from backend.domain.logical_queue.topic_checks import Observation, check_topic
from backend.domain.logical_queue.topic_settings import TopicSettings


@dataclass(frozen=True, slots=True)
class Leftover:
    """Hold what a lost change left at a broker group: a sealed or a reserved queue."""

    global_id: int
    broker_group_name: str
    epoch: int
    is_sealed: bool

    def __str__(self) -> str:
        what = "sealed" if self.is_sealed else "reserved"
        where = f"logical queue {self.global_id}: broker group {self.broker_group_name}"
        return f"{where}: it is {what} in epoch {self.epoch}"


def copy_of(topic_name: str, held: BrokerTopic) -> TopicCopy:
    """Return what a broker group has of a topic in the form that checks take."""
    return TopicCopy(held.counts, held.mapping, topic_name)


def rebuild(
    topic_name: str,
    held: Mapping[str, BrokerTopic],
    settings: TopicSettings | None = None,
) -> TopicMapping:
    """Build the mapping from the answers of all broker groups of the cluster.

    Raises:
        QueueMappingBroken: the answers break an invariant, or a change was under way.
    """
    copies = {name: copy_of(topic_name, one) for name, one in held.items()}
    built = _built(topic_name, held, settings or TopicSettings())
    findings = [str(one) for one in check_topic(Observation(topic_name, built, copies))]
    findings += [str(one) for one in leftovers(held)]
    if findings or not built.queues:
        raise QueueMappingBroken(topic_name, tuple(findings) or ("no broker group leads a queue",))
    return built


def leftovers(held: Mapping[str, BrokerTopic]) -> tuple[Leftover, ...]:
    """Return what changes left at broker groups, ordered by broker group and logical queue."""
    found = []
    for name, topic in sorted(held.items()):
        # The seal of a queue that a shrink ended stays: its end is in the list.
        found += [
            Leftover(global_id, name, seal.epoch, is_sealed=True)
            for global_id, seal in sorted(topic.seals.items())
            if not _is_ended(topic, global_id)
        ]
        found += [
            Leftover(global_id, name, prepared.epoch, is_sealed=False)
            for global_id, prepared in sorted(topic.prepared.items())
        ]
    return tuple(found)


def _built(
    topic_name: str, held: Mapping[str, BrokerTopic], settings: TopicSettings
) -> TopicMapping:
    queues = {
        global_id: LogicalQueue(global_id, segments)
        for topic in held.values()
        for global_id, segments in topic.mapping.hosted.items()
        if topic.mapping.leads(global_id)
    }
    ordered = tuple(queue for _, queue in sorted(queues.items()))
    segments = [(queue, segment) for queue in ordered for segment in queue.segments]
    infos = [topic.info for topic in held.values()]
    return TopicMapping(
        topic_name,
        epoch=max((one.epoch for one in infos), default=0),
        queues=ordered,
        counts={name: topic.counts for name, topic in sorted(held.items())},
        scope=min((one.scope for one in infos), default=""),
        offset_mode=settings.offset_mode,
        block_size=settings.block_size,
        ended=settings.ended,
        retired=tuple(
            one for _, topic in sorted(held.items()) for _, one in sorted(topic.retired.items())
        ),
        reused={one.place: one.physical_start for _, one in segments if one.physical_start > 0},
        forced=frozenset(
            (queue.global_id, one.generation)
            for queue, one in segments
            if not one.is_ended and one is not queue.segments[-1]
        ),
        sealed_ids=frozenset(one.global_id for one in ordered if one.segments[-1].is_ended),
    )


def _is_ended(topic: BrokerTopic, global_id: int) -> bool:
    queue = topic.mapping.queue(global_id)
    return queue is not None and queue.leader is not None and queue.leader.is_ended
