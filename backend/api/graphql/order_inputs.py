"""Make the inputs of orders in the graph from the orders, and `PlanInput` from all of them."""

from collections.abc import Sequence
from dataclasses import is_dataclass
from enum import Enum
from inspect import getdoc
from types import GenericAlias
from typing import Any, Final

import strawberry

from backend.api.graphql.scalars import Int64
from backend.domain.logical_queue.segment import OffsetMode
from backend.domain.offset_reset import Position, ResetMode
from backend.domain.orders.dead_letter import Destination
from backend.domain.orders.group_mode import WantedMode
from backend.domain.orders.message import BodyEncoding
from backend.domain.orders.parameter import Field, fields_of
from backend.domain.orders.replica_group import Mode
from backend.domain.protection import ResourceKind
from backend.domain.topic_layout import MessageType
from backend.operations.engine.known_kinds import KINDS

ENUM_NAMES: Final[dict[type[Enum], str]] = {
    BodyEncoding: "BodyEncoding",
    Destination: "DeadLetterDestination",
    MessageType: "TopicMessageType",
    OffsetMode: "QueueOffsetMode",
    Position: "OffsetPosition",
    ResourceKind: "ProtectedKind",
    ResetMode: "OffsetResetMode",
    Mode: "ElectionMode",
    WantedMode: "WantedGroupMode",
}
for _enum, _name in ENUM_NAMES.items():
    strawberry.enum(_enum, name=_name, description=None)


_MADE: Final[dict[type[Any], Any]] = {}


def input_of(order_type: type[Any]) -> Any:
    """Make the input of an order; an order with the same fields as its base has the same input."""
    base = order_type.__base__
    if base is not None and is_dataclass(base) and fields_of(order_type) == fields_of(base):
        return input_of(base)
    if order_type not in _MADE:
        given = [_given(one) for one in fields_of(order_type) if not one.about.for_undo]
        name, text = f"{order_type.__name__}Input", str(order_type.__doc__)
        _MADE[order_type] = strawberry.input(_made_class(name, text, given))
    return _MADE[order_type]


def _given(one: Field) -> tuple[str, Any, Any]:
    kind: Any = one.type
    if one.is_long:
        kind = Int64
    elif is_dataclass(kind):
        kind = input_of(one.type)
    if one.is_list:
        kind = GenericAlias(list, (kind,))
    if one.is_optional:
        kind = kind | None
    default = {"default_factory": list} if one.is_list else {"default": one.default}
    given: dict[str, Any] = {} if one.is_required else default
    return one.name, kind, strawberry.field(description=one.about.text, **given)


def _made_class(name: str, text: str, given: Sequence[tuple[str, Any, Any]]) -> type[Any]:
    hints = {field: kind for field, kind, _ in given}
    initial = {field: value for field, _, value in given}
    return type(name, (), {"__doc__": text, "__annotations__": hints, **initial})


PlanInput: Final = strawberry.input(
    _made_class(
        "PlanInput",
        "Name the kind of operation, with its parameters; exactly one.",
        [
            (
                name,
                input_of(kind.order_type) | None,
                strawberry.field(default=strawberry.UNSET, description=getdoc(kind.order_type)),
            )
            for name, kind in KINDS.items()
        ],
    ),
    one_of=True,
)
