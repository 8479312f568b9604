"""Say of one parameter of an order what it means, what it may be, and its word in a command."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
BROKER_GROUPS_MAX: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Hold what a value may be; of a list, each of its values, and how many these are."""

    low: int | None = None
    high: int | None = None
    length_min: int | None = None
    length_max: int | None = None
    count_min: int | None = None
    count_max: int | None = None
    # A name may be this long; the plan checks names, and refuses one with a specific error.
    name_length_max: int | None = None


class Parameter:
    """Describe a parameter in its annotation.

    `meaning` says what it is, and `absence` what holds without it, where the default value does not
    say that. `option` is its word on the command line, where that is not its name. `only_with` is
    the other parameter, and its value, that needs this one: without that value this one is refused.
    Only what takes an operation back gives a parameter that is `for_undo`, so that no form or
    command asks for it.
    """

    __slots__ = ("absence", "bounds", "for_undo", "meaning", "only_with", "option")

    def __init__(
        self,
        meaning: str,
        *,
        absence: str | None = None,
        option: str | None = None,
        only_with: tuple[str, Enum] | None = None,
        for_undo: bool = False,
        **bounds: int,
    ) -> None:
        self.meaning, self.absence, self.option = meaning, absence, option
        self.only_with, self.for_undo = only_with, for_undo
        self.bounds = Bounds(**bounds)

    @property
    def text(self) -> str:
        """Say what it is, and what holds without it."""
        return self.meaning if self.absence is None else f"{self.meaning} Default: {self.absence}."


class BrokerIdParameter(Parameter):
    """Describe the id of a broker of the broker group that the order names."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Field:
    """Hold a field of an order as its doors read it.

    `type` is a text, a number, a flag, an enumeration or a dataclass; of a list that of one value.
    """

    name: str
    type: Any
    about: Parameter
    default: Any
    is_list: bool
    is_optional: bool

    @property
    def is_required(self) -> bool:
        """Return whether it must be given."""
        return self.default is MISSING

    @property
    def is_long(self) -> bool:
        """Return whether its numbers need more than 32 bits."""
        return self.type is int and (self.about.bounds.high or 0) > INT_MAX


def fields_of(order_type: type[Any]) -> tuple[Field, ...]:
    """Read the fields of an order off its annotations; those that are required come first."""
    hints: Mapping[str, Any] = get_type_hints(order_type, include_extras=True)
    assert is_dataclass(order_type), order_type
    read = [_field(one.name, hints[one.name], one.default) for one in fields(order_type)]
    return tuple(sorted(read, key=lambda one: not one.is_required))


def kind_name(order_type: type[Any]) -> str:
    """Return the name of the kind of operation that an order is for."""
    letters = (f"_{c.lower()}" if c.isupper() else c for c in order_type.__name__)
    return "".join(letters).removeprefix("_")


def _field(name: str, hint: Any, default: Any) -> Field:
    assert get_origin(hint) is Annotated, f"{name} has no Parameter"
    inner, about = get_args(hint)
    choices = get_args(inner) if get_origin(inner) in {Union, UnionType} else (inner,)
    [kind] = [one for one in choices if one is not NoneType]
    is_list = get_origin(kind) is tuple
    return Field(
        name,
        get_args(kind)[0] if is_list else kind,
        about,
        default,
        is_list=is_list,
        is_optional=NoneType in choices,
    )


ClusterName = Annotated[str, Parameter("Name of the cluster.")]
BrokerGroupName = Annotated[str, Parameter("Name of the broker group.")]
BrokerGroups = Annotated[
    tuple[str, ...],
    Parameter(
        "Name of a broker group.",
        absence="all broker groups",
        option="broker_group",
        count_max=BROKER_GROUPS_MAX,
    ),
]
