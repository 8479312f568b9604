"""Serve operations in the graph: plan, confirm, and further actions (D19)."""

from dataclasses import asdict
from typing import Annotated, Any

import strawberry
from strawberry.tools import create_type

from backend.api.context import author_of
from backend.api.graphql.context import Info
from backend.api.graphql.order_inputs import PlanInput
from backend.api.graphql.scalars import Id, Version, read_id
from backend.api.graphql.views import answers
from backend.api.operation_verbs import VERBS, Verb
from backend.domain import operation as domain
from backend.domain.errors import InvalidName
from backend.operations.engine import approvals, orders
from backend.operations.engine.kind import OperationRequest
from backend.operations.engine.leases import break_lease
from backend.questions.operations import show
from backend.views.field_texts import ACCEPTS_LOSS, CONFIRM_REASON, TYPED_NAME
from backend.views.operations import OperationOut

Key = Annotated[
    str | None,
    strawberry.argument(description="The same key with the same request has one effect."),
]


Plan = Annotated[Any, strawberry.argument(graphql_type=PlanInput)]
"""One order of any kind: its type is made from the kinds."""


@strawberry.input
class ConfirmationInput:
    """Confirm what the gate of the plan's risk class needs."""

    typed_name: str | None = strawberry.field(default=None, description=TYPED_NAME.text)
    reason: str | None = strawberry.field(default=None, description=CONFIRM_REASON.text)
    accepts_loss: bool = strawberry.field(default=False, description=ACCEPTS_LOSS.text)


@strawberry.type
class OperationMutation:
    """Order changes."""

    @answers(OperationOut)
    async def plan_operation(
        self,
        info: Info,
        plan: Plan,
        key: Key = None,
        version: Version = None,
    ) -> OperationOut:
        """Plan a change and show its effect. Nothing changes before the plan is confirmed."""
        author = _author(info)
        [(kind, chosen)] = [
            (name, given) for name, given in vars(plan).items() if given is not strawberry.UNSET
        ]
        request = OperationRequest(kind, asdict(chosen), version=version)
        operations = info.context.api.operations
        planned = await orders.plan_operation(request, author, operations, key=_checked(key))
        return show(planned, info.context.api.operations)

    @answers(OperationOut)
    async def confirm_operation(
        self,
        info: Info,
        operation_id: Id,
        given: ConfirmationInput,
        key: Key = None,
    ) -> OperationOut:
        """Confirm a plan. It is carried out, or expires if a fact of the plan has changed."""
        confirmed = await orders.confirm_operation(
            read_id(operation_id),
            domain.Confirmation(given.typed_name, given.reason, given.accepts_loss),
            _author(info),
            info.context.api.operations,
            key=_checked(key),
        )
        return show(confirmed, info.context.api.operations)

    @answers(OperationOut)
    async def approve_operation(
        self, info: Info, operation_id: Id, reason: str | None = None, key: Key = None
    ) -> OperationOut:
        """Approve the operation that another user confirmed. It expires if a fact has changed."""
        approved = await approvals.approve_operation(
            read_id(operation_id),
            reason,
            _author(info),
            info.context.api.operations,
            key=_checked(key),
        )
        return show(approved, info.context.api.operations)

    @answers(OperationOut)
    async def decline_operation(
        self, info: Info, operation_id: Id, reason: str, key: Key = None
    ) -> OperationOut:
        """Decline the operation that another user confirmed. A reason is required."""
        declined = await approvals.decline_operation(
            read_id(operation_id),
            reason,
            _author(info),
            info.context.api.operations,
            key=_checked(key),
        )
        return show(declined, info.context.api.operations)

    @answers(OperationOut)
    async def break_operation_lease(self, info: Info, operation_id: Id) -> OperationOut:
        """Take an operation from its worker. The next worker continues where the journal ends."""
        operations = info.context.api.operations
        broken = await break_lease(read_id(operation_id), _author(info), operations)
        return show(broken, info.context.api.operations)


def _mutation(verb: Verb) -> Any:
    async def act(info: Info, operation_id: Id, key: Key = None) -> Any:
        operations = info.context.api.operations
        changed = await verb.act(
            read_id(operation_id), _author(info), operations, key=_checked(key)
        )
        return show(changed, operations)

    act.__name__, act.__doc__ = verb.mutation, verb.help
    return answers(OperationOut)(act)


OperationVerbs: Any = create_type("OperationVerbs", [_mutation(verb) for verb in VERBS])


def _author(info: Info) -> domain.Author:
    request = info.context.request
    assert request is not None, "mutations come with a request"
    return author_of(info.context.principal, request, "graphql")


def _checked(key: str | None) -> str | None:
    if key is not None and not (
        0 < len(key) <= orders.KEY_LENGTH_MAX and key.isascii() and key.isprintable()
    ):
        raise InvalidName(kind="idempotency key", name=key, reason="is not 1 to 200 plain letters")
    return key
