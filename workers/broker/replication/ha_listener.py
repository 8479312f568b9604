"""Send the log to replicas as it grows (storage-and-ha.md 9.3), in the turn that appends to it.

A replica that reads slowly fills its own transport's buffer and waits there; nobody else does.
"""

# ruff: noqa: D102 - the session's protocol methods are those of asyncio

import asyncio
import contextlib
import socket
from typing import Final, Protocol, cast

import structlog
from regent_engine import MasterLink, ProtocolError, Store, StoreError

from backend.remoting.bodies.controller import HaConnectionBody
from workers.broker.replication.transfer_rate import TransferRate
from workers.broker.resources import memory_bytes
from workers.broker.settings import BrokerSettings

WRITE_BUFFER_HIGH_BYTES: Final = 1 << 20
CONNECTION_COUNT_MAX: Final = 256
COLD_SIZE_MAX: Final = 2 << 20
"""What one turn of a thread reads of a log that left the memory; stock's buffer takes 4 MiB."""

log = structlog.get_logger()


class Watcher(Protocol):
    """Who counts what replicas hold."""

    @property
    def published_position(self) -> int:
        """Give the confirmed position that replicas are told."""

    def connected(self, broker_id: int, *, is_learner: bool) -> None:
        """Hear who is connected."""

    def sent(self, broker_id: int) -> None:
        """Hear that a replica was sent something."""

    def held(self, broker_id: int, position: int) -> None:
        """Hear up to where a replica holds the log."""

    def disconnected(self, broker_id: int) -> None:
        """Hear who is gone."""


class ReplicaSession(asyncio.Protocol):
    """One connected replica."""

    def __init__(self, listener: "HaListener", store: Store, settings: BrokerSettings) -> None:
        self._listener, self._store, self._settings = listener, store, settings
        self._loop = asyncio.get_running_loop()
        self._link = MasterLink(store)
        self._transport: asyncio.Transport | None = None
        self._watcher: Watcher | None = None
        self._is_writable = True
        # It has a turn of its own soon, or a thread reads for it.
        self._is_busy = False
        self._cold_read: asyncio.Task[None] | None = None
        self._heard_at_s = self._written_at_s = self._loop.time()
        self._told_position = -1
        self._rate = TransferRate(self._loop.time())
        self.address = ""
        self.broker_id: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)
        host, port = (self._transport.get_extra_info("peername") or ("", 0))[:2]
        self.address = f"{host}:{port}"
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_HIGH_BYTES)
        self._watcher = self._listener.admit(self)
        if self._watcher is None:
            self.abort()

    def data_received(self, data: bytes) -> None:
        self._heard_at_s = self._loop.time()
        watcher = self._watcher
        if watcher is None:
            return
        try:
            has_greeted, held = self._link.receive(data)
            if has_greeted:
                self.broker_id = self._link.broker_id
                self._write(self._link.greeting())
                self._listener.identify(self, is_learner=self._link.is_learner)
        except (ProtocolError, StoreError) as error:
            self._break_off(error)
            return
        if self.broker_id is not None and held is not None:
            watcher.held(self.broker_id, held)
            self.pump()

    def pause_writing(self) -> None:
        self._is_writable = False

    def resume_writing(self) -> None:
        self._is_writable = True
        self.pump()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = self._watcher = None
        self._listener.dismiss(self)
        log.info("replica_disconnected", replica=self.broker_id, reason=str(exc or "it hung up"))

    def describe(self, log_end: int, in_sync: frozenset[int]) -> HaConnectionBody:
        """Say how far the replica is (907)."""
        next_position = self._link.next_position
        # Until it says where it stands, nothing is known of what it holds.
        held = -1 if next_position is None else self._link.acknowledged
        return HaConnectionBody(
            address=self.address,
            distance=log_end - max(held, 0),
            is_in_sync=self.broker_id in in_sync,
            held_position=held,
            next_position=-1 if next_position is None else next_position,
            bytes_per_second=self._rate.per_second(self._loop.time()),
        )

    def pump(self) -> None:
        """Send what the log has and the connection takes; of much, a part in each turn."""
        if self._is_busy:
            return
        try:
            self._send_turn()
        except (ProtocolError, StoreError) as error:
            self._break_off(error)

    def _send_turn(self) -> None:
        size_max = self._settings.ha_transfer_size_max
        sent = 0
        while self._watcher is not None and self._is_writable and (lacks := self._link.pending):
            if lacks > self._listener.hot_size:
                self._is_busy = True
                self._cold_read = self._loop.create_task(self._send_cold(self._watcher))
                return
            if sent >= size_max:
                # The clients and the other replicas have theirs before the next one.
                self._is_busy = True
                self._loop.call_soon(self._go_on)
                return
            confirmed = self._watcher.published_position
            sent += self._send(self._link.next_transfer(size_max, confirmed), confirmed)

    async def _send_cold(self, watcher: Watcher) -> None:
        """Have a thread read what may have to come from the disk."""
        confirmed = watcher.published_position
        size_max = max(self._settings.ha_transfer_size_max, COLD_SIZE_MAX)
        try:
            frame = await asyncio.to_thread(self._link.next_transfer, size_max, confirmed)
        except (ProtocolError, StoreError) as error:
            self._break_off(error)
            return
        self._send(frame, confirmed)
        self._go_on()

    def _go_on(self) -> None:
        self._is_busy = False
        self.pump()

    def _send(self, frame: bytes | None, confirmed: int) -> int:
        if frame is None or self._watcher is None or self.broker_id is None:
            return 0
        self._write(frame)
        self._told_position = confirmed
        self._watcher.sent(self.broker_id)
        return len(frame)

    def tick(self, now_s: float) -> None:
        """Show life, tell what is confirmed, and give up a replica that is silent."""
        if now_s - self._heard_at_s > self._settings.ha_silence_ms_max / 1000:
            log.warning("replica_silent", replica=self.broker_id, address=self.address)
            self.abort()
            return
        watcher = self._watcher
        if watcher is None or not self._is_writable:
            return
        is_due = now_s - self._written_at_s > self._settings.ha_heartbeat_interval_ms / 1000
        confirmed = watcher.published_position
        if is_due or confirmed != self._told_position:
            with contextlib.suppress(StoreError):
                frame = self._link.heartbeat(confirmed)
                if frame is not None:
                    self._told_position = confirmed
                    self._write(frame)

    def abort(self) -> None:
        """Close the connection at once; nothing is sent or heard any more."""
        self._watcher = None
        if self._transport is not None:
            self._transport.abort()

    def _write(self, frame: bytes) -> None:
        if self._transport is not None:
            self._transport.write(frame)
        self._written_at_s = self._loop.time()
        self._rate.add(len(frame), self._written_at_s)

    def _break_off(self, error: Exception) -> None:
        log.warning(
            "replica_refused", replica=self.broker_id, address=self.address, reason=str(error)
        )
        self.abort()


