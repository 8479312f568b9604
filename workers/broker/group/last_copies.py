"""Wait until other members have the state of a master that leaves, and that they have no log of.

A member asks for offsets (43), then for locks (7003), then for what is finished of share queues
(7034), on one connection. It has all once the last answer is on its way.
"""

import asyncio
from typing import Final

import structlog

from workers.broker.requests.caller import Caller

WAIT_S_MAX: Final = 5.0

log = structlog.get_logger()


class LastCopies:
    """The members that have asked since the state changes no more."""

    def __init__(self) -> None:
        """Expect no member: most brokers leave none behind that lacks their log."""
        self._expected_count = 0
        self._is_final = False
        self._asking: dict[Caller, int] = {}
        self._locked: set[Caller] = set()
        self._having: set[int] = set()
        self._is_complete = asyncio.Event()

    def expect(self, count: int) -> None:
        """Note how many members must have the state before this broker is gone."""
        self._expected_count = count

    async def wait(self) -> None:
        """Wait, for some seconds at most, until they have it; the state changes no more."""
        if not self._expected_count:
            return
        self._is_final = True
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await self._is_complete.wait()
        except TimeoutError:
            missing_count = self._expected_count - len(self._having)
            log.warning("state_not_copied", missing_count=missing_count, waited_s=WAIT_S_MAX)

    def note_offsets(self, caller: Caller, broker_id: int) -> None:
        """Note that a member gets the offsets."""
        if self._is_final:
            self._asking[caller] = broker_id
            self._locked.discard(caller)

    def note_locks(self, caller: Caller) -> None:
        """Note that a member gets the locks, and has the offsets."""
        if caller in self._asking:
            self._locked.add(caller)

    def note_shares(self, caller: Caller) -> None:
        """Note that a member has all that is finished of share queues, and the rest before."""
        if caller in self._locked:
            self._having.add(self._asking[caller])
        if self._is_final and len(self._having) >= self._expected_count:
            self._is_complete.set()
