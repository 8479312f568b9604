"""Make types of the graph from views.

Special types of the graph: a 64-bit number is an `Int64`, a UUID an `ID`, and a mapping `JSON`.
Resolvers return the views themselves, since the graph reads fields by their names.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from inspect import getdoc
from types import GenericAlias, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import strawberry
from strawberry.scalars import JSON
from strawberry.types import has_object_definition
from strawberry.types.field import StrawberryField

from backend.api.graphql.pages import Connection, PageInfo
from backend.api.graphql.scalars import Int64
from backend.domain.page import Page
from backend.questions.question import given_of, parts_of
from backend.views.field_texts import (
    OBSERVED_AT,
    PAGE_INFO,
    PAGE_ITEMS,
    PAGE_TOTAL_COUNT,
    UNKNOWN_BROKERS,
)
from backend.views.graph_forms import (
    IN_REST_ONLY,
    IS_ID,
    IS_INT64,
    NamedInGraph,
    Pairs,
    Text,
    graph_description,
    graph_name,
    marks_of,
    text_of,
)
from backend.views.observed_pages import ObservedPage, is_observed_page, views_of

_translated: Final[set[type]] = set()
MakeField = Callable[[str | None], StrawberryField]
"""Makes a field with the description of the view, if there is one."""
_relations: Final[dict[type, dict[str, MakeField]]] = defaultdict(dict)


def add_relation(view: type, name: str, make_field: MakeField) -> None:
    """Add a field to the type of a view that is loaded on request."""
    assert view not in _translated, f"{view.__name__} is in the graph before its relation {name}"
    _relations[view][name] = make_field


@cache
def graph_type(view: type) -> Any:
    """Return the type that presents a view, with its relations."""
    _translated.add(view)
    if is_observed_page(view):
        return _observed_page_type(view)
    hints = get_type_hints(view, include_extras=True)
    every = {one.name: hints[one.name] for one in fields(view)}
    own = {name: hint for name, hint in every.items() if IN_REST_ONLY not in marks_of(hint)}
    resolved = {
        name: field for name, hint in own.items() if (field := _own_field(name, hint)) is not None
    }
    annotations = {name: translate(hint) for name, hint in own.items()}
    relations = {
        name: make(text_of(every.get(name))) for name, make in _relations.get(view, {}).items()
    }
    return _make(graph_name(view), annotations, resolved | relations, graph_description(view))


def _observed_page_type(view: type[ObservedPage[Any, Any]]) -> Any:
    """Make the type of an observed page: a connection with further fields."""
    item, unknown = views_of(view)
    hints = {
        "nodes": Annotated[GenericAlias(list, graph_type(item)), PAGE_ITEMS],
        "page_info": Annotated[PageInfo, PAGE_INFO],
        **({} if view.is_endless else {"total_count": Annotated[int, PAGE_TOTAL_COUNT]}),
        "unknown": Annotated[GenericAlias(list, graph_type(unknown)), UNKNOWN_BROKERS],
        "observed_at": Annotated[datetime, OBSERVED_AT],
    }
    return _make(graph_name(view), hints, _described(hints))


def _make(
    name: str,
    annotations: Mapping[str, Any],
    resolved: Mapping[str, StrawberryField] | None = None,
    description: str | None = None,
) -> Any:
    made = type(name, (), {"__annotations__": dict(annotations), **(resolved or {})})
    return strawberry.type(made, name=name, description=description)


def _own_field(name: str, annotation: Any) -> StrawberryField | None:
    """Make the field of a view that has a text or that the graph does not read by its name."""
    text, other_name = text_of(annotation), None
    for mark in marks_of(annotation):
        if isinstance(mark, Pairs):
            return _pairs_field(name, annotation, mark)
        if isinstance(mark, NamedInGraph):
            other_name = mark.name
    if text is None and other_name is None:
        return None
    described: StrawberryField = strawberry.field(name=other_name, description=text)
    return described


def _pairs_field(name: str, annotation: Any, pairs: Pairs) -> StrawberryField:
    """Make the field that lists the pairs of a mapping."""
    pair_type = _pair_type(pairs, get_args(annotation)[0])

    def resolve(root: Any) -> Any:
        found = getattr(root, name).items()
        return [pair_type(**{pairs.key: key, pairs.value: value}) for key, value in found]

    made: StrawberryField = strawberry.field(
        resolver=resolve, graphql_type=translate(annotation), description=text_of(annotation)
    )
    return made


@cache
def _pair_type(pairs: Pairs, kind: Any) -> Any:
    key, value = get_args(kind)
    hints = {pairs.key: key, pairs.value: value}
    translated = {name: translate(hint) for name, hint in hints.items()}
    return _make(pairs.type_name, translated, _described(hints))


def _described(hints: Mapping[str, Any]) -> dict[str, StrawberryField]:
    """Make the fields of a type whose annotations have a text."""
    texts = {name: text_of(hint) for name, hint in hints.items()}
    return {name: strawberry.field(description=text) for name, text in texts.items()}


def shown(annotation: Any, text: Text) -> Any:
    """Make a field of a view, of a list or of a page of views, in a type written by hand."""
    return strawberry.field(graphql_type=translate(annotation), description=text.text)


def shows(annotation: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a field of a resolver, in a type written by hand. Its docstring is the description."""

    def make(resolver: Callable[..., Any]) -> Any:
        return strawberry.field(
            resolver=resolver, graphql_type=translate(annotation), description=getdoc(resolver)
        )

    return make


def answers(annotation: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a mutation of a resolver. Its docstring is the description."""

    def make(resolver: Callable[..., Any]) -> Any:
        return strawberry.mutation(
            resolver=resolver, graphql_type=translate(annotation), description=getdoc(resolver)
        )

    return make


def follows(annotation: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a subscription of a generator. Its docstring is the description."""
    item: Any = translate(annotation)

    def make(resolver: Callable[..., Any]) -> Any:
        return strawberry.subscription(
            resolver=resolver,
            graphql_type=AsyncGenerator[item, None],
            description=getdoc(resolver),
        )

    return make


def translate(annotation: Any) -> Any:
    """Return the type of the graph for a type of Python."""
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
    is_made = has_object_definition(kind)
    return graph_type(kind) if is_dataclass(kind) and not is_made else kind


def _translate_marked(kind: Any, *marks: Any) -> Any:
    for mark in marks:
        if isinstance(mark, Pairs):
            return GenericAlias(list, _pair_type(mark, kind))
        if mark == IS_INT64:
            return Int64
        if mark == IS_ID:
            return strawberry.ID
    return translate(kind)


@cache
def input_type(choice: type) -> Any:
    """Return the input of a choice; every field is optional."""
    parts = parts_of(choice)
    annotations = {one.name: translate(one.annotation) for one in parts}
    described = {
        one.name: strawberry.field(default=one.default, description=given_of(one).help)
        for one in parts
    }
    made = type(graph_name(choice), (), {"__annotations__": annotations, **described})
    return strawberry.input(made, name=graph_name(choice), description=graph_description(choice))


@cache
def _enumeration(kind: type[Enum]) -> Any:
    return strawberry.enum(kind, name=graph_name(kind), description=None)
