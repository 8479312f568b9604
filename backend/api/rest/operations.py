"""Take orders for changes over REST: plan, confirm, and what may follow (D19)."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from backend.api.context import Context, SignedIn, Within, author_of
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND, Responses, refused_with
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.api.rest.versions import IfMatch, expected_version
from backend.db.operations import OperationFilter
from backend.domain.access import Reach
from backend.domain.names import check_cluster_name
from backend.domain.operation import (
    Author,
    Confirmation,
    Operation,
    OperationState,
    StepState,
    Wish,
)
from backend.domain.operation_actions import Action
from backend.domain.orders.message import SendMessage
from backend.domain.plan import Agreement, CheckVerdict, Risk
from backend.services.operations import approvals, following, orders
from backend.services.operations.kind import OperationRequest
from backend.services.operations.kinds import KINDS
from backend.services.operations.leases import break_lease
from backend.services.operations.order_schema import describe_orders

router = APIRouter(prefix="/operations", tags=["operations"])

ORDERED: Responses = {**NOT_FOUND, **refused_with(409, 412)}
_SCHEMA = "#/components/schemas/"
KindName = Annotated[str, Field(max_length=100, json_schema_extra={"enum": list(KINDS)})]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=orders.KEY_LENGTH_MAX,
        pattern=r"^[!-~]+$",
        description="The same key with the same request has one effect, however often it comes.",
    ),
]


async def get_author(request: Request, principal: SignedIn) -> Author:
    """Say who asks for a change.

    Raises:
        Forbidden: the user may only look.
    """
    return author_of(principal, request, "rest")


Asker = Annotated[Author, Depends(get_author)]


class _Out(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class PreconditionOut(_Out):
    """A fact that the plan was made from; another value makes it void."""

    name: str
    value: str


class CheckOut(_Out):
    """What could go wrong, and why; `stock_code` is stock RocketMQ's code for it, if any."""

    name: str
    verdict: CheckVerdict
    why: str
    stock_code: int | None


class DifferenceOut(_Out):
    """One thing that changes; null is what is not there."""

    what: str
    before: str | None
    after: str | None


class GateOut(_Out):
    """What a confirmation must bring, and for how long after it nothing begins.

    Where the name is to be typed, a reason is to be given too.
    """

    needs_name: bool
    needs_loss_accepted: bool
    hold_ms: int


class PlanOut(_Out):
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


class StepOut(_Out):
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


class ReadBackOut(_Out):
    """One thing that was read back when the steps were done; null is unknown."""

    what: str
    intended: str
    observed: str | None
    agreement: Agreement


class OperationOut(_Out):
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


class MovedFactOut(_Out):
    """The first fact of a plan that is another by now, which makes the plan void."""

    name: str
    expected: str
    found: str | None


class FactsOut(BaseModel):
    """Whether the facts of a plan are as they were; null is that they are."""

    moved: MovedFactOut | None


def describe_parameters() -> dict[str, Any]:
    """Return JSON Schema of all orders, by their names."""
    order_types = [SendMessage, *(kind.order_type for kind in KINDS.values())]
    return describe_orders(order_types, _SCHEMA + "{name}")


def schema_of(order_type: type[Any]) -> str:
    """Say where in the OpenAPI document an order is described."""
    return _SCHEMA + order_type.__name__


def _by_kind(schema: dict[str, Any]) -> None:
    """Say in a schema which parameters go with which kind."""
    schema["oneOf"] = [
        {
            "title": name,
            "properties": {
                "kind": {"const": name},
                "parameters": {"$ref": schema_of(kind.order_type)},
            },
        }
        for name, kind in KINDS.items()
    ]


class PlanIn(BaseModel):
    """Ask for a plan of a kind, with the parameters of that kind."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_by_kind)

    kind: KindName
    parameters: dict[str, Any]


class ConfirmIn(BaseModel):
    """Give what the gate of the plan's risk class asks for.

    R1 asks for nothing, R2 for the target's name and a reason, R3 also for the loss to be accepted.
    """

    model_config = ConfigDict(extra="forbid")

    typed_name: Annotated[str | None, Field(max_length=300)] = None
    reason: Annotated[str | None, Field(max_length=1_000)] = None
    accepts_loss: bool = False


class ReviewIn(BaseModel):
    """Say why an operation is approved or declined; to decline it takes a reason."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str | None, Field(max_length=1_000)] = None


@router.post("", status_code=201, responses=ORDERED)
@reaches(Reach.KEPT)
async def plan_operation(
    order: PlanIn, context: Context, author: Asker, key: Key = None, if_match: IfMatch = None
) -> OperationOut:
    """Plan a change and show what it would do; nothing changes before it is confirmed.

    With `If-Match` a change of a topic, a consumer group or a broker's config is planned only of
    the version that was read.
    """
    request = OperationRequest(order.kind, order.parameters, version=expected_version(if_match))
    return _out(await orders.plan_operation(request, author, context.operations, key=key), context)


