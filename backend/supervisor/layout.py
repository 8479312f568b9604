"""The directories and ports of a local cluster."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CLUSTER_NAME = "DefaultCluster"
LOOPBACK = "127.0.0.1"
GROUP_COUNT_MAX = 20
"""More broker groups than this on one machine are probably a mistake in the command."""
REPLICA_COUNT_MAX = 5
GROUP_PORT_STRIDE = 10
"""A broker uses its port, the port two below (old clients) and the next one (replication)."""
REPLICA_PORT_STRIDE = GROUP_COUNT_MAX * GROUP_PORT_STRIDE
"""A broker's port depends on its place only: more groups or replicas do not change it."""
BROKERS_DIR = "brokers"


@dataclass(frozen=True, slots=True)
class BrokerLayout:
    """One broker of the local cluster.

    Attributes:
        broker_group_name: Name of its broker group, `broker-a`, `broker-b`, …
        number: Its place in the group from 1 on. Its id the controller gives; on a first start it
            is the same.
        port: Port that clients connect to.
        directory: Holds its `broker.conf` and its store.
    """

    broker_group_name: str
    number: int
    port: int
    directory: Path

    @property
    def name(self) -> str:
        """The first broker is named like its group, as without replicas."""
        return self.directory.name

    @property
    def config_path(self) -> Path:
        return self.directory / "broker.conf"

    @property
    def store_path(self) -> Path:
        return self.directory / "store"

    @property
    def identity_path(self) -> Path:
        return self.store_path / ".broker.meta"

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def fast_port(self) -> int:
        return self.port - 2

    @property
    def replication_port(self) -> int:
        return self.port + 1


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """One broker group; with more than one broker, the controller manages it."""

    name: str
    brokers: tuple[BrokerLayout, ...]

    @property
    def is_replicated(self) -> bool:
        return len(self.brokers) > 1


@dataclass(frozen=True, slots=True)
class ClusterLayout:
    """Paths and ports of one local cluster; every path is absolute."""

    data_dir: Path
    http_port: int
    remoting_port: int
    groups: tuple[GroupLayout, ...]

    @property
    def brokers(self) -> tuple[BrokerLayout, ...]:
        return tuple(broker for group in self.groups for broker in group.brokers)

    @property
    def http_url(self) -> str:
        return f"http://{LOOPBACK}:{self.http_port}"

    @property
    def name_server_address(self) -> str:
        return f"{LOOPBACK}:{self.remoting_port}"

    @property
    def postgres_dir(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def redis_dir(self) -> Path:
        return self.data_dir / "redis"

    @property
    def log_dir(self) -> Path:
        return self.data_dir / "log"

    @property
    def history_dir(self) -> Path:
        return self.data_dir / "history"

    @property
    def report_dir(self) -> Path:
        return self.data_dir / "reports"

    @property
    def bootstrap_secret_path(self) -> Path:
        return self.data_dir / "bootstrap-secret"

    @property
    def state_path(self) -> Path:
        return self.data_dir / "cluster.json"

    def ports(self) -> Iterator[tuple[int, str, str]]:
        """Return each required port with its owner, and the option that changes it."""
        yield self.http_port, "the console", "--http-port"
        yield self.remoting_port, "the name server", "--remoting-port"
        for group in self.groups:
            for broker in group.brokers:
                yield broker.port, broker.name, "--broker-port"
                yield broker.fast_port, broker.name, "--broker-port"
                if group.is_replicated:
                    yield broker.replication_port, broker.name, "--broker-port"


def plan_layout(
    *,
    data_dir: Path,
    http_port: int,
    remoting_port: int,
    broker_port: int,
    replica_counts: Mapping[str, int],
) -> ClusterLayout:
    """Lay out a local cluster with these broker groups and numbers of brokers."""
    root = data_dir.absolute()
    groups = tuple(
        GroupLayout(
            name,
            tuple(
                BrokerLayout(
                    broker_group_name=name,
                    number=number,
                    port=broker_port
                    + _GROUP_NAMES.index(name) * GROUP_PORT_STRIDE
                    + (number - 1) * REPLICA_PORT_STRIDE,
                    directory=root / BROKERS_DIR / broker_name(name, number),
                )
                for number in range(1, count + 1)
            ),
        )
        for name, count in replica_counts.items()
    )
    return ClusterLayout(
        data_dir=root,
        http_port=http_port,
        remoting_port=remoting_port,
        groups=groups,
    )


_GROUP_NAMES = tuple(f"broker-{chr(ord('a') + index)}" for index in range(GROUP_COUNT_MAX))


def broker_group_names(count: int) -> tuple[str, ...]:
    """Return the names of the first groups."""
    return _GROUP_NAMES[:count]


def broker_name(broker_group_name: str, number: int) -> str:
    """Name a broker of a group by its place."""
    return broker_group_name if number == 1 else f"{broker_group_name}-{number}"
