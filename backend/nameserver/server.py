"""Listen for brokers, clients and tools, and give up brokers that fall silent.

The server owns its sessions, its tables and three tasks: the scan for silent brokers, the scan for
idle connections, and the writing-behind. A closed connection takes its brokers out at once.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final, Self

import structlog
from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.errors import RouteNotFound
from backend.domain.name_server import NameServerStatus
from backend.domain.route import TopicRoute
from backend.nameserver.directory import Directory
from backend.nameserver.route_table import RouteTable
from backend.nameserver.session import Session
from backend.nameserver.write_behind import WriteBehind
from backend.services.background import end_tasks

BACKLOG: Final = 1024
CONNECTION_COUNT_MAX: Final = 20_000
SILENCE_SCAN_INTERVAL_S: Final = 5.0
IDLE_TIMEOUT_S: Final = 120.0
IDLE_SCAN_INTERVAL_S: Final = 10.0
DRAIN_DEADLINE_S: Final = 2.0

log = structlog.get_logger(__name__)


class NameServer:
    """Answer routes on one port."""

    def __init__(
        self,
        *,
        database: Database,
        redis: Redis,
        clock: Clock,
        silence_scan_interval_s: float = SILENCE_SCAN_INTERVAL_S,
    ) -> None:
        self._clock = clock
        self._silence_scan_interval_s = silence_scan_interval_s
        self._table = RouteTable()
        self._write_behind = WriteBehind(self._table, database=database, redis=redis, clock=clock)
        self._directory = Directory(
            table=self._table,
            write_behind=self._write_behind,
            clock=clock,
            describe_settings=self._describe_settings,
        )
        self._sessions: set[Session] = set()
        self._is_closing = False
        self._address = ("", 0)
        self._started_at: datetime = clock.now()

    @classmethod
    @contextlib.asynccontextmanager
    async def serve(
        cls,
        host: str,
        port: int,
        *,
        database: Database,
        redis: Redis,
        clock: Clock,
        silence_scan_interval_s: float = SILENCE_SCAN_INTERVAL_S,
    ) -> AsyncIterator[Self]:
        """Serve while the context is open; port 0 takes any.

        Raises:
            OSError: the port is in use.
        """
        server = cls(
            database=database,
            redis=redis,
            clock=clock,
            silence_scan_interval_s=silence_scan_interval_s,
        )
        listener = await asyncio.get_running_loop().create_server(
            server._make_session, host, port, backlog=BACKLOG
        )
        server._address = listener.sockets[0].getsockname()[:2]
        log.info("name_server_started", address=server.address)
        # A task that fails brings the server down instead of leaving it half alive.
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(server._write_behind.write_rows(), name="rows"),
                group.create_task(server._write_behind.write_heartbeats(), name="heartbeats"),
                group.create_task(server._give_up_silent_brokers(), name="silence_scan"),
                group.create_task(server._close_idle_sessions(), name="idle_scan"),
            ]
            try:
                yield server
            finally:
                listener.close()
                await server._close(tasks)

    async def _close(self, tasks: list[asyncio.Task[None]]) -> None:
        # Brokers live on when we stop: closing their connections here is not their leaving.
        self._is_closing = True
        for session in list(self._sessions):
            session.close()
        await end_tasks(tasks)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_DEADLINE_S):
                await self._write_behind.drain()
        for session in list(self._sessions):
            session.abort()
        log.info("name_server_stopped")

    @property
    def address(self) -> str:
        """Name the address that is listened on."""
        return f"{self._address[0]}:{self._address[1]}"

    @property
    def port(self) -> int:
        """Name the port that is listened on."""
        return self._address[1]

    def describe(self) -> NameServerStatus:
        """Say where the server listens and how much it holds."""
        return NameServerStatus(
            address=self.address,
            started_at=self._started_at,
            route_version=self._table.version,
            topic_count=self._table.topic_count,
            broker_count=self._table.broker_count,
            connection_count=len(self._sessions),
            answer_counts=dict(self._directory.answer_counts),
        )

    def find_route(self, topic_name: str) -> TopicRoute | None:
        """Find what clients are answered for a topic."""
        try:
            return self._table.route(topic_name)
        except RouteNotFound:
            return None

    def _make_session(self) -> Session:
        return Session(
            self._directory,
            on_open=self._admit,
            on_close=self._forget,
            monotonic=asyncio.get_running_loop().time,
        )

    def _admit(self, session: Session) -> bool:
        if self._is_closing or len(self._sessions) >= CONNECTION_COUNT_MAX:
            return False
        self._sessions.add(session)
        return True

    def _forget(self, session: Session) -> None:
        self._sessions.discard(session)
        if self._is_closing:
            return
        gone = self._table.list_of_connection(session)
        if gone:
            self._directory.dismiss(gone)
            log.info("brokers_disconnected", peer=session.peer, count=len(gone))

    async def _give_up_silent_brokers(self) -> None:
        while True:
            await asyncio.sleep(self._silence_scan_interval_s)
            silent = self._table.list_silent(now_ms=self._clock.now_ms())
            if not silent:
                continue
            self._directory.dismiss(silent)
            for broker in silent:
                told = broker.registration
                log.warning("broker_expired", broker_name=told.group_name, broker_id=told.broker_id)
                if isinstance(broker.connection, Session):
                    broker.connection.close()

    async def _close_idle_sessions(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SCAN_INTERVAL_S)
            idle_since_s = asyncio.get_running_loop().time() - IDLE_TIMEOUT_S
            for session in list(self._sessions):
                if session.active_at_s < idle_since_s:
                    session.close()

    def _describe_settings(self) -> dict[str, str]:
        return {
            "listenPort": str(self.port),
            "scanNotActiveBrokerInterval": str(int(self._silence_scan_interval_s * 1000)),
            "serverChannelMaxIdleTimeSeconds": str(int(IDLE_TIMEOUT_S)),
            "orderMessageEnable": "false",
            "returnOrderTopicConfigToBroker": "true",
            "supportActingMaster": "true",
            "notifyMinBrokerIdChanged": "false",
            "deleteTopicWithBrokerRegistration": "false",
            "enableAllTopicList": "true",
            "enableTopicList": "true",
        }
