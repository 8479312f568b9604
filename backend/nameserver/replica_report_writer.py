"""Write the reports of replicas to Postgres in batches, and grant leases with them.

A lease is granted when it is written, never before: an election reads it (D9).
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.db.engine import Database
from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport
from backend.nameserver.presence import PresenceTable
from backend.services.controller.replica_reports import (
    forget_old_replica_reports,
    forget_replica_reports,
    record_replica_reports,
)

WRITE_INTERVAL_S: Final = 0.5
# If a write takes longer, other processes learn too late which replicas this process hears.
WRITE_MAX_MS: Final = 1_000.0
# One commit grants all leases that are requested within this time.
GATHERING_S: Final = 0.01
RETRY_DELAY_S: Final = 1.0

DATABASE_ERRORS: Final = (SQLAlchemyError, OSError, TimeoutError)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Hold a request for a lease: the report of its sender, and its time."""

    last_report: ReplicaReport
    asked_at_ms: float
    future: asyncio.Future[bool]

    def report(self, now_ms: float) -> ReplicaReport:
        """Return the report; its lease starts at the time of the request."""
        return replace(self.last_report, age_ms=max(0, int(now_ms - self.asked_at_ms)))


class ReplicaReportWriter:
    """Write to Postgres which replicas this process hears."""

    def __init__(
        self, table: PresenceTable, *, database: Database, monotonic_ms: Callable[[], float]
    ) -> None:
        self._table, self._database, self._now_ms = table, database, monotonic_ms
        self._asked: dict[ReplicaKey, _Asked] = {}
        self._is_asked = asyncio.Event()
        # Batches and removals take turns. Otherwise a late batch could add a removed replica again.
        self._turn = asyncio.Lock()
        self._listening_since_ms: float | None = None

    @property
    def listened_ms(self) -> int:
        """Return for how long this process has received and written reports without a break."""
        if self._listening_since_ms is None:
            return 0
        return int(self._now_ms() - self._listening_since_ms)

    def note_break(self) -> None:
        """Restart the count: this process was paused, and may have missed heartbeats."""
        self._listening_since_ms = None

    async def ask_lease(self, key: ReplicaKey, last_report: ReplicaReport) -> bool:
        """Ask for a lease and wait until it is written; return whether it was granted.

        The present report of the broker decides, not its highest report. If two requests for one
        broker wait, the earlier one is not granted.

        Raises:
            ConnectionError: Postgres does not answer.
        """
        self._drop_asked(key)
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked[key] = _Asked(last_report, self._now_ms(), future)
        self._is_asked.set()
        return await future

    async def ask_lease_at_once(self, key: ReplicaKey, last_report: ReplicaReport) -> bool:
        """Ask as `ask_lease` does, but without waiting for other requests.

        Brokers wait for the answer: a new master acknowledges nothing before it, and a master that
        gives back its lease is replaced after it.

        Raises:
            ConnectionError: Postgres does not answer.
        """
        self._drop_asked(key)
        wish = _Asked(last_report, self._now_ms(), asyncio.get_running_loop().create_future())
        # After a lease is given back, no lease of an earlier request may be granted.
        async with self._turn if last_report.timeout_ms <= 0 else contextlib.nullcontext():
            try:
                granted = await record_replica_reports(
                    {},
                    lease_asked={key: wish.report(self._now_ms())},
                    heard_by=self._table.id,
                    database=self._database,
                )
            except DATABASE_ERRORS as error:
                raise ConnectionError("the database does not answer") from error
        return key in granted

    def _drop_asked(self, key: ReplicaKey) -> None:
        former = self._asked.pop(key, None)
        if former is not None and not former.future.done():
            former.future.set_result(False)

    async def forget(self, keys: Sequence[ReplicaKey]) -> None:
        """Remove the reports of replicas that this process hears no longer."""
        async with self._turn:
            await forget_replica_reports(keys, heard_by=self._table.id, database=self._database)

    async def write(self) -> None:
        """Write batches until cancelled."""
        with contextlib.suppress(*DATABASE_ERRORS):
            await forget_old_replica_reports(database=self._database)
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WRITE_INTERVAL_S):
                    await self._is_asked.wait()
                await asyncio.sleep(GATHERING_S)
            self._is_asked.clear()
            if not await self._write_batch():
                await asyncio.sleep(RETRY_DELAY_S)

    async def _write_batch(self) -> bool:
        asked, self._asked = self._asked, {}
        async with self._turn:
            heard = self._table.take_unwritten()
            now_ms = self._now_ms()
            lease_asked = {key: wish.report(now_ms) for key, wish in asked.items()}
            try:
                granted = await record_replica_reports(
                    heard,
                    lease_asked=lease_asked,
                    heard_by=self._table.id,
                    database=self._database,
                )
            except DATABASE_ERRORS as error:
                log.warning("replica_reports_delayed", count=len(heard), error=str(error))
                self._table.put_back(heard)
                self._listening_since_ms = None
                _settle(asked, ConnectionError("the database does not answer"))
                return False
        if self._listening_since_ms is None or self._now_ms() - now_ms > WRITE_MAX_MS:
            self._listening_since_ms = self._now_ms()
        for key, wish in asked.items():
            if not wish.future.done():
                wish.future.set_result(key in granted)
        return True


def _settle(asked: dict[ReplicaKey, _Asked], error: Exception) -> None:
    for wish in asked.values():
        if not wish.future.done():
            wish.future.set_exception(error)
            # If the sender has left, the error is not read. This prevents a warning of asyncio.
            wish.future.exception()
