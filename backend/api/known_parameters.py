"""Refuse unknown query parameters of a route.

Ignoring an unknown parameter would answer another question: with more items than wanted, or an
action on other objects.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel


async def check_parameters(request: Request) -> None:
    """Check that the query of a request has only parameters of its route.

    Raises:
        RequestValidationError: the query has another parameter.
    """
    if not request.query_params:
        return
    known = set(query_aliases(request.scope["route"].dependant))
    faults = [
        {
            "type": "unknown_parameter",
            "loc": ("query", name),
            "msg": _message(name, known),
            "input": request.query_params[name],
        }
        for name in dict.fromkeys(request.query_params)
        if name not in known
    ]
    if faults:
        raise RequestValidationError(faults)


def query_aliases(dependant: Dependant) -> Iterator[str]:
    """List the query parameters of a route and of its dependencies."""
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from (one.alias or name for name, one in kind.model_fields.items())
        else:
            yield field.alias
    for one in dependant.dependencies:
        yield from query_aliases(one)


def _message(name: str, known: set[str]) -> str:
    if not known:
        return "unknown parameter; this resource takes none"
    meant = get_close_matches(name, known, n=1)
    hint = f"did you mean {meant[0]}? " if meant else ""
    return f"unknown parameter; {hint}there are {', '.join(sorted(known))}"
