"""Send the log to replicas in the turn that appends to it (storage-and-ha.md 9.2, 9.3).

The engine writes to the sockets itself. A replica that lacks much data or reads slowly has a
separate thread there, so that no other replica waits. The event loop receives the reports of
replicas.
"""

# ruff: noqa: D102 - the session's protocol methods are those of asyncio

import asyncio
import itertools
import socket
from typing import Final, Protocol, cast

import structlog
from regent_engine import MasterLink, ProtocolError, Store, StoreError

from backend.remoting.bodies.controller import HaConnectionBody
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.transfer_rate import TransferRate

CONNECTION_COUNT_MAX: Final = 256
BACKLOG_BYTES_MIN: Final = 4 << 20
"""A replica that lacks more catches up."""

log = structlog.get_logger()


class Watcher(Protocol):
    """The functions that a watcher of replicas provides."""

    @property
    def published_position(self) -> int:
        """Return the confirmed position for replicas."""

    def connected(self, broker_id: int, *, is_learner: bool) -> None:
        """Called when a replica connects."""

    def sent(self, broker_id: int) -> None:
        """Called when data was sent to a replica."""

    def held(self, broker_id: int, position: int) -> None:
        """Called when a replica reports the end of its log."""

    def disconnected(self, broker_id: int) -> None:
        """Called when a replica is lost."""


