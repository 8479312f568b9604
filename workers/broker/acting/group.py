"""Keep this broker in its group of fixed roles: learn the members, come online, leave.

The name servers know which members are alive. A broker polls one of them every second, also before
it is online. They also push changes of the least id (control-plane.md 5.2, 5.3).
"""

import asyncio
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup, TopicRouteData
from backend.remoting.headers import (
    BrokerMemberGroupHeader,
    Header,
    RouteHeader,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import sync_member_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.fixed_master import FixedMaster
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.least_id import Least, least_of
from workers.broker.acting.passing_back import settle_own
from workers.broker.acting.pre_online import Members, PreOnline
from workers.broker.broker import Broker
from workers.broker.routing.name_servers import NameServers

TICK_S: Final = 0.05
RETRY_S: Final = 0.02
CONNECT_TRY_COUNT: Final = 50

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
        self._pre_online = PreOnline(
            broker, membership, own_address=own_address, ask_members=self._ask_members
        )

    async def run(self) -> None:
        """Come online, and stay a member until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tick())
            if isinstance(self._membership, FixedReplica):
                tasks.create_task(self._membership.run())
                tasks.create_task(self._membership.save_acted())
            else:
                tasks.create_task(settle_own(self._broker, self._own_address))
            await self._go_online(await self._await_members())
            tasks.create_task(self._poll())

    async def leave(self) -> None:
        """Let replicas have all of the log, and end."""
        self._membership.quorum.close()
        if isinstance(self._membership, FixedMaster):
            await self._membership.leading.leave()
        else:
            await self._membership.stop()

    async def _go_online(self, members: Members | None) -> None:
        membership = self._membership
        membership.members, membership.not_online_reason = members or {}, ""
        if isinstance(membership, FixedMaster):
            membership.go_online()
        elif members is None:
            # It acts for no master before a name server says who lives.
            membership.is_online = True
        else:
            others = {key: one for key, one in members.items() if key != membership.own_id}
            own = Least(membership.own_id, self._own_address)
            await membership.begin(least_of(others | {own.broker_id: own.address}) or own)
        self._name_servers.release()
        log.info("broker_online", broker_id=membership.own_id, members=sorted(members or {}))

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            if isinstance(self._membership, FixedMaster):
                self._membership.tick(loop.time())
            else:
                self._membership.tick()

    async def _await_members(self) -> Members | None:
        """Return the members that a name server knows, once this broker may come online.

        A broker whose role never changes need not know them: None if no name server answers soon.
        """
        settings = self._broker.settings
        if self._name_servers.is_none:
            return None
        await self._await_name_server()
        if settings.skips_pre_online or not settings.acts_as_master:
            return await self._ask_members()
        return await self._pre_online.run()

    async def _await_name_server(self) -> None:
        """Give the connections to the name servers a moment; the rounds report a longer wait."""
        for _ in range(CONNECT_TRY_COUNT):
            if await self._ask_members() is not None:
                return
            await asyncio.sleep(RETRY_S)

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._broker.settings.member_poll_interval_ms / 1000)
            members = await self._ask_members()
            if members is None:
                continue
            self._membership.members = members
            least = least_of(members)
            if isinstance(self._membership, FixedReplica):
                if least is not None:
                    self._membership.note_least(least)
                await self._membership.stand_by()

    async def _ask_members(self) -> Members | None:
        """Return the addresses of the members by id; None if no name server answers.

        A member counts that any of them knows: one that has just begun, or that a member does not
        reach, knows less than the other ones.
        """
        settings = self._broker.settings
        header: Header
        if settings.knows_old_name_servers:
            code = RequestCode.GET_ROUTEINFO_BY_TOPIC
            header = RouteHeader(
                topic=sync_member_topic(settings.broker_name), accept_standard_json_only=True
            )
        else:
            code = RequestCode.GET_BROKER_MEMBER_GROUP
            header = BrokerMemberGroupHeader(
                cluster_name=settings.cluster_name, broker_name=settings.broker_name
            )
        members: Members = {}
        answers = await self._name_servers.ask_each(code, encode_header(header))
        found = [one for one in map(self._read_members, answers) if one is not None]
        for one in found:
            members = one | members
        return members if found else None

    def _read_members(self, answer: Command) -> Members | None:
        """Return the members that one name server knows; None if its answer says nothing."""
        settings = self._broker.settings
        is_route = settings.knows_old_name_servers
        if is_route and answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return {}
        if answer.code != ResponseCode.SUCCESS:
            return None
        try:
            if not is_route:
                return dict(java_json.decode(answer.body, BrokerMemberGroup).members.addresses)
            # The members of the topic of the group (control-plane.md 5.9).
            brokers = java_json.decode(answer.body, TopicRouteData).brokers
        except InvalidJson:
            return None
        wanted = (settings.cluster_name, settings.broker_name)
        found = [one for one in brokers if (one.cluster, one.broker_name) == wanted]
        return dict(found[0].addresses) if found else {}
