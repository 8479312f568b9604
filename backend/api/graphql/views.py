"""Make types of the graph from views.

The graph's own types: a 64-bit number is an `Int64`, a UUID an `ID`, and any mapping `JSON`.
Resolvers return the views themselves, since the graph reads fields by their names.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import strawberry
from strawberry.scalars import JSON

from backend.api.graphql.pages import Connection
from backend.api.graphql.scalars import Int64
from backend.domain.page import Page
from backend.views.graph_forms import IS_INT64, GraphType, graph_description, graph_name


@cache
def graph_type(view: type) -> Any:
    """Return the type that presents a view."""
    hints = get_type_hints(view, include_extras=True)
    annotations = {one.name: translate(hints[one.name]) for one in fields(view)}
    name = graph_name(view)
    made = type(name, (), {"__annotations__": annotations, "__module__": view.__module__})
    return strawberry.type(made, name=name, description=graph_description(view))


def translate(annotation: Any) -> Any:
    """Return what the graph calls a type."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _translate_marked(*inner)
    if (origin or annotation) in {dict, Mapping}:
        return JSON
    if origin in {Union, UnionType}:
        return Union[tuple(translate(one) for one in inner)]  # noqa: UP007 - of a tuple
    if origin is not None:
        made = Connection if origin is Page else origin
        return made[translate(inner[0])]
    return _translate_plain(annotation)


def _translate_plain(kind: type) -> Any:
    if kind is UUID:
        return strawberry.ID
    if issubclass(kind, Enum):
        return _enumeration(kind)
    return graph_type(kind) if is_dataclass(kind) else kind


def _translate_marked(kind: Any, *marks: Any) -> Any:
    for mark in marks:
        if isinstance(mark, GraphType):
            return translate(mark.type)
        if mark == IS_INT64:
            return Int64
    return translate(kind)


@cache
def _enumeration(kind: type[Enum]) -> Any:
    return strawberry.enum(kind, name=graph_name(kind), description=None)
