"""Let msgspec check what an order may hold, by its fields' types and bounds, and describe that."""

from dataclasses import is_dataclass
from inspect import getdoc
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec

from backend.domain.orders.parameter import Field, fields_of

_MADE: Final[dict[type[Any], type[msgspec.Struct]]] = {}


def checked_type(order_type: type[Any]) -> type[msgspec.Struct]:
    """Return the struct of an order, whose fields refuse what is out of their bounds."""
    if order_type not in _MADE:
        _MADE[order_type] = _make(order_type, is_closed=True)
    return _MADE[order_type]


def _make(described: type[Any], *, is_closed: bool) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        described.__name__,
        [
            (one.name, _checked(one), msgspec.NODEFAULT if one.is_required else one.default)
            for one in fields_of(described)
        ],
        kw_only=True,
        forbid_unknown_fields=is_closed,
        namespace={"__doc__": getdoc(described)},
    )


def _checked(field: Field) -> Any:
    bounds = field.about.bounds
    kind: Any = field.type
    if field.is_list and is_dataclass(kind):
        kind = _make(field.type, is_closed=False)
    if kind is int:
        kind = Annotated[kind, _limits(ge=bounds.low, le=bounds.high)]
    if kind is str:
        lengths = _limits(min_length=bounds.length_min, max_length=bounds.length_max)
        kind = Annotated[kind, lengths]
    if field.is_list:
        counts = _limits(min_length=bounds.count_min, max_length=bounds.count_max)
        kind = Annotated[GenericAlias(tuple, (kind, ...)), counts]
    if field.is_optional:
        kind = kind | None
    return Annotated[kind, msgspec.Meta(description=field.about.text)]


def _limits(**limits: int | None) -> msgspec.Meta:
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    return msgspec.Meta(**given)
