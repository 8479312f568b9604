"""Make the routes of all questions."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from inspect import Parameter, Signature
from types import GenericAlias, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field
from starlette.requests import HTTPConnection

from backend.api.answer_forms import formed
from backend.api.context import Context, SignedIn
from backend.api.cursors import decode_key
from backend.api.permissions import needs, reaches
from backend.api.rest.errors import COMMON, Responses, refused_with
from backend.api.rest.models import answer_model, has_version
from backend.api.rest.pages import After, page_fields
from backend.api.rest.routers import guarded_router
from backend.api.rest.versions import TAGGED, put_tag
from backend.api.supplies import Caller, ask
from backend.questions import list_questions
from backend.questions.question import Given, Question, choice_of, gather, is_cursor, parts_of

ChoiceT = TypeVar("ChoiceT")

_CALLER: Final = "_caller"
_RESPONSE: Final = "_response"


async def get_caller(connection: HTTPConnection, context: Context, principal: SignedIn) -> Caller:
    """Return the caller with the dependencies of the answer."""
    return Caller(context, principal, connection, "rest")


def build_questions_router() -> APIRouter:
    """Make one route for each question that has a path."""
    router = guarded_router()
    for question in list_questions():
        if question.path is not None:
            router.add_api_route(
                question.path,
                _endpoint(question),
                methods=["GET"],
                tags=[question.tag],
                responses=_responses(question),
            )
    return router


def _responses(question: Question) -> Responses:
    tagged: Responses = {200: TAGGED} if has_version(question.answer) else {}
    return COMMON | refused_with(*question.refusals) | tagged


def _endpoint(question: Question) -> Any:
    async def answer(**given: Any) -> Any:
        caller, response = given.pop(_CALLER), given.pop(_RESPONSE, None)
        found = await ask(question, _read(question, given), caller)
        if response is not None:
            put_tag(response, found.version)
        return formed(found, page_fields)

    endpoint: Any = answer
    endpoint.__name__ = endpoint.__qualname__ = question.name
    endpoint.__doc__ = question.ask.__doc__
    endpoint.__signature__ = Signature(
        [*_parameters(question), *_of_the_request(question)],
        return_annotation=answer_model(question.answer),
    )
    return needs(question.permission)(reaches(question.reach)(endpoint))


def read_choice(choice: type[ChoiceT]) -> Callable[..., Awaitable[ChoiceT]]:
    """Make a dependency that reads a choice, for a route that is written by hand."""

    async def read(**given: Any) -> ChoiceT:
        return choice(**given)

    dependency: Any = read
    dependency.__signature__ = Signature([_parameter(one, "") for one in parts_of(choice)])
    return read


def _read(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the parameters of a question from a request."""
    cursors = {one.name: one.annotation for one in question.given if is_cursor(one.annotation)}
    keys = {name: decode_key(given[name], kind) for name, kind in cursors.items()}
    return gather(question.given, {**given, **keys})


def _of_the_request(question: Question) -> Iterator[Parameter]:
    caller = Annotated[Caller, Depends(get_caller)]
    yield Parameter(_CALLER, Parameter.KEYWORD_ONLY, annotation=caller)
    if has_version(question.answer):
        yield Parameter(_RESPONSE, Parameter.KEYWORD_ONLY, annotation=Response)


def _parameters(question: Question) -> Iterator[Parameter]:
    """List the parameters of a route; each field of a choice is a parameter."""
    for one in question.given:
        choice = choice_of(one.annotation)
        for part in [one] if choice is None else parts_of(choice):
            yield _parameter(part, question.path or "")


def _parameter(parameter: Parameter, path: str) -> Parameter:
    place = Path if f"{{{parameter.name}}}" in path else Query
    annotation = (
        After if is_cursor(parameter.annotation) else _described(parameter.annotation, place)
    )
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation)


def _described(annotation: Any, describe: Callable[..., Any]) -> Any:
    """Add the description and the bounds to a type and to its inner types."""
    if get_origin(annotation) is list:
        return GenericAlias(list, _described(get_args(annotation)[0], Field))
    if get_origin(annotation) in {Union, UnionType}:
        kinds = tuple(_described(one, Field) for one in get_args(annotation))
        return Union[kinds]  # noqa: UP007 - of a tuple
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *marks = get_args(annotation)
    given = next((one for one in marks if isinstance(one, Given)), Given())
    description = describe(
        alias=given.rest_name,
        description=given.help,
        ge=given.low,
        le=given.high,
        min_length=given.length_min,
        max_length=given.length_max,
        pattern=given.pattern,
        json_schema_extra={"enum": list(given.choices)} if given.choices else None,
    )
    return Annotated[_described(kind, describe), description]
