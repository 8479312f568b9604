"""Notify the brokers of this process about new masters, whichever process held the election.

Every process receives every committed change, and notifies the replicas on its connections (1008,
one-way, once). A broker that asks for leases is notified over its own connection, immediately if
this process committed the election. A RocketMQ broker accepts no requests there, and is notified at
its address. Brokers also poll, so a lost notice does no harm (control-plane.md 2.7).
"""

import asyncio
from typing import Final, NamedTuple, Protocol, cast

import msgspec
import psycopg
import structlog

from backend.brokers.client import RemotingClient
from backend.brokers.errors import BrokerUnreachable
from backend.db.group_notices import GroupNotice, listen
from backend.domain.replica_group import ChangeKind, ReplicaGroup
from backend.nameserver.presence import HeardReplica, PresenceTable
from backend.nameserver.processors.replica_groups import encode_set, master_header
from backend.nameserver.replica_report_writer import DATABASE_ERRORS
from backend.remoting.command import notice
from backend.remoting.headers import encode_header
from backend.remoting.request_code import RequestCode
from backend.services.controller.group_changes import (
    BrokerGroupName,
    Controller,
    Notify,
    find_group,
)

RETRY_DELAY_S: Final = 1.0
PUSHES_AT_ONCE_MAX: Final = 64

log = structlog.get_logger(__name__)


class Notifiable(Protocol):
    """A connection over which a one-way request can be sent."""

    def notify(self, frame: bytes) -> None:
        """Send its frame."""
        ...


class _Reachable(NamedTuple):
    """A replica that is notified over its own connection, and the duration of its lease."""

    broker_id: int
    connection: Notifiable
    lease_ms: int


