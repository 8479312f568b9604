"""Follow a master: connect to it, cut what it does not hold, copy its log, report (9.3, 9.4)."""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import structlog
from regent_engine import ProtocolError, ReplicaLink, Store, StoreError

from backend.remoting.bodies.controller import HaClientBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers import InvalidHeader, decode_header
from backend.remoting.headers.replication import HaInfoAnswer
from backend.remoting.request_code import RequestCode
from workers.broker.replication.transfer_rate import TransferRate
from workers.broker.replication.verification import Verification
from workers.broker.requester import connect, split_address
from workers.broker.settings import BrokerSettings

RETRY_FIRST_S: Final = 0.05
RETRY_MAX_S: Final = 1.0
CONNECT_TIMEOUT_S: Final = 3.0
TICK_S: Final = 0.5
_NO_EPOCH: Final = -1

WhenDurable = Callable[[int, Callable[[bool], None]], None]

log = structlog.get_logger()


class Follower:
    """This broker as the replica of one master, in one epoch or until a newer one."""

    def __init__(
        self,
        store: Store,
        settings: BrokerSettings,
        *,
        broker_id: int,
        epoch: int,
        master_address: str,
        verification: Verification,
        when_durable: WhenDurable,
        on_confirmed: Callable[[int], None],
    ) -> None:
        self._store, self._settings = store, settings
        self._broker_id, self._epoch, self.master_address = broker_id, epoch, master_address
        self._verification = verification
        self._when_durable, self._on_confirmed = when_durable, on_confirmed
        self._connection: _Connection | None = None

    def describe(self, now_ms: int) -> HaClientBody:
        """Say how this broker follows its master, at a time of the wall clock (907)."""
        connection = self._connection
        if connection is None:
            return HaClientBody(
                master_address=self.master_address, max_offset=self._store.max_position
            )
        return connection.describe(self.master_address, self._store.max_position, now_ms)

    async def run(self) -> None:
        """Stay connected until cancelled."""
        retry_s, reported = RETRY_FIRST_S, ""
        while True:
            try:
                await self._follow(await self._ask_master())
            except _WorthALook as error:
                reason = str(error)
                retry_s = RETRY_MAX_S
            except (OSError, TimeoutError, ProtocolError, StoreError, RemotingError) as error:
                reason = str(error) or type(error).__name__
            if reason != reported:
                log.warning("master_lost", master=self.master_address, reason=reason)
            reported = reason
            await asyncio.sleep(retry_s)
            retry_s = min(retry_s * 2, RETRY_MAX_S)

    async def _ask_master(self) -> HaInfoAnswer:
        """Ask the master itself where its log is (906): the name server may not know it yet."""
        host, port = split_address(self.master_address)
        requester = await connect(host, port, peer_name="master", on_close=_do_nothing)
        try:
            answer = await requester.call(RequestCode.EXCHANGE_BROKER_HA_INFO, ext={})
        finally:
            requester.close()
        try:
            told = decode_header(HaInfoAnswer, answer.ext)
        except InvalidHeader as error:
            raise ConnectionError(f"the master's answer cannot be read: {error}") from error
        if not told.master_ha_address:
            raise ConnectionError(f"{self.master_address} does not serve as master yet")
        return told

    async def _follow(self, master: HaInfoAnswer) -> None:
        loop = asyncio.get_running_loop()
        host, port = split_address(master.master_ha_address or "")
        link = ReplicaLink(
            self._store,
            broker_id=self._broker_id,
            # Stock's log knows no epoch in which nothing was written (storage-and-ha.md 9.4).
            known_epoch=_NO_EPOCH if master.master_epoch is None else self._epoch,
            is_learner=self._settings.is_learner,
            is_from_last_segment=self._settings.sync_from_last_file,
        )
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, connection = await loop.create_connection(
                lambda: _Connection(link, self._on_progress), host, port
            )
        try:
            await connection.greeted()
            await self._agree(link)
            log.info("following_master", master=self.master_address, epoch=self._epoch)
            connection.begin()
            self._connection = connection
            while True:
                await connection.tick(self._settings)
        finally:
            self._connection = None
            connection.close()

    async def _agree(self, link: ReplicaLink) -> None:
        """Cut what the master does not hold, so that this log is a beginning of its log."""
        own_end, end = self._store.max_position, link.common_end()
        if end is None:
            raise _WorthALook(
                "this log and the master's have no epoch in common: give this broker an empty"
                " store, or bring its epochFileCheckpoint back"
            )
        if end < own_end:
            log.warning("log_truncated", position=end, bytes=own_end - end)
            await _finish(lambda: self._store.truncate_to(end))
        if self._settings.flush_mode == "sync":
            # The first report is of the whole log.
            await asyncio.to_thread(self._store.flush)
        self._verify(link, end)

    def _verify(self, link: ReplicaLink, end: int) -> None:
        """Count on this log again once it holds all that the master had when it greeted."""
        greeted_end = link.greeted_end
        if self._verification.is_verified or greeted_end is None or end < greeted_end:
            return
        self._verification.succeed()
        log.info("log_verified", position=end)

    def _on_progress(self, connection: "_Connection", confirmed: int | None) -> None:
        """Report what was appended, once it is held as safely as the settings ask."""
        end = self._store.max_position
        if self._settings.flush_mode == "sync":
            self._when_durable(end, lambda is_safe: self._report_durable(connection, end, is_safe))
        else:
            connection.report(end)
        if confirmed is not None:
            self._on_confirmed(min(confirmed, end))
        if not self._verification.is_verified:
            self._verify(connection.link, end)

    def _report_durable(self, connection: "_Connection", end: int, is_safe: bool) -> None:  # noqa: FBT001
        if is_safe:
            connection.report(end)


