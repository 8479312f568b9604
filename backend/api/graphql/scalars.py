"""Send 64-bit integers as texts: numbers in browsers are exact only to 53 bits."""

import re
from typing import Annotated, Any, Final, NewType
from uuid import UUID

import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from backend.domain.errors import InvalidName

Int64 = NewType("Int64", int)

# The argument `id`, whose name would hide a function in Python.
Id = Annotated[strawberry.ID, strawberry.argument(name="id")]

Version = Annotated[
    str | None,
    strawberry.argument(
        description="Version of the object as it was read. The request is refused after a change."
    ),
]

_DECIMAL: Final = re.compile(r"-?[0-9]{1,19}")


def _parse(value: Any) -> int:
    text = str(value)
    if isinstance(value, bool) or _DECIMAL.fullmatch(text) is None:
        raise GraphQLError("an Int64 is a decimal number")
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise GraphQLError("an Int64 has 64 bits")
    return number


INT64: Final[ScalarDefinition] = strawberry.scalar(
    name="Int64",
    description="64-bit integer as a decimal string",
    serialize=str,
    parse_value=_parse,
)


def int64(value: int | None) -> Int64 | None:
    """Convert a number that may be unknown."""
    return None if value is None else Int64(value)


def read_id(text: str) -> UUID:
    """Read an id.

    Raises:
        InvalidName: the text is no id.
    """
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidName(kind="id", name=text, reason="is no UUID") from error
