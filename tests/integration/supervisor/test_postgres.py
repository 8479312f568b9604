"""The embedded Postgres starts and stops whatever earlier runs and power cuts have left."""

import asyncio
import errno
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import psutil
import psycopg
import pytest

from backend.supervisor.databases import CHECK_S, EmbeddedPostgres, start_postgres
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout, plan_layout
from backend.supervisor.supervision import Supervised
from tests.system.cluster import short_directory
from tests.waiting import PATIENCE_S, eventually

NOBODY = 2**22 + 1
"""Above every process id."""


@pytest.fixture(scope="module")
def layout() -> Iterator[ClusterLayout]:
    """Give a cluster whose Postgres has been started and stopped before."""
    with short_directory() as directory:
        layout = plan_layout(
            data_dir=directory,
            http_port=1,
            remoting_port=2,
            broker_port=3,
            replica_counts={},
        )
        layout.postgres_dir.mkdir(parents=True)
        start_postgres(layout.postgres_dir).cleanup()
        yield layout


@pytest.fixture
def stranger(layout: ClusterLayout) -> Iterator[subprocess.Popen[bytes]]:
    """Give another process of the server's user: Postgres ignores those of all other users."""
    user = layout.postgres_dir.owner()
    with subprocess.Popen(["sleep", "3600"], user=user if os.geteuid() == 0 else None) as process:
        yield process
        process.kill()


def servers_of(directory: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "postgres" and str(directory) in (process.info["cmdline"] or ())
    ]


def write_locks(layout: ClusterLayout, pid: int) -> None:
    directory = layout.postgres_dir
    lines = (pid, directory, 1700000000, 5432, directory, "", "1 1", "ready   ")
    for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))


def answers(postgres: EmbeddedPostgres) -> bool:
    with psycopg.connect(postgres.url) as connection:
        return connection.execute("SELECT true").fetchone() == (True,)


def is_up(postgres: EmbeddedPostgres) -> bool:
    try:
        return answers(postgres)
    except psycopg.OperationalError:
        return False


async def test_a_leftover_pid_that_is_a_strangers_by_now_is_no_server(
    layout: ClusterLayout, stranger: subprocess.Popen[bytes]
):
    write_locks(layout, stranger.pid)
    postgres = EmbeddedPostgres(layout)

    try:
        await postgres.spawn()
        assert answers(postgres)
    finally:
        await postgres.terminate()

    assert stranger.poll() is None
    assert servers_of(layout.postgres_dir) == []


async def test_a_stranger_that_has_the_servers_pid_is_not_stopped(
    layout: ClusterLayout, stranger: subprocess.Popen[bytes]
):
    postgres = EmbeddedPostgres(layout)
    await postgres.spawn()
    os.kill(postgres.pid, signal.SIGKILL)
    await asyncio.wait_for(postgres.ended(), PATIENCE_S)
    write_locks(layout, stranger.pid)

    assert postgres.pid is None
    await postgres.terminate()

    assert stranger.poll() is None


@pytest.mark.parametrize("content", ["", f"{NOBODY}\n"])
async def test_a_pid_file_that_was_cut_short_is_no_hindrance(layout: ClusterLayout, content: str):
    (layout.postgres_dir / "postmaster.pid").write_text(content)
    postgres = EmbeddedPostgres(layout)

    try:
        await postgres.spawn()
        assert answers(postgres)
    finally:
        await postgres.terminate()


async def test_a_killed_server_is_started_again(layout: ClusterLayout):
    postgres = EmbeddedPostgres(layout)
    supervised = Supervised(postgres, show=lambda _line: None, on_change=lambda: None)
    await supervised.start()
    first = postgres.pid

    os.kill(first, signal.SIGKILL)
    try:
        await eventually(lambda: postgres.pid not in (None, first) and is_up(postgres))
    finally:
        await supervised.stop()

    assert servers_of(layout.postgres_dir) == []


async def test_a_living_server_that_cannot_be_looked_at_stays_the_one(
    layout: ClusterLayout, monkeypatch: pytest.MonkeyPatch
):
    postgres = EmbeddedPostgres(layout)
    await postgres.spawn()
    first = postgres.pid

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EMFILE, "too many open files")

    try:
        for owner, name in ((psutil.Process, "cmdline"), (Path, "read_text")):
            with monkeypatch.context() as short_of_files:
                short_of_files.setattr(owner, name, refuse)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(postgres.ended(), 3 * CHECK_S)
                with pytest.raises(CannotStart, match="too many open files"):
                    await postgres.spawn()
            assert (postgres.pid, answers(postgres)) == (first, True)
    finally:
        await postgres.terminate()

    assert servers_of(layout.postgres_dir) == []


async def test_a_server_whose_start_was_given_up_is_stopped(layout: ClusterLayout):
    postgres = EmbeddedPostgres(layout)
    start = asyncio.create_task(postgres.spawn())
    await asyncio.sleep(0)

    start.cancel()
    await asyncio.wait({start})
    await postgres.terminate()
    await asyncio.get_running_loop().shutdown_default_executor()

    assert start.cancelled()
    assert servers_of(layout.postgres_dir) == []


def test_users_that_ended_without_saying_so_do_not_keep_the_server_running(layout: ClusterLayout):
    (layout.postgres_dir / ".handle_pids.json").write_text(f"[{NOBODY}]")
    server = start_postgres(layout.postgres_dir)

    server.cleanup()

    assert servers_of(layout.postgres_dir) == []