class _WorthALook(Exception):  # noqa: N818 - trying again soon will not help
    """Somebody has to do something about it."""


class _Connection(asyncio.Protocol):
    """The socket to the master's replication port."""

    def __init__(
        self, link: ReplicaLink, on_progress: Callable[["_Connection", int | None], None]
    ) -> None:
        self.link, self._on_progress = link, on_progress
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._has_greeted = asyncio.Event()
        self._over = asyncio.Event()
        self._error: Exception | None = None
        self._heard_at_s = self._written_at_s = self._loop.time()
        self._rate = TransferRate(self._heard_at_s)

    def describe(self, master_address: str, log_end: int, now_ms: int) -> HaClientBody:
        """Say what passed when, at a time of the wall clock."""
        now_s = self._loop.time()
        return HaClientBody(
            is_connected=True,
            last_read_at_ms=now_ms - round((now_s - self._heard_at_s) * 1000),
            last_write_at_ms=now_ms - round((now_s - self._written_at_s) * 1000),
            master_address=master_address,
            max_offset=log_end,
            bytes_per_second=self._rate.per_second(now_s),
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)
        self._write(self.link.handshake())

    def data_received(self, data: bytes) -> None:
        self._heard_at_s = self._loop.time()
        self._rate.add(len(data), self._heard_at_s)
        if self._over.is_set():
            return
        try:
            has_greeted, confirmed = self.link.receive(data)
            if has_greeted:
                self._has_greeted.set()
            elif confirmed is not None:
                self._on_progress(self, confirmed)
        except (OSError, ProtocolError, StoreError) as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._fail(exc or ConnectionResetError("the master hung up"))

    async def greeted(self) -> None:
        """Wait for the master's history."""
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            waits = [asyncio.ensure_future(e.wait()) for e in (self._has_greeted, self._over)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
        self._check()

    def begin(self) -> None:
        """Ask for the log."""
        self._check()
        self._write(self.link.begin())

    def report(self, held: int, *, is_due: bool = False) -> None:
        """Tell the master up to where the log is held, if that is news."""
        frame = self.link.report(held, is_due=is_due)
        if frame is not None:
            self._write(frame)

    async def tick(self, settings: BrokerSettings) -> None:
        """Wait a moment and do what is due then."""
        try:
            async with asyncio.timeout(TICK_S):
                await self._over.wait()
        except TimeoutError:
            pass
        self._check()
        now_s = self._loop.time()
        if now_s - self._heard_at_s > settings.ha_silence_ms_max / 1000:
            raise ConnectionError("the master is silent")
        if now_s - self._written_at_s > settings.ha_heartbeat_interval_ms / 1000:
            self.report(0, is_due=True)

    def close(self) -> None:
        """Close the connection at once; nothing that comes later is taken."""
        self._over.set()
        if self._transport is not None:
            self._transport.abort()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self.close()

    def _write(self, frame: bytes) -> None:
        self._written_at_s = self._loop.time()
        if self._transport is not None:
            self._transport.write(frame)


async def _finish(work: Callable[[], object]) -> None:
    """Do something on a thread; who gives it up waits for its end, for the log must stay quiet."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _do_nothing() -> None:
    """Who asks finds out by itself that the connection is gone."""
