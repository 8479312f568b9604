"""Describe error answers in the OpenAPI document."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from backend.api.answers import PROBLEM_MEDIA_TYPE
from backend.views.graph_forms import Text


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


class Problem(BaseModel):
    """An error (RFC 9457): `code` is a word for programs, `detail` a sentence for people.

    `facts` depend on the code: for `precondition_moved` they are the former and the present value.
    """

    type: Annotated[str, Text("Kind of problem (RFC 9457). Always `about:blank`.")]
    title: Annotated[str, Text("Phrase of the HTTP status.")]
    status: Annotated[int, Text("HTTP status.")]
    detail: Annotated[str, Text("What was refused, and why, in words.")]
    code: Annotated[str, Text("What was refused, as a word for programs.")]
    facts: Annotated[
        Any, Field(json_schema_extra=_without_default), Text("Facts of the problem, by name.")
    ] = None


Responses = dict[int | str, dict[str, Any]]

SCHEMA_PATH: Final = "#/components/schemas/"
"""Where schemas of the OpenAPI document are, by their names."""


def refused_with(*statuses: int) -> Responses:
    """Describe statuses of error answers.

    The schema is a reference, since FastAPI would make a validator of a model for each status.
    """
    schema = {"$ref": SCHEMA_PATH + Problem.__name__}
    return {status: {"content": {PROBLEM_MEDIA_TYPE: {"schema": schema}}} for status in statuses}


COMMON: Final[Responses] = refused_with(400, 401, 403, 422, 503)
NOT_FOUND: Final[Responses] = {**COMMON, **refused_with(404)}
SILENT: Final[Responses] = {**NOT_FOUND, **refused_with(502)}


def describe_problem() -> dict[str, Any]:
    """Return JSON Schema of error answers, by its name."""
    return {Problem.__name__: Problem.model_json_schema()}
