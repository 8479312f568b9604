"""Write values as text for Postgres, for the statements of a pipeline."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import psycopg
from sqlalchemy.exc import DataError

STATEMENT_HIDDEN: Final = "a statement of the pipeline"
"""The text in errors in place of the SQL."""


def _spell_text(value: str) -> bytes:
    if "\0" in value:
        raise DataError(STATEMENT_HIDDEN, None, psycopg.DataError("a text holds a NUL"))
    return value.encode()


def _spell_list(values: list[Any]) -> bytes:
    return b"{%b}" % b",".join([_spell_element(value) for value in values])


def _spell_element(value: object) -> bytes:
    spelled = SPELLINGS[type(value)](value)
    if isinstance(value, str) and spelled is not None:
        return b'"%b"' % spelled.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b"NULL" if spelled is None else spelled


@lru_cache
def _spell_uuid(value: UUID) -> bytes:
    # Mostly the id of this process.
    return str(value).encode()


class _Spellings(dict[type, Callable[[Any], bytes | None]]):
    """How values of a type are spelled; the kinds of text that there are join as they are met."""

    def __missing__(self, kind: type) -> Callable[[Any], bytes | None]:
        if not issubclass(kind, str):
            raise TypeError(f"no spelling of a {kind.__name__}")
        self[kind] = _spell_text
        return _spell_text


SPELLINGS: Final = _Spellings(
    {
        type(None): lambda _: None,
        bool: lambda value: b"t" if value else b"f",
        int: lambda value: b"%d" % value,
        str: _spell_text,
        list: _spell_list,
        datetime: lambda value: value.isoformat().encode(),
        UUID: _spell_uuid,
    }
)
