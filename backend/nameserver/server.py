"""Listen for brokers, clients and tools, and remove brokers without heartbeats.

The server owns its sessions, its tables and its tasks: scans, the writing to the databases, the
failover of masters, and the requests that wait for the database. A closed connection removes its
brokers immediately, and starts the replacement of a master on it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from datetime import datetime
from typing import Any, Final, Self
from uuid import uuid4

import structlog
from redis.asyncio import Redis

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import Clock, elapsed_ms, elapsed_s
from backend.db.engine import Database
from backend.domain.controller_figures import ControllerFigures
from backend.domain.errors import RouteNotFound
from backend.domain.name_server import NameServerStatus
from backend.domain.replica_group import LeasePolicy
from backend.domain.route import TopicRoute
from backend.nameserver.directory import Directory
from backend.nameserver.failover import SILENCE_SCAN_INTERVAL_S as REPLICA_SCAN_INTERVAL_S
from backend.nameserver.failover import WORKER_COUNT, Failover
from backend.nameserver.least_id_notices import LeastIdNotices
from backend.nameserver.live_settings import LiveSettings
from backend.nameserver.own_pauses import OwnPauses
from backend.nameserver.presence import PresenceTable, RegisteredBroker
from backend.nameserver.replica_report_writer import ReplicaReportWriter
from backend.nameserver.role_notices import RoleNotices
from backend.nameserver.route_table import RouteTable
from backend.nameserver.session import NameServerSession
from backend.nameserver.static_count_notices import StaticCountNotices
from backend.nameserver.topic_notices import TopicNotices
from backend.nameserver.write_behind import WriteBehind
from backend.services.background import end_tasks
from backend.services.controller.group_changes import Controller
from backend.services.controller.heartbeats import Observer

# After a pause the connections of all brokers wait here, some with several attempts.
BACKLOG: Final = 4096
CONNECTION_COUNT_MAX: Final = 20_000
WAITING_REQUESTS_MAX: Final = 2_000
SILENCE_SCAN_INTERVAL_S: Final = 5.0
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
        lease_policy: LeasePolicy = LeasePolicy.QUORUM,
        unclean_election_allowed: bool = False,
    ) -> None:
        self._clock = clock
        self._presence = PresenceTable(uuid4(), elapsed_ms)
        self._table = RouteTable(self._presence)
        self._pauses = OwnPauses(elapsed_ms)
        self._pauses.on_stall(self._postpone)
        self._pauses.on_pause(self._listen_again)
        self._write_behind = WriteBehind(
            self._table,
            database=database,
            redis=redis,
            clock=clock,
            observer=Observer(str(self._presence.id), clock, elapsed_ms),
        )
        self._client = RemotingClient()
        self._controller = Controller(
            database=database,
            clock=clock,
            heartbeat_source=self._presence,
            lease_policy=lease_policy,
            allows_unclean=unclean_election_allowed,
            brokers=Brokers(self._client),
        )
        self._report_writer = ReplicaReportWriter(
            self._presence, database=database, monotonic_ms=elapsed_ms
        )
        self._failover = Failover(
            self._presence,
            self._report_writer,
            self._controller,
            self._pauses,
            close_connection=_close_session,
            owes_for_s=_owes_for_s,
        )
        self._role_notices = RoleNotices(self._presence, self._controller, self._client)
        self._least_ids = LeastIdNotices(self._client)
        self._table.on_least_id(self._least_ids.add)
        self._topic_notices = TopicNotices(self._table, self._write_behind, database)
        self._static_counts = StaticCountNotices(self._table, database)
        self._directory = Directory(
            table=self._table,
            write_behind=self._write_behind,
            clock=clock,
            port_of=lambda: self.port,
            settings=LiveSettings(silence_scan_interval_s=silence_scan_interval_s),
            controller=self._controller,
            presence=self._presence,
            reports=self._report_writer,
            failover=self._failover,
            describe_controller=self._describe_controller,
            address_of=self._address_of,
        )
        self._requests: set[asyncio.Task[None]] = set()
        self._sessions: set[NameServerSession] = set()
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
        lease_policy: LeasePolicy = LeasePolicy.QUORUM,
        unclean_election_allowed: bool = False,
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
            lease_policy=lease_policy,
            unclean_election_allowed=unclean_election_allowed,
        )
        async with server.listening(host, port):
            yield server

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[None]:
        """Listen while the context is open; port 0 takes any.

        Raises:
            OSError: the port is in use.
        """
        await self._static_counts.load()
        self._pauses.begin()
        listener = await asyncio.get_running_loop().create_server(
            self._make_session, host, port, backlog=BACKLOG
        )
        self._address = listener.sockets[0].getsockname()[:2]
        log.info("name_server_started", address=self.address)
        # A task that fails stops the server. A server without one of its tasks must not go on.
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(work, name=name) for name, work in self._background().items()
            ]
            try:
                yield
            finally:
                listener.close()
                await self._close(tasks)

    def _background(self) -> dict[str, Coroutine[Any, Any, None]]:
        workers = {f"failover_{i}": self._failover.work() for i in range(WORKER_COUNT)}
        return workers | {
            "own_pauses": self._pauses.watch(),
            "rows": self._write_behind.write_rows(),
            "heartbeats": self._write_behind.write_heartbeats(),
            "silence_scan": self._give_up_silent_brokers(),
            "idle_scan": self._close_idle_sessions(),
            "replica_reports": self._report_writer.write(),
            "replica_scan": self._failover.scan_silence(),
            "masterless_scan": self._failover.scan_masterless(),
            "replaced_masters": self._failover.forget_replaced(),
            "role_notices": self._role_notices.push(),
            "least_ids": self._least_ids.push(),
            "topic_notices": self._topic_notices.follow(),
            "static_counts": self._static_counts.follow(),
        }

    async def _close(self, tasks: list[asyncio.Task[None]]) -> None:
        # Brokers keep running when this process stops: these closed connections are no departures.
        self._is_closing = True
        for session in list(self._sessions):
            session.close()
        await end_tasks([*tasks, *self._requests])
        await self._client.aclose()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_DEADLINE_S):
                await self._write_behind.drain()
        for session in list(self._sessions):
            session.abort()
        log.info("name_server_stopped")

    @property
    def address(self) -> str:
        """Return the address of the listening socket."""
        return f"{self._address[0]}:{self._address[1]}"

    @property
    def port(self) -> int:
        """Return the port of the listening socket."""
        return self._address[1]

    @property
    def controller(self) -> Controller:
        """Return the controller of this process."""
        return self._controller

    @property
    def listened_ms(self) -> int:
        """Return for how long this process has received heartbeats of replicas without a break."""
        return self._report_writer.listened_ms

    def describe(self) -> NameServerStatus:
        """Describe the address of the server and the size of its tables."""
        return NameServerStatus(
            address=self.address,
            started_at=self._started_at,
            route_version=self._table.version,
            topic_count=self._table.topic_count,
            broker_count=self._table.broker_count,
            connection_count=len(self._sessions),
            answer_counts=dict(self._directory.answer_counts),
        )

    def describe_controller(self) -> ControllerFigures:
        """Describe the figures of the controller since its start, and its replicas."""
        return ControllerFigures(
            requests=self._directory.controller_requests,
            elections=self._controller.elections,
            active_broker_counts={
                (cluster, group): sum(
                    report.is_alive for report in self._presence.reports_of(cluster, group).values()
                )
                for cluster, group in self._presence.list_groups()
            },
        )

    def find_route(self, topic_name: str) -> TopicRoute | None:
        """Find the route that clients receive for a topic."""
        try:
            return self._table.route(topic_name)
        except RouteNotFound:
            return None

    def _make_session(self) -> NameServerSession:
        return NameServerSession(
            self._directory,
            on_open=self._admit,
            on_close=self._forget,
            start=self._start,
            monotonic=self._look_at_clock,
        )

    def _admit(self, session: NameServerSession) -> bool:
        if self._is_closing or len(self._sessions) >= CONNECTION_COUNT_MAX:
            return False
        self._sessions.add(session)
        return True

    def _start(self, request: Coroutine[Any, Any, None]) -> bool:
        if self._is_closing or len(self._requests) >= WAITING_REQUESTS_MAX:
            return False
        task = asyncio.get_running_loop().create_task(request, name="request")
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return True

    def _forget(self, session: NameServerSession) -> None:
        self._sessions.discard(session)
        if self._is_closing:
            return
        self._failover.note_closed(session)
        gone, kept = list[RegisteredBroker](), list[RegisteredBroker]()
        for broker in self._presence.list_registered_over(session):
            # After a pause a broker has time to come back: the pause may be why it closed (D28).
            is_kept = self._pauses.has_ended_within(broker.report.timeout_ms)
            (kept if is_kept else gone).append(broker)
        self._presence.wait_again(kept)
        if gone:
            self._directory.dismiss(gone)
        if gone or kept:
            log.info(
                "brokers_disconnected", peer=session.peer, count=len(gone), kept_count=len(kept)
            )

    def _look_at_clock(self) -> float:
        """Read the clock, and notice a pause before events of that time are judged (D28)."""
        self._pauses.look()
        return elapsed_s()

    def _postpone(self, stood_ms: float) -> None:
        self._presence.postpone(stood_ms)
        now_s = elapsed_s()
        for session in self._sessions:
            session.active_at_s = min(now_s, session.active_at_s + stood_ms / 1000)

    def _listen_again(self, _pause_ms: float) -> None:
        """Restart the timeout of every broker: its heartbeats have not been read yet."""
        self._presence.wait_again()
        self._report_writer.note_break()
        self._write_behind.observer.begin()

    async def _give_up_silent_brokers(self) -> None:
        while True:
            await asyncio.sleep(self._directory.settings.silence_scan_interval_s)
            self._pauses.look()
            silent = self._presence.list_silent_registered()
            if not silent:
                continue
            self._directory.dismiss(silent)
            for broker in silent:
                log.warning(
                    "broker_expired",
                    broker_name=broker.report.broker_group_name,
                    broker_id=broker.report.broker_id,
                )
                if isinstance(broker.connection, NameServerSession):
                    broker.connection.abort()

    async def _close_idle_sessions(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SCAN_INTERVAL_S)
            self._pauses.look()
            idle_since_s = elapsed_s() - self._directory.settings.idle_timeout_s
            for session in list(self._sessions):
                if session.active_at_s < idle_since_s:
                    # A peer that does not read would keep the connection open.
                    session.abort()

    def _address_of(self, session: object) -> str:
        return session.local_address if isinstance(session, NameServerSession) else self.address

    def _describe_controller(self) -> dict[str, str]:
        interval_ms = int(REPLICA_SCAN_INTERVAL_S * 1000)
        return {
            "controllerType": "regent",
            "enableElectUncleanMaster": str(self._controller.allows_unclean).lower(),
            "leasePolicy": self._controller.lease_policy.value,
            "notifyBrokerRoleChanged": "true",
            "scanNotActiveBrokerInterval": str(interval_ms),
        }


def _owes_for_s(connection: object) -> float:
    return connection.owes_for_s if isinstance(connection, NameServerSession) else 0.0


def _close_session(connection: object) -> None:
    if isinstance(connection, NameServerSession):
        connection.close()
