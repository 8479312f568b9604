"""Make the fields of all questions."""

from enum import Enum
from inspect import Parameter, Signature
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import strawberry
from strawberry.tools import create_type
from strawberry.types.field import StrawberryField

from backend.api.cursors import decode_key
from backend.api.graphql.context import Info
from backend.api.graphql.pages import connect
from backend.api.graphql.views import graph_type, translate
from backend.api.supplies import ask
from backend.domain.page import Page
from backend.questions import list_questions
from backend.questions.question import Cursor, Given, Question
from backend.views.observed_pages import ObservedPage


def build_question_type() -> type:
    """Make the type whose fields are all questions."""
    return create_type("QuestionQuery", [_field(one) for one in list_questions() if one.field])


def _field(question: Question) -> StrawberryField:
    given = {_name(one): one for one in question.given}

    async def resolve(info: Info, **arguments: Any) -> Any:
        wanted = {given[name].name: _read(given[name], arguments[name]) for name in arguments}
        try:
            return present(await ask(question, wanted, info.context.caller))
        except question.absences:
            return None

    info = Parameter("info", Parameter.KEYWORD_ONLY, annotation=Info)
    resolve.__name__ = question.name
    resolve.__wrapped__ = question.ask  # type: ignore[attr-defined]
    answer = translate(question.answer)
    resolve.__signature__ = Signature(  # type: ignore[attr-defined]
        [info, *(_parameter(name, one) for name, one in given.items())],
        return_annotation=answer | None if question.absences else answer,
    )
    made: StrawberryField = strawberry.field(resolver=resolve, name=question.field)
    return made


def _marks(parameter: Parameter) -> tuple[Any, ...]:
    is_marked = get_origin(parameter.annotation) is Annotated
    return get_args(parameter.annotation)[1:] if is_marked else ()


def _name(parameter: Parameter) -> str:
    names = [one.graph_name for one in _marks(parameter) if isinstance(one, Given)]
    return next((one for one in names if one is not None), parameter.name)


def _is_cursor(parameter: Parameter) -> bool:
    return any(isinstance(one, Cursor) for one in _marks(parameter))


def _parameter(name: str, parameter: Parameter) -> Parameter:
    kind = str | None if _is_cursor(parameter) else translate(parameter.annotation)
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=parameter.default)


def _read(parameter: Parameter, value: Any) -> Any:
    """Read an argument as the question takes it; the library hands enumerations over as texts."""
    if _is_cursor(parameter):
        return decode_key(value, parameter.annotation)
    kinds = _kinds(parameter.annotation)
    if value is None or not kinds:
        return value
    return kinds[0](value) if issubclass(kinds[0], Enum) else value


def _kinds(annotation: Any) -> list[type]:
    found = [annotation]
    while found and get_origin(found[0]) is not None:
        found = [one for one in get_args(found[0]) if one is not NoneType]
    return [one for one in found if isinstance(one, type)]


def present(found: Any) -> Any:
    """Put what a question has found into the type of its answer."""
    if isinstance(found, Page):
        return connect(found, lambda item: item)
    if isinstance(found, ObservedPage):
        page = connect(found.page, lambda item: item)
        others = {"unknown": found.unknown, "observed_at": found.observed_at}
        answer: Any = type(found)
        return graph_type(answer)(**vars(page), **others)
    return found
