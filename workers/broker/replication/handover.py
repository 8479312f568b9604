"""Hand over mastership: stop appends, confirm all data, and let clients wait (R10c).

A master does this when it stops, and before its controller elects another master. Clients get the
answer 14 once name servers route them to the new master, so that they ask only once.
"""

import asyncio
import contextlib
from typing import Final

from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
from workers.broker.replication.state_journal import StateJournal
from workers.broker.replication.term import Term

LEAVE_S_MAX: Final = 2.0
HAND_OVER_S_MAX: Final = 0.25
"""The maximum time to confirm all data; a controller waits a little longer."""

SUCCESSOR_S_MAX: Final = 0.5
"""The maximum time until the new master is known; waiting clients must not be refused before."""


class Handover:
    """The work of a master before its end, and its return if no other master is elected."""

    def __init__(self, broker: Broker, journal: StateJournal) -> None:
        self._broker, self._journal = broker, journal
        self._return: asyncio.TimerHandle | None = None
        self._is_leaving = False

    async def prepare(self, term: Term) -> None:
        """Stop appends and confirm all data, until another master is elected or for a moment.

        Raises:
            Refusal: too much data was unconfirmed; this master continues.
        """
        self._begin()
        try:
            async with asyncio.timeout(HAND_OVER_S_MAX):
                await term.drain()
        except TimeoutError as error:
            self._go_on(term)
            raise Refusal(
                ResponseCode.SYSTEM_BUSY, "not every replica holds all messages of this master"
            ) from error
        self._drop_return()
        if not (term.is_over or self._is_leaving):
            loop = asyncio.get_running_loop()
            self._return = loop.call_later(SUCCESSOR_S_MAX, self._go_on, term)

    async def leave(self, term: Term) -> None:
        """Stop appends and confirm all data until a deadline; wait if others are in sync."""
        self._is_leaving = True
        self._drop_return()
        if len(term.current.broker_ids) > 1:
            self._begin()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S_MAX):
                await term.drain()

    def end(self) -> None:
        """End the mastership; clients still wait."""
        self._drop_return()
        self._broker.unblock_writes(WriteBlock.HANDING_OVER)

    async def let_clients_go(self) -> None:
        """Answer clients again once routes name the new master, or after a while."""
        self._broker.resets.clear()
        if not self._broker.gate.is_open and self._broker.name_servers is not None:
            await self._broker.name_servers.await_other_master()
        self._broker.gate.open()

    def _begin(self) -> None:
        # First: the engine's thread refuses what it serves while writes are blocked.
        self._broker.gate.shut()
        self._broker.block_writes(WriteBlock.HANDING_OVER)
        self._broker.stop_deliveries()
        # Committed offsets are confirmed too, so that the new master has all of them.
        self._journal.write()

    def _go_on(self, term: Term) -> None:
        """Serve as before: no other master was elected."""
        self._drop_return()
        if not (term.is_over or self._is_leaving):
            self._broker.unblock_writes(WriteBlock.HANDING_OVER)
            self._broker.start_deliveries()
            self._broker.gate.open()

    def _drop_return(self) -> None:
        if self._return is not None:
            self._return.cancel()
            self._return = None
