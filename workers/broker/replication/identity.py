"""Negotiate a lasting broker id, so that a crash at any step leads to the same id (D5, S15-S24).

First, the broker writes a wanted id to the disk, with a code that only this broker knows. Then the
controller gives the id to the bearer of that code. Then the broker writes the id as owned. After a
crash at any step, the files show how to continue: a repeated request for the wanted id with the
same code has the same answer as the first.

The files are `.broker.meta` and `.broker.meta.temp`, one line `cluster#broker#id#code` each. The
code is kept for good: it proves the owner of the id to a controller that lost the group (D6). A
store of a stock broker has its id in `brokerIdentity`, which is adopted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

import structlog

from backend.durable_files import replace_file, sync_directory

FILE_NAME: Final = ".broker.meta"
STOCK_FILE_NAME: Final = "brokerIdentity"
PENDING_SUFFIX: Final = ".temp"
_MARK: Final = "#"
_ROUND_COUNT_MAX: Final = 5
"""Number of ids to try before a wait: each was taken by another broker in the meantime."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Identity:
    """The lasting identity of this broker for its controller."""

    cluster_name: str
    broker_name: str
    broker_id: int
    # None for an id of a stock broker, or from before codes were kept.
    register_code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PendingIdentity:
    """The id that this broker has requested, or is about to request."""

    identity: Identity
    register_code: str


class IdentityMismatch(Exception):
    """The store belongs to another broker group than the settings name (S24)."""

    def __init__(self, path: Path, found: Identity, cluster_name: str, broker_name: str) -> None:
        super().__init__(
            f"{path} belongs to broker {found.broker_name} of cluster {found.cluster_name}, but"
            f" the settings say {broker_name} of {cluster_name}: correct brokerName and"
            " brokerClusterName, or give this broker another store"
        )


class IdTaken(Exception):
    """The controller has given the wanted id to another broker."""


class Controller(Protocol):
    """The operations of a controller that the negotiation needs.

    Every method raises `OSError` if the controller does not answer, or cannot answer now.
    """

    async def next_broker_id(self, cluster_name: str, broker_name: str) -> int:
        """Return an unused id (1012)."""

    async def apply_broker_id(self, identity: Identity, register_code: str) -> None:
        """Apply for an id (1013).

        Raises:
            IdTaken: the id belongs to another code.
        """


class IdentityFiles:
    """The two files of one store."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE_NAME
        self.pending_path = root / (FILE_NAME + PENDING_SUFFIX)
        self._stock_path = root / STOCK_FILE_NAME

    def load(self) -> Identity | None:
        """Read the id that this broker owns; a truncated file after a crash holds none."""
        return _identity(self.path) or _identity(self._stock_path)

    def load_pending(self) -> PendingIdentity | None:
        """Read the id that this broker has requested."""
        identity = _identity(self.pending_path)
        code = identity and identity.register_code
        return PendingIdentity(identity, code) if identity and code else None

    def save_pending(self, pending: PendingIdentity) -> None:
        """Write the id to request; it is on the disk when this returns.

        Raises:
            OSError: the disk refused; the file does not exist then.
        """
        _put(self.pending_path, _line(pending))

    def settle(self, pending: PendingIdentity) -> Identity:
        """Write the id as owned, then delete the record of the request.

        Raises:
            OSError: the disk refused; the pending file is still there.
        """
        _put(self.path, _line(pending))
        self.drop_pending()
        return replace(pending.identity, register_code=pending.register_code)

    def drop_pending(self) -> None:
        """Delete the record of a request.

        Raises:
            OSError: the disk refused.
        """
        self.pending_path.unlink(missing_ok=True)
        sync_directory(self.pending_path.parent)


def check_identity(root: Path, *, cluster_name: str, broker_name: str) -> None:
    """Refuse a store that belongs to another group, before anything is opened (S24).

    Raises:
        IdentityMismatch: the store belongs to another group.
    """
    files = IdentityFiles(root)
    owned = files.load()
    if owned is not None:
        _check(files.path, owned, cluster_name, broker_name)


async def negotiate(
    files: IdentityFiles,
    controller: Controller,
    *,
    cluster_name: str,
    broker_name: str,
    new_code: Callable[[], str],
) -> Identity:
    """Return this broker's identity; ask the controller for an id if it has none yet.

    It can be called again after any failure and after a crash: it continues where it stopped.

    Raises:
        IdentityMismatch: the files belong to another group.
        OSError: the controller did not answer or the disk refused; call again later.
    """
    owned = files.load()
    if owned is not None:
        _check(files.path, owned, cluster_name, broker_name)
        if files.pending_path.exists():
            files.drop_pending()
        return owned
    for _ in range(_ROUND_COUNT_MAX):
        pending = files.load_pending()
        if pending is None:
            broker_id = await controller.next_broker_id(cluster_name, broker_name)
            identity = Identity(cluster_name, broker_name, broker_id)
            pending = PendingIdentity(identity, new_code())
            files.save_pending(pending)
        _check(files.pending_path, pending.identity, cluster_name, broker_name)
        try:
            await controller.apply_broker_id(pending.identity, pending.register_code)
        except IdTaken:
            log.info("broker_id_taken", broker_id=pending.identity.broker_id)
            files.drop_pending()
            continue
        identity = files.settle(pending)
        log.info("broker_id_assigned", broker_id=identity.broker_id)
        return identity
    raise ConnectionError("every id asked for was given to another broker; trying again later")


def _check(path: Path, found: Identity, cluster_name: str, broker_name: str) -> None:
    if (found.cluster_name, found.broker_name) != (cluster_name, broker_name):
        raise IdentityMismatch(path, found, cluster_name, broker_name)


def _identity(path: Path) -> Identity | None:
    """Read a whole line, with or without a code; a truncated one has no line end."""
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return None
    is_stock = path.name == STOCK_FILE_NAME
    if not content.endswith("\n") and not is_stock:
        return None
    cluster_name, broker_name, broker_id, code, *_ = [*content.strip().split(_MARK, 3), *[""] * 3]
    if not (cluster_name and broker_name and broker_id.isascii() and broker_id.isdecimal()):
        return None
    return Identity(cluster_name, broker_name, int(broker_id), code or None)


def _line(pending: PendingIdentity) -> str:
    identity = pending.identity
    names = (identity.cluster_name, identity.broker_name, str(identity.broker_id))
    return _MARK.join((*names, pending.register_code))


def _put(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, f"{line}\n".encode())
