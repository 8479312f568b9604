"""Decide which texts may name a cluster, a broker group or a topic.

The rule is wide enough for every name stock brokers announce (a broker group is often called like
its host, and has a topic of that name) and too narrow for a name to become a path, a pattern or a
second column somewhere: no separator, no control character, no leading dot, no two dots in a row.
"""

import re
from typing import Final

from backend.domain.errors import InvalidAddress, InvalidName

TOPIC_NAME_BYTES_MAX: Final = 255
CLUSTER_NAME_BYTES_MAX: Final = 127
GROUP_NAME_BYTES_MAX: Final = 127
ADDRESS_BYTES_MAX: Final = 261

_NAME: Final = re.compile(r"[%|a-zA-Z0-9_-]+(?:\.[%|a-zA-Z0-9_-]+)*")
_HOST: Final = re.compile(r"[a-zA-Z0-9_.:%\[\]-]+")
_PORT: Final = re.compile(r"[0-9]{1,5}")


def check_cluster_name(name: str) -> str:
    """Return the name of a cluster when it may be one."""
    return _check(name, kind="cluster", size_max=CLUSTER_NAME_BYTES_MAX)


def check_group_name(name: str) -> str:
    """Return the name of a broker group when it may be one."""
    return _check(name, kind="broker group", size_max=GROUP_NAME_BYTES_MAX)


def check_topic_name(name: str) -> str:
    """Return the name of a topic when it may be one."""
    return _check(name, kind="topic", size_max=TOPIC_NAME_BYTES_MAX)


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
        raise InvalidName(kind=kind, name=name, reason="holds what a name may not hold")
    if len(name) > size_max:
        raise InvalidName(kind=kind, name=name, reason=f"is longer than {size_max} bytes")
    return name