class ReplicaSession(asyncio.Protocol):
    """One connected replica."""

    def __init__(self, listener: "HaListener", store: Store, settings: BrokerSettings) -> None:
        self._listener, self._store, self._settings = listener, store, settings
        self._loop = asyncio.get_running_loop()
        self._link: MasterLink | None = None
        self._transport: asyncio.Transport | None = None
        self._watcher: Watcher | None = None
        self._sent_bytes = 0
        self._heard_at_s = self._written_at_s = self._loop.time()
        self._rate = TransferRate(self._loop.time())
        self.address = ""
        self.broker_id: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)
        host, port = (self._transport.get_extra_info("peername") or ("", 0))[:2]
        self.address = f"{host}:{port}"
        watcher = self._listener.admit(self)
        if watcher is None:
            self.abort()
            return
        try:
            self._link = MasterLink(
                self._store,
                # The transport only reads.
                self._transport.get_extra_info("socket").fileno(),
                self._settings.ha_transfer_size_max,
                plain_number=self._listener.next_number(),
            )
        except (OSError, StoreError) as error:
            self._break_off(error)
            return
        self._watcher = watcher
        if self._link.broker_id is not None:
            self._identify(self._link)

    def data_received(self, data: bytes) -> None:
        self._heard_at_s = self._loop.time()
        watcher, link = self._watcher, self._link
        if watcher is None or link is None:
            return
        try:
            has_greeted, held = link.receive(data)
        except (OSError, ProtocolError, StoreError) as error:
            self._break_off(error)
            return
        if has_greeted:
            self._identify(link)
        if self.broker_id is not None and held is not None:
            watcher.held(self.broker_id, held)
            self.pump()

    def _identify(self, link: MasterLink) -> None:
        self.broker_id = link.broker_id
        self._listener.identify(self, is_learner=link.is_learner)

    def connection_lost(self, exc: Exception | None) -> None:
        reason: Exception | str = exc or "it closed the connection"
        if self._link is not None:
            self._link.close()
            try:
                self._link.check()
            except (OSError, ProtocolError, StoreError) as error:
                reason = error
        self._transport = self._watcher = None
        self._listener.dismiss(self)
        log.info("replica_disconnected", replica=self.broker_id, reason=str(reason))

    @property
    def held(self) -> int:
        """Return the reported end of the log of the replica; 0 before the first report."""
        return 0 if self._link is None else self._link.acknowledged

    def describe(self, log_end: int, in_sync: frozenset[int]) -> HaConnectionBody:
        """Describe the progress of the replica (907)."""
        link = self._link
        next_position = None if link is None else link.next_position
        # Before its first report, the end of its log is unknown.
        held = -1 if link is None or next_position is None else link.acknowledged
        return HaConnectionBody(
            address=self.address,
            distance=log_end - max(held, 0),
            is_in_sync=self.broker_id in in_sync,
            held_position=held,
            next_position=-1 if next_position is None else next_position,
            bytes_per_second=self._rate.per_second(self._loop.time()),
        )

    def pump(self) -> None:
        """Send the new part of the log."""
        watcher, link = self._watcher, self._link
        if watcher is None or link is None:
            return
        try:
            link.pump(watcher.published_position)
        except (OSError, ProtocolError, StoreError) as error:
            self._break_off(error)
            return
        self._count(watcher, link)

    def tick(self, now_s: float) -> None:
        """Send a heartbeat with the confirmed position, and disconnect a silent replica."""
        if now_s - self._heard_at_s > self._settings.ha_silence_ms_max / 1000:
            log.warning("replica_silent", replica=self.broker_id, address=self.address)
            self.abort()
            return
        self.announce(
            is_due=now_s - self._written_at_s > self._settings.ha_heartbeat_interval_ms / 1000
        )

    def announce(self, *, is_due: bool = False) -> None:
        """Send the confirmed position if it is news, or if a sign of life is due."""
        watcher, link = self._watcher, self._link
        if watcher is None or link is None:
            return
        self._count(watcher, link)
        try:
            link.send_confirmed(watcher.published_position, is_due=is_due)
        except (OSError, ProtocolError, StoreError) as error:
            self._break_off(error)

    def limit(self, rate: int) -> bool:
        """Limit how fast a backlog is sent, in bytes a second; return whether there is much."""
        if self._link is None:
            return False
        self._link.set_rate(rate)
        next_position = self._link.next_position
        return next_position is not None and (
            self._store.max_position - next_position > BACKLOG_BYTES_MIN
        )

    def abort(self) -> None:
        """Close the connection immediately; nothing more is sent or received."""
        self._watcher = None
        if self._link is not None:
            self._link.close()
        if self._transport is not None:
            self._transport.abort()

    def _count(self, watcher: Watcher, link: MasterLink) -> None:
        """Record the sent data, including the writes of a thread."""
        sent = link.sent_bytes
        if sent == self._sent_bytes or self.broker_id is None:
            return
        self._written_at_s = self._loop.time()
        self._rate.add(sent - self._sent_bytes, self._written_at_s)
        self._sent_bytes = sent
        watcher.sent(self.broker_id)

    def _break_off(self, error: Exception) -> None:
        log.warning(
            "replica_refused", replica=self.broker_id, address=self.address, reason=str(error)
        )
        self.abort()


