"""Describe broker containers: processes that run several brokers."""

from dataclasses import dataclass

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope


@dataclass(frozen=True, slots=True)
class InnerBroker:
    """Hold a broker of the list of a container.

    A file that can't be read names no broker: the names are empty then. `failure` is empty while
    the broker runs. Under a controller a broker has no known `own_id` until it has joined its
    group. A container of an earlier version reports neither `id_in_file` nor `address`.
    """

    path: str
    cluster_name: str
    broker_group_name: str
    own_id: int | None
    id_in_file: int | None
    address: str
    is_master: bool
    failure: str


@dataclass(frozen=True, slots=True)
class ContainerReport:
    """Hold what a container reports; a container of stock names no brokers, but their files."""

    paths: tuple[str, ...]
    brokers: tuple[InnerBroker, ...] | None

    def find_file(self, cluster_name: str, broker_group_name: str, path: str) -> InnerBroker | None:
        """Find a broker of a group by its file."""
        of_group = self._list_of_group(cluster_name, broker_group_name)
        return next((one for one in of_group if one.path == path), None)

    def find(
        self, cluster_name: str, broker_group_name: str, own_id: int, address: str
    ) -> InnerBroker | None:
        """Find a broker of a group by its own id, or by its address while its id is not known."""
        of_group = self._list_of_group(cluster_name, broker_group_name)
        by_id = (one for one in of_group if one.own_id == own_id)
        by_address = (one for one in of_group if one.own_id is None and one.address == address)
        return next(by_id, None) or next(by_address, None)

    def _list_of_group(self, cluster_name: str, broker_group_name: str) -> list[InnerBroker]:
        name = cluster_name, broker_group_name
        known = self.brokers or ()
        return [one for one in known if (one.cluster_name, one.broker_group_name) == name]


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """Hold the broker that a file on the machine of a container names.

    `path` is the path that the container would list. `problems` are why the container could not
    start the broker now.
    """

    path: str
    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    is_controlled: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Container:
    """Hold a container that online brokers report; `why_unknown` is empty if it answers itself."""

    address: str
    brokers: tuple[InnerBroker, ...]
    why_unknown: str


@dataclass(frozen=True, slots=True)
class ContainerFilter:
    """Choose containers: with a broker of the cluster, or at the address, if one is given."""

    cluster_name: str | None = None
    address: str | None = None
    within: ClusterScope = EVERYWHERE
