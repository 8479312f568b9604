"""Replace lost masters: immediately when a connection closes, otherwise by scans.

The triggers are those of control-plane.md 2.5.

Three events lead to one use case: a connection closes, a replica sends no heartbeat, or no process
receives heartbeats of a master. The use case decides whether an election is needed.

An event that this process itself caused is no sign of failure (D28). After a pause of this process,
the timeout of every replica starts again, and a closed connection is no sign of failure for some
time. A peer that waits too long for an answer may close its connection, and sends no heartbeat
while it waits.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from typing import Final

import structlog

from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport, Resignation
from backend.domain.errors import DomainError, MasterLeaseLive
from backend.domain.replica_group import ChangeKind
from backend.nameserver.own_pauses import OwnPauses
from backend.nameserver.presence import PresenceTable
from backend.nameserver.replica_report_writer import DATABASE_ERRORS, ReplicaReportWriter
from backend.services.controller import elections
from backend.services.controller.elections import Evidence
from backend.services.controller.group_changes import BrokerGroupName, Controller, GroupView

SILENCE_SCAN_INTERVAL_S: Final = 0.25
MASTERLESS_SCAN_INTERVAL_S: Final = 1.0
# A peer that waited longer than this for an answer may have closed the connection because of the
# wait: a broker with another controller asks that controller after a third of its lease.
OWED_S_MAX: Final = 0.5
RETRY_DELAY_S: Final = 0.5
# Replaced masters are removed from Postgres in one batch, this long after the first of them. So the
# removal does not delay the new master.
FORGET_DELAY_S: Final = 0.5
# Elections within this time are logged together.
LOG_DELAY_S: Final = 0.02
WORKER_COUNT: Final = 4

Group = tuple[str, str]
CloseConnection = Callable[[object], None]
OwesFor = Callable[[object], float]
"""Returns the seconds that the peer of a connection has waited for an answer of this process."""

log = structlog.get_logger(__name__)


class Failover:
    """Watch masters, and replace those that are lost."""

    def __init__(
        self,
        table: PresenceTable,
        writer: ReplicaReportWriter,
        controller: Controller,
        pauses: OwnPauses,
        *,
        close_connection: CloseConnection,
        owes_for_s: OwesFor,
    ) -> None:
        self._table, self._writer, self._controller = table, writer, controller
        self._pauses = pauses
        self._close_connection, self._owes_for_s = close_connection, owes_for_s
        # The queue holds groups, not events: each group is judged by its state when its turn comes.
        self._causes: dict[Group, str] = {}
        self._gone: dict[Group, set[ReplicaKey]] = {}
        self._groups: asyncio.Queue[Group] = asyncio.Queue()
        self._replaced: set[ReplicaKey] = set()
        self._has_replaced = asyncio.Event()
        self._unlogged: list[tuple[GroupView, str]] = []

    def note_closed(self, connection: object) -> None:
        """Treat replicas of a closed connection as lost, unless this process may be the cause."""
        self._pauses.look()
        is_owed = self._owes_for_s(connection) >= OWED_S_MAX
        for entry in self._table.list_replicas_over(connection):
            if is_owed or self._pauses.has_ended_within(entry.report.timeout_ms):
                self._table.keep_without_connection(entry)
                why = "it waited for an answer" if is_owed else "this process was paused"
                _, broker_name, broker_id = entry.key
                log.info("close_not_counted", broker_name=broker_name, broker_id=broker_id, why=why)
        self._note_gone(self._table.remove_replicas_over(connection), "its connection closed")

    async def take_leave(self, key: ReplicaKey, last_report: ReplicaReport) -> None:
        """Replace a replica that unregisters, and end its lease.

        A master unregisters after it has stopped to acknowledge, so the election ends its lease in
        the same statement. If no replica can be elected, the lease expires.

        Raises:
            ConnectionError: Postgres does not answer.
        """
        self._table.remove_replica(key)
        is_replaced = False
        try:
            with contextlib.suppress(*DATABASE_ERRORS):
                is_replaced = await self._judge(
                    key[:2],
                    f"broker {key[2]} unregistered",
                    resigned=Resignation(key[2], last_report.epoch),
                )
            if not is_replaced:
                await self._writer.ask_lease_at_once(key, last_report)
        finally:
            if is_replaced:
                self._replaced.add(key)
                self._has_replaced.set()
            else:
                # In a later turn of the event loop, since the broker waits for an answer.
                loop = asyncio.get_running_loop()
                loop.call_soon(self._note_gone, [key], "it unregistered")

    def _note_gone(self, keys: Sequence[ReplicaKey], why: str) -> None:
        for key in keys:
            self._gone.setdefault(key[:2], set()).add(key)
            log.info("replica_gone", broker_name=key[1], broker_id=key[2], why=why)
            self._enqueue(key[:2], f"broker {key[2]} is gone: {why}")

    def _enqueue(self, group: Group, cause: str) -> None:
        if group not in self._causes:
            self._groups.put_nowait(group)
        self._causes.setdefault(group, cause)

    async def work(self) -> None:
        """Judge the groups of the queue until cancelled; several workers may run in parallel."""
        while True:
            group = await self._groups.get()
            cause = self._causes.pop(group)
            gone = {
                key for key in self._gone.pop(group, ()) if self._table.find_replica(key) is None
            }
            try:
                # The election comes first: it uses the heartbeats that this process received. The
                # removal from Postgres informs the other processes, and can wait.
                await self._judge(group, cause, gone=gone)
                if gone:
                    await self._writer.forget(sorted(gone))
            except DATABASE_ERRORS as error:
                log.warning("failover_delayed", broker_name=group[1], error=str(error))
                self._gone.setdefault(group, set()).update(gone)
                self._enqueue_later(group, cause, RETRY_DELAY_S)

    async def forget_replaced(self) -> None:
        """Remove replaced masters from the reports in Postgres, until cancelled."""
        while True:
            await self._has_replaced.wait()
            await asyncio.sleep(FORGET_DELAY_S)
            replaced, self._replaced = self._replaced, set()
            self._has_replaced.clear()
            gone = sorted(key for key in replaced if self._table.find_replica(key) is None)
            try:
                if gone:
                    await self._writer.forget(gone)
            except DATABASE_ERRORS as error:
                log.warning("forgetting_delayed", count=len(gone), error=str(error))
                self._replaced.update(gone)
                self._has_replaced.set()

    async def _judge(
        self,
        group: Group,
        cause: str,
        *,
        gone: Collection[ReplicaKey] = (),
        resigned: Resignation | None = None,
    ) -> bool:
        """Replace the master of a group if it is lost; return whether one was elected."""
        name = BrokerGroupName(group[1], group[0])
        evidence = Evidence(frozenset(key[2] for key in gone), self._writer.listened_ms, resigned)
        try:
            view = await elections.replace_lost_master(
                name, self._controller, cause=cause, evidence=evidence
            )
        except MasterLeaseLive as error:
            log.info("failover_awaits_lease", broker_name=group[1], left_ms=error.left_ms)
            self._gone.setdefault(group, set()).update(gone)
            self._enqueue_later(group, cause, error.left_ms / 1000)
            return False
        except DomainError as error:
            log.warning("failover_refused", broker_name=group[1], error=str(error))
            return False
        if view is None or view.change is None:
            return False
        self._log_later(view, cause)
        return view.change.kind is ChangeKind.MASTER_ELECTED

    def _log_later(self, view: GroupView, cause: str) -> None:
        """Log a change together with others: while many groups fail over, brokers wait."""
        if not self._unlogged:
            asyncio.get_running_loop().call_later(LOG_DELAY_S, self._log)
        self._unlogged.append((view, cause))

    def _log(self) -> None:
        unlogged, self._unlogged = self._unlogged, []
        for view, cause in unlogged:
            _log_change(view, cause)

    def _enqueue_later(self, group: Group, cause: str, delay_s: float) -> None:
        asyncio.get_running_loop().call_later(delay_s, self._enqueue, group, cause)

    async def scan_silence(self) -> None:
        """Treat replicas without heartbeats as lost, until cancelled."""
        while True:
            await asyncio.sleep(SILENCE_SCAN_INTERVAL_S)
            self._pauses.look()
            self._give_up_silent()

    def _give_up_silent(self) -> None:
        silent = []
        for entry in self._table.list_silent_replicas():
            if self._owes_for_s(entry.connection) > 0:
                # The replica sends no heartbeat before it has received the answer.
                self._table.wait_again([entry])
            else:
                silent.append(entry)
        for entry in silent:
            self._table.remove_replica(entry.key)
        self._note_gone([entry.key for entry in silent], "it sent no heartbeat in time")
        for entry in silent:
            # Another replica may still use the same connection.
            if not self._table.list_replicas_over(entry.connection):
                self._close_connection(entry.connection)

    async def scan_masterless(self) -> None:
        """Find groups that lost their master without an event in any process (S63)."""
        while True:
            await asyncio.sleep(MASTERLESS_SCAN_INTERVAL_S)
            self._pauses.look()
            try:
                found = await elections.list_masterless(
                    self._controller, listened_ms=self._writer.listened_ms
                )
            except DATABASE_ERRORS as error:
                log.warning("masterless_scan_failed", error=str(error))
                continue
            for group in found:
                self._enqueue(
                    (group.cluster_name, group.broker_group_name),
                    "no process gets heartbeats of its master",
                )


def _log_change(view: GroupView, cause: str) -> None:
    assert view.change is not None, "it was asked for"
    log.info(
        view.change.kind,
        cluster=view.group.cluster_name,
        broker_name=view.group.name,
        master_id=view.group.master_id,
        epoch=view.group.master_epoch,
        cause=cause,
        **({} if view.change.warning is None else {"warning": view.change.warning}),
    )
