"""Tell the brokers that this process hears who became master, whichever process had it elected.

Every process hears of every committed change and pushes to the replicas on its own connections
(1008, one-way, once). A broker that asks for leases is told over the connection that it speaks on;
a stock broker, which takes no requests there, at its address. What is lost is healed by the
brokers' own polling (control-plane.md 2.7).
"""

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

import psycopg
import structlog

from backend.clients.remoting_client import BrokerUnreachable, RemotingClient
from backend.db.group_notices import listen
from backend.domain.replica_group import ChangeKind, ReplicaGroup
from backend.nameserver.heartbeats import HeardReplica, HeartbeatTable
from backend.nameserver.processors.replica_groups import encode_set, master_header
from backend.nameserver.sighting_writer import DATABASE_ERRORS
from backend.remoting.headers import encode_header
from backend.remoting.request_code import RequestCode
from backend.services.group_changes import Controller, GroupName, find_group

RETRY_DELAY_S: Final = 1.0
PUSHES_AT_ONCE_MAX: Final = 64

log = structlog.get_logger(__name__)


@runtime_checkable
class Notifiable(Protocol):
    """A connection over which a one-way request can be sent."""

    def notify(self, code: int, *, ext: Mapping[str, str], body: bytes) -> None:
        """Send it."""
        ...


class RoleNotices:
    """Push elections to brokers."""

    def __init__(
        self, table: HeartbeatTable, controller: Controller, client: RemotingClient
    ) -> None:
        self._table, self._controller, self._client = table, controller, client
        self._slots = asyncio.Semaphore(PUSHES_AT_ONCE_MAX)

    async def push(self) -> None:
        """Push until cancelled."""
        while True:
            try:
                async with (
                    asyncio.TaskGroup() as pushes,
                    listen(self._controller.database) as notices,
                ):
                    # What was committed while nobody listened; telling it twice is harmless.
                    for cluster_name, group_name in self._table.list_groups():
                        pushes.create_task(self._tell(cluster_name, group_name))
                    async for notice in notices:
                        if notice.kind is ChangeKind.MASTER_ELECTED:
                            pushes.create_task(self._tell(notice.cluster_name, notice.group_name))
            except* (psycopg.Error, OSError) as errors:
                log.warning("group_notices_lost", error=str(errors.exceptions[0]))
            await asyncio.sleep(RETRY_DELAY_S)

    async def _tell(self, cluster_name: str, group_name: str) -> None:
        if not self._table.list_of_group(cluster_name, group_name):
            return
        async with self._slots:
            try:
                view = await find_group(GroupName(group_name, cluster_name), self._controller)
            except DATABASE_ERRORS as error:
                log.warning("role_notice_failed", broker_name=group_name, error=str(error))
                return
            if view is None or view.group.master_id is None:
                return
            # Read again: who is heard may have changed meanwhile.
            for heard in self._table.list_of_group(cluster_name, group_name):
                await self._tell_replica(view.group, heard)

    async def _tell_replica(self, group: ReplicaGroup, heard: HeardReplica) -> None:
        replica = group.replicas.get(heard.key[2])
        if replica is None:
            return
        code = RequestCode.NOTIFY_BROKER_ROLE_CHANGED
        ext, body = encode_header(master_header(group)), encode_set(group)
        if heard.takes_notices and isinstance(heard.connection, Notifiable):
            heard.connection.notify(code, ext=ext, body=body)
            return
        try:
            await self._client.notify(replica.address, code, ext=ext, body=body)
        except BrokerUnreachable as error:
            log.warning("role_notice_undelivered", broker_name=group.name, error=str(error))
