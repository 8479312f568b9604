"""Name the invariants of logical queues (logical-queues.md 5), and hold what breaks them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Invariant(StrEnum):
    """Name an invariant; the value is its number in logical-queues.md 5."""

    MAPPING_EXISTS = "INV-1"
    OWN_BROKER_GROUP = "INV-2"
    NOT_DIRTY = "INV-3"
    SAME_TOPIC = "INV-4"
    SAME_SCOPE = "INV-5"
    SAME_EPOCH = "INV-6"
    SAME_QUEUE_COUNT = "INV-7"
    NOT_NEGATIVE = "INV-8"
    ONLY_LAST_UNDECIDED = "INV-9"
    GENERATIONS_RISE = "INV-10"
    END_AFTER_START = "INV-11"
    STARTS_RISE = "INV-12"
    UNDECIDED_HAS_NO_RANGE = "INV-13"
    RANGES_APART = "INV-14"
    ONE_LEADER = "INV-15"
    ALL_IDS_LED = "INV-16"
    QUEUES_USED_ONCE = "INV-17"
    READS_COVER_WRITES = "INV-18"
    STARTS_AT_ZERO = "INV-19"
    BROKER_GROUPS_KNOWN = "INV-20"
    QUEUE_EXISTS = "INV-21"
    LEADERS_AMONG_TARGETS = "INV-22"
    HOSTS_AMONG_TARGETS = "INV-23"
    COUNT_GROWS = "INV-24"
    EPOCH_NOT_LOWER = "INV-25"
    SCOPE_UNCHANGED = "INV-26"
    SAME_EPOCH_SAME_LEADERS = "INV-27"
    MISSING_CARRIED_OVER = "INV-28"
    SEGMENTS_IMMUTABLE = "INV-29"
    FORCE_BYPASSES = "INV-30"
    ONE_LOCK = "INV-31"
    ENDS_DECIDED = "INV-32"
    ONE_LIFE = "INV-33"
    SEALS_FENCE = "INV-34"
    REPLICAS_HOLD_MAPPING = "INV-35"
    TOPIC_EXISTS = "INV-36"
    KIND_UNCHANGED = "INV-37"


RULES: Final[Mapping[Invariant, str]] = {
    Invariant.MAPPING_EXISTS: "every broker group that knows the topic has a mapping",
    Invariant.OWN_BROKER_GROUP: "a mapping names the broker group that keeps it",
    Invariant.NOT_DIRTY: "no mapping is dirty",
    Invariant.SAME_TOPIC: "mapping and configuration name the topic",
    Invariant.SAME_SCOPE: "all mappings have one scope",
    Invariant.SAME_EPOCH: "all mappings have one epoch",
    Invariant.SAME_QUEUE_COUNT: "all mappings have one queue count",
    Invariant.NOT_NEGATIVE: "start, generation and queue id are not negative",
    Invariant.ONLY_LAST_UNDECIDED: "only the last segment may be undecided",
    Invariant.GENERATIONS_RISE: "generations rise from the oldest segment to the newest",
    Invariant.END_AFTER_START: "the end of a segment is open, or not before its start",
    Invariant.STARTS_RISE: "logical starts rise from the oldest segment to the newest",
    Invariant.UNDECIDED_HAS_NO_RANGE: "an undecided segment has no end",
    Invariant.RANGES_APART: "a segment does not reach past the start of the next one",
    Invariant.ONE_LEADER: "one broker group leads a logical queue",
    Invariant.ALL_IDS_LED: "the logical queues with a leader are 0 to the queue count",
    Invariant.QUEUES_USED_ONCE: "one segment uses a physical queue",
    Invariant.READS_COVER_WRITES: "there are as many read queues as write queues",
    Invariant.STARTS_AT_ZERO: "a segment starts at offset 0, or at that of a reused queue",
    Invariant.BROKER_GROUPS_KNOWN: "the broker group of a segment knows the topic",
    Invariant.QUEUE_EXISTS: "the physical queue of a segment exists",
    Invariant.LEADERS_AMONG_TARGETS: "after a remapping every leader is a target",
    Invariant.HOSTS_AMONG_TARGETS: "a broker group with logical queues is a target",
    Invariant.COUNT_GROWS: "the queue count of a topic grows",
    Invariant.EPOCH_NOT_LOWER: "a new mapping has no lower epoch",
    Invariant.SCOPE_UNCHANGED: "a new mapping has the same scope",
    Invariant.SAME_EPOCH_SAME_LEADERS: "with one epoch, queues and leaders stay",
    Invariant.MISSING_CARRIED_OVER: "with a higher epoch, missing queues are kept",
    Invariant.SEGMENTS_IMMUTABLE: "place, start and decided offset of a segment never change",
    Invariant.FORCE_BYPASSES: "a forced mapping keeps missing queues",
    Invariant.ONE_LOCK: "one update of a mapping runs at a time",
    Invariant.ENDS_DECIDED: "a segment before the last has an end, unless a change was forced",
    Invariant.ONE_LIFE: "a physical queue has one logical queue, unless it was retired",
    Invariant.SEALS_FENCE: "no broker takes messages below the epoch of the newest seal",
    Invariant.REPLICAS_HOLD_MAPPING: "a replica has the mapping of its master",
    Invariant.TOPIC_EXISTS: "a mapping has a topic",
    Invariant.KIND_UNCHANGED: "a topic becomes static or ordinary only after its deletion",
}


@dataclass(frozen=True, slots=True)
class MappingFinding:
    """Hold one broken invariant: where it is broken, and what is there.

    Attributes:
        broker_group_name: The broker group whose copy, or whose registration, breaks it; None for
            the mapping of the control plane, and for a difference without such a place.
        name_server: The name server whose route breaks it.
    """

    invariant: Invariant
    where: str
    what: str
    broker_group_name: str | None = None
    name_server: str | None = None

    @property
    def rule(self) -> str:
        """Return the invariant as a sentence."""
        return RULES[self.invariant]

    def __str__(self) -> str:
        return f"{self.invariant}: {self.where}: {self.what} ({self.rule})"
