"""Show static topics, the segments of their logical queues, and their unfinished changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from backend.db.logical_queues import StoredChange, StoredTopic
from backend.db.static_topic_lists import GroupShare, ListedTopic
from backend.domain.logical_queue.change import ChangeKind, ChangeState, MoveStep, QueueMove
from backend.domain.logical_queue.lookup import ends_of, statuses_of
from backend.domain.logical_queue.mapping import LogicalQueue, Place
from backend.domain.logical_queue.segment import (
    OffsetMode,
    QueueBounds,
    QueueSegment,
    SegmentStatus,
)
from backend.views.copying import copied
from backend.views.field_texts import BROKER_GROUP_NAME, QUEUE_ID, TOPIC_NAME
from backend.views.graph_forms import Int64, Text
from backend.views.instants import reported_instant

GLOBAL_ID = Text("Number of the logical queue in its topic.")


@dataclass(frozen=True, slots=True)
class QueueSegmentOut:
    """One range of a physical queue that is a part of a logical queue."""

    generation: Annotated[int, Text("Number of the segment in its queue. The oldest has 0.")]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    status: Annotated[SegmentStatus, Text("What clients can do with the segment.")]
    logical_start: Annotated[
        Int64 | None, Text("Logical offset of its first slot. Null until it is decided.")
    ]
    logical_end: Annotated[
        Int64 | None, Text("Logical offset after its last message. Null while the end is open.")
    ]
    physical_start: Annotated[Int64, Text("Offset of its first slot in the physical queue.")]
    physical_end: Annotated[
        Int64 | None,
        Text("Offset after its last message in the physical queue. Null while the end is open."),
    ]
    first_stored_at: Annotated[
        datetime | None, Text("Store time of its first message. Null if it is unknown.")
    ]
    last_stored_at: Annotated[
        datetime | None, Text("Store time of its last message. Null if it is unknown.")
    ]

    @classmethod
    def of(cls, segment: QueueSegment, status: SegmentStatus) -> Self:
        """Show a segment."""
        return copied(
            cls,
            segment,
            status=status,
            logical_start=segment.logical_start if segment.is_decided else None,
            logical_end=segment.logical_end if segment.is_ended else None,
            physical_end=segment.physical_end if segment.is_ended else None,
            first_stored_at=reported_instant(segment.first_stored_ms),
            last_stored_at=reported_instant(segment.last_stored_ms),
        )


@dataclass(frozen=True, slots=True)
class LogicalQueueOut:
    """A logical queue with its segments, the oldest one first.

    Offsets are null until a sample of the broker shows them.
    """

    global_id: Annotated[int, GLOBAL_ID]
    leader_name: Annotated[
        str | None, Text("Broker group that takes the messages of this queue. Null if none does.")
    ]
    sealed: Annotated[
        bool, Text("Whether the queue takes no messages, because it moves or is to be removed.")
    ]
    min_offset: Annotated[Int64 | None, Text("Logical offset of the oldest message.")]
    max_offset: Annotated[Int64 | None, Text("Logical offset after the newest message.")]
    segments: Annotated[list[QueueSegmentOut], Text("Segments, the oldest one first.")]

    @classmethod
    def of(
        cls, queue: LogicalQueue, bounds: Mapping[Place, QueueBounds], *, is_sealed: bool
    ) -> Self:
        """Show a logical queue."""
        ends, statuses = ends_of(queue, bounds), statuses_of(queue, bounds)
        return cls(
            global_id=queue.global_id,
            leader_name=queue.leader_name,
            sealed=is_sealed,
            min_offset=ends.min_offset,
            max_offset=ends.max_offset,
            segments=[QueueSegmentOut.of(one, statuses[one.generation]) for one in queue.segments],
        )


@dataclass(frozen=True, slots=True)
class QueueMoveOut:
    """How far the move of one logical queue is."""

    global_id: Annotated[int, GLOBAL_ID]
    source_name: Annotated[str, Text("Broker group that leads the queue before the move.")]
    destination_name: Annotated[str, Text("Broker group that leads the queue after the move.")]
    step: Annotated[MoveStep, Text("The last step that is done.")]
    queue_id: Annotated[
        int | None,
        Text("Number of the physical queue at the destination. Null until it is prepared."),
    ]
    final_offset: Annotated[
        Int64 | None,
        Text("Offset after the last message in the source. Null until the source is sealed."),
    ]

    @classmethod
    def of(cls, move: QueueMove) -> Self:
        """Show a move."""
        return cls(
            global_id=move.global_id,
            source_name=move.relocation.source,
            destination_name=move.relocation.destination,
            step=move.step,
            queue_id=None if move.prepared is None else move.prepared.queue_id,
            final_offset=None if move.seal is None else move.seal.physical_end,
        )


@dataclass(frozen=True, slots=True)
class QueueChangeOut:
    """A change of a static topic that is not finished."""

    id: Annotated[UUID, Text("Id of the change. It is that of its operation.")]
    kind: Annotated[ChangeKind, Text("What the change does.")]
    state: Annotated[ChangeState, Text("How far the change is.")]
    forced: Annotated[bool, Text("Whether a source was not asked for its end.")]
    began_at: Annotated[datetime, Text("When the change began.")]
    changed_at: Annotated[datetime, Text("Time of the last step.")]
    moves: Annotated[list[QueueMoveOut], Text("Moves of logical queues.")]
    converged: Annotated[list[str], Text("Broker groups that store the result.")]
    stale: Annotated[
        list[str], Text("Broker groups that are down. They get the result when they return.")
    ]

    @classmethod
    def of(cls, stored: StoredChange) -> Self:
        """Show a change."""
        change = stored.change
        return copied(
            cls,
            stored,
            kind=change.kind,
            state=change.state,
            forced=change.is_forced,
            moves=[QueueMoveOut.of(one) for one in change.moves],
            converged=sorted(change.converged),
            stale=sorted(change.stale),
        )


@dataclass(frozen=True, slots=True)
class LogicalQueuesOut:
    """The logical queues of a static topic, as the control plane has them."""

    topic_name: Annotated[str, TOPIC_NAME]
    scope: Annotated[str, Text("Where the queues are one set: `__global__`, or a cluster.")]
    epoch: Annotated[Int64, Text("Version of the mapping. Each change increases it.")]
    queue_count: Annotated[int, Text("Number of logical queues that clients see.")]
    writable_count: Annotated[int, Text("Number of logical queues that will stay.")]
    offset_mode: Annotated[
        OffsetMode, Text("How the first offset of a new segment follows the last one.")
    ]
    block_size: Annotated[int, Text("Size of the blocks of offsets in the mode `block`.")]
    queues: Annotated[list[LogicalQueueOut], Text("Logical queues by number.")]
    change: Annotated[QueueChangeOut | None, Text("The unfinished change. Null if there is none.")]

    @classmethod
    def of(cls, stored: StoredTopic, bounds: Mapping[Place, QueueBounds]) -> Self:
        """Show the mapping of a topic; `bounds` are the known offsets of physical queues."""
        mapping, unfinished = stored.mapping, stored.unfinished
        moving = {one.global_id for one in stored.moves if one.step is MoveStep.SEALED}
        sealed = moving | mapping.sealed_ids
        return copied(
            cls,
            mapping,
            queues=[
                LogicalQueueOut.of(one, bounds, is_sealed=one.global_id in sealed)
                for one in mapping.queues
            ],
            change=None if unfinished is None else QueueChangeOut.of(unfinished),
        )


@dataclass(frozen=True, slots=True)
class GroupShareOut:
    """What a broker group has of a static topic."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    led_count: Annotated[int, Text("Number of logical queues whose new messages are stored there.")]
    segment_count: Annotated[
        int, Text("Number of segments there, with those that take no more messages.")
    ]

    @classmethod
    def of(cls, share: GroupShare) -> Self:
        """Show a share."""
        return copied(cls, share)


@dataclass(frozen=True, slots=True)
class StaticTopicOut:
    """A static topic, and how its logical queues are spread over broker groups."""

    name: Annotated[str, TOPIC_NAME]
    epoch: Annotated[Int64, Text("Version of the mapping. Each change increases it.")]
    queue_count: Annotated[int, Text("Number of logical queues that clients see.")]
    change_id: Annotated[
        UUID | None, Text("Id of the operation of the unfinished change. Null if there is none.")
    ]
    shares: Annotated[list[GroupShareOut], Text("Broker groups with segments, by name.")]

    @classmethod
    def of(cls, topic: ListedTopic) -> Self:
        """Show a static topic."""
        return copied(cls, topic, shares=[GroupShareOut.of(one) for one in topic.shares])
