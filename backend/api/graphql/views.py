"""Make types of the graph from views.

The graph's own types: a 64-bit number is an `Int64`, a UUID an `ID`, and any mapping `JSON`.
Resolvers return the views themselves, since the graph reads fields by their names.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import strawberry
from strawberry.scalars import JSON
from strawberry.types.field import StrawberryField

from backend.api.graphql.pages import Connection, PageInfo
from backend.api.graphql.scalars import Int64
from backend.domain.page import Page
from backend.views.graph_forms import IS_INT64, Pairs, graph_description, graph_name
from backend.views.observed_pages import is_observed_page, views_of


@cache
def graph_type(view: type) -> Any:
    """Return the type that presents a view."""
    if is_observed_page(view):
        return _observed_page_type(view)
    hints = get_type_hints(view, include_extras=True)
    resolved = {
        one.name: _pairs_field(one.name, hints[one.name])
        for one in fields(view)
        if _find_pairs(hints[one.name]) is not None
    }
    annotations = {one.name: translate(hints[one.name]) for one in fields(view)}
    return _make(graph_name(view), annotations, resolved, graph_description(view))


def _observed_page_type(view: type) -> Any:
    """Make the type of an observed page: a connection, and what is beside it."""
    item, unknown = views_of(view)
    annotations = {
        "nodes": list[graph_type(item)],  # type: ignore[misc]
        "page_info": PageInfo,
        "total_count": int,
        "unknown": list[graph_type(unknown)],  # type: ignore[misc]
        "observed_at": datetime,
    }
    return _make(graph_name(view), annotations)


def _make(
    name: str,
    annotations: Mapping[str, Any],
    resolved: Mapping[str, StrawberryField] | None = None,
    description: str | None = None,
) -> Any:
    made = type(name, (), {"__annotations__": dict(annotations), **(resolved or {})})
    return strawberry.type(made, name=name, description=description)


def _find_pairs(annotation: Any) -> Pairs | None:
    marks = get_args(annotation) if get_origin(annotation) is Annotated else ()
    return next((one for one in marks if isinstance(one, Pairs)), None)


def _pairs_field(name: str, annotation: Any) -> StrawberryField:
    """Make the field that lists the pairs of a mapping."""
    pairs = _find_pairs(annotation)
    assert pairs is not None, "the field is marked"
    pair_type = _pair_type(pairs, get_args(annotation)[0])

    def resolve(root: Any) -> Any:
        found = getattr(root, name).items()
        return [pair_type(**{pairs.key: key, pairs.value: value}) for key, value in found]

    made: StrawberryField = strawberry.field(resolver=resolve, graphql_type=translate(annotation))
    return made


@cache
def _pair_type(pairs: Pairs, kind: Any) -> Any:
    key, value = get_args(kind)
    return _make(pairs.type_name, {pairs.key: translate(key), pairs.value: translate(value)})


def shown(annotation: Any) -> Any:
    """Make a field of a view, of a list or of a page of views, in a type written by hand."""
    return strawberry.field(graphql_type=translate(annotation))


def shows(annotation: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a field of a resolver, in a type written by hand, that answers with views."""

    def make(resolver: Callable[..., Any]) -> Any:
        return strawberry.field(resolver=resolver, graphql_type=translate(annotation))

    return make


def follows(view: type) -> Callable[[Callable[..., Any]], Any]:
    """Make a subscription of a generator of views."""
    item: Any = graph_type(view)

    def make(resolver: Callable[..., Any]) -> Any:
        return strawberry.subscription(resolver=resolver, graphql_type=AsyncGenerator[item, None])

    return make


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
        if isinstance(mark, Pairs):
            return list[_pair_type(mark, kind)]  # type: ignore[misc]
        if mark == IS_INT64:
            return Int64
    return translate(kind)


@cache
def _enumeration(kind: type[Enum]) -> Any:
    return strawberry.enum(kind, name=graph_name(kind), description=None)
