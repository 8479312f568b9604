"""Make the models of answers in the OpenAPI document from views."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import create_model

from backend.api.rest.pages import EndlessPageOut, PageOut
from backend.domain.page import Page
from backend.views.field_texts import OBSERVED_AT, UNKNOWN_BROKERS
from backend.views.graph_forms import IN_GRAPH_ONLY, IS_TEXT_IN_REST, IS_VERSION, marks_of
from backend.views.observed_pages import ObservedPage, is_observed_page, views_of


def answer_model(answer: Any) -> Any:
    """Return the model of an answer: of a view, a list, a page or an observed page of views."""
    page: Any = PageOut
    if is_observed_page(answer):
        return _observed_page_model(answer)
    if get_origin(answer) is Page:
        return page[view_model(get_args(answer)[0])]
    return _in_rest(answer)


@cache
def view_model(view: Any) -> Any:
    """Return the model of a view: the view itself, unless REST shows it in another form."""
    hints = get_type_hints(view, include_extras=True)
    shown = {name: _in_rest(hint) for name, hint in hints.items() if not is_in_graph_only(hint)}
    if shown == hints:
        return view
    defaults = {one.name: ... if one.default is MISSING else one.default for one in fields(view)}
    described: Mapping[str, Any] = {name: (kind, defaults[name]) for name, kind in shown.items()}
    return create_model(view.__name__, __doc__=view.__doc__, **described)


def has_version(answer: Any) -> bool:
    """Return whether an answer has a version, which is sent as a header."""
    if not is_dataclass(answer):
        return False
    hints = get_type_hints(answer, include_extras=True)
    return any(IS_VERSION in marks_of(one) for one in hints.values())


def is_in_graph_only(hint: Any) -> bool:
    """Return whether REST omits a field."""
    return IN_GRAPH_ONLY in marks_of(hint)


def _in_rest(hint: Any) -> Any:
    """Return a type with the models of the views in it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind = str if IS_TEXT_IN_REST in inner[1:] else _in_rest(inner[0])
        return Annotated[(kind, *inner[1:])]
    if origin is list:
        return GenericAlias(list, _in_rest(inner[0]))
    if origin in {Union, UnionType}:
        return Union[tuple(_in_rest(one) for one in inner)]  # noqa: UP007 - of a tuple
    is_view = isinstance(hint, type) and is_dataclass(hint)
    return view_model(hint) if is_view else hint


@cache
def _observed_page_model(answer: type[ObservedPage[Any, Any]]) -> Any:
    """Make the model of an observed page: a page with further fields."""
    item, unknown = map(view_model, views_of(answer))
    page: Any = EndlessPageOut if answer.is_endless else PageOut
    beside: Mapping[str, Any] = {
        "unknown": (Annotated[GenericAlias(list, unknown), UNKNOWN_BROKERS], ...),
        "observed_at": (Annotated[datetime, OBSERVED_AT], ...),
    }
    return create_model(answer.__name__, __base__=page[item], __doc__=answer.__doc__, **beside)
