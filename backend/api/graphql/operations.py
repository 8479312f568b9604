"""Present operations in the graph: plans, journals and outcomes (D19)."""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

import strawberry
from strawberry.scalars import JSON

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Id
from backend.db.operations import OperationFilter
from backend.domain import operation as domain
from backend.domain import operation_actions as action_domain
from backend.domain import plan as plan_domain
from backend.domain.errors import InvalidName
from backend.domain.names import check_cluster_name
from backend.domain.operation_errors import PreconditionMoved
from backend.services.operations import orders
from backend.services.operations.following import find_following, find_moved_fact
from backend.services.operations.kinds import KINDS

OperationState = strawberry.enum(domain.OperationState, description=None)
StepState = strawberry.enum(domain.StepState, description=None)
OperationWish = strawberry.enum(domain.Wish, name="OperationWish", description=None)
OperationAction = strawberry.enum(action_domain.Action, name="OperationAction", description=None)
Risk = strawberry.enum(plan_domain.Risk, description=None)
CheckVerdict = strawberry.enum(plan_domain.CheckVerdict, description=None)
Agreement = strawberry.enum(plan_domain.Agreement, description=None)


@strawberry.type
class Precondition:
    """Present a fact that a plan was made from; another value makes it void."""

    name: str
    value: str


@strawberry.type
class PlanCheck:
    """Present what could go wrong, and why; `stockCode` is stock RocketMQ's code for it."""

    name: str
    verdict: plan_domain.CheckVerdict
    why: str
    stock_code: int | None


@strawberry.type
class Difference:
    """Present one thing that changes; null is what is not there."""

    what: str
    before: str | None
    after: str | None


@strawberry.type
class Gate:
    """Present what a confirmation must bring; where the name is typed, a reason is given too."""

    needs_name: bool
    needs_loss_accepted: bool
    hold_ms: int


@strawberry.type
class Plan:
    """Present what will happen, what changes, who feels it, what could go wrong, the way back.

    `riskLabel` says what the class means for this plan; it follows the way back.
    """

    summary: str
    risk: plan_domain.Risk
    risk_label: str
    is_reversible: bool
    gate: Gate
    preconditions: list[Precondition]
    changes: list[Difference]
    impact: list[str]
    checks: list[PlanCheck]
    way_back: str
    loss: str | None
    facts: JSON


@strawberry.type
class OperationStep:
    """Present the journal of one step."""

    position: int
    name: str
    title: str
    state: domain.StepState
    attempt_count: int
    before: JSON | None
    after: JSON | None
    error: str | None
    began_at: datetime | None
    ended_at: datetime | None


@strawberry.type
class ReadBack:
    """Present one thing that was read back when the steps were done; null is unknown."""

    what: str
    intended: str
    observed: str | None
    agreement: plan_domain.Agreement


@strawberry.type
class MovedFact:
    """Present the first fact of a plan that is another by now, which makes the plan void."""

    name: str
    expected: str
    found: str | None

    @classmethod
    def of(cls, moved: PreconditionMoved) -> Self:
        """Present a fact that has moved."""
        return cls(name=moved.name, expected=moved.expected, found=moved.found)


