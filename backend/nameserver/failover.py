"""Have masters replaced that are gone: at once when a connection closes, else by scans.

The triggers are those of control-plane.md 2.5.

Three ways lead to one use case, which finds out by itself whether there is anything to do: a
connection that closed, a replica that fell silent, and a group whose master no process hears.

What this process itself caused is no sign of failure (D28). After a pause of its own it waits for
every replica as if each had spoken now, and a closed connection does not count meanwhile. A peer
that waited for our answer for too long may hang up, and is silent while it waits.
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
# Who waited for our answer for longer than this may have hung up for that: a broker that can ask
# another controller does so after a third of its lease.
OWED_S_MAX: Final = 0.5
RETRY_DELAY_S: Final = 0.5
# So long after the first one that was replaced, those are forgotten that were meanwhile: together,
# and not while its successor takes over.
FORGET_DELAY_S: Final = 0.5
# What is elected within this time is logged together.
LOG_DELAY_S: Final = 0.02
WORKER_COUNT: Final = 4

Group = tuple[str, str]
CloseConnection = Callable[[object], None]
OwesFor = Callable[[object], float]
"""Says for how many seconds the peer of a connection has waited for an answer of ours."""

log = structlog.get_logger(__name__)


class Failover:
    """Watch over masters."""

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
        # What waits is groups, not events: a group whose turn comes is judged as it is then.
        self._causes: dict[Group, str] = {}
        self._gone: dict[Group, set[ReplicaKey]] = {}
        self._groups: asyncio.Queue[Group] = asyncio.Queue()
        self._replaced: set[ReplicaKey] = set()
        self._has_replaced = asyncio.Event()
        self._unlogged: list[tuple[GroupView, str]] = []

    def note_closed(self, connection: object) -> None:
        """Have the replicas of a closed connection taken for gone, unless we may be the cause."""
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
        """Replace a replica that says good-bye, and end its lease.

        A master says so once it has stopped acknowledging, so the election ends its lease in the
        same statement. Where nobody could be elected, the lease ends by itself.

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
                # In a turn of its own: the broker waits for an answer.
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
        """Have groups judged until cancelled; several may work side by side."""
        while True:
            group = await self._groups.get()
            cause = self._causes.pop(group)
            gone = {
                key for key in self._gone.pop(group, ()) if self._table.find_replica(key) is None
            }
            try:
                # What others are to know can wait; this process judges by what it hears itself.
                await self._judge(group, cause, gone=gone)
                if gone:
                    await self._writer.forget(sorted(gone))
            except DATABASE_ERRORS as error:
                log.warning("failover_delayed", broker_name=group[1], error=str(error))
                self._gone.setdefault(group, set()).update(gone)
                self._enqueue_later(group, cause, RETRY_DELAY_S)

    async def forget_replaced(self) -> None:
        """Have it known until cancelled that replaced masters are heard no longer."""
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
        """Replace a group's master if it is gone; tell whether it has another one."""
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
        """Log a change with others: while many groups fail over, brokers wait for each other."""
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
        """Take silent replicas for gone until cancelled."""
        while True:
            await asyncio.sleep(SILENCE_SCAN_INTERVAL_S)
            self._pauses.look()
            self._give_up_silent()

    def _give_up_silent(self) -> None:
        silent = []
        for entry in self._table.list_silent_replicas():
            if self._owes_for_s(entry.connection) > 0:
                # It sends nothing before it has our answer.
                self._table.wait_again([entry])
            else:
                silent.append(entry)
        for entry in silent:
            self._table.remove_replica(entry.key)
        self._note_gone([entry.key for entry in silent], "it sent no heartbeat in time")
        for entry in silent:
            # Another replica may still speak over the same connection.
            if not self._table.list_replicas_over(entry.connection):
                self._close_connection(entry.connection)

    async def scan_masterless(self) -> None:
        """Find groups that lost their master to nobody's sight, until cancelled (S63)."""
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
