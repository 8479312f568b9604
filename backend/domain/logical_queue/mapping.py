"""Describe logical queues, the mapping of a topic, and the copies that brokers keep.

A `TopicMapping` is the truth of the control plane. A `BrokerMapping` is the copy of one broker
group, and a `MappingInfo` is the part of a copy that goes to name servers (logical-queues.md 2).
Mappings that break invariants can be held, so that checks can name what is wrong with them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from backend.domain.logical_queue.segment import BLOCK_SIZE, OffsetMode, QueueSegment

GLOBAL_SCOPE: Final = "__global__"
EPOCH_STEP: Final = 1_000
"""The least difference between the epochs of two changes of a topic."""

QUEUE_COUNT_MAX: Final = 1 << 16
"""Far more queues than a topic needs, and few enough to plan within a second."""

Segments = tuple[QueueSegment, ...]
Place = tuple[str, int]
"""A physical queue: the name of a broker group and a queue id."""


@dataclass(frozen=True, slots=True)
class LogicalQueue:
    """Hold the segments of one logical queue, the oldest one first."""

    global_id: int
    segments: Segments

    @property
    def leader(self) -> QueueSegment | None:
        """Return the segment that takes messages: the last one."""
        return self.segments[-1] if self.segments else None

    @property
    def leader_name(self) -> str | None:
        """Return the broker group of the last segment."""
        return self.segments[-1].broker_group_name if self.segments else None

    @property
    def decided(self) -> Segments:
        """Return the segments that can be read."""
        return tuple(one for one in self.segments if one.is_decided)

    @property
    def next_generation(self) -> int:
        """Return the generation of a segment that would be added."""
        return max((one.generation for one in self.segments), default=-1) + 1

    def with_segments(self, *segments: QueueSegment) -> "LogicalQueue":
        """Return the queue with other segments."""
        return replace(self, segments=segments)


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Hold the number of physical queues of a topic on one broker group."""

    read_count: int = 0
    write_count: int = 0

    def covering(self, queue_id: int) -> "QueueCounts":
        """Return counts with this queue; existing queues stay."""
        return QueueCounts(max(self.read_count, queue_id + 1), max(self.write_count, queue_id + 1))


@dataclass(frozen=True, slots=True)
class RetiredQueue:
    """Hold a physical queue that no segment names any longer (logical-queues.md 3, 12)."""

    broker_group_name: str
    queue_id: int
    global_id: int
    generation: int
    final_offset: int
    is_reusable: bool = True

    @property
    def place(self) -> Place:
        """Return the broker group and the queue id."""
        return self.broker_group_name, self.queue_id


@dataclass(frozen=True, slots=True)
class EndedQueue:
    """Hold where a logical queue continues that was removed when its topic shrank."""

    global_id: int
    generation: int
    logical_end: int


@dataclass(frozen=True, slots=True)
class TopicMapping:
    """Hold all logical queues of a static topic, as the control plane has them.

    Attributes:
        counts: The physical queues of each broker group, also of those that host none.
        retired: Physical queues that were expired, and may be used again.
        reused: The first offset of each physical queue that was used again, by place.
        forced: The segments without a sealed end, by global id and generation.
        ended: The logical queues that a shrink removed.
        sealed_ids: The logical queues that a shrink sealed: they are read, and take no messages.
    """

    topic_name: str
    epoch: int
    queues: tuple[LogicalQueue, ...]
    counts: Mapping[str, QueueCounts] = field(default_factory=dict)
    scope: str = GLOBAL_SCOPE
    offset_mode: OffsetMode = OffsetMode.CONTIGUOUS
    block_size: int = BLOCK_SIZE
    retired: tuple[RetiredQueue, ...] = ()
    reused: Mapping[Place, int] = field(default_factory=dict)
    forced: frozenset[tuple[int, int]] = frozenset()
    ended: tuple[EndedQueue, ...] = ()
    sealed_ids: frozenset[int] = frozenset()

    @property
    def queue_count(self) -> int:
        """Return the number of logical queues that clients see."""
        return len(self.queues)

    @property
    def writable_count(self) -> int:
        """Return the number of logical queues that take messages."""
        return len(self.queues) - len(self.sealed_ids)

    def queue(self, global_id: int) -> LogicalQueue | None:
        """Return a logical queue, None if the topic has no such one."""
        return next((one for one in self.queues if one.global_id == global_id), None)

    def with_queue(self, queue: LogicalQueue) -> "TopicMapping":
        """Return the topic with this queue in the place of the one with its id."""
        kept = [one for one in self.queues if one.global_id != queue.global_id]
        ordered = sorted([*kept, queue], key=lambda one: one.global_id)
        return replace(self, queues=tuple(ordered))

    def with_counts(self, broker_group_name: str, counts: QueueCounts) -> "TopicMapping":
        """Return the topic with other counts of one broker group."""
        return replace(self, counts={**self.counts, broker_group_name: counts})

    def places(self) -> Iterator[tuple[LogicalQueue, QueueSegment]]:
        """Give every segment with its logical queue."""
        for queue in self.queues:
            for segment in queue.segments:
                yield queue, segment

    def led_by(self, broker_group_name: str) -> tuple[LogicalQueue, ...]:
        """Return the logical queues whose last segment is on a broker group."""
        return tuple(one for one in self.queues if one.leader_name == broker_group_name)


