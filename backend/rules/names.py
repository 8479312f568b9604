"""Say what is wrong with a name; nothing where it is allowed.

There are two rules. A client may create what stock's validator of topics and groups allows. A
broker may announce more: stock calls a topic by the name of its broker, which often is a host name
with dots. No rule lets a name become a path, a pattern or a second column: no separator, no control
character, no leading dot, no two dots in a row.
"""

import re
import unicodedata
from typing import Final

_CREATED: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_ANNOUNCED: Final = re.compile(r"[%|a-zA-Z0-9_-]+(?:\.[%|a-zA-Z0-9_-]+)*")
_FOREIGN: Final = re.compile(r"[^%|a-zA-Z0-9_.-]")
_ALLOWED_IN_CREATED: Final = "letters, digits, '%', '|', '_' and '-'"
_ALLOWED_IN_ANNOUNCED: Final = "letters, digits, '%', '|', '_', '-', and '.' between them"


def created_name_fault(name: str, *, length_max: int) -> str | None:
    """Say why no client may create something of this name."""
    if not name.strip():
        return "is blank"
    if len(name) > length_max:
        return f"is longer than {length_max} characters"
    if not _CREATED.fullmatch(name):
        return f"contains illegal characters, allowing only {_ALLOWED_IN_CREATED}"
    return None


def announced_name_fault(name: str, *, size_max: int) -> str | None:
    """Say why no broker may announce something of this name."""
    if not name:
        return "is empty"
    # The pattern admits ASCII alone, so characters are bytes from here on.
    if _ANNOUNCED.fullmatch(name) is None:
        return _what_is_wrong(name)
    if len(name) > size_max:
        return f"is longer than {size_max} bytes"
    return None


def _what_is_wrong(name: str) -> str:
    foreign = _FOREIGN.search(name)
    if foreign is not None:
        return f"holds {_shown(foreign[0])}; allowed are {_ALLOWED_IN_ANNOUNCED}"
    place = "begins" if name.startswith(".") else "ends" if name.endswith(".") else ""
    problem = f"{place} with '.'" if place else "holds '..'"
    return f"{problem}; allowed are {_ALLOWED_IN_ANNOUNCED}"


def _shown(character: str) -> str:
    """Write a character so that it is recognised, also where nothing can be seen of it."""
    point = f"U+{ord(character):04X}"
    if character == " ":
        return "a blank"
    if character.isascii() and character.isprintable():
        return f"{character!r}"
    name = unicodedata.name(character, "")
    shown = f"{character!r} " if character.isprintable() else ""
    return f"{shown}({point}{f' {name.lower()}' if name else ''})"
