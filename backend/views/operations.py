"""Show operations: plans, journals and outcomes (D19)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from backend.domain.operation import Operation, OperationState, Step, StepState, Wish
from backend.domain.operation_actions import Action
from backend.domain.operation_errors import PreconditionMoved
from backend.domain.plan import (
    Agreement,
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    ReadBack,
    Risk,
)
from backend.operations.engine.following import Following
from backend.views.copying import Copied, copied
from backend.views.graph_forms import in_graph

in_graph("OperationWish")(Wish)
in_graph("OperationAction")(Action)


@dataclass(frozen=True, slots=True)
class PreconditionOut(Copied[Precondition]):
    """A fact that the plan was made from; another value makes it void."""

    name: str
    value: str


@in_graph("PlanCheck")
@dataclass(frozen=True, slots=True)
class CheckOut(Copied[Check]):
    """What could go wrong, and why; `stock_code` is RocketMQ's response code for it, if any."""

    name: str
    verdict: CheckVerdict
    why: str
    stock_code: int | None


@dataclass(frozen=True, slots=True)
class DifferenceOut(Copied[Difference]):
    """One thing that changes; null is what is not there."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class GateOut:
    """What a confirmation must bring, and for how long after it nothing begins.

    Where the name is to be typed, a reason is to be given too.
    """

    needs_name: bool
    needs_loss_accepted: bool
    hold_ms: int


@dataclass(frozen=True, slots=True)
class PlanOut:
    """What will happen, what changes, who feels it, what could go wrong, how to get back.

    `risk_label` says what the class means for this plan; it follows the way back.
    """

    summary: str
    risk: Risk
    risk_label: str
    is_reversible: bool
    gate: GateOut
    preconditions: list[PreconditionOut]
    changes: list[DifferenceOut]
    impact: list[str]
    checks: list[CheckOut]
    way_back: str
    loss: str | None
    facts: dict[str, Any]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Show a plan."""
        return copied(
            cls,
            plan,
            gate=copied(GateOut, plan.gate),
            preconditions=[PreconditionOut.of(one) for one in plan.preconditions],
            changes=[DifferenceOut.of(one) for one in plan.changes],
            checks=[CheckOut.of(one) for one in plan.checks],
            facts=dict(plan.facts),
        )


@in_graph("OperationStep")
@dataclass(frozen=True, slots=True)
class StepOut(Copied[Step]):
    """The journal of one step."""

    position: int
    name: str
    title: str
    state: StepState
    attempt_count: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    error: str | None
    began_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadBackOut(Copied[ReadBack]):
    """One thing that was read back when the steps were done; null is unknown."""

    what: str
    intended: str
    observed: str | None
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class OperationOut:
    """A change of a cluster from its plan to its outcome.

    `actions` is what may follow now; `why_not_undo` says why an undo that might be is none of them.
    """

    id: UUID
    kind: str
    cluster_name: str
    target: str
    state: OperationState
    wish: Wish | None
    parameters: dict[str, Any]
    plan: PlanOut
    steps: list[StepOut]
    read_back: list[ReadBackOut]
    outcome: str | None
    requested_by: str
    reason: str | None
    confirmed_by: str | None
    reviewed_by: str | None
    review_reason: str | None
    planned_at: datetime
    expires_at: datetime
    confirmed_at: datetime | None
    not_before: datetime | None
    ended_at: datetime | None
    undoes: UUID | None
    actions: list[Action]
    why_not_undo: str | None

    @classmethod
    def of(cls, operation: Operation, following: Following) -> Self:
        """Show an operation, and what may follow it."""
        return copied(
            cls,
            operation,
            parameters=dict(operation.parameters),
            plan=PlanOut.of(operation.plan),
            steps=[StepOut.of(step) for step in operation.steps],
            read_back=[ReadBackOut.of(one) for one in operation.read_back],
            actions=list(following.actions),
            why_not_undo=following.why_not_undo,
        )


@dataclass(frozen=True, slots=True)
class MovedFactOut(Copied[PreconditionMoved]):
    """The first fact of a plan that is another by now, which makes the plan void."""

    name: str
    expected: str
    found: str | None


@dataclass(frozen=True, slots=True)
class FactsOut:
    """Whether the facts of a plan are as they were; null is that they are."""

    moved: MovedFactOut | None

    @classmethod
    def of(cls, moved: PreconditionMoved | None) -> Self:
        """Show the fact that has moved, if one has."""
        return cls(None if moved is None else MovedFactOut.of(moved))
