"""Name what differs between Postgres, brokers and name servers in a static topic, and what to do.

A difference is a broken invariant, what a change left behind, or messages that two segments claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.domain.logical_queue.expiry import Overlap
from backend.domain.logical_queue.invariant import Invariant, MappingFinding
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.rebuild import Leftover

_AT_A_BROKER: Final = (
    "Regent sends the mapping to {group} every 5 s while its master is online. If the difference"
    " stays, the log of a worker says why: static_topic_not_converged."
)
_AT_A_REPLICA: Final = (
    "A replica takes the mapping a moment after its master. If the difference stays, see how far"
    " the replica is: `regent replica lag {group}`."
)
_IN_A_ROUTE: Final = (
    "The master of {group} registers its mapping every 30 s, and after each change. If the"
    " difference stays, see whether its namesrvAddr names this name server:"
    " `regent broker config get {group}-0`."
)
_ELSEWHERE: Final = (
    "Postgres or a broker was changed by hand, or restored from an older state. Begin no change of"
    " the topic. Compare the lists: `regent topic logical-queues {topic}`."
)
_RESERVED: Final = "The next change of the topic frees the physical queue."
_SEALED: Final = (
    "The queue takes no messages. Move it: `regent topic static move {topic} --queue {queue} --to"
    " GROUP`."
)
_OVERLAPS: Final = (
    "Readers of the queue do not get these messages. Read them by their physical offsets before"
    " they expire: `regent message list {topic} --broker-group {group}`."
)
_NOT_RECORDED: Final = (
    "Rebuild its rows from the brokers: `regent topic static import {topic} --dry-run`."
)


@dataclass(frozen=True, slots=True)
class MappingDifference:
    """Hold one difference in a static topic.

    Attributes:
        name: The number of the invariant, or what else it is.
        rule: What should be so.
        broker_group_name: The broker group that it is about; None if it is about several.
    """

    topic_name: str
    name: str
    rule: str
    where: str
    what: str
    broker_group_name: str | None
    next_step: str

    def __str__(self) -> str:
        return f"{self.name}: {self.where}: {self.what}. {self.next_step}"


def of_finding(topic_name: str, one: MappingFinding) -> MappingDifference:
    """Return a broken invariant as a difference."""
    if one.name_server is not None:
        advice = _IN_A_ROUTE
    elif one.invariant is Invariant.REPLICAS_HOLD_MAPPING:
        advice = _AT_A_REPLICA
    else:
        advice = _ELSEWHERE if one.broker_group_name is None else _AT_A_BROKER
    return MappingDifference(
        topic_name,
        one.invariant.value,
        one.rule,
        one.where,
        one.what,
        one.broker_group_name,
        advice.format(topic=topic_name, group=one.broker_group_name),
    )


def of_leftover(topic_name: str, one: Leftover) -> MappingDifference:
    """Return a seal or a reservation without a change as a difference."""
    advice = _SEALED if one.is_sealed else _RESERVED
    what = "sealed" if one.is_sealed else "reserved"
    return MappingDifference(
        topic_name,
        f"{what}_without_change",
        "a queue is sealed or reserved during a change only",
        f"broker group {one.broker_group_name}, logical queue {one.global_id}",
        f"it is {what} in epoch {one.epoch}",
        one.broker_group_name,
        advice.format(topic=topic_name, queue=one.global_id),
    )


def of_overlap(truth: TopicMapping, one: Overlap) -> MappingDifference:
    """Return messages beyond the jump of a forced move as a difference (L46)."""
    queue = truth.queue(one.global_id)
    segments = () if queue is None else queue.segments
    segment = next((seg for seg in segments if seg.generation == one.generation), None)
    name = None if segment is None else segment.broker_group_name
    place = "" if segment is None else f" of {name}:q{segment.queue_id}"
    return MappingDifference(
        truth.topic_name,
        "overlap",
        "a logical offset names one message",
        f"logical queue {one.global_id}, generation {one.generation}",
        f"{one.message_count} messages, from physical offset {one.cut_end}{place} on, have"
        " logical offsets of the next segment",
        name,
        _OVERLAPS.format(topic=truth.topic_name, group=name),
    )


def of_lost_rows(topic_name: str, broker_group_names: Sequence[str]) -> MappingDifference:
    """Return a mapping that brokers have, and Postgres does not, as a difference."""
    return MappingDifference(
        topic_name,
        "not_recorded",
        "Postgres has the mapping of every static topic",
        "the control plane",
        f"it has no mapping, and {', '.join(broker_group_names)} have one",
        broker_group_names[0],
        _NOT_RECORDED.format(topic=topic_name),
    )
