"""Describe error answers in the OpenAPI document."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from backend.api.answers import PROBLEM_MEDIA_TYPE


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


class Problem(BaseModel):
    """What was refused (RFC 9457): `code` is a word for programs, `detail` a sentence for people.

    `facts` are those of the code: of `precondition_moved` what it was and what it is.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    facts: Annotated[Any, Field(json_schema_extra=_without_default)] = None


Responses = dict[int | str, dict[str, Any]]

SCHEMA_PATH: Final = "#/components/schemas/"
"""Where schemas of the OpenAPI document are, by their names."""


def refused_with(*statuses: int) -> Responses:
    """Describe statuses of error answers.

    Their schema is referred to. Of a model a route would make a validator for each status.
    """
    schema = {"$ref": SCHEMA_PATH + Problem.__name__}
    return {status: {"content": {PROBLEM_MEDIA_TYPE: {"schema": schema}}} for status in statuses}


COMMON: Final[Responses] = refused_with(400, 401, 403, 422, 503)
NOT_FOUND: Final[Responses] = {**COMMON, **refused_with(404)}
SILENT: Final[Responses] = {**NOT_FOUND, **refused_with(502)}


def describe_problem() -> dict[str, Any]:
    """Return JSON Schema of error answers, by its name."""
    return {Problem.__name__: Problem.model_json_schema()}
