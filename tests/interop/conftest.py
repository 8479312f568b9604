"""What the interop tests share: one cluster, a recorder in front of it, and stock's programs."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.interop.client import StockClient
from tests.interop.java import VERSIONS, build
from tests.interop.recorder import Recorder, recording
from tests.interop.stock_store import StockStore
from tests.long_form import few
from tests.system.cluster import Cluster, cluster, pytest_runtest_teardown, short_directory

__all__ = ["cluster", "pytest_runtest_teardown"]

SCENARIOS_AT_ONCE = 4
"""Most scenarios wait for timers; this many keep two cores busy without slowing each other."""
QUICK_REBALANCE = {"rocketmq.client.rebalance.waitInterval": "1000"}
"""For scenarios that are not about rebalancing: a new retry topic need not wait its 20 s."""
CLIENT_VERSIONS = few(reversed(VERSIONS), 1)
"""The newest version, and in the long form the others too."""
SCENARIOS: dict[str, dict[str, Any]] = {
    "retry": {"count": 60, "system": QUICK_REBALANCE},
    "rebalance": {"count": 400},
    "orderly": {"count": 1_000, "system": QUICK_REBALANCE},
    "tags": {"count": 600, "system": QUICK_REBALANCE},
    "sql": {"count": 600, "system": QUICK_REBALANCE},
    "transactions": {"count": 90, "system": QUICK_REBALANCE},
}


@pytest.fixture(scope="session")
def recording_directory() -> Iterator[Path]:
    """Take what passes between clients and cluster in this run."""
    with short_directory() as directory:
        yield directory


@pytest.fixture(scope="session")
def recorder(cluster: Cluster, recording_directory: Path) -> Iterator[Recorder]:
    """Stand between the clients and the cluster."""
    brokers = {broker.name: broker.address for broker in cluster.brokers}
    with recording(recording_directory, cluster.name_server_address, brokers) as recorder:
        yield recorder


@pytest.fixture(scope="session")
def stock_clients(
    recorder: Recorder,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, StockClient]:
    """Give each version of the client, pointed at the recorder."""
    build()
    home = tmp_path_factory.mktemp("client-home")
    return {
        version: StockClient(version, recorder.name_server_address, home) for version in VERSIONS
    }


@pytest.fixture(scope="session", params=VERSIONS)
def client(request: pytest.FixtureRequest, stock_clients: dict[str, StockClient]) -> StockClient:
    """Give one version of the client."""
    return stock_clients[request.param]


@pytest.fixture(scope="session", params=CLIENT_VERSIONS)
def newest_client(
    request: pytest.FixtureRequest, stock_clients: dict[str, StockClient]
) -> StockClient:
    """Give the newest version of the client, and in the long form the others too."""
    return stock_clients[request.param]


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> StockStore:
    """Give the stock message store."""
    build()
    return StockStore(tmp_path_factory.mktemp("stock-home"))


@pytest.fixture(scope="session")
def scenarios(
    stock_clients: dict[str, StockClient],
) -> Iterator[dict[tuple[str, str], Future[dict[str, Any]]]]:
    """Run the scenarios side by side, since they mostly wait for timers."""
    with ThreadPoolExecutor(SCENARIOS_AT_ONCE) as executor:
        yield {
            (version, scenario): executor.submit(
                stock_clients[version].run,
                scenario,
                topic=f"{scenario}-{stock_clients[version].label}",
                group=f"{scenario}-group-{stock_clients[version].label}",
                **options,
            )
            for scenario, options in SCENARIOS.items()
            for version in CLIENT_VERSIONS
        }
