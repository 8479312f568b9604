"""Keep this broker in its group of fixed roles: learn the members, come online, leave.

The name servers know which members are alive. A broker polls one of them every second, also before
it is online. They also push changes of the least id (control-plane.md 5.2, 5.3).
"""

import asyncio
from typing import Final

import structlog

from workers.broker.acting.fixed_master import FixedMaster
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.least_id import Least, least_of
from workers.broker.acting.passing_back import settle_own
from workers.broker.acting.pre_online import PreOnline
from workers.broker.broker import Broker
from workers.broker.routing.group_members import Members, ask_members
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

    async def prepare_to_leave(self) -> None:
        """Change no state any more that the next broker must know; called before it is known."""
        membership = self._membership
        if isinstance(membership, FixedMaster):
            membership.give_up()
        elif membership.is_acting:
            # The last answer may be from before the master was lost.
            members = await self._ask_members()
            if members is not None:
                membership.members = members
            others_count = await membership.give_up()
            self._broker.last_copies.expect(others_count)
            # No log has what was taken here: another replica acts with it (I9, I11).
            await self._broker.last_copies.wait()

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
            notice_count = self._membership.notice_count
            members = await self._ask_members()
            if members is None:
                continue
            self._membership.members = members
            least = least_of(members)
            if isinstance(self._membership, FixedReplica):
                if least is not None:
                    self._membership.note_polled(least, notice_count=notice_count)
                await self._membership.stand_by()

    async def _ask_members(self) -> Members | None:
        """Return the addresses of the members by id; None if no name server answers."""
        return await ask_members(self._name_servers, self._broker.settings)