@strawberry.type
class Operation:
    """Present a change of a cluster from its plan to its outcome.

    `actions` is what may follow now; `whyNotUndo` says why an undo that might be is none of them.
    """

    model: strawberry.Private[domain.Operation]
    id: strawberry.ID
    kind: str
    cluster_name: str
    target: str
    state: domain.OperationState
    wish: domain.Wish | None
    parameters: JSON
    plan: Plan
    steps: list[OperationStep]
    read_back: list[ReadBack]
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
    undoes: strawberry.ID | None
    actions: list[action_domain.Action]
    why_not_undo: str | None

    @strawberry.field
    async def moved_fact(self, info: Info) -> MovedFact | None:
        """Compare the facts that a plan was made from with those of now; null: none has moved."""
        context = info.context
        async with context.loaders.turns:
            moved = await find_moved_fact(
                self.model.id, context.api.operations, within=context.within
            )
        return None if moved is None else MovedFact.of(moved)

    @classmethod
    def of(cls, found: domain.Operation, info: Info) -> Self:
        """Present an operation."""
        following = find_following(found, info.context.api.operations)
        return cls(
            model=found,
            id=strawberry.ID(str(found.id)),
            kind=found.kind,
            cluster_name=found.cluster_name,
            target=found.target,
            state=found.state,
            wish=found.wish,
            parameters=_json(found.parameters),
            plan=_plan(found.plan),
            steps=[_step(step) for step in found.steps],
            read_back=[
                ReadBack(
                    what=one.what,
                    intended=one.intended,
                    observed=one.observed,
                    agreement=one.agreement,
                )
                for one in found.read_back
            ],
            outcome=found.outcome,
            requested_by=found.requested_by,
            reason=found.reason,
            confirmed_by=found.confirmed_by,
            reviewed_by=found.reviewed_by,
            review_reason=found.review_reason,
            planned_at=found.planned_at,
            expires_at=found.expires_at,
            confirmed_at=found.confirmed_at,
            not_before=found.not_before,
            ended_at=found.ended_at,
            undoes=None if found.undoes is None else strawberry.ID(str(found.undoes)),
            actions=list(following.actions),
            why_not_undo=following.why_not_undo,
        )


@strawberry.type
class OperationQuery:
    """Ask for operations."""

    @strawberry.field
    async def operation(self, info: Info, operation_id: Id) -> Operation:
        """Find the operation of an id."""
        found = await orders.describe_operation(
            read_id(operation_id), info.context.api.operations, within=info.context.within
        )
        return Operation.of(found, info)

    @strawberry.field
    async def operations(
        self,
        info: Info,
        first: int = 50,
        after: str | None = None,
        cluster_name: str | None = None,
        state: domain.OperationState | None = None,
        kind: str | None = None,
        search: str | None = None,
    ) -> Connection[Operation]:
        """List operations, the newest first; `search` is a part of what they change is called."""
        cluster = None if cluster_name is None else check_cluster_name(cluster_name)
        page = await orders.list_operations(
            size=first,
            after=decode_cursor(after, tuple[datetime, UUID]),
            chosen=OperationFilter(cluster, state, kind, search, info.context.within),
            context=info.context.api.operations,
        )
        return connect(page, lambda found: Operation.of(found, info))

    @strawberry.field
    async def operation_kinds(self) -> list[str]:
        """List the kinds of operations there are."""
        return list(KINDS)


def read_id(text: str) -> UUID:
    """Read an id.

    Raises:
        InvalidName: it is none.
    """
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidName(kind="operation", name=text, reason="is no id") from error


def _plan(plan: plan_domain.Plan) -> Plan:
    return Plan(
        summary=plan.summary,
        risk=plan.risk,
        risk_label=plan.risk_label,
        is_reversible=plan.is_reversible,
        gate=Gate(
            needs_name=plan.gate.needs_name,
            needs_loss_accepted=plan.gate.needs_loss_accepted,
            hold_ms=plan.gate.hold_ms,
        ),
        preconditions=[Precondition(name=p.name, value=p.value) for p in plan.preconditions],
        changes=[Difference(what=d.what, before=d.before, after=d.after) for d in plan.changes],
        impact=list(plan.impact),
        checks=[
            PlanCheck(name=c.name, verdict=c.verdict, why=c.why, stock_code=c.stock_code)
            for c in plan.checks
        ],
        way_back=plan.way_back,
        loss=plan.loss,
        facts=_json(plan.facts),
    )


def _step(step: domain.Step) -> OperationStep:
    return OperationStep(
        position=step.position,
        name=step.name,
        title=step.title,
        state=step.state,
        attempt_count=step.attempt_count,
        before=None if step.before is None else _json(step.before),
        after=None if step.after is None else _json(step.after),
        error=step.error,
        began_at=step.began_at,
        ended_at=step.ended_at,
    )


def _json(value: Any) -> JSON:
    return JSON(value)
