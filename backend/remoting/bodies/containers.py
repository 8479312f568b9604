"""The brokers of a broker container of ours, and what a file would run (26; our 7030).

The brokers are in a field of the answer about the settings of the container, which stock has too.
"""

from typing import Final

from backend.remoting.bodies.base import Body

BROKERS_FIELD: Final = "regentBrokers"
"""The field with the list; a container of stock has no such field."""


class InnerBrokerBody(Body, frozen=True, kw_only=True):
    """One broker of a container.

    A file that can't be read names no broker. `failure` is empty while the broker runs. Under a
    controller the id of the broker is unknown until it has joined its group: `broker_id` is that of
    its file then. A container of an earlier version reports neither `id_in_file` nor `address`.
    """

    path: str
    cluster_name: str = ""
    broker_name: str = ""
    broker_id: int = -1
    is_id_known: bool = True
    id_in_file: int = -1
    address: str = ""
    is_master: bool = False
    failure: str = ""


class InnerBrokersBody(Body, frozen=True, kw_only=True):
    """All brokers of the list of a container."""

    brokers: list[InnerBrokerBody]


class BrokerFileBody(Body, frozen=True, kw_only=True):
    """The broker that a file names, and where it would listen; why it can't be added, if so.

    `path` is the path that the container would list. A container of an earlier version does not
    report it.
    """

    path: str = ""
    cluster_name: str
    broker_name: str
    broker_id: int
    address: str
    is_controlled: bool
    problems: list[str]