class HaListener:
    """The replication port; connections are accepted while there is a watcher: a master's term."""

    def __init__(
        self,
        store: Store,
        settings: BrokerSettings,
        listener: socket.socket,
        *,
        is_plain: bool = False,
    ) -> None:
        """Use the protocol of a group under a controller, or the plain one (storage-and-ha.md 9.2).

        No replica says who it is in the plain one: the number of its connection is its id here.
        """
        self._store, self._settings, self._socket = store, settings, listener
        self._numbers = itertools.count(1) if is_plain else None
        self._server: asyncio.Server | None = None
        self._sessions: set[ReplicaSession] = set()
        self._by_id: dict[int, ReplicaSession] = {}
        self.watcher: Watcher | None = None
        self._will_send = self._will_announce = False
        self._rate, self._unlimited = 0, frozenset[int]()

    def next_number(self) -> int | None:
        """Return the number of the next plain connection; None in the other protocol."""
        return None if self._numbers is None else next(self._numbers)

    @property
    def addresses(self) -> dict[int, str]:
        """Return the addresses of the connected replicas."""
        return {broker_id: one.address for broker_id, one in self._by_id.items()}

    @property
    def has_connections(self) -> bool:
        """Return whether any replica is connected."""
        return bool(self._sessions)

    @property
    def broker_ids(self) -> frozenset[int]:
        """Return the connected replicas."""
        return frozenset(self._by_id)

    def needed_from(self) -> int | None:
        """Return the position from which others need the log; None while this broker is no master.

        A member of the set that is disconnected for a moment has all confirmed data.
        """
        if self.watcher is None:
            return None
        held = [session.held for session in self._by_id.values()]
        return min([self.watcher.published_position, *held])

    async def start(self) -> None:
        """Listen."""
        # A confirmed position is short, and must not hold up the data that follows it. Accepted
        # sockets inherit this.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server = await asyncio.get_running_loop().create_server(
            lambda: ReplicaSession(self, self._store, self._settings), sock=self._socket
        )

    def serve(self, watcher: Watcher) -> None:
        """Accept replicas from now on."""
        self.close_sessions()
        self.watcher = watcher

    def close_sessions(self) -> None:
        """Disconnect all replicas, and accept none."""
        self.watcher = None
        self._by_id.clear()
        for session in list(self._sessions):
            session.abort()

    def describe(self, log_end: int, in_sync: frozenset[int]) -> list[HaConnectionBody]:
        """Describe the progress of each connected replica, in the order of ids."""
        return [session.describe(log_end, in_sync) for _, session in sorted(self._by_id.items())]

    def stop(self) -> None:
        """Stop listening."""
        self.close_sessions()
        if self._server is not None:
            self._server.close()

    def appended(self) -> None:
        """Send new data of the log."""
        for session in self._sessions:
            session.pump()

    def send_later(self) -> None:
        """Send new data after the answers of this turn."""
        if self._sessions and not self._will_send:
            self._will_send = True
            asyncio.get_running_loop().call_soon(self._send_late)

    def _send_late(self) -> None:
        self._will_send = False
        self.appended()

    def announce_later(self) -> None:
        """Send the confirmed position after the answers of this turn, where nothing else does."""
        if self._sessions and not self._will_announce:
            self._will_announce = True
            asyncio.get_running_loop().call_soon(self._announce)

    def _announce(self) -> None:
        self._will_announce = False
        for session in list(self._sessions):
            session.announce()

    def tick(self, now_s: float) -> None:
        """Do the periodic work; called a few times a second."""
        for session in list(self._sessions):
            session.tick(now_s)

    def limit(self, rate: int, members: frozenset[int]) -> bool:
        """Limit how fast others than members get what they lack, in bytes a second; 0 is no limit.

        Return whether any of them lacks much.
        """
        self._rate, self._unlimited = rate, members
        lacking = [session for session in self._by_id.values() if self._limit(session)]
        return bool(lacking)

    def _limit(self, session: ReplicaSession) -> bool:
        if session.broker_id in self._unlimited:
            session.limit(0)
            return False
        return session.limit(self._rate)

    def admit(self, session: ReplicaSession) -> Watcher | None:
        """Accept a connection if this broker is master, and return its watcher."""
        if self.watcher is None or len(self._sessions) >= CONNECTION_COUNT_MAX:
            return None
        self._sessions.add(session)
        return self.watcher

    def identify(self, session: ReplicaSession, *, is_learner: bool) -> None:
        """Record the replica of a connection, and close its former connection."""
        if self.watcher is None or session.broker_id is None:
            return
        former = self._by_id.get(session.broker_id)
        self._by_id[session.broker_id] = session
        self._limit(session)
        if former is not None and former is not session:
            former.abort()
        log.info("replica_connected", replica=session.broker_id, address=session.address)
        self.watcher.connected(session.broker_id, is_learner=is_learner)

    def dismiss(self, session: ReplicaSession) -> None:
        """Remove a closed connection."""
        self._sessions.discard(session)
        broker_id = session.broker_id
        if broker_id is None or self._by_id.get(broker_id) is not session:
            return
        del self._by_id[broker_id]
        if self.watcher is not None:
            self.watcher.disconnected(broker_id)
