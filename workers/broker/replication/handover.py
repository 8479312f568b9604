"""Leave office in order: nothing new is taken, what was taken is confirmed, clients wait (R10c).

A master does so when it stops, and when its controller is about to elect another. Clients are let
go, to be told 14, once name servers send them to the successor: who asks then asks once.
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
"""How long what was taken may need to be confirmed; a controller waits a little longer."""

SUCCESSOR_S_MAX: Final = 0.5
"""How long a successor may need to be heard of; clients that wait must not be refused before."""


class Handover:
    """What a master does on its way out, and back in where nobody is elected."""

    def __init__(self, broker: Broker, journal: StateJournal) -> None:
        self._broker, self._journal = broker, journal
        self._return: asyncio.TimerHandle | None = None
        self._is_leaving = False

    async def prepare(self, term: Term) -> None:
        """Have all confirmed and take no more until another is elected, or for a moment.

        Raises:
            Refusal: too much was unconfirmed; this master goes on.
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
        """Have all confirmed, to a deadline, and take no more; where others are in sync, wait."""
        self._is_leaving = True
        self._drop_return()
        if len(term.current.broker_ids) > 1:
            self._begin()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S_MAX):
                await term.drain()

    def end(self) -> None:
        """Be out of office; clients still wait."""
        self._drop_return()
        self._broker.unblock_writes(WriteBlock.HANDING_OVER)

    async def let_clients_go(self) -> None:
        """Answer clients again once they would be sent to the successor, or after a while."""
        self._broker.resets.clear()
        if not self._broker.gate.is_open and self._broker.name_servers is not None:
            await self._broker.name_servers.await_other_master()
        self._broker.gate.open()

    def _begin(self) -> None:
        self._broker.block_writes(WriteBlock.HANDING_OVER)
        self._broker.state.delays.stop()
        self._broker.gate.shut()
        # Offsets that were committed are confirmed as well, so that the successor has all of them.
        self._journal.write()

    def _go_on(self, term: Term) -> None:
        """Serve as before: nobody was elected."""
        self._drop_return()
        if not (term.is_over or self._is_leaving):
            self._broker.unblock_writes(WriteBlock.HANDING_OVER)
            self._broker.state.delays.start()
            self._broker.gate.open()

    def _drop_return(self) -> None:
        if self._return is not None:
            self._return.cancel()
            self._return = None
