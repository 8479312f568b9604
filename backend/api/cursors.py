"""Write the key of the end of a page as an opaque text, and read it back."""

import base64
import binascii
from types import NoneType
from typing import Any, Final, TypeVar, get_args

import msgspec

from backend.domain.errors import InvalidCursor

NUMBER_MAX: Final = 2**63 - 1
# The cursor of a page of messages contains an offset for each of 64 queues.
CURSOR_LENGTH_MAX: Final = 16_384

KeyT = TypeVar("KeyT")


def encode_cursor(key: object | None) -> str | None:
    """Write a key; None gives no cursor."""
    if key is None:
        return None
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).rstrip(b"=").decode()


def decode_cursor(cursor: str | None, kind: type[KeyT]) -> KeyT | None:
    """Read a key.

    Raises:
        InvalidCursor: the text is no cursor of this list.
    """
    if cursor is None:
        return None
    if len(cursor) > CURSOR_LENGTH_MAX:
        raise InvalidCursor
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        data = base64.b64decode(padded, altchars=b"-_", validate=True)
        key = msgspec.json.decode(data, type=kind)
    except (UnicodeEncodeError, binascii.Error, msgspec.DecodeError) as error:
        raise InvalidCursor from error
    if b"\\u0000" in data:
        # Postgres accepts no text with a NUL, and no name contains one.
        raise InvalidCursor
    return key


def number_cursor(cursor: str | None) -> int | None:
    """Read the number of the end of a page of a numbered list, within the range of numbers.

    Raises:
        InvalidCursor: the text is no cursor of such a list.
    """
    number = decode_cursor(cursor, int)
    return None if number is None else min(max(number, 0), NUMBER_MAX)


def decode_key(cursor: str | None, annotation: Any) -> Any:
    """Read a key of the type that a parameter with a cursor has."""
    kind, *_ = get_args(annotation)
    (key_type,) = (one for one in get_args(kind) if one is not NoneType)
    return number_cursor(cursor) if key_type is int else decode_cursor(cursor, key_type)
