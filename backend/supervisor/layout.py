"""Where a local cluster keeps things, and which ports it takes."""

from dataclasses import dataclass
from pathlib import Path

CLUSTER_NAME = "DefaultCluster"
LOOPBACK = "127.0.0.1"
BROKER_PORT_STRIDE = 10
"""Each broker takes its port, the two below it (old clients) and the one above it (replication)."""


@dataclass(frozen=True, slots=True)
class BrokerLayout:
    """One broker of the local cluster.

    Attributes:
        group_name: Name of its broker group, `broker-a`, `broker-b`, …
        port: Port that clients connect to.
        directory: Holds its `broker.conf` and its store.
    """

    group_name: str
    port: int
    directory: Path

    @property
    def config_path(self) -> Path:
        return self.directory / "broker.conf"

    @property
    def store_path(self) -> Path:
        return self.directory / "store"

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"


@dataclass(frozen=True, slots=True)
class ClusterLayout:
    """Paths and ports of one local cluster; every path is absolute."""

    data_dir: Path
    http_port: int
    remoting_port: int
    brokers: tuple[BrokerLayout, ...]

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

    def ports(self) -> dict[int, str]:
        """Return each port that must be free, with the option that moves it."""
        ports = {self.http_port: "--http-port", self.remoting_port: "--remoting-port"}
        for broker in self.brokers:
            ports[broker.port] = "--broker-port"
            ports[broker.port - 2] = "--broker-port"
        return ports


def plan_layout(
    *,
    data_dir: Path,
    http_port: int,
    remoting_port: int,
    broker_port: int,
    group_count: int,
) -> ClusterLayout:
    """Lay out a local cluster of `group_count` broker groups under `data_dir`."""
    root = data_dir.absolute()
    brokers = tuple(
        BrokerLayout(
            group_name=name,
            port=broker_port + index * BROKER_PORT_STRIDE,
            directory=root / "brokers" / name,
        )
        for index, name in enumerate(_group_names(group_count))
    )
    return ClusterLayout(
        data_dir=root,
        http_port=http_port,
        remoting_port=remoting_port,
        brokers=brokers,
    )


def _group_names(count: int) -> list[str]:
    return [f"broker-{chr(ord('a') + index)}" for index in range(count)]
