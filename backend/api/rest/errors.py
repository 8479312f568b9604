"""Describe error answers in the OpenAPI document."""

from typing import Any, Final

from pydantic import BaseModel


class Problem(BaseModel):
    """What was refused (RFC 9457): `code` is a word for programs, `detail` a sentence for people.

    `facts` are those of the code: of `precondition_moved` what it was and what it is.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    facts: Any = None


Responses = dict[int | str, dict[str, Any]]

UNAUTHENTICATED: Final[Responses] = {401: {"model": Problem}}
COMMON: Final[Responses] = {
    **UNAUTHENTICATED,
    400: {"model": Problem},
    403: {"model": Problem},
    422: {"model": Problem},
    503: {"model": Problem},
}
NOT_FOUND: Final[Responses] = {**COMMON, 404: {"model": Problem}}
SILENT: Final[Responses] = {**NOT_FOUND, 502: {"model": Problem}}


def refused_with(*statuses: int) -> Responses:
    """Describe further statuses of error answers."""
    return {status: {"model": Problem} for status in statuses}
