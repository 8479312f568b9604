"""Serve operations over REST: plan, confirm, and further actions (D19)."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Header, Request
from pydantic import BaseModel, ConfigDict, Field

from backend.api.context import Context, SignedIn, author_of
from backend.api.operation_verbs import VERBS, Verb
from backend.api.permissions import reaches
from backend.api.rest.errors import NOT_FOUND, SCHEMA_PATH, Responses, refused_with
from backend.api.rest.routers import guarded_router
from backend.api.rest.versions import IfMatch, expected_version
from backend.domain.access import Reach
from backend.domain.operation import (
    Author,
    Confirmation,
)
from backend.domain.orders.message import SendMessage
from backend.operations.engine import approvals, orders
from backend.operations.engine.kind import OperationRequest
from backend.operations.engine.known_kinds import KINDS
from backend.operations.engine.leases import break_lease
from backend.operations.engine.order_schema import describe_orders
from backend.questions.operations import show
from backend.views.field_texts import (
    ACCEPTS_LOSS,
    CONFIRM_REASON,
    OPERATION_KIND,
    ORDER_PARAMETERS,
    TYPED_NAME,
)
from backend.views.graph_forms import Text
from backend.views.operations import OperationOut

router = guarded_router("operations", prefix="/operations")

ORDERED: Responses = {**NOT_FOUND, **refused_with(409, 412)}
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
    """Return the author of a change.

    Raises:
        Forbidden: the user may only read.
    """
    return author_of(principal, request, "rest")


Asker = Annotated[Author, Depends(get_author)]


def describe_parameters() -> dict[str, Any]:
    """Return JSON Schema of all orders, by their names."""
    order_types: list[type[Any]] = [SendMessage, *(kind.order_type for kind in KINDS.values())]
    return describe_orders(order_types, SCHEMA_PATH + "{name}")


def schema_of(order_type: type[Any]) -> str:
    """Return the place of the description of an order in the OpenAPI document."""
    return SCHEMA_PATH + order_type.__name__


def _by_kind(schema: dict[str, Any]) -> None:
    """Add to a schema which parameters belong to which kind."""
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

    kind: Annotated[KindName, OPERATION_KIND]
    parameters: Annotated[dict[str, Any], ORDER_PARAMETERS]


class ConfirmIn(BaseModel):
    """Confirm what the gate of the plan's risk class needs.

    R1 needs nothing. R2 needs the name of the target and a reason. R3 also needs the accepted loss.
    """

    model_config = ConfigDict(extra="forbid")

    typed_name: Annotated[str | None, Field(max_length=300), TYPED_NAME] = None
    reason: Annotated[str | None, Field(max_length=1_000), CONFIRM_REASON] = None
    accepts_loss: Annotated[bool, ACCEPTS_LOSS] = False


class ReviewIn(BaseModel):
    """The reason for an approval or a refusal; a refusal needs a reason."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[
        str | None, Field(max_length=1_000), Text("Reason of the second user. A refusal needs one.")
    ] = None


@router.post("", status_code=201, responses=ORDERED)
@reaches(Reach.KEPT)
async def plan_operation(
    order: PlanIn, context: Context, author: Asker, key: Key = None, if_match: IfMatch = None
) -> OperationOut:
    """Plan a change and show its effect. Nothing changes before the plan is confirmed.

    With `If-Match` a change of a topic, a consumer group or a broker's config is planned only if
    its version has not changed.
    """
    request = OperationRequest(order.kind, order.parameters, version=expected_version(if_match))
    return show(
        await orders.plan_operation(request, author, context.operations, key=key),
        context.operations,
    )


@router.post("/{operation_id}/confirm", responses=ORDERED)
@reaches(Reach.KEPT)
async def confirm_operation(
    operation_id: UUID, given: ConfirmIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Confirm a plan. It is carried out, or expires (412) if a fact of the plan has changed."""
    confirmation = Confirmation(given.typed_name, given.reason, given.accepts_loss)
    confirmed = await orders.confirm_operation(
        operation_id, confirmation, author, context.operations, key=key
    )
    return show(confirmed, context.operations)


@router.post("/{operation_id}/approve", responses=ORDERED)
@reaches(Reach.KEPT)
async def approve_operation(
    operation_id: UUID, given: ReviewIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Approve the operation that another user confirmed. It expires (412) if a fact has changed."""
    approved = await approvals.approve_operation(
        operation_id, given.reason, author, context.operations, key=key
    )
    return show(approved, context.operations)


@router.post("/{operation_id}/decline", responses=ORDERED)
@reaches(Reach.KEPT)
async def decline_operation(
    operation_id: UUID, given: ReviewIn, context: Context, author: Asker, key: Key = None
) -> OperationOut:
    """Decline the operation that another user confirmed. A reason is required."""
    declined = await approvals.decline_operation(
        operation_id, given.reason, author, context.operations, key=key
    )
    return show(declined, context.operations)


@router.delete("/{operation_id}/lease", responses=ORDERED)
@reaches(Reach.KEPT)
async def end_lease(operation_id: UUID, context: Context, author: Asker) -> OperationOut:
    """Take an operation from its worker. The next worker continues where the journal ends."""
    return show(await break_lease(operation_id, author, context.operations), context.operations)


def _endpoint(verb: Verb) -> Any:
    async def act(
        operation_id: UUID, context: Context, author: Asker, key: Key = None
    ) -> OperationOut:
        operations = context.operations
        return show(await verb.act(operation_id, author, operations, key=key), operations)

    act.__name__ = act.__qualname__ = verb.endpoint or verb.mutation
    act.__doc__ = verb.help
    return reaches(Reach.KEPT)(act)


for _verb in VERBS:
    router.add_api_route(
        f"/{{operation_id}}/{_verb.name}",
        _endpoint(_verb),
        methods=["POST"],
        status_code=_verb.status,
        responses=ORDERED,
    )
