"""Keep the mark of what is confirmed to this log true, and on the disk (D27)."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import structlog
from regent_engine import Store, StoreError

from workers.broker.replication.confirmed_mark import epoch_before
from workers.broker.replication.verification import Verification

MARK_S: Final = 0.25
"""How often what is confirmed is written down."""

log = structlog.get_logger()


class MarkKeeping:
    """Notes what is confirmed in the present role."""

    def __init__(
        self,
        store: Store,
        verification: Verification,
        *,
        confirmed_term: Callable[[], int | None],
        is_beginning: Callable[[], bool],
    ) -> None:
        """Take from the roles who confirms now, and whether a new master's epoch is written."""
        self._store, self._verification = store, verification
        self._mark = verification.confirmed
        self._confirmed_term, self._is_beginning = confirmed_term, is_beginning
        self._end = (0, -1)

    def note(self) -> None:
        """Remember what is confirmed in the present role, of a log that can be counted on."""
        term = self._confirmed_term()
        if term is None or not self._verification.is_verified:
            return
        # A store that is closed confirms nothing more.
        with contextlib.suppress(StoreError):
            position, epoch = self.confirmed_end()
            self._mark.note(term, epoch, position)

    def confirmed_end(self) -> tuple[int, int]:
        """Give what is confirmed, and the epoch that wrote the last byte before it; -1 is none.

        While a new master's epoch is written, nothing is confirmed, and the list of epochs would
        wait for the disk.
        """
        position = self._store.confirmed_position
        if position != self._end[0] and not self._is_beginning():
            self._end = (position, epoch_before(self._store.epochs(), position))
        return self._end

    def forget_if_lacking(self) -> None:
        """Drop a mark that the log does not reach: the log of an elected master is the true one."""
        if self._mark.find_lack(self._store.epochs(), self._store.max_position) is not None:
            self._mark.forget()

    async def run(self) -> None:
        """Keep the file true, until cancelled."""
        while True:
            await asyncio.sleep(MARK_S)
            if not self._mark.is_saved:
                await self.save()

    async def save(self) -> None:
        """Write the file; a disk that refuses is tried again later."""
        try:
            await asyncio.to_thread(self._mark.save)
        except OSError as error:
            log.warning("confirmed_mark_not_saved", reason=str(error))
