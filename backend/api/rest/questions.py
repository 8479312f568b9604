"""Make the routes of all questions."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, get_args, get_origin

from fastapi import APIRouter, Depends, Path, Query
from pydantic import create_model
from starlette.requests import HTTPConnection

from backend.api.context import Context, SignedIn
from backend.api.cursors import decode_key
from backend.api.permissions import needs, reaches
from backend.api.rest.errors import COMMON, refused_with
from backend.api.rest.pages import After, PageOut, page_out
from backend.api.supplies import Caller, ask
from backend.domain.page import Page
from backend.questions import list_questions
from backend.questions.question import Cursor, Given, Question
from backend.views.observed_pages import ObservedPage, is_observed_page, views_of

_CALLER: Final = "_caller"


async def get_caller(connection: HTTPConnection, context: Context, principal: SignedIn) -> Caller:
    """Say who asks, and what is answered with."""
    return Caller(context, principal, connection, "rest")


def build_questions_router() -> APIRouter:
    """Make one route for each question."""
    router = APIRouter()
    for question in list_questions():
        router.add_api_route(
            question.path,
            _endpoint(question),
            methods=["GET"],
            tags=[question.tag],
            responses=COMMON | refused_with(*question.refusals),
        )
    return router


def _endpoint(question: Question) -> Any:
    keys = {one.name: one.annotation for one in question.given if _is_cursor(one)}

    async def endpoint(**given: Any) -> Any:
        caller = given.pop(_CALLER)
        given |= {name: decode_key(given[name], kind) for name, kind in keys.items()}
        return shown(await ask(question, given, caller))

    endpoint.__name__ = endpoint.__qualname__ = question.name
    endpoint.__doc__ = question.ask.__doc__
    endpoint.__wrapped__ = question.ask  # type: ignore[attr-defined]
    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]
        [*(_parameter(one, question) for one in question.given), _caller_parameter()],
        return_annotation=answer_model(question.answer),
    )
    return needs(question.permission)(reaches(question.reach)(endpoint))


def _is_cursor(parameter: Parameter) -> bool:
    return any(isinstance(one, Cursor) for one in get_args(parameter.annotation))


def _caller_parameter() -> Parameter:
    annotation = Annotated[Caller, Depends(get_caller)]
    return Parameter(_CALLER, Parameter.KEYWORD_ONLY, annotation=annotation)


def _parameter(parameter: Parameter, question: Question) -> Parameter:
    annotation = After if _is_cursor(parameter) else _annotation(parameter, question)
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation)


def _annotation(parameter: Parameter, question: Question) -> Any:
    is_in_path = f"{{{parameter.name}}}" in question.path
    return _described(parameter.annotation, Path if is_in_path else Query)


def _described(annotation: Any, describe: Callable[..., Any]) -> Any:
    """Say of a type, and of the items of a list, within which bounds it is and what it is."""
    if get_origin(annotation) is list:
        return list[_described(get_args(annotation)[0], describe)]  # type: ignore[misc]
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
    )
    return Annotated[_described(kind, describe), description]


def answer_model(answer: Any) -> Any:
    """Return the model of an answer in the OpenAPI document."""
    page: Any = PageOut
    if is_observed_page(answer):
        return _observed_page_model(answer)
    return page[get_args(answer)[0]] if get_origin(answer) is Page else answer


@cache
def _observed_page_model(answer: type) -> Any:
    """Make the model of an observed page: a page, and what is beside it."""
    item, unknown = views_of(answer)
    page: Any = PageOut
    return create_model(
        answer.__name__,
        __base__=page[item],
        __doc__=answer.__doc__,
        unknown=(list[unknown], ...),  # type: ignore[valid-type]
        observed_at=(datetime, ...),
    )


def shown(found: Any) -> Any:
    """Put what a question has found into the model of its answer."""
    if isinstance(found, Page):
        return page_out(found, lambda item: item)
    if isinstance(found, ObservedPage):
        page = page_out(found.page, lambda item: item)
        others = {"unknown": found.unknown, "observed_at": found.observed_at}
        answer: Any = type(found)
        return _observed_page_model(answer)(**dict(page), **others)
    return found
