"""Describe broker containers: processes that run several brokers."""

from collections.abc import Collection
from dataclasses import dataclass

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope


@dataclass(frozen=True, slots=True)
class InnerBroker:
    """Hold a broker of the list of a container.

    A file that can't be read names no broker: the names are empty then. `failure` is empty while
    the broker runs. `broker_id` is the own id of the broker.
    """

    path: str
    cluster_name: str
    broker_group_name: str
    broker_id: int
    is_master: bool
    failure: str


@dataclass(frozen=True, slots=True)
class ContainerReport:
    """Hold what a container reports; a container of stock names no brokers, but their files."""

    paths: tuple[str, ...]
    brokers: tuple[InnerBroker, ...] | None

    def find(
        self, cluster_name: str, broker_group_name: str, broker_ids: Collection[int]
    ) -> InnerBroker | None:
        """Find a broker by its own id, or by that of its file, which it has while it is stopped."""
        for one in self.brokers or ():
            is_of_group = (one.cluster_name, one.broker_group_name) == (
                cluster_name,
                broker_group_name,
            )
            if is_of_group and one.broker_id in broker_ids:
                return one
        return None


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """Hold the broker that a file on the machine of a container names.

    `problems` are why the container could not start the broker now.
    """

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
