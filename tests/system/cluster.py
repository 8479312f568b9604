"""A whole local cluster for tests: `regent up` in a separate directory and on separate ports.

One cluster serves every test that asks for the fixture `cluster`, and one every test that asks for
`three`. Each is stopped after the last file that shares it (`by_files.py`). A test that needs to
start, stop or break one more runs its own with `running_cluster`.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import guard
from tests.by_files import scope_of
from tests.migrated_postgres import copy_migrated
from tests.ports import free_range

ROOT = Path(__file__).resolve().parents[2]
REGENT = Path(sys.executable).with_name("regent")
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 40.0
SINGLE_PORTS, PORTS_PER_CLUSTER = range(15_000, 20_000), 100
REPLICATED_PORTS, PORTS_PER_REPLICATED_CLUSTER = range(20_000, 32_500), 500
"""Clusters with replicas take ports far apart, which must not lie among those of the others."""


class ClusterError(AssertionError):
    """The cluster did not do what was ordered; the message holds the end of its output."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The three ports of a cluster; its brokers take some around and above theirs."""

    http: int
    remoting: int
    broker: int

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *("--http-port", str(self.http)),
            *("--remoting-port", str(self.remoting)),
            *("--broker-port", str(self.broker)),
        )


@dataclass(frozen=True, slots=True)
class BrokerProcess:
    name: str
    address: str
    pid: int | None
    store_path: Path


class Cluster:
    """A running `regent up`."""

    admin_name = "admin"

    def __init__(self, process: subprocess.Popen[bytes], data_dir: Path, output: Path) -> None:
        self.process = process
        self.data_dir = data_dir
        self.output_path = output

    @property
    def output(self) -> str:
        return self.output_path.read_text(errors="replace")

    @property
    def state(self) -> dict[str, Any]:
        """What `cluster.json` says now; process ids change when a process is started again."""
        return json.loads((self.data_dir / "cluster.json").read_text())

    @property
    def http_url(self) -> str:
        return self.state["http"]["url"]

    @property
    def name_server_address(self) -> str:
        return self.state["remoting"]["address"]

    @property
    def admin_password(self) -> str:
        return (self.data_dir / "bootstrap-secret").read_text().strip()

    @property
    def brokers(self) -> list[BrokerProcess]:
        return [
            BrokerProcess(entry["name"], entry["address"], entry["pid"], Path(entry["store"]))
            for entry in self.state["brokers"]
        ]

    def broker(self, name: str) -> BrokerProcess:
        return next(broker for broker in self.brokers if broker.name == name)

    def process_ids(self) -> set[int]:
        """Return the supervisor and everything below it that runs now."""
        supervisor = psutil.Process(self.process.pid)
        return {supervisor.pid, *(child.pid for child in supervisor.children(recursive=True))}

    def processor_s(self) -> float:
        """Return the processor time that the cluster's processes have had, ended ones included."""
        return sum(sum(psutil.Process(pid).cpu_times()[:4]) for pid in self.process_ids())

    def end_broker(self, name: str, number: signal.Signals) -> None:
        """Signal a broker's own process and wait until the supervisor has started it again."""
        ended = self.broker(name).pid
        assert ended is not None, f"{name} is not running"
        os.kill(ended, number)
        self.await_broker(name, other_than=ended)

    def await_broker(self, name: str, *, other_than: int | None = None) -> BrokerProcess:
        """Wait until a broker runs, under another process id than given, and takes connections."""

        def is_back() -> bool:
            broker = self.broker(name)
            return broker.pid not in (None, other_than) and takes_connections(broker.address)

        wait_until(is_back, timeout_s=START_TIMEOUT_S, what=lambda: f"{name}\n{self.output}")
        return self.broker(name)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Stop the cluster as Ctrl-C does and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise ClusterError(f"the cluster did not stop:\n{self.output}") from None
        return self.process.returncode


def launch(data_dir: Path, ports: Ports, *options: str, output_dir: Path | None = None) -> Cluster:
    """Start `regent up` and return at once; its output goes beside its data by default."""
    output = (output_dir or data_dir.parent) / f"up-{time.monotonic_ns()}.output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [str(REGENT), "up", "--data", str(data_dir), *ports.options, *options],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    return Cluster(process, data_dir, output)


