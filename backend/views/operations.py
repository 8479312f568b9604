"""Show operations: plans, journals and outcomes (D19)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self
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
from backend.views.field_texts import (
    CLUSTER_NAME,
    CONFIRMED_BY,
    OPERATION_ID,
    OPERATION_KIND,
    OPERATION_TARGET,
    ORDER_PARAMETERS,
)
from backend.views.graph_forms import Text, in_graph

in_graph("OperationWish")(Wish)
in_graph("OperationAction")(Action)


@dataclass(frozen=True, slots=True)
class PreconditionOut(Copied[Precondition]):
    """A fact that the plan was made from."""

    name: Annotated[str, Text("Name of the fact.")]
    value: Annotated[
        str, Text("Value of the fact when the plan was made. If it changes, the plan expires.")
    ]


@in_graph("PlanCheck")
@dataclass(frozen=True, slots=True)
class CheckOut(Copied[Check]):
    """A check before the operation, and its result."""

    name: Annotated[str, Text("Name of the check.")]
    verdict: Annotated[
        CheckVerdict, Text("Whether the check passes, warns or blocks the operation.")
    ]
    why: Annotated[str, Text("The verdict in words.")]
    stock_code: Annotated[
        int | None, Text("Response code of RocketMQ for this case. Null if there is none.")
    ]


@dataclass(frozen=True, slots=True)
class DifferenceOut(Copied[Difference]):
    """One value that changes."""

    what: Annotated[str, Text("What changes.")]
    before: Annotated[str | None, Text("Value before the change. Null if there is none.")]
    after: Annotated[str | None, Text("Value after the change. Null if there is none.")]


@dataclass(frozen=True, slots=True)
class GateOut:
    """What a confirmation needs, and how long the operation waits after it."""

    needs_name: Annotated[
        bool, Text("Whether a confirmation needs the typed name of the target, and a reason.")
    ]
    needs_loss_accepted: Annotated[
        bool, Text("Whether a confirmation must accept the loss that the plan states.")
    ]
    hold_ms: Annotated[
        int,
        Text("Milliseconds after the confirmation in which the operation can be cancelled."),
    ]


@dataclass(frozen=True, slots=True)
class PlanOut:
    """Effect, changes, impact, checks and undo of an operation."""

    summary: Annotated[str, Text("What the operation does, in one sentence.")]
    risk: Annotated[Risk, Text("Risk class: R1 is small, R2 affects service, R3 may lose data.")]
    risk_label: Annotated[str, Text("The risk class of this plan in words.")]
    is_reversible: Annotated[bool, Text("Whether an undo exists.")]
    gate: Annotated[GateOut, Text("What a confirmation needs.")]
    preconditions: Annotated[
        list[PreconditionOut],
        Text("Facts that the plan was made from. The plan expires if one changes."),
    ]
    changes: Annotated[list[DifferenceOut], Text("Values that change.")]
    impact: Annotated[list[str], Text("Who is affected, and how.")]
    checks: Annotated[list[CheckOut], Text("What was checked before.")]
    way_back: Annotated[str, Text("How to undo the operation.")]
    loss: Annotated[str | None, Text("What is lost for good. Null if nothing is.")]
    facts: Annotated[dict[str, Any], Text("Everything that the plan was made from, by name.")]

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

    position: Annotated[int, Text("Number of the step, from 0.")]
    name: Annotated[str, Text("Name of the step.")]
    title: Annotated[str, Text("What the step does, in words.")]
    state: Annotated[StepState, Text("State of the step.")]
    attempt_count: Annotated[int, Text("Number of attempts.")]
    before: Annotated[
        dict[str, Any] | None,
        Text("Values that the step read before it began. Null if it has not begun."),
    ]
    after: Annotated[
        dict[str, Any] | None, Text("Values that the step read back. Null if it has not ended.")
    ]
    error: Annotated[str | None, Text("Why the step failed. Null if it did not.")]
    began_at: Annotated[datetime | None, Text("Time when the step began. Null if it has not.")]
    ended_at: Annotated[datetime | None, Text("Time when the step ended. Null if it has not.")]


@dataclass(frozen=True, slots=True)
class ReadBackOut(Copied[ReadBack]):
    """One value that was read back after the last step."""

    what: Annotated[str, Text("What was read back.")]
    intended: Annotated[str, Text("Value that the operation should have set.")]
    observed: Annotated[str | None, Text("Value that was read. Null if it is unknown.")]
    agreement: Annotated[Agreement, Text("Whether both values agree.")]


@dataclass(frozen=True, slots=True)
class OperationOut:
    """A change of a cluster from its plan to its outcome."""

    id: Annotated[UUID, OPERATION_ID]
    kind: Annotated[str, OPERATION_KIND]
    cluster_name: Annotated[str, CLUSTER_NAME]
    target: Annotated[str, OPERATION_TARGET]
    state: Annotated[OperationState, Text("State of the operation.")]
    wish: Annotated[
        Wish | None,
        Text("What a user asked of the running operation, such as a pause. Null if nothing."),
    ]
    parameters: Annotated[dict[str, Any], ORDER_PARAMETERS]
    plan: Annotated[
        PlanOut, Text("What the operation does, and what was known when it was planned.")
    ]
    steps: Annotated[list[StepOut], Text("Journal of the steps, in their order.")]
    read_back: Annotated[list[ReadBackOut], Text("Values that were read after the last step.")]
    outcome: Annotated[str | None, Text("How the operation ended, in words. Null before it ends.")]
    requested_by: Annotated[str, Text("User who planned the operation.")]
    reason: Annotated[
        str | None, Text("Reason that was given with the confirmation. Null if none was given.")
    ]
    confirmed_by: Annotated[str | None, CONFIRMED_BY]
    reviewed_by: Annotated[
        str | None,
        Text("Second user who approved or declined the operation. Null if there was none."),
    ]
    review_reason: Annotated[str | None, Text("Reason of the second user. Null if none was given.")]
    planned_at: Annotated[datetime, Text("Time when the plan was made.")]
    expires_at: Annotated[datetime, Text("Time when the plan expires unless it is confirmed.")]
    confirmed_at: Annotated[datetime | None, Text("Time of the confirmation. Null before it.")]
    not_before: Annotated[
        datetime | None,
        Text("Time before which the next step does not begin. Null if there is none."),
    ]
    ended_at: Annotated[
        datetime | None, Text("Time when the operation ended. Null before it ends.")
    ]
    undoes: Annotated[
        UUID | None, Text("Id of the operation that this one undoes. Null if it undoes none.")
    ]
    actions: Annotated[list[Action], Text("What a user may do with the operation now.")]
    why_not_undo: Annotated[
        str | None,
        Text("Why the operation can not be undone. Null if it can, or if no undo applies."),
    ]

    @classmethod
    def of(cls, operation: Operation, following: Following) -> Self:
        """Show an operation, and the actions that are possible now."""
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
    """The first fact of a plan that changed. The plan has expired."""

    name: Annotated[str, Text("Name of the fact that changed.")]
    expected: Annotated[str, Text("Value of the fact when the plan was made.")]
    found: Annotated[str | None, Text("Value of the fact now. Null if it is unknown.")]


@dataclass(frozen=True, slots=True)
class FactsOut:
    """Whether a fact of a plan has changed."""

    moved: Annotated[
        MovedFactOut | None, Text("First fact of the plan that changed. Null if none did.")
    ]

    @classmethod
    def of(cls, moved: PreconditionMoved | None) -> Self:
        """Show the fact that has changed, if there is one."""
        return cls(None if moved is None else MovedFactOut.of(moved))
