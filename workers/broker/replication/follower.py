"""Follow a master: connect, truncate the data that it lacks, copy its log, and report.

The protocol is that of storage-and-ha.md 9.3, 9.4.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec
import structlog
from regent_engine import ProtocolError, ReplicaLink, Store, StoreError

from backend.remoting.address import split_address
from backend.remoting.bodies.controller import HaClientBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers.replication import HaInfoAnswer
from workers.broker.commit_log.flusher import Flusher
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.backfill import UPDATE_VERSION, Backfill
from workers.broker.replication.log_copying import Copying
from workers.broker.replication.master_inquiry import ask_master
from workers.broker.replication.verification import Verification
from workers.broker.requests.finishing import finish

RETRY_FIRST_S: Final = 0.05
RETRY_MAX_S: Final = 1.0
CONNECT_TIMEOUT_S: Final = 3.0
GREETING_READ_SIZE: Final = 64 << 10
NEWS_REST_S: Final = 0.002
"""How long news is collected: no client waits until a replica knows the confirmed position."""

_NO_EPOCH: Final = -1

log = structlog.get_logger()


class Follower:
    """This broker as a replica of one master, in one epoch or until a newer one."""

    def __init__(
        self,
        store: Store,
        settings: BrokerSettings,
        *,
        broker_id: int,
        epoch: int,
        master_address: str,
        verification: Verification,
        flusher: Flusher,
        on_confirmed: Callable[[int], None],
        on_cut: Callable[[], None],
        backfill: Backfill,
        damaged_at: int | None,
    ) -> None:
        """Take the store and its master, and where the log is damaged; None if it is not."""
        self._damaged_at = damaged_at
        self._store, self._settings = store, settings
        self._broker_id, self.epoch, self.master_address = broker_id, epoch, master_address
        self._verification, self._mark = verification, verification.confirmed
        self.refused_cut: int | None = None
        self.hears_confirmed = False
        self._flusher, self._on_confirmed = flusher, on_confirmed
        self._on_cut, self._backfill = on_cut, backfill
        self._copying: Copying | None = None
        self._tail_held = asyncio.Event()
        self._obstacle = ""

    def describe(self, now_ms: int) -> HaClientBody:
        """Describe how this broker follows its master, at a time of the wall clock (907)."""
        copying = self._copying
        if copying is None:
            return HaClientBody(
                master_address=self.master_address,
                max_offset=self._store.max_position,
                obstacle=self._obstacle or msgspec.UNSET,
            )
        return copying.describe(self.master_address, self._store.max_position, now_ms)

    async def run(self) -> None:
        """Stay connected until cancelled."""
        retry_s, reported = RETRY_FIRST_S, ""
        while True:
            try:
                await self._follow(await ask_master(self.master_address))
            except Obstacle as error:
                self._obstacle = str(error)
                retry_s = RETRY_MAX_S
            except (OSError, TimeoutError, ProtocolError, StoreError, RemotingError) as error:
                self._obstacle = str(error) or type(error).__name__
            if self._obstacle != reported:
                log.warning("master_lost", master=self.master_address, reason=self._obstacle)
            reported = self._obstacle
            await asyncio.sleep(retry_s)
            retry_s = min(retry_s * 2, RETRY_MAX_S)

    async def mend(self) -> None:
        """Truncate a damaged log at the position from which the master sends it again, or refuse.

        Raises:
            Obstacle: the master can't replace the truncated part. OSError, TimeoutError,
            ProtocolError, StoreError, RemotingError: this attempt failed.
        """
        master = await ask_master(self.master_address)
        if master.master_min_offset is None:
            raise Obstacle(
                "its master is a RocketMQ broker, which does not report where its log begins"
            )
        async with self._greeted(master) as (link, _):
            await self._agree(link, master)

    async def _follow(self, master: HaInfoAnswer) -> None:
        """Copy the log until the connection ends; return if another one is needed at once."""
        await self._plan_backfill(master)
        async with self._greeted(master) as (link, master_socket):
            if await self._agree(link, master) and self._wants_newest_first(master):
                return
            self.hears_confirmed = master.master_epoch is not None
            log.info("following_master", master=self.master_address, epoch=self.epoch)
            await self._copy(link, master_socket)

    def _wants_newest_first(self, master: HaInfoAnswer) -> bool:
        """Return whether this log is empty, and the master's has older segments to send later."""
        low, end = master.master_min_offset, master.master_max_offset
        if master.update_version != UPDATE_VERSION or low is None or not end:
            return False
        size = self._settings.commit_log_file_size_bytes
        is_empty = self._store.max_position == 0
        return (
            is_empty and not self._settings.sync_from_last_file and (end - 1) // size * size > low
        )

    async def _plan_backfill(self, master: HaInfoAnswer) -> None:
        """Decide where an empty log begins: at the master's newest segment, or at its oldest."""
        backfill = self._backfill
        if self._wants_newest_first(master):
            backfill.begin()
        elif backfill.is_under_way and self._store.max_position == 0:
            backfill.drop()
        elif backfill.is_under_way and master.update_version != UPDATE_VERSION:
            # This log was never complete, so no acknowledged message is lost with it.
            log.warning("log_begun_anew", reason="the master sends no older segments")
            await finish(self._cut(0, self._store.empty))
            backfill.drop()

    @asynccontextmanager
    async def _greeted(
        self, master: HaInfoAnswer
    ) -> AsyncIterator[tuple[ReplicaLink, socket.socket]]:
        link = ReplicaLink(
            self._store,
            broker_id=self._broker_id,
            # The log of RocketMQ contains no epoch without data (storage-and-ha.md 9.4).
            known_epoch=_NO_EPOCH if master.master_epoch is None else self.epoch,
            is_learner=self._settings.is_learner or self._backfill.is_under_way,
            is_from_last_segment=self._settings.sync_from_last_file or self._backfill.is_under_way,
        )
        with await open_socket(master.master_ha_address or "") as master_socket:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await _greet(link, master_socket)
            yield link, master_socket

    async def _copy(self, link: ReplicaLink, master_socket: socket.socket) -> None:
        """Let a thread of the engine copy the log, and handle its news."""
        is_synced = self._settings.flush_mode == "sync"
        copying = Copying(
            link,
            master_socket,
            # Data is reported only once it is on the disk.
            reports_appended=not is_synced,
            rest_s=0 if is_synced else NEWS_REST_S,
            on_progress=partial(self._on_progress, link),
        )
        self._tail_held.clear()
        self._note_tail(link)
        older: asyncio.Task[None] | None = None
        if self._backfill.is_under_way:
            older = asyncio.create_task(self._fetch_older(), name="backfill")
        try:
            self._copying = copying
            # A log that is whole is no learner's any more, which takes another handshake.
            while older is None or not older.done():
                await copying.tick(self._settings)
            older.result()
        finally:
            self._copying = None
            if older is not None:
                older.cancel()
                await asyncio.gather(older, return_exceptions=True)
            await finish(copying.end())

    def _note_tail(self, link: ReplicaLink) -> None:
        """Note whether this log has what its master had at the handshake."""
        if self._store.max_position >= (link.greeted_end or 0):
            self._tail_held.set()

    async def _fetch_older(self) -> None:
        """Fetch older segments once this log has what its master had at the handshake."""
        await self._tail_held.wait()
        await self._backfill.run(self.master_address)

    async def _agree(self, link: ReplicaLink, master: HaInfoAnswer) -> bool:
        """Truncate the data that the master lacks, so that this log is a beginning of its log.

        Return whether nothing is left of it.
        """
        own_end, end, damaged_at = self._store.max_position, link.common_end(), self._damaged_at
        is_emptied = False
        self._keep_confirmed(link, 0 if end is None else end)
        if end is None:
            raise Obstacle(self._describe_strangers())
        if damaged_at is not None:
            # The master has the data after it too, or never had it (ADR 17).
            end = min(end, damaged_at)
        if own_end > 0 and end < max(self._store.min_position, master.master_min_offset or 0):
            await self._restart_empty(link, end, master.master_min_offset)
            is_emptied, end = True, 0
        elif end < own_end or damaged_at is not None:
            if damaged_at is not None and self._verification.is_verified:
                # The data may have been acknowledged. This replica is verified once it has the data
                # again (D11).
                self._verification.doubt("the master sends the damaged part again")
            await finish(self._cut(end, partial(self._store.truncate_to, end)))
            log.warning("log_truncated", position=end, bytes=own_end - end)
        if self._settings.flush_mode == "sync":
            # The first report covers the whole log.
            await asyncio.to_thread(self._store.flush)
        self._verify(link, end)
        return is_emptied

    def _keep_confirmed(self, link: ReplicaLink, end: int) -> None:
        """Refuse to truncate this log if that removes confirmed messages (D27).

        Raises:
            Obstacle: the master lacks data that was confirmed to this broker.
        """
        mark, own_end = self._mark, self._store.max_position
        is_whole = mark.find_lack(self._store.epochs(), own_end) is None
        if end >= mark.position or not is_whole:
            self.refused_cut = None
            return
        self.refused_cut = end
        raise Obstacle(
            f"this log, which ends at {own_end}, is confirmed up to {mark.position}, and the"
            f" master's, which ends at {link.greeted_end}, has only {end} of it: this broker keeps"
            " its log. To make this broker master, stop the present one and enter `regent"
            f" controller elect {self._settings.broker_name} --broker {self._broker_id}"
            " --accept-loss`; to give up its messages, elect the current master the same way"
        )

    def _describe_strangers(self) -> str:
        apart = "this log and the master's have no epoch in common"
        epochs = self._store.epochs()
        lack = self._mark.find_lack(epochs, self._store.max_position)
        if lack is not None or not epochs:
            # A log without epochs is from before controller mode, and has no confirmed data.
            why = "" if lack is None else f" (this log lacks what it held before: {lack})"
            remedy = "give this broker an empty store, or bring its epochFileCheckpoint back"
            return f"{apart}: {remedy}{why}"
        return (
            f"{apart}, and which of them is the group's is not known here: copy this broker's"
            " store before anything is removed from it, or bring its epochFileCheckpoint back"
        )

    async def _restart_empty(self, link: ReplicaLink, end: int, master_start: int | None) -> None:
        """Discard this log, which equals the master's up to `end`: that part has expired there.

        A log with data that its master never had, or has lost, is never discarded: it may be the
        last copy.
        """
        own_start, own_end = self._store.min_position, self._store.max_position
        is_lost = not link.is_known() or end < max(own_start, self._store.confirmed_position)
        if (is_lost and not self._backfill.is_under_way) or master_start is None:
            raise Obstacle(
                f"this log, from {own_start} to {own_end}, is the master's up to {end} only, where"
                f" the master's, from {master_start}, can't be gone on with. Copy this broker's"
                " store if its messages matter, then start it with nothing in it but .broker.meta"
            )
        # Until it has all data of its master again, it must not be elected (D11).
        self._verification.doubt("this log starts again: the master's log begins behind its end")
        await finish(self._cut(0, self._store.empty))
        log.warning("log_begun_anew", held_from=own_start, held_to=own_end, begins_at=master_start)

    async def _cut(self, end: int, cut: Callable[[], None]) -> None:
        await asyncio.to_thread(cut)
        self._flusher.cut(end)
        self._on_cut()

    def _verify(self, link: ReplicaLink, end: int) -> None:
        """Mark this log as verified once it has all data that the master had at the handshake."""
        greeted_end = link.greeted_end
        is_behind = greeted_end is None or end < greeted_end or self._backfill.is_under_way
        if self._verification.is_verified or is_behind:
            return
        self._verification.succeed()
        if self._mark.find_lack(self._store.epochs(), self._store.max_position) is not None:
            # This log has all data of its master now, and no broker has more.
            self._mark.forget()
        log.info("log_verified", position=end)

    def _on_progress(self, link: ReplicaLink, copying: Copying, confirmed: int) -> None:
        """Report the data, on the disk if flushes are required, and show confirmed data."""
        end = self._store.max_position
        if self._settings.flush_mode == "sync":
            self._flusher.when_durable(end, partial(report_durable, copying, end))
        self._on_confirmed(min(confirmed, end))
        self._note_tail(link)
        self._verify(link, end)


class Obstacle(Exception):
    """An operator must act: trying again soon will not help."""


def report_durable(copying: Copying, end: int, is_safe: bool) -> None:  # noqa: FBT001
    """Report data to the master once it is on the disk."""
    if is_safe:
        copying.report(end)


async def open_socket(address: str) -> socket.socket:
    """Connect to the master's replication port."""
    loop = asyncio.get_running_loop()
    host, port = split_address(address)
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, place = found[0]
        master_socket = socket.socket(family, kind, protocol)
        try:
            master_socket.setblocking(False)  # noqa: FBT003 - the standard library's name for it
            # Reports are short, and the master waits for them.
            master_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(master_socket, place)
        except BaseException:
            master_socket.close()
            raise
    return master_socket


async def _greet(link: ReplicaLink, master_socket: socket.socket) -> None:
    """Send the identity of this broker, and read the epochs of the master."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(master_socket, link.handshake())
    while data := await loop.sock_recv(master_socket, GREETING_READ_SIZE):
        if link.receive(data):
            return
    raise ConnectionResetError("the master closed the connection")
