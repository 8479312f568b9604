"""Say how the graph spells a view where its form in Python does not say so already.

A view is called as REST calls it. The graph leaves `Out` away, and spells in camel case.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

ViewT = TypeVar("ViewT", bound=type)

IS_INT64: Final = "int64"
Int64 = Annotated[int, IS_INT64]
"""A number beyond 32 bits: the graph writes it as a text, since browsers are exact to 53 bits."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """List the pairs of a mapping in the graph, which has no mappings, as a type of this name."""

    type_name: str
    key: str
    value: str


_names: Final[dict[type, str]] = {}
_descriptions: Final[dict[type, str]] = {}


def in_graph(
    name: str | None = None, *, description: str | None = None
) -> Callable[[ViewT], ViewT]:
    """Give a view, or an enumeration, its name and its description in the graph."""

    def remember(view: ViewT) -> ViewT:
        if name is not None:
            _names[view] = name
        if description is not None:
            _descriptions[view] = description
        return view

    return remember


def graph_name(view: type) -> str:
    """Return what the graph calls a view or an enumeration."""
    return _names.get(view, view.__name__.removesuffix("Out"))


def graph_description(view: type) -> str | None:
    """Return what the graph says of a view."""
    return _descriptions.get(view)
