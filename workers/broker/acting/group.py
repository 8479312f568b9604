"""Keep this broker in its group of fixed roles: learn the members, come online, leave.

The name servers know who is alive. A broker polls one of them every second, also while it is not
online, and is told of changes of the least id as well (control-plane.md 5.2, 5.3).
"""

import asyncio
from typing import Final

import structlog

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup
from backend.remoting.errors import RemotingError
from backend.remoting.headers import BrokerMemberGroupHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.fixed_master import FixedMaster
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.least_id import Least, least_of
from workers.broker.broker import Broker
from workers.broker.routing.name_servers import NameServers

TICK_S: Final = 0.05
RETRY_S: Final = 0.2

log = structlog.get_logger()


class FixedGroup:
    """The tasks of one member."""

    def __init__(
        self,
        broker: Broker,
        membership: FixedMaster | FixedReplica,
        name_servers: NameServers,
        *,
        own_address: str,
    ) -> None:
        self._broker, self._membership = broker, membership
        self._name_servers, self._own_address = name_servers, own_address

    async def run(self) -> None:
        """Come online, and stay a member until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tick())
            self._go_online(await self._await_members())
            tasks.create_task(self._poll())

    async def leave(self) -> None:
        """Let replicas have all of the log, and end."""
        if isinstance(self._membership, FixedMaster):
            await self._membership.leading.leave()
        else:
            await self._membership.stop()

    def _go_online(self, members: dict[int, str]) -> None:
        membership = self._membership
        membership.members = members
        if isinstance(membership, FixedMaster):
            membership.go_online()
        else:
            others = {key: one for key, one in members.items() if key != membership.own_id}
            own = Least(membership.own_id, self._own_address)
            membership.begin(least_of(others | {own.broker_id: own.address}) or own)
        self._name_servers.release()
        log.info("broker_online", broker_id=membership.own_id, members=sorted(members))

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            if isinstance(self._membership, FixedMaster):
                self._membership.tick(loop.time())
            else:
                self._membership.tick()

    async def _await_members(self) -> dict[int, str]:
        """Return the members that a name server knows; without any name server, none.

        A broker whose role never changes need not know them.
        """
        settings = self._broker.settings
        reported = False
        while not self._name_servers.is_none:
            members = await self._ask_members()
            if members is not None:
                return members
            if settings.skips_pre_online or not settings.acts_as_master:
                break
            if not reported:
                log.info("members_awaited", reason="no name server answers")
                reported = True
            await asyncio.sleep(RETRY_S)
        return {}

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._broker.settings.member_poll_interval_ms / 1000)
            members = await self._ask_members()
            if members is None:
                continue
            self._membership.members = members
            least = least_of(members)
            if least is not None and isinstance(self._membership, FixedReplica):
                self._membership.note_least(least)

    async def _ask_members(self) -> dict[int, str] | None:
        """Return the addresses of the members by id; None if no name server answers."""
        settings = self._broker.settings
        header = BrokerMemberGroupHeader(
            cluster_name=settings.cluster_name, broker_name=settings.broker_name
        )
        code = RequestCode.GET_BROKER_MEMBER_GROUP
        try:
            answer = await self._name_servers.ask(code, encode_header(header))
            if answer.code != ResponseCode.SUCCESS:
                return None
            return dict(java_json.decode(answer.body, BrokerMemberGroup).members.addresses)
        except (OSError, RemotingError, InvalidJson):
            return None
