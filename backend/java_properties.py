r"""Read and change Java-properties text, the form of stock `broker.conf` files.

Three things depart from Java on purpose. Blanks at the end of a value are dropped: no stock
property wants one, and they are invisible. A `\u` without its four digits is the letter, where
Java refuses the whole file. Only what must be is escaped on writing, as stock's brokers do it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from javaproperties import KeyValue, parse

_ESCAPE: Final = re.compile(r"\\(?:(u)(?![0-9a-fA-F]{4})|.)", re.DOTALL)
_LETTER_U: Final = "\ufdd0"
"""No text holds this character; it is as long as what it stands for, and so keeps all places."""


def parse_properties_text(text: str) -> dict[str, str]:
    """Read names and values; the last of a repeated name wins."""
    return {
        element.key.replace(_LETTER_U, "u"): element.value.rstrip().replace(_LETTER_U, "u")
        for element in parse(_without_bare_u(text))
        if isinstance(element, KeyValue)
    }


def format_properties_text(values: Mapping[str, str]) -> str:
    """Write one `name=value` line for each pair."""
    return "".join(f"{name}={_escape(value)}\n" for name, value in values.items())


def change_properties_text(text: str, changes: Mapping[str, str | None]) -> str:
    """Give a text in which some properties have other values, or none where that is None.

    Comments, order and all other lines stay as they are.
    """
    left = dict(changes)
    kept: list[str] = []
    for name, source in _sources(_whole_lines(text)):
        if name is None or name not in changes:
            kept.append(source)
        elif (value := left.pop(name, None)) is not None:
            kept.append(format_properties_text({name: value}))
        # A further line of the same name would win over the new one.
    added = {name: value for name, value in left.items() if value is not None}
    return "".join(kept) + format_properties_text(added)


def _sources(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield what stands in a text: each property by its name, all else without, and its lines."""
    begin = 0
    for element in parse(_without_bare_u(text)):
        end = begin + len(element.source)
        name = element.key.replace(_LETTER_U, "u") if isinstance(element, KeyValue) else None
        yield name, text[begin:end]
        begin = end


def _whole_lines(text: str) -> str:
    """Return a text to which lines can be added."""
    if text and not text.endswith("\n"):
        text += "\n"
    return text + "\n" if text.endswith("\\\n") else text


def _without_bare_u(text: str) -> str:
    return _ESCAPE.sub(lambda found: f"\\{_LETTER_U}" if found[1] else found[0], text)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