class RoleNotices:
    """Push elections to brokers."""

    def __init__(
        self, table: PresenceTable, controller: Controller, client: RemotingClient
    ) -> None:
        self._table, self._controller, self._client = table, controller, client
        self._slots = asyncio.Semaphore(PUSHES_AT_ONCE_MAX)
        # The brokers that this process notified of an election, until the notice of Postgres
        # arrives.
        self._informed: dict[tuple[str, str], tuple[int, frozenset[int]]] = {}
        controller.listeners.append(self._prepare)

    async def push(self) -> None:
        """Push until cancelled."""
        while True:
            try:
                async with (
                    asyncio.TaskGroup() as pushes,
                    listen(self._controller.database) as notices,
                ):
                    # Changes that were committed while this process did not listen. A second notice
                    # is harmless.
                    for cluster_name, broker_group_name in self._table.list_groups():
                        pushes.create_task(self._notify(cluster_name, broker_group_name))
                    async for notice in notices:
                        self._controller.known.drop_before(
                            notice.revision, notice.cluster_name, notice.broker_group_name
                        )
                        if notice.kind is not ChangeKind.MASTER_ELECTED:
                            continue
                        informed_ids = self._take_reported(notice)
                        names = (notice.cluster_name, notice.broker_group_name)
                        if not self._heard_ids(*names) <= informed_ids:
                            pushes.create_task(
                                self._notify(
                                    *names, revision=notice.revision, informed_ids=informed_ids
                                )
                            )
            except* (psycopg.Error, OSError) as errors:
                log.warning("group_notices_lost", error=str(errors.exceptions[0]))
            await asyncio.sleep(RETRY_DELAY_S)

    def _prepare(self, group: ReplicaGroup) -> Notify:
        """Build the notices of reachable brokers while the election is being written.

        The new master comes first, since clients wait for it. If a heartbeat arrives meanwhile, its
        notice is built again: the lease starts at the newest heartbeat that the broker can have an
        answer to.
        """
        known = self._list_reachable(group)
        notices = [_spell(group, one) for one in known]

        def notify(revision: int) -> None:
            present = self._list_reachable(group)
            spelled = notices if present == known else [_spell(group, one) for one in present]
            for one, frame in zip(present, spelled, strict=True):
                one.connection.notify(frame)
            informed_ids = frozenset(one.broker_id for one in present)
            self._informed[group.cluster_name, group.name] = (revision, informed_ids)

        return notify

    def _list_reachable(self, group: ReplicaGroup) -> list["_Reachable"]:
        heard = [(one, _connection_of(one)) for one in self._by_rank(group)]
        return [
            _Reachable(one.key[2], connection, int(one.lease_ends_at_ms - one.heard_at_ms))
            for one, connection in heard
            if connection is not None and one.key[2] in group.replicas
        ]

    def _by_rank(self, group: ReplicaGroup) -> list[HeardReplica]:
        heard = self._table.list_of_group(group.cluster_name, group.name)
        return sorted(heard, key=lambda one: one.key[2] != group.master_id)

    def _take_reported(self, notice: GroupNotice) -> frozenset[int]:
        """Return the brokers that this process has notified of this election, or of a later one."""
        key = (notice.cluster_name, notice.broker_group_name)
        revision, informed_ids = self._informed.get(key, (None, frozenset[int]()))
        if revision is None or revision > notice.revision:
            return informed_ids
        del self._informed[key]
        return informed_ids if revision == notice.revision else frozenset()

    def _heard_ids(self, cluster_name: str, broker_group_name: str) -> set[int]:
        return {one.key[2] for one in self._table.list_of_group(cluster_name, broker_group_name)}

    async def _notify(
        self,
        cluster_name: str,
        broker_group_name: str,
        *,
        revision: int | None = None,
        informed_ids: frozenset[int] = frozenset(),
    ) -> None:
        async with self._slots:
            try:
                group = await self._find(cluster_name, broker_group_name, revision)
            except DATABASE_ERRORS as error:
                log.warning("role_notice_failed", broker_name=broker_group_name, error=str(error))
                return
            if group is None or group.master_id is None:
                return
            # Read again: the replicas of the table may have changed meanwhile.
            for heard in self._by_rank(group):
                if heard.key[2] not in informed_ids:
                    await self._notify_replica(group, heard)

    async def _find(
        self, cluster_name: str, broker_group_name: str, revision: int | None
    ) -> ReplicaGroup | None:
        held = self._controller.known.find(cluster_name, broker_group_name)
        # A group that this process has just written need not be read.
        if held is not None and held.revision == revision:
            return held.group
        view = await find_group(BrokerGroupName(broker_group_name, cluster_name), self._controller)
        return None if view is None else view.group

    async def _notify_replica(self, group: ReplicaGroup, heard: HeardReplica) -> None:
        replica = group.replicas.get(heard.key[2])
        if replica is None:
            return
        connection = _connection_of(heard)
        if connection is not None:
            connection.notify(_spell(group, _Reachable(heard.key[2], connection, 0)))
            return
        ext, body = encode_header(master_header(group)), encode_set(group)
        code = RequestCode.NOTIFY_BROKER_ROLE_CHANGED
        try:
            await self._client.notify(replica.address, code, ext=ext, body=body)
        except BrokerUnreachable as error:
            log.warning("role_notice_undelivered", broker_name=group.name, error=str(error))


def _connection_of(heard: HeardReplica) -> Notifiable | None:
    """Find the connection over which a replica accepts notices, if it does."""
    if not heard.takes_notices or not hasattr(heard.connection, "notify"):
        return None
    return cast("Notifiable", heard.connection)


def _spell(group: ReplicaGroup, informed_ids: _Reachable) -> bytes:
    is_granted = informed_ids.broker_id == group.master_id and informed_ids.lease_ms > 0
    header = msgspec.structs.replace(
        master_header(group), lease_ms=informed_ids.lease_ms if is_granted else None
    )
    code = RequestCode.NOTIFY_BROKER_ROLE_CHANGED
    return notice(code, opaque=0, ext=encode_header(header), body=encode_set(group))
