"""Make the fields of all questions, and those of relations."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import EnumType
from functools import partial
from inspect import Parameter, Signature, getdoc, signature
from typing import Any, get_type_hints
from uuid import UUID

import strawberry
from strawberry.tools import create_type
from strawberry.types.field import StrawberryField

from backend.api.answer_forms import formed
from backend.api.cursors import decode_key
from backend.api.graphql.context import Info
from backend.api.graphql.pages import page_fields
from backend.api.graphql.scalars import read_id
from backend.api.graphql.views import add_relation, input_type, translate
from backend.api.supplies import ask
from backend.questions import list_questions
from backend.questions.question import (
    FLAT,
    Question,
    choice_of,
    gather,
    given_of,
    is_cursor,
    parts_of,
    plain_type,
)
from backend.views.graph_forms import marks_of

Ask = Callable[[Any, Info, Mapping[str, Any]], Awaitable[Any]]
"""Answers a field of an object, with the arguments of the caller."""
Load = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Relation:
    """Hold a field that the type of a view loads on request."""

    view: type
    load: Load

    @property
    def name(self) -> str:
        """Return the name of its function, in Python's spelling."""
        return self.load.__name__


def build_question_type() -> type:
    """Make the type whose fields are all questions."""
    found = (_question_field(one) for one in list_questions() if one.root_field)
    return create_type("QuestionQuery", list(found))


def relation(view: type) -> Callable[[Load], Relation]:
    """Make a relation of a function of the view, the context and the arguments.

    The function answers with views.
    """
    return partial(Relation, view)


def add_relations(declared: Iterable[object]) -> None:
    """Add the relations of a module to the graph, before types are made."""
    for one in declared:
        if isinstance(one, Relation):
            add_relation(one.view, one.name, partial(_relation_field, one.load))


def _relation_field(load: Load, text: str | None) -> StrawberryField:
    hints = get_type_hints(load, include_extras=True)
    _root, _info, *given = (
        one.replace(annotation=hints[one.name]) for one in signature(load).parameters.values()
    )

    async def answer(root: Any, info: Info, wanted: Mapping[str, Any]) -> Any:
        return await load(root, info, **wanted)

    answered = translate(hints["return"])
    return _field(load.__name__, given, answered, answer, text=text or getdoc(load))


def _question_field(question: Question) -> StrawberryField:
    async def answer(_root: Any, info: Info, wanted: Mapping[str, Any]) -> Any:
        try:
            found = await ask(question, wanted, info.context.caller)
        except question.absences:
            return None
        return found if question.graph_part is None else getattr(found, question.graph_part)

    kind = question.graph_view or question.answer
    if question.graph_part is not None:
        kind = get_type_hints(kind, include_extras=True)[question.graph_part]
    answered = translate(kind) | None if question.absences else translate(kind)
    text = getdoc(question.ask)
    return _field(question.name, question.given, answered, answer, field=question.field, text=text)


def _field(
    name: str,
    given: list[Parameter],
    kind: Any,
    answer: Ask,
    *,
    field: str | None = None,
    text: str | None,
) -> StrawberryField:
    parameters = {given_of(one).graph_name or one.name: one for one in _taken(given)}

    async def resolve(root: Any, info: Info, **arguments: Any) -> Any:
        values = {
            parameters[key].name: _read(parameters[key].annotation, value)
            for key, value in arguments.items()
            if value is not None or not given_of(parameters[key]).is_optional_in_graph
        }
        return formed(await answer(root, info, gather(given, values)), page_fields)

    resolver: Any = resolve
    resolver.__name__ = name
    resolver.__signature__ = Signature(
        [
            Parameter("root", Parameter.POSITIONAL_OR_KEYWORD, annotation=Any),
            Parameter("info", Parameter.POSITIONAL_OR_KEYWORD, annotation=Info),
            *(_parameter(key, one) for key, one in parameters.items()),
        ],
        return_annotation=kind,
    )
    made: StrawberryField = strawberry.field(resolver=resolver, name=field, description=text)
    return made


def _taken(given: list[Parameter]) -> Iterator[Parameter]:
    for one in given:
        is_flat = FLAT in marks_of(one.annotation)
        yield from parts_of(choice_of(one.annotation)) if is_flat else [one]


def _parameter(name: str, parameter: Parameter) -> Parameter:
    given, default = given_of(parameter), parameter.default
    kind: Any = str | None
    if (choice := choice_of(parameter.annotation)) is not None:
        kind = input_type(choice)
    elif not is_cursor(parameter.annotation):
        kind = translate(parameter.annotation)
    if given.is_optional_in_graph:
        kind, default = kind | None, None
    elif given.graph_default is not None:
        default = given.graph_default
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _read(annotation: Any, value: Any) -> Any:
    """Convert an argument; the library passes enumerations and ids as texts."""
    if is_cursor(annotation):
        return decode_key(value, annotation)
    kind = plain_type(annotation)
    if value is None:
        return None
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        given = {name: _read(hint, getattr(value, name)) for name, hint in hints.items()}
        return kind(**given)
    if kind is UUID:
        return read_id(value)
    return kind(value) if isinstance(kind, EnumType) else value
