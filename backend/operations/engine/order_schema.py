"""Check orders with msgspec by the types and bounds of their fields, and describe their schema."""

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from inspect import getdoc
from types import GenericAlias
from typing import Annotated, Any, Final, TypeVar

import msgspec

from backend.domain.json_value import find_unkept
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.parameter import Field, fields_of, kind_name

OrderT = TypeVar("OrderT")

_MADE: Final[dict[type[Any], type[msgspec.Struct]]] = {}


def read_order(order_type: type[OrderT], parameters: Mapping[str, Any]) -> OrderT:
    """Read an order from its parameters in JSON form.

    Raises:
        InvalidParameters: one is missing, unknown or of the wrong type, or can't be kept.
    """
    name = kind_name(order_type)
    unkept = find_unkept(parameters)
    if unkept is not None:
        raise InvalidParameters(name, unkept)
    unknown = parameters.keys() - {one.name for one in fields_of(order_type)}
    if unknown:
        raise InvalidParameters(name, f"there is no parameter {min(unknown)!r}")
    try:
        msgspec.convert(parameters, checked_type(order_type), strict=True)
        return msgspec.convert(parameters, order_type, strict=True)
    except msgspec.ValidationError as error:
        raise InvalidParameters(name, str(error)) from error


def checked_type(described: type[Any], *, is_order: bool = True) -> type[msgspec.Struct]:
    """Return the struct of an order, or of a part of one, that refuses values out of bounds.

    Only the struct of an order refuses unknown fields.
    """
    if described not in _MADE:
        _MADE[described] = msgspec.defstruct(
            described.__name__,
            [
                (one.name, _checked(one), msgspec.NODEFAULT if one.is_required else one.default)
                for one in fields_of(described)
            ],
            kw_only=True,
            forbid_unknown_fields=is_order,
            namespace={"__doc__": getdoc(described)},
        )
    return _MADE[described]


def describe_orders(order_types: Iterable[type[Any]], ref_template: str) -> dict[str, Any]:
    """Return JSON Schema of orders and of their types, by their names."""
    checked = [checked_type(one) for one in order_types]
    _, described = msgspec.json.schema_components(checked, ref_template=ref_template)
    return described


def _checked(field: Field) -> Any:
    bounds = field.about.bounds
    kind: Any = field.type
    if field.is_list and is_dataclass(kind):
        kind = checked_type(field.type, is_order=False)
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
