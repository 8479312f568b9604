"""Print tables for people, JSON or YAML for programs; other output goes to standard error.

Names come from brokers and clients. So they are printed as plain text, never as markup, and control
characters are escaped.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final

from backend.cli.reader import reader

UNKNOWN: Final = "-"
EXACT_INTEGER_MAX: Final = 2**53
_KIBI: Final = 1024


Item = Mapping[str, Any]
Column = str | tuple[str, Callable[[Any], object]] | Callable[[Any], object]
"""A column: a field, a field with a formatter, or a function of the item."""
Columns = Mapping[str, Column]
"""The columns of a table by their headings, from left to right."""

_is_yaml: ContextVar[bool] = ContextVar("is_yaml", default=False)
"""The format for programs that the command uses."""


def choose_yaml(*, is_chosen: bool) -> None:
    """Select YAML, or JSON, for all further output for programs."""
    _is_yaml.set(is_chosen)


def print_json(value: Any) -> None:
    """Print a value for programs; numbers that exceed a double become strings."""
    _write(_yaml(value) if _is_yaml.get() else f"{_json(value, indent=2)}\n")


def print_json_line(value: Any) -> None:
    """Print one of many values for programs at once: a line of JSON, or a YAML document."""
    _write(f"---\n{_yaml(value)}" if _is_yaml.get() else f"{_json(value)}\n", flush=True)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Print rows under headings; columns whose heading ends in `#` are right-aligned."""
    from backend.cli.terminal import draw_table  # noqa: PLC0415 - for people only

    # Rendered first, so that only the write can fail in the guarded part.
    shown = [[_shown(value) for value in row] for row in rows]
    with reader():
        draw_table(columns, shown, title=title)


def print_items(columns: Columns, items: Iterable[Item], *, title: str | None = None) -> None:
    """Print a table with a row for each item."""
    print_table(list(columns), [cells(columns, item) for item in items], title=title)


def cells(columns: Columns, item: Item) -> list[object]:
    """Return the cells of an item."""
    return [_cell(item, column) for column in columns.values()]


def print_line(text: str) -> None:
    """Print one line of the result."""
    from backend.cli.terminal import draw_line  # noqa: PLC0415 - for people only

    with reader():
        draw_line(_shown(text))


def print_text(text: str) -> None:
    """Print a document as it is, for files."""
    _write(text + "\n")


def yes_no(is_so: object) -> str:
    """Write a boolean as yes or no."""
    return "yes" if is_so else "no"


def joined(texts: Iterable[object]) -> str:
    """Write several values in one cell."""
    return ", ".join(map(str, texts))


def pairs_text(values: Mapping[str, object]) -> str:
    """Write facts as `name=value`."""
    return joined(f"{name}={value}" for name, value in values.items())


def bytes_text(size: float | None) -> str:
    """Write a size with a binary unit."""
    if size is None:
        return UNKNOWN
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < _KIBI:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= _KIBI
    return f"{value:.1f} PiB"


def time_text(instant: str | None) -> str:
    """Write a time of the REST API in UTC, to the second."""
    if instant is None:
        return UNKNOWN
    parsed = datetime.fromisoformat(instant)
    return parsed.strftime("%Y-%m-%d %H:%M:%SZ")


def age_text(milliseconds: int | None) -> str | None:
    """Write an age in seconds."""
    return None if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def number_text(value: float | None, *, digits: int = 1) -> str:
    """Write a number; an unknown number is not zero (D21)."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def _cell(item: Item, column: Column) -> object:
    if isinstance(column, str):
        return item[column]
    if isinstance(column, tuple):
        name, write = column
        return write(item[name])
    return column(item)


def _write(text: str, *, flush: bool = False) -> None:
    with reader():
        print(text, end="", flush=flush)  # noqa: T201 - the product


def _shown(value: object) -> str:
    text = UNKNOWN if value is None else str(value)
    return "".join(
        character if character.isprintable() or character == "\n" else repr(character)[1:-1]
        for character in text
    )


def _json(value: Any, *, indent: int | None = None) -> str:
    return json.dumps(_exact(value), indent=indent, ensure_ascii=False)


def _yaml(value: Any) -> str:
    import yaml  # noqa: PLC0415 - only YAML output needs it

    return str(yaml.safe_dump(_exact(value), sort_keys=False, allow_unicode=True))


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT_INTEGER_MAX:
        return str(value)
    return value