def start_new(data_dir: Path, ports: Ports, *options: str) -> Cluster:
    """Start `regent up` for the first time, with a database that needs no first start."""
    data_dir.mkdir()
    copy_migrated(data_dir / "postgres")
    return start(data_dir, ports, *options)


def start(data_dir: Path, ports: Ports, *options: str) -> Cluster:
    """Start `regent up` and wait for its `ready`."""
    cluster = launch(data_dir, ports, *options)

    def is_ready() -> bool:
        if cluster.process.poll() is not None:
            raise ClusterError(f"the cluster ended while starting:\n{cluster.output}")
        return "ready" in cluster.output.splitlines()

    try:
        wait_until(is_ready, timeout_s=START_TIMEOUT_S, what=lambda: f"ready:\n{cluster.output}")
    except AssertionError:
        with suppress(ClusterError):
            cluster.stop()
        raise
    return cluster


@contextmanager
def running_cluster(data_dir: Path, ports: Ports, *options: str) -> Iterator[Cluster]:
    """Run a cluster for the length of a block."""
    cluster = start(data_dir, ports, *options)
    try:
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def short_directory() -> Iterator[Path]:
    """Make a directory whose path leaves a unix socket below it room: 107 bytes are all it has.

    In a run of tests it lies in memory where there is room: to sync the files of a new Postgres to
    a disk takes longer than the rest of a start.
    """
    in_tests = guard.MARK in os.environ
    path = guard.folder("up") if in_tests else Path(tempfile.mkdtemp(prefix="regent-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_ports() -> Ports:
    """Reserve ports for one cluster of single brokers."""
    return _reserved(SINGLE_PORTS, PORTS_PER_CLUSTER, needed=range(PORTS_PER_CLUSTER // 2))


def free_ports_for_three() -> Ports:
    """Reserve ports for one cluster of one or two groups of three."""
    needed = [0, 1, *(10 + 200 * row + port for row in range(3) for port in range(-2, 12))]
    return _reserved(REPLICATED_PORTS, PORTS_PER_REPLICATED_CLUSTER, needed=needed)


def _reserved(ports: range, size: int, *, needed: Collection[int]) -> Ports:
    first = free_range(ports, size, needed=needed)
    return Ports(http=first, remoting=first + 1, broker=first + 10)


def takes_connections(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def left_running(processes: Iterable[psutil.Process]) -> list[str]:
    """Describe those of some processes that still run."""
    return [" ".join(one.cmdline()[:6]) for one in processes if _runs(one)]


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def wait_until(
    holds: Callable[[], bool],
    *,
    timeout_s: float,
    what: Callable[[], str],
    interval_s: float = 0.05,
) -> float:
    """Poll until a condition holds and return the seconds it took; fail at the deadline."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > timeout_s:
            raise ClusterError(f"not within {timeout_s:.0f} s: {what()}")
        time.sleep(interval_s)
    return time.monotonic() - started


_shared = pytest.StashKey[dict[str, tuple[Cluster, ExitStack]]]()
PAIR, THREE = "two groups of one", "one group of three"


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Give the one cluster of this session: control plane, worker, beat and two broker groups."""
    return _shared_cluster(request.config, PAIR, free_ports)


@pytest.fixture(scope="module")
def three(request: pytest.FixtureRequest) -> Cluster:
    """Give the one cluster of this session that has a single group, of three brokers.

    Tests may elect other masters and kill processes; each waits until the group is whole again.
    """
    options = ("--groups", "1", "--replicas", "3")
    return _shared_cluster(request.config, THREE, free_ports_for_three, *options)


def _shared_cluster(
    config: pytest.Config, name: str, reserve: Callable[[], Ports], *options: str
) -> Cluster:
    """Start a cluster once in a session.

    Several test folders import the fixtures, and pytest would run them once for each; so clusters
    are kept with the session's configuration, which stops them at the end.
    """
    clusters = config.stash.setdefault(_shared, {})
    if name not in clusters:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        path = stack.enter_context(short_directory())
        clusters[name] = start_new(path / "data", reserve(), *options), stack
        stack.callback(clusters[name][0].stop)
    return clusters[name][0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the shared clusters after the last file that uses them.

    Each takes a tenth of a core for as long as it runs.
    """
    if scope_of(item) in (None, scope_of(nextitem)):
        return
    clusters = item.config.stash.get(_shared, {})
    for _, stack in clusters.values():
        stack.close()
    clusters.clear()
