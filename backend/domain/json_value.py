"""Check JSON values: Postgres and answers accept less than JSON allows."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

DEPTH_MAX: Final = 20
"""Much deeper than any valid request, and much less than the stack of a reader allows."""


def find_unkept(value: Any) -> str | None:
    """Describe the first part of a value that can't be stored, with its place; else None."""
    left = [("$", 0, value)]
    while left:
        path, depth, one = left.pop()
        reason = _why_not(one, depth)
        if reason is not None:
            return f"{reason} - at `{path}`"
        left += ((path + step, depth + 1, inner) for step, inner in _parts(one))
    return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f".{name}", inner) for name, inner in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{index}]", inner) for index, inner in enumerate(value))


def _why_not(value: Any, depth: int) -> str | None:
    if depth > DEPTH_MAX:
        return f"Nested more than {DEPTH_MAX} levels deep"
    if isinstance(value, float) and not math.isfinite(value):
        return "Expected a finite number"
    texts = value if isinstance(value, Mapping) else [value] if isinstance(value, str) else []
    if not all(_is_text(one) for one in texts):
        whose = "a name" if isinstance(value, Mapping) else "the text"
        return f"Expected Unicode without NUL, but {whose} holds something else"
    return None


def _is_text(text: str) -> bool:
    """Return whether Postgres and UTF-8 accept the text: no NUL, no half of a surrogate pair."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
