"""Describe the fields of a view, and how the doors spell them where Python differs.

A view has the name that it has in REST. The graph omits `Out`, and uses camel case.
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
"""A field that REST omits, since the path contains it."""
Version = Annotated[str, IN_GRAPH_ONLY, IS_VERSION]
"""The version of an object that can be edited. REST puts it into the header `ETag`."""
RestOnly = Annotated[FieldT, IN_REST_ONLY]
"""A field that only REST shows. The graph omits it, or loads a relation of this name."""
RestText = Annotated[FieldT, IS_TEXT_IN_REST]
"""An enumeration that the OpenAPI document describes as any text."""
NotShown = Annotated[FieldT, IN_GRAPH_ONLY, IN_REST_ONLY]
"""A field that relations are loaded by. Neither door shows it."""


@dataclass(frozen=True, slots=True)
class Text:
    """Describe a field in the schemas of both doors."""

    text: str

    def __get_pydantic_json_schema__(
        self, schema: Any, describe: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Describe a field in the OpenAPI document."""
        return {**describe(schema), "description": self.text}


def text_of(annotation: Any) -> str | None:
    """Return the description of a field, if it has one."""
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
    """Return the name of a view or an enumeration in the graph."""
    return _names.get(view, view.__name__.removesuffix("Out"))


def graph_description(view: type) -> str | None:
    """Return the description of a view in the graph."""
    return _descriptions.get(view)
