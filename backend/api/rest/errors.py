"""Describe error answers in the OpenAPI document."""

from typing import Any, Final

from pydantic import BaseModel


class ErrorDetail(BaseModel):
    """What was refused, in a word for programs and a sentence for people."""

    code: str
    message: str
    details: Any = None


class ErrorOut(BaseModel):
    """An error answer."""

    error: ErrorDetail


Responses = dict[int | str, dict[str, Any]]

UNAUTHENTICATED: Final[Responses] = {401: {"model": ErrorOut}}
COMMON: Final[Responses] = {
    **UNAUTHENTICATED,
    400: {"model": ErrorOut},
    403: {"model": ErrorOut},
    422: {"model": ErrorOut},
    503: {"model": ErrorOut},
}
NOT_FOUND: Final[Responses] = {**COMMON, 404: {"model": ErrorOut}}
SILENT: Final[Responses] = {**NOT_FOUND, 502: {"model": ErrorOut}}


def refused_with(*statuses: int) -> Responses:
    """Describe further statuses of error answers."""
    return {status: {"model": ErrorOut} for status in statuses}