@dataclass(frozen=True, slots=True)
class MappingInfo:
    """Hold the part of a copy that a broker registers (logical-queues.md 2.2).

    `led` is the physical queue of each logical queue that the broker group leads. `generations` are
    the generations of these segments: a name server needs them, since the queues of one change move
    in one epoch. A broker of RocketMQ registers none.
    """

    topic_name: str
    broker_group_name: str
    epoch: int
    queue_count: int
    scope: str = GLOBAL_SCOPE
    is_dirty: bool = False
    led: Mapping[int, int] = field(default_factory=dict)
    generations: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokerMapping:
    """Hold the copy of one broker group: the segments of the queues that it hosts."""

    info: MappingInfo
    hosted: Mapping[int, Segments] = field(default_factory=dict)

    @property
    def head(self) -> MappingInfo:
        """Return the head of the copy with the queues that its lists say it leads."""
        led = {global_id: one.queue_id for global_id, one in self._leading.items()}
        return replace(self.info, led=led)

    @property
    def registered(self) -> MappingInfo:
        """Return what the broker registers: scope and dirty mark are kept (H-19)."""
        generations = {global_id: one.generation for global_id, one in self._leading.items()}
        return replace(self.head, generations=generations)

    @property
    def _leading(self) -> dict[int, QueueSegment]:
        """Return the last segments of the queues that the broker group leads."""
        name = self.info.broker_group_name
        return {
            global_id: segments[-1]
            for global_id, segments in sorted(self.hosted.items())
            if segments and segments[-1].broker_group_name == name
        }

    def queue(self, global_id: int) -> LogicalQueue | None:
        """Return a hosted queue, None if the broker has no list of it."""
        segments = self.hosted.get(global_id)
        return None if segments is None else LogicalQueue(global_id, segments)

    def leads(self, global_id: int) -> bool:
        """Return whether the last segment of the queue is on this broker group."""
        queue = self.queue(global_id)
        return queue is not None and queue.leader_name == self.info.broker_group_name


@dataclass(frozen=True, slots=True)
class TopicCopy:
    """Hold what one broker group knows of a topic: its counts, and its mapping if it has one."""

    counts: QueueCounts
    mapping: BrokerMapping | None
    configured_name: str = ""
    """The name in the topic configuration; empty if the broker reports none."""


def copy_for(topic: TopicMapping, broker_group_name: str) -> BrokerMapping:
    """Return the copy of a broker group: the queues that it leads, and those it led just before.

    Another broker group gets an empty copy with the same epoch and count. So all of them know that
    the topic is static (logical-queues.md 6.1).
    """
    hosted = {
        queue.global_id: queue.segments
        for queue in topic.queues
        if broker_group_name in {one.broker_group_name for one in queue.segments[-2:]}
    }
    info = MappingInfo(
        topic.topic_name, broker_group_name, topic.epoch, topic.queue_count, topic.scope
    )
    copy = BrokerMapping(info, hosted)
    return replace(copy, info=copy.head)


def copies_of(topic: TopicMapping) -> Mapping[str, TopicCopy]:
    """Return the copies of all broker groups of a topic."""
    return {
        name: TopicCopy(counts, copy_for(topic, name), topic.topic_name)
        for name, counts in sorted(topic.counts.items())
    }
