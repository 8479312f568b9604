"""Say what the fields of a view mean, and how the doors spell what Python spells otherwise.

A view is called as REST calls it. The graph leaves `Out` away, and spells in camel case.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

FieldT = TypeVar("FieldT")
ViewT = TypeVar("ViewT", bound=type)

IS_INT64: Final = "int64"
Int64 = Annotated[int, IS_INT64]
"""A number beyond 32 bits: the graph writes it as a text, since browsers are exact to 53 bits."""

IS_ID: Final = "id"
IN_GRAPH_ONLY: Final = "in graph only"
IN_REST_ONLY: Final = "in REST only"
IS_VERSION: Final = "version"
IS_TEXT_IN_REST: Final = "text in REST"

Id = Annotated[FieldT, IS_ID]
"""A number or a text that the graph shows as an `ID`."""
GraphId = Annotated[int, IS_ID, IN_GRAPH_ONLY]
"""The key of a row, which REST does not show."""
GraphOnly = Annotated[FieldT, IN_GRAPH_ONLY]
"""What REST leaves out, since its path says it."""
Version = Annotated[str, IN_GRAPH_ONLY, IS_VERSION]
"""The version of what can be edited: REST puts it into the header `ETag`."""
RestOnly = Annotated[FieldT, IN_REST_ONLY]
"""What REST answers at once. The graph leaves it out, or loads it as a relation of this name."""
RestText = Annotated[FieldT, IS_TEXT_IN_REST]
"""An enumeration that the OpenAPI document describes as any text."""
NotShown = Annotated[FieldT, IN_GRAPH_ONLY, IN_REST_ONLY]
"""What relations are loaded by. Neither door shows it."""


@dataclass(frozen=True, slots=True)
class Text:
    """Say in the schemas of both doors what a field means."""

    text: str

    def __get_pydantic_json_schema__(
        self, schema: Any, describe: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Describe a field in the OpenAPI document."""
        return {**describe(schema), "description": self.text}


def text_of(annotation: Any) -> str | None:
    """Return what a field says of itself, if anything."""
    return next((one.text for one in marks_of(annotation) if isinstance(one, Text)), None)


@dataclass(frozen=True, slots=True)
class NamedInGraph:
    """Give a field another name in the graph."""

    name: str


def marks_of(annotation: Any) -> tuple[Any, ...]:
    """Return the marks of an annotated type."""
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


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
