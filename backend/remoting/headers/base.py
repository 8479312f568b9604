"""Decode and encode the text map that every command carries as its custom header."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, TypeVar

import msgspec

_FIELD_IN_MESSAGE: Final = re.compile(r"`\$?\.?([A-Za-z0-9_]+)`\s*$")


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The typed fields of one command; on the wire each field is text."""


HeaderT = TypeVar("HeaderT", bound=Header)


class InvalidHeader(ValueError):
    """A required field is missing, or a field has an invalid value."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def decode_header(kind: type[HeaderT], ext: Mapping[str, str]) -> HeaderT:
    """Decode a header from the text map of a command.

    An empty value is read as absent, as in the binary encoding (remoting.md 1.3).

    Raises:
        InvalidHeader: names the field that is missing or malformed.
    """
    given = ext if all(ext.values()) else {key: value for key, value in ext.items() if value}
    try:
        header = msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _explain(str(error)) from error
    for field in _whole_numbers(kind):
        # Java, and the engine, read no such number as 1.0 or 1e3.
        if not given.get(field, "0").lstrip("-").isdecimal():
            raise InvalidHeader(field, f"the field {field} is malformed")
    return header


@cache
def _whole_numbers(kind: type[Header]) -> tuple[str, ...]:
    """Return the names of the fields of a header that are integers, as they are on the wire."""
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    return tuple(one.encode_name for one in described.fields if _is_whole(one.type))


def _is_whole(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(map(_is_whole, kind.types))
    return isinstance(kind, msgspec.inspect.IntType)


def encode_header(header: Header) -> dict[str, str]:
    """Encode a header as a text map; fields that are None are left out."""
    names = zip(header.__struct_fields__, header.__struct_encode_fields__, strict=True)
    values = ((wire, getattr(header, name)) for name, wire in names)
    return {wire: text_of(value) for wire, value in values if value is not None}


def text_of(value: str | int | bool) -> str:  # noqa: FBT001 - the value is what is converted
    """Write a value as the protocol does: decimal numbers, lower-case booleans."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _explain(message: str) -> InvalidHeader:
    found = _FIELD_IN_MESSAGE.search(message)
    field = found.group(1) if found else "header"
    if "missing required field" in message:
        return InvalidHeader(field, f"the required field {field} is missing")
    return InvalidHeader(field, f"the field {field} is malformed")
