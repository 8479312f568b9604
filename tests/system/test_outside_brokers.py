"""`regent up --groups 0` in a terminal: a control plane for brokers that others start."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.system.cluster import (
    REGENT,
    ROOT,
    STOP_TIMEOUT_S,
    Cluster,
    free_ports,
    left_running,
    short_directory,
    wait_until,
)
from tests.system.groups import group_state, registered, send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

GROUP = "broker-o"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""What makes a terminal show text bold, or move its cursor."""


@dataclass(frozen=True, slots=True)
class InTerminal:
    """A cluster, and the end of its terminal that a window holds."""

    cluster: Cluster
    window: int


@pytest.fixture(scope="module")
def alone() -> Iterator[InTerminal]:
    with short_directory() as directory:
        window, terminal = os.openpty()
        options = ["--data", str(directory / "data"), *free_ports().options, "--groups", "0"]
        process = subprocess.Popen(
            # Also where the tests run under nohup, which has all that they start ignore it.
            ["env", "--default-signal=HUP", "setsid", "--ctty", str(REGENT), "up", *options],
            cwd=ROOT,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        shown = b""
        while b"\nready" not in shown:
            shown += os.read(window, 1 << 16)
        output = directory / "output"
        output.write_text(STYLE.sub("", shown.decode()))
        cluster = Cluster(process, directory / "data", output)
        yield InTerminal(cluster, window)
        cluster.stop()


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


def test_no_broker_is_started(alone: InTerminal):
    assert alone.cluster.brokers == []
    assert "none" in alone.cluster.output


def test_brokers_from_outside_form_a_group_with_what_the_terminal_says(
    alone: InTerminal, tmp_path: Path
):
    cluster = alone.cluster
    settings = reported_settings(cluster)
    port = int(cluster.name_server_address.rpartition(":")[2]) + 20

    with (
        outside_broker(tmp_path / "one", port, **settings) as one,
        outside_broker(tmp_path / "two", port + 10, **settings) as two,
    ):

        def is_whole() -> bool:
            state = group_state(cluster, GROUP)
            return (
                state is not None
                and state.in_sync == {one, two}
                and registered(cluster, GROUP).get("0") == state.master
            )

        wait_until(is_whole, timeout_s=PATIENCE_S, what=lambda: f"{group_state(cluster, GROUP)}")
        state = group_state(cluster, GROUP)
        assert state is not None
        assert state.master is not None
        assert send(state.master, "from-outside") == 0


def test_a_closed_terminal_stops_everything(alone: InTerminal):
    processes = [psutil.Process(part["pid"]) for part in alone.cluster.state["processes"]]

    os.close(alone.window)
    alone.cluster.process.wait(STOP_TIMEOUT_S)

    assert left_running(processes) == []