@router.get("", responses=COMMON)
@reaches(Reach.KEPT)
async def show_operations(
    context: Context,
    within: Within,
    limit: Limit = 100,
    after: After = None,
    cluster_name: Annotated[str | None, Query(max_length=300)] = None,
    state: OperationState | None = None,
    kind: KindName | None = None,
    search: Search = None,
) -> PageOut[OperationOut]:
    """List operations, the newest first."""
    page = await orders.list_operations(
        size=limit,
        after=decode_cursor(after, tuple[datetime, UUID]),
        chosen=OperationFilter(
            None if cluster_name is None else check_cluster_name(cluster_name),
            state,
            kind,
            search,
            within,
        ),
        context=context.operations,
    )
    return page_out(page, lambda found: _out(found, context))


@router.get("/{operation_id}", responses=NOT_FOUND)
@reaches(Reach.KEPT)
async def show_operation(operation_id: UUID, context: Context, within: Within) -> OperationOut:
    """Describe an operation as it is now."""
    found = await orders.describe_operation(operation_id, context.operations, within=within)
    return _out(found, context)


@router.get("/{operation_id}/facts", responses=NOT_FOUND)
@reaches(Reach.KEPT)
async def show_facts(operation_id: UUID, context: Context, within: Within) -> FactsOut:
    """Compare the facts that a plan was made from with those of now."""
    moved = await following.find_moved_fact(operation_id, context.operations, within=within)
    return FactsOut(moved=None if moved is None else MovedFactOut.model_validate(moved))


@router.post("/{operation_id}/confirm", responses=ORDERED)
@reaches(Reach.KEPT)
async def confirm_operation(
    operation_id: UUID, given: ConfirmIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Have a plan carried out, if all is still as it was when it was made; else it lapses (412)."""
    confirmation = Confirmation(given.typed_name, given.reason, given.accepts_loss)
    confirmed = await orders.confirm_operation(
        operation_id, confirmation, author, context.operations, key=key
    )
    return _out(confirmed, context)


@router.post("/{operation_id}/approve", responses=ORDERED)
@reaches(Reach.KEPT)
async def approve_operation(
    operation_id: UUID, given: ReviewIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Have carried out what another user has confirmed; it lapses (412) if a fact has moved."""
    approved = await approvals.approve_operation(
        operation_id, given.reason, author, context.operations, key=key
    )
    return _out(approved, context)


@router.post("/{operation_id}/decline", responses=ORDERED)
@reaches(Reach.KEPT)
async def decline_operation(
    operation_id: UUID, given: ReviewIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """End what another user has confirmed, and say why."""
    declined = await approvals.decline_operation(
        operation_id, given.reason, author, context.operations, key=key
    )
    return _out(declined, context)


@router.post("/{operation_id}/pause", responses=ORDERED)
@reaches(Reach.KEPT)
async def pause_operation(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Hold an operation after the step at work."""
    return _out(
        await orders.pause_operation(operation_id, author, context.operations, key=key), context
    )


@router.post("/{operation_id}/resume", responses=ORDERED)
@reaches(Reach.KEPT)
async def resume_operation(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Let a paused operation go on."""
    return _out(
        await orders.resume_operation(operation_id, author, context.operations, key=key), context
    )


@router.post("/{operation_id}/cancel", responses=ORDERED)
@reaches(Reach.KEPT)
async def cancel_operation(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """End an operation after the step at work."""
    return _out(
        await orders.cancel_operation(operation_id, author, context.operations, key=key), context
    )


@router.post("/{operation_id}/retry", responses=ORDERED)
@reaches(Reach.KEPT)
async def retry_operation(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Carry out what is left of an operation that did not end well, or read back again."""
    return _out(
        await orders.retry_operation(operation_id, author, context.operations, key=key), context
    )


@router.delete("/{operation_id}/lease", responses=ORDERED)
@reaches(Reach.KEPT)
async def end_lease(operation_id: UUID, context: Context, author: Asker) -> OperationOut:
    """Take an operation from the worker that holds it; the next goes on where the journal ends."""
    return _out(await break_lease(operation_id, author, context.operations), context)


@router.post("/{operation_id}/undo", status_code=201, responses=ORDERED)
@reaches(Reach.KEPT)
async def undo_operation(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Plan the operation that takes this one back; it is confirmed like any."""
    return _out(
        await following.undo_operation(operation_id, author, context.operations, key=key), context
    )


@router.post("/{operation_id}/replan", status_code=201, responses=ORDERED)
@reaches(Reach.KEPT)
async def plan_again(
    operation_id: UUID, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Plan the same once more, from the facts as they are now."""
    return _out(
        await following.replan_operation(operation_id, author, context.operations, key=key), context
    )


def _out(operation: Operation, context: Context) -> OperationOut:
    next_told = asdict(following.find_following(operation, context.operations))
    names = OperationOut.model_fields.keys() - next_told.keys()
    return OperationOut.model_validate(
        {name: getattr(operation, name) for name in names} | next_told
    )
