"""Define the events of a cluster, as subscribers receive them.

Plain values and functions. An operation is compared with its former state, so every change gives an
event. The numbers are assigned later, in the order of commits (`backend/db/events.py`).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from backend.domain.broker_group import BrokerGroup
from backend.domain.broker_name import BrokerName
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.errors import InvalidName
from backend.domain.operation import Operation, OperationState, StepState, Wish
from backend.domain.replica_group import ChangeKind

BROKER_REGISTERED: Final = "broker.registered"
BROKER_LOST: Final = "broker.lost"
ACTING_BEGAN: Final = "group.acting_began"
ACTING_ENDED: Final = "group.acting_ended"
TOPIC_PLACED: Final = "topic.placed"
TOPIC_CHANGED: Final = "topic.changed"
TOPIC_REMOVED: Final = "topic.removed"
TOPIC_SEGMENTS_EXPIRED: Final = "topic.segments_expired"
TOPIC_MESSAGES_LOST: Final = "topic.messages_lost"
FINDING_OPENED: Final = "finding.opened"
FINDING_CLOSED: Final = "finding.closed"
TAKEN_OVER: Final = "operation.taken_over"

KINDS: Final = frozenset(
    {
        *(f"operation.{state}" for state in OperationState),
        *(f"operation.{wish}_wanted" for wish in Wish),
        TAKEN_OVER,
        *(f"step.{state}" for state in StepState),
        *(f"group.{kind}" for kind in ChangeKind),
        BROKER_REGISTERED,
        BROKER_LOST,
        ACTING_BEGAN,
        ACTING_ENDED,
        TOPIC_PLACED,
        TOPIC_CHANGED,
        TOPIC_REMOVED,
        TOPIC_SEGMENTS_EXPIRED,
        TOPIC_MESSAGES_LOST,
        FINDING_OPENED,
        FINDING_CLOSED,
    }
)
TOPIC_NAMES_MAX: Final = 100
"""The maximum number of names in an event of topics. For more topics, read the lists."""
FAMILIES: Final = frozenset(kind.partition(".")[0] for kind in KINDS)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """Hold the kind and the subject of an event; details are JSON values, and never a secret.

    The subject is a broker group (of topics too), a broker, what a finding is about, or the target
    of an operation.
    """

    kind: str
    cluster_name: str
    subject: str
    happened_at: datetime
    details: Mapping[str, Any] = field(default_factory=dict)
    operation_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Hold an event with its number; numbers have no gap and follow the order of commits."""

    number: int
    kind: str
    cluster_name: str
    subject: str
    happened_at: datetime
    details: Mapping[str, Any]
    operation_id: UUID | None

    @property
    def broker_group_name(self) -> str | None:
        """Name the broker group that an event of a broker, a group or topics is about."""
        match self.kind.partition(".")[0]:
            case "broker":
                return BrokerName.parse(self.subject).broker_group_name
            case "group" | "topic":
                return self.subject
            case _:
                return None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Choose events; None as a condition accepts all events."""

    cluster_name: str | None = None
    kinds: frozenset[str] | None = None
    within: ClusterScope = EVERYWHERE

    def lets_pass(self, event: Event) -> bool:
        """Return whether an event fulfils the conditions."""
        return (
            self.cluster_name in (None, event.cluster_name)
            and (self.kinds is None or event.kind in self.kinds)
            and self.within.includes(event.cluster_name)
        )


def read_subject(kind: str, subject: str) -> str:
    """Return the subject of a recorded event; a broker may have its former spelling."""
    is_former = "/" in subject and kind.startswith(("broker.", "finding."))
    return str(BrokerName.parse(subject)) if is_former else subject


def choose_kinds(names: Collection[str] | None) -> frozenset[str] | None:
    """Return the kinds for names of kinds and of families (`operation`, `group`).

    Raises:
        InvalidName: no kind and no family has this name.
    """
    if not names:
        return None
    chosen: set[str] = set()
    for name in names:
        found = {kind for kind in KINDS if name in (kind, kind.partition(".")[0])}
        if not found:
            known = ", ".join(sorted(FAMILIES))
            raise InvalidName(
                kind="event kind", name=name, reason=f"is unknown; families are {known}"
            )
        chosen |= found
    return frozenset(chosen)


def plan_event(operation: Operation, *, at: datetime) -> NewEvent:
    """Return the event of an operation that was just planned."""
    return _of(operation, f"operation.{operation.state}", at, risk=operation.plan.risk)


def change_events(before: Operation, after: Operation, *, at: datetime) -> Iterator[NewEvent]:
    """Return the events for the differences of an operation, its steps first."""
    for was, step in zip(before.steps, after.steps, strict=True):
        if step.state is not was.state:
            details: dict[str, Any] = {"step": step.name, "position": step.position}
            if step.error is not None:
                details["error"] = step.error
            yield _of(after, f"step.{step.state}", at, **details)
    if after.wish is not before.wish and after.wish is not None:
        yield _of(after, f"operation.{after.wish}_wanted", at)
    if after.state is not before.state:
        details = {} if after.outcome is None else {"outcome": after.outcome}
        yield _of(after, f"operation.{after.state}", at, **details)
    elif after.fence > before.fence:
        yield _of(after, TAKEN_OVER, at, fence=after.fence)


def acting_events(before: BrokerGroup, after: BrokerGroup, *, at: datetime) -> list[NewEvent]:
    """Return the events of a change of the replica that acts for an absent master."""
    found = []
    for kind, group in ((ACTING_ENDED, before), (ACTING_BEGAN, after)):
        if group.acting_name is not None and group.acting_since is not None:
            details = {
                "broker": str(group.acting_name),
                "since": group.acting_since.isoformat(timespec="milliseconds"),
            }
            found.append(NewEvent(kind, group.cluster_name, group.name, at, details))
    return found


def topic_events(
    kind: str,
    cluster_name: str,
    broker_group_name: str,
    topic_names: Collection[str],
    *,
    at: datetime,
) -> Iterator[NewEvent]:
    """Return one event for all changes of the topics of a broker group."""
    if topic_names:
        names = sorted(topic_names)
        details = {"topics": names[:TOPIC_NAMES_MAX], "topic_count": len(names)}
        yield NewEvent(kind, cluster_name, broker_group_name, at, details)


def _of(operation: Operation, kind: str, at: datetime, **details: Any) -> NewEvent:
    return NewEvent(
        kind=kind,
        cluster_name=operation.cluster_name,
        subject=operation.target,
        happened_at=at,
        details={"operation_kind": operation.kind, **details},
        operation_id=operation.id,
    )
