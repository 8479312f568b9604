"""Read Java-properties text, the form of stock `broker.conf` files."""

import re
from typing import Final

_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PAIR: Final = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)
_CONTINUED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\$")


def parse_properties_text(text: str) -> dict[str, str]:
    """Read names and values; the last of a repeated name wins, trailing blanks are dropped.

    Dropping trailing blanks departs from Java on purpose: no stock property wants one, and they
    are invisible in a configuration file.
    """
    return dict(_pair(line) for line, _ in _logical_lines(text) if line is not None)


def format_properties_text(values: dict[str, str]) -> str:
    """Write one `name=value` line for each pair."""
    return "".join(f"{name}={_escape(value)}\n" for name, value in values.items())


def split_lines(text: str) -> list[tuple[str | None, list[str]]]:
    """Cut a text into what stands in it: each property by its name, with the lines it takes.

    Comments and empty lines have no name.
    """
    parts: list[tuple[str | None, list[str]]] = []
    for logical, raw in _logical_lines(text):
        parts.append((None if logical is None else _pair(logical)[0], raw))
    return parts


def _logical_lines(text: str) -> list[tuple[str | None, list[str]]]:
    """Give each logical line, None for a comment, with the lines of the text that it takes."""
    lines: list[tuple[str | None, list[str]]] = []
    held, taken = "", list[str]()
    for raw in text.splitlines():
        line = raw.lstrip()
        taken.append(raw)
        if not held and (not line or line[0] in "#!"):
            lines.append((None, taken))
            taken = []
            continue
        held += line
        if _CONTINUED.search(held):
            held = held[:-1]
            continue
        lines.append((held.rstrip(), taken))
        held, taken = "", []
    if held.strip():
        lines.append((held.rstrip(), taken))
    return lines


def _pair(line: str) -> tuple[str, str]:
    found = _PAIR.fullmatch(line)
    assert found is not None, "the pattern matches every line"
    return _unescape(found.group(1)), _unescape(found.group(2))


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_unescape_one, text)


def _unescape_one(found: re.Match[str]) -> str:
    mark = found.group(1)
    if len(mark) > 1:
        return chr(int(mark[1:], 16))
    return _ESCAPES.get(mark, mark)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
