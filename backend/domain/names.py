"""Decide which texts may name a cluster, a broker group or a topic.

The rule is wide enough for every name stock brokers announce (a broker group is often called like
its host, and has a topic of that name) and too narrow for a name to become a path, a pattern or a
second column somewhere: no separator, no control character, no leading dot, no two dots in a row.
"""

import re
import unicodedata
from typing import Final

from backend.domain.errors import InvalidAddress, InvalidName
from backend.domain.topic import RETRY_PREFIX

TOPIC_NAME_BYTES_MAX: Final = 255
CLUSTER_NAME_BYTES_MAX: Final = 127
GROUP_NAME_BYTES_MAX: Final = 127
ADDRESS_BYTES_MAX: Final = 261

_NAME: Final = re.compile(r"[%|a-zA-Z0-9_-]+(?:\.[%|a-zA-Z0-9_-]+)*")
_FOREIGN: Final = re.compile(r"[^%|a-zA-Z0-9_.-]")
_ALLOWED: Final = "letters, digits, '%', '|', '_', '-', and '.' between them"
_HOST: Final = re.compile(r"[a-zA-Z0-9_.:%\[\]-]+")
_PORT: Final = re.compile(r"[0-9]{1,5}")


def check_cluster_name(name: str) -> str:
    """Return the name of a cluster when it may be one."""
    return _check(name, kind="cluster", size_max=CLUSTER_NAME_BYTES_MAX)


def check_group_name(name: str) -> str:
    """Return the name of a broker group when it may be one."""
    return _check(name, kind="broker group", size_max=GROUP_NAME_BYTES_MAX)


def check_topic_name(name: str) -> str:
    """Return the name of a topic when it may be one.

    In that of a retry topic, stock's POP consumption joins group and topic by a plus.
    """
    checked = name.replace("+", "_") if name.startswith(RETRY_PREFIX) else name
    _check(checked, kind="topic", size_max=TOPIC_NAME_BYTES_MAX)
    return name


def check_address(address: str) -> str:
    """Return an address when it is a host and a port that clients can connect to."""
    host, _, port = address.rpartition(":")
    is_plausible = (
        len(address) <= ADDRESS_BYTES_MAX
        and _HOST.fullmatch(host) is not None
        and _PORT.fullmatch(port) is not None
        and 0 < int(port) < 65536  # noqa: PLR2004 - the range of ports
    )
    if not is_plausible:
        raise InvalidAddress(address)
    return address


def _check(name: str, *, kind: str, size_max: int) -> str:
    if not name:
        raise InvalidName(kind=kind, name=name, reason="is empty")
    # The pattern admits ASCII alone, so characters are bytes from here on.
    if _NAME.fullmatch(name) is None:
        raise InvalidName(kind=kind, name=name, reason=_what_is_wrong(name))
    if len(name) > size_max:
        raise InvalidName(kind=kind, name=name, reason=f"is longer than {size_max} bytes")
    return name


def _what_is_wrong(name: str) -> str:
    foreign = _FOREIGN.search(name)
    if foreign is not None:
        return f"holds {_shown(foreign[0])}; allowed are {_ALLOWED}"
    place = "begins" if name.startswith(".") else "ends" if name.endswith(".") else ""
    told = f"{place} with '.'" if place else "holds '..'"
    return f"{told}; allowed are {_ALLOWED}"


def _shown(character: str) -> str:
    """Write a character so that it is recognised, also where nothing can be seen of it."""
    point = f"U+{ord(character):04X}"
    if character == " ":
        return "a blank"
    if character.isascii() and character.isprintable():
        return f"{character!r}"
    name = unicodedata.name(character, "")
    told = f"{character!r} " if character.isprintable() else ""
    return f"{told}({point}{f' {name.lower()}' if name else ''})"