class HaListener:
    """The replication port; connections are taken while there is a watcher, a master's term."""

    def __init__(self, store: Store, settings: BrokerSettings, listener: socket.socket) -> None:
        self._store, self._settings, self._socket = store, settings, listener
        # What of the log's end is taken to be in memory, as for pulls.
        self.hot_size = memory_bytes() * settings.memory_percent // 100
        self._server: asyncio.Server | None = None
        self._sessions: set[ReplicaSession] = set()
        self._by_id: dict[int, ReplicaSession] = {}
        self.watcher: Watcher | None = None

    @property
    def broker_ids(self) -> frozenset[int]:
        """Name the replicas that are connected."""
        return frozenset(self._by_id)

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: ReplicaSession(self, self._store, self._settings), sock=self._socket
        )

    def serve(self, watcher: Watcher) -> None:
        """Take replicas from now on."""
        self.close_sessions()
        self.watcher = watcher

    def close_sessions(self) -> None:
        """Let every replica go, and take none."""
        self.watcher = None
        self._by_id.clear()
        for session in list(self._sessions):
            session.abort()

    def describe(self, log_end: int, in_sync: frozenset[int]) -> list[HaConnectionBody]:
        """Say of each replica that is connected how far it is, in the order of ids."""
        return [session.describe(log_end, in_sync) for _, session in sorted(self._by_id.items())]

    def stop(self) -> None:
        """Listen no longer."""
        self.close_sessions()
        if self._server is not None:
            self._server.close()

    def appended(self) -> None:
        """Have what is new in the log sent."""
        for session in self._sessions:
            session.pump()

    def tick(self, now_s: float) -> None:
        """Do what is due; called a few times a second."""
        for session in list(self._sessions):
            session.tick(now_s)

    def admit(self, session: ReplicaSession) -> Watcher | None:
        """Take a connection in, if this broker is master, and give who watches it."""
        if self.watcher is None or len(self._sessions) >= CONNECTION_COUNT_MAX:
            return None
        self._sessions.add(session)
        return self.watcher

    def identify(self, session: ReplicaSession, *, is_learner: bool) -> None:
        """Note whose connection it is; a former one of the same replica is over."""
        if self.watcher is None or session.broker_id is None:
            return
        former = self._by_id.get(session.broker_id)
        self._by_id[session.broker_id] = session
        if former is not None and former is not session:
            former.abort()
        log.info("replica_connected", replica=session.broker_id, address=session.address)
        self.watcher.connected(session.broker_id, is_learner=is_learner)

    def dismiss(self, session: ReplicaSession) -> None:
        """Forget a connection that is gone."""
        self._sessions.discard(session)
        broker_id = session.broker_id
        if broker_id is None or self._by_id.get(broker_id) is not session:
            return
        del self._by_id[broker_id]
        if self.watcher is not None:
            self.watcher.disconnected(broker_id)
