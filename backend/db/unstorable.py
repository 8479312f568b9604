"""Name the errors that say that a value, and not the database, is at fault."""

from typing import Final

from sqlalchemy.exc import DataError

UNSTORABLE: Final = (DataError, UnicodeEncodeError)
"""Postgres takes no text with a NUL or half a character, and no number beyond its column."""

UNSTORABLE_TEXT: Final = (
    "a value can't be stored: a text holds a NUL or half a character, or a number is too large"
)
