"""Keep the mark of the confirmed position of this log current, in memory and on the disk (D27)."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import structlog
from regent_engine import Store, StoreError

from workers.broker.replication.confirmed_mark import epoch_before
from workers.broker.replication.verification import Verification

MARK_S: Final = 0.25
"""Interval of the writes of the mark."""

log = structlog.get_logger()


class MarkKeeping:
    """Records the confirmed position in the present role."""

    def __init__(
        self,
        store: Store,
        verification: Verification,
        *,
        confirmed_term: Callable[[], int | None],
        is_beginning: Callable[[], bool],
    ) -> None:
        """Take from the roles which master confirms, and whether its epoch is being written."""
        self._store, self._verification = store, verification
        self._mark = verification.confirmed
        self._confirmed_term, self._is_beginning = confirmed_term, is_beginning
        self._end = (0, -1)

    def note(self) -> None:
        """Record the confirmed position in the present role, if the log is valid."""
        term = self._confirmed_term()
        if term is None or not self._verification.is_verified:
            return
        # A closed store confirms nothing more.
        with contextlib.suppress(StoreError):
            position, epoch = self.confirmed_end()
            self._mark.note(term, epoch, position)

    def confirmed_end(self) -> tuple[int, int]:
        """Return the confirmed position, and the epoch of the last byte before it; -1 for none.

        While a new master's epoch is written, nothing is confirmed, and a read of the epochs would
        wait for the disk.
        """
        position = self._store.confirmed_position
        if position != self._end[0] and not self._is_beginning():
            self._end = (position, epoch_before(self._store.epochs(), position))
        return self._end

    def forget_if_lacking(self) -> None:
        """Drop a mark beyond the end of the log: the log of an elected master is valid."""
        if self._mark.find_lack(self._store.epochs(), self._store.max_position) is not None:
            self._mark.forget()

    async def run(self) -> None:
        """Keep the file current, until cancelled."""
        while True:
            await asyncio.sleep(MARK_S)
            if not self._mark.is_saved:
                await self.save()

    async def save(self) -> None:
        """Write the file; if the disk refuses, try again later."""
        try:
            await asyncio.to_thread(self._mark.save)
        except OSError as error:
            log.warning("confirmed_mark_not_saved", reason=str(error))
