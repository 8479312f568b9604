"""Checks before the start, so that a failure is one clear line and changes nothing."""

import errno
import fcntl
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import LOOPBACK, ClusterLayout

DISK_FREE_BYTES_MIN = 512 << 20
"""Postgres, and space for a first report."""
DISK_FREE_BYTES_MIN_PER_BROKER = 256 << 20
"""Its first commit-log segments."""


def prepare_directories(layout: ClusterLayout) -> None:
    """Create the data directory and its parts.

    Raises:
        CannotStart: the directory can't be created or written.
    """
    try:
        layout.data_dir.mkdir(parents=True, exist_ok=True)
        for path in (
            layout.log_dir,
            layout.redis_dir,
            layout.postgres_dir,
            layout.history_dir,
            layout.report_dir,
            *(broker.directory for broker in layout.brokers),
        ):
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _disk_error(layout.data_dir, error) from error


@contextmanager
def exclusive_directory(layout: ClusterLayout) -> Iterator[None]:
    """Lock the data directory, so that a second cluster can't run in it.

    Raises:
        CannotStart: another process holds it.
    """
    with (layout.data_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotStart(
                f"{layout.data_dir} is in use by another `regent up`; stop that one, or choose "
                "another directory and ports: regent up --data DIR --http-port N "
                "--remoting-port N --broker-port N",
            ) from error
        yield


def check_disk(layout: ClusterLayout) -> None:
    """Raise CannotStart when the file system of the data directory is nearly full."""
    free = shutil.disk_usage(layout.data_dir).free
    needed = DISK_FREE_BYTES_MIN + len(layout.brokers) * DISK_FREE_BYTES_MIN_PER_BROKER
    if free < needed:
        raise CannotStart(
            f"only {free / (1 << 20):.0f} MiB are free in {layout.data_dir}, and a cluster needs "
            f"{needed >> 20} MiB to start; free some space or choose another "
            "directory with --data DIR",
        )


def check_ports(layout: ClusterLayout) -> None:
    """Raise CannotStart for the first port that two parts need, or another process uses."""
    owners: dict[int, str] = {}
    for port, owner, option in layout.ports():
        if not 0 < port < 1 << 16:
            raise CannotStart(
                f"port {port} of {owner} is outside 1-65535; choose a lower one with {option}"
            )
        if port in owners:
            raise CannotStart(
                f"{owners[port]} and {owner} would share a port, {port}; keep --http-port and "
                "--remoting-port away from the thousand ports that begin at --broker-port",
            )
        owners[port] = owner
        _check_port(port, owner, option)


def _check_port(port: int, owner: str, option: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise CannotStart(f"port {port} of {owner}: {error.strerror}") from error
            raise CannotStart(
                f"port {port} of {owner} is in use; stop what listens there "
                f"(ss -ltnp 'sport = :{port}') or choose another with {option} N",
            ) from error


def ensure_bootstrap_secret(path: Path) -> str:
    """Return the password of the first user; the first start creates it with mode 600.

    An interrupted start may leave an empty file; with an empty password no sign-in works.

    Raises:
        CannotStart: the file can't be read or written.
    """
    try:
        secret = path.read_text().strip() if path.exists() else ""
        if not secret:
            secret = secrets.token_urlsafe(18)
            _write_secret(path, secret)
    except OSError as error:
        raise _disk_error(path, error) from error
    return secret


def _write_secret(path: Path, secret: str) -> None:
    """Written to a temporary file first, so that the replacement is atomic."""
    temporary = path.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret + "\n")
    temporary.replace(path)


def _disk_error(path: Path, error: OSError) -> CannotStart:
    if error.errno == errno.ENOSPC:
        return CannotStart(f"the disk of {path} is full; free some space or use --data DIR")
    return CannotStart(
        f"{error.filename or path}: {error.strerror}; choose another with --data DIR"
    )
