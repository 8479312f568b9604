"""`regent up --groups 0`: a control plane for brokers that others start."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system.cluster import (
    REGENT,
    ROOT,
    Cluster,
    free_ports,
    running_cluster,
    short_directory,
    wait_until,
)
from tests.system.groups import group_state, registered, send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

GROUP = "broker-o"


@pytest.fixture(scope="module")
def alone() -> Iterator[Cluster]:
    with (
        short_directory() as directory,
        running_cluster(directory / "data", free_ports(), "--groups", "0") as cluster,
    ):
        yield cluster


@contextmanager
def outside_broker(root: Path, port: int, **properties: str) -> Iterator[str]:
    """Run a broker by hand with what the terminal says, and give its address."""
    settings = {
        "brokerName": GROUP,
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "listenPort": str(port),
        "storePathRootDir": str(root / "store"),
        "mappedFileSizeCommitLog": str(16 << 20),
        "diskMaxUsedSpaceRatio": "95",
        **properties,
    }
    root.mkdir()
    config = root / "broker.conf"
    config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    with (root / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [str(REGENT), "run", "broker", "-c", str(config)], cwd=ROOT, stdout=log, stderr=log
        )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def reported_settings(cluster: Cluster) -> dict[str, str]:
    """Read out of the summary what a broker.conf needs."""
    line = next(line for line in cluster.output.splitlines() if line.startswith("Brokers"))
    words = line.replace(",", " ").split()
    return dict(word.split("=", 1) for word in words if "=" in word)


def test_no_broker_is_started(alone: Cluster):
    assert alone.brokers == []
    assert "none" in alone.output


def test_brokers_from_outside_form_a_group_with_what_the_terminal_says(
    alone: Cluster, tmp_path: Path
):
    settings = reported_settings(alone)
    port = int(alone.name_server_address.rpartition(":")[2]) + 20

    with (
        outside_broker(tmp_path / "one", port, **settings) as one,
        outside_broker(tmp_path / "two", port + 10, **settings) as two,
    ):

        def is_whole() -> bool:
            state = group_state(alone, GROUP)
            return (
                state is not None
                and state.in_sync == {one, two}
                and registered(alone, GROUP).get("0") == state.master
            )

        wait_until(is_whole, timeout_s=PATIENCE_S, what=lambda: f"{group_state(alone, GROUP)}")
        state = group_state(alone, GROUP)
        assert state is not None
        assert state.master is not None
        assert send(state.master, "from-outside") == 0
