"""Decide which texts may name a cluster, a broker group or a topic.

The rules themselves are in `backend.rules`, which broker agents share.
"""

import re
from typing import Final

from backend.domain.errors import InvalidAddress, InvalidName
from backend.rules.names import announced_name_fault
from backend.rules.topic import topic_name_fault

CLUSTER_NAME_BYTES_MAX: Final = 127
BROKER_GROUP_NAME_BYTES_MAX: Final = 127
ADDRESS_BYTES_MAX: Final = 261

_HOST: Final = re.compile(r"[a-zA-Z0-9_.:%\[\]-]+")
_PORT: Final = re.compile(r"[0-9]{1,5}")


def check_cluster_name(name: str) -> str:
    """Return the name of a cluster if it is valid."""
    return _check(name, kind="cluster", size_max=CLUSTER_NAME_BYTES_MAX)


def check_broker_group_name(name: str) -> str:
    """Return the name of a broker group if it is valid."""
    return _check(name, kind="broker group", size_max=BROKER_GROUP_NAME_BYTES_MAX)


def check_topic_name(name: str) -> str:
    """Return the name of a topic if it is valid."""
    return _passed(name, kind="topic", fault=topic_name_fault(name))


def check_address(address: str) -> str:
    """Return an address if it is a host and a port that clients can connect to."""
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
    return _passed(name, kind=kind, fault=announced_name_fault(name, size_max=size_max))


def _passed(name: str, *, kind: str, fault: str | None) -> str:
    if fault is not None:
        raise InvalidName(kind=kind, name=name, reason=fault)
    return name
