"""Watch the engine's thread that copies a master's log (storage-and-ha.md 9.3).

The thread receives, appends and reports by itself. It raises an event descriptor when there is
news, once until the loop has looked, so a fast copy costs the loop little.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Final

from regent_engine import ReplicaLink

from backend.remoting.bodies.controller import HaClientBody
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.transfer_rate import TransferRate

TICK_S: Final = 0.5


class Copying:
    """The copy of one master's log; all methods except `stop` belong to the loop's thread."""

    def __init__(
        self,
        link: ReplicaLink,
        master_socket: socket.socket,
        *,
        reports_appended: bool,
        rest_s: float,
        on_progress: Callable[["Copying", int], None],
    ) -> None:
        """Request the log.

        Raises:
            OSError: the connection is broken, or no descriptor or thread is available.
        """
        self._loop = asyncio.get_running_loop()
        self._rest_s, self._on_progress = rest_s, on_progress
        self._over = asyncio.Event()
        self._received = 0
        self._heard_at_s = self._written_at_s = self._loop.time()
        self._rate = TransferRate(self._heard_at_s)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            self._copy = link.begin(
                master_socket.fileno(), wake=self._wake, reports_appended=reports_appended
            )
        except BaseException:
            os.close(self._wake)
            raise
        self._loop.add_reader(self._wake, self._on_wake)

    def describe(self, master_address: str, log_end: int, now_ms: int) -> HaClientBody:
        """Describe the transfer at a time of the wall clock."""
        self._count()
        now_s = self._loop.time()
        return HaClientBody(
            is_connected=True,
            last_read_at_ms=now_ms - round((now_s - self._heard_at_s) * 1000),
            last_write_at_ms=now_ms - round((now_s - self._written_at_s) * 1000),
            master_address=master_address,
            max_offset=log_end,
            bytes_per_second=self._rate.per_second(now_s),
        )

    @property
    def silent_s(self) -> float:
        """Return for how long nothing has come from the master."""
        self._count()
        return self._loop.time() - self._heard_at_s

    def report(self, held: int, *, is_due: bool = False) -> None:
        """Report the end of the log to the master if it has changed, while connected."""
        if self._over.is_set():
            return
        try:
            if self._copy.report(held, is_due=is_due):
                self._written_at_s = self._loop.time()
        except OSError:
            # The thread also notices it, and reports the reason.
            self._over.set()

    async def tick(self, settings: BrokerSettings) -> None:
        """Wait a moment and do the due work.

        Raises:
            OSError: the connection has ended, or the master is silent.
            ProtocolError, StoreError: the reason why this replica has ended it.
        """
        try:
            async with asyncio.timeout(TICK_S):
                await self._over.wait()
        except TimeoutError:
            pass
        self._count()
        if self._over.is_set():
            self._copy.check()
            raise ConnectionResetError("the connection to the master broke")
        now_s = self._loop.time()
        if now_s - self._heard_at_s > settings.ha_silence_ms_max / 1000:
            raise ConnectionError("the master is silent")
        if now_s - self._written_at_s > settings.ha_heartbeat_interval_ms / 1000:
            self.report(0, is_due=True)

    async def end(self) -> None:
        """Stop without blocking the loop, and ignore further news."""
        try:
            await asyncio.to_thread(self.stop)
        finally:
            self.close()

    def stop(self) -> None:
        """End the connection and wait for the thread: nothing is appended afterwards."""
        self._copy.stop()

    def close(self) -> None:
        """Ignore further news; called after `stop`."""
        self._over.set()
        self._loop.remove_reader(self._wake)
        os.close(self._wake)

    def _on_wake(self) -> None:
        os.eventfd_read(self._wake)
        if self._rest_s:
            self._loop.call_later(self._rest_s, self._look)
        else:
            self._look()

    def _look(self) -> None:
        if self._over.is_set():
            return
        confirmed = self._copy.look()
        self._count()
        if confirmed is not None:
            self._on_progress(self, confirmed)
        if self._copy.is_over:
            self._over.set()

    def _count(self) -> None:
        received = self._copy.received_bytes
        if received != self._received:
            self._heard_at_s = self._loop.time()
            self._rate.add(received - self._received, self._heard_at_s)
            self._received = received
