"""Come online: a master once it has what its replicas did, a replica once it copies.

The rounds are those of control-plane.md 5.7.
Until then the broker is not registered, so no client finds it. Each wait is bounded, each round
that fails is repeated, and the reason is logged when it changes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.address import split_address
from backend.remoting.bodies.controller import HaStatusBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import HaInfoHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.requester import connect
from backend.rules.broker import MASTER_ID
from backend.rules.pre_online import PreOnlinePhase
from workers.broker.acting.fixed_master import FixedMaster
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.taking_over import stand_by, take_over
from workers.broker.broker import Broker
from workers.broker.replication.passing_on import MasterLink
from workers.broker.routing.group_members import Members

ROUND_PAUSE_S: Final = 1.0
COPY_WAIT_S: Final = 10.0
COPY_CHECK_S: Final = 0.02
ABSENCE_CHECK_S: Final = 0.1
MASTER_ABSENCE_S: Final = 1.2
"""How long a replica waits for members that are not listed.

Brokers register again within about a second after a name server lost all.
"""

REPLICA_ABSENCE_S: Final = 2.4
"""How long a master waits: a replica that starts with it must be listed, for it may have acted."""

log = structlog.get_logger()


class _NotYet(Exception):
    """A round failed, for the given reason."""


class PreOnline:
    """The rounds of one start."""

    def __init__(
        self,
        broker: Broker,
        membership: FixedMaster | FixedReplica,
        *,
        own_address: str,
        ask_members: Callable[[], Awaitable[Members | None]],
    ) -> None:
        self._broker, self._membership, self._own_address = broker, membership, own_address
        self._ask_members = ask_members
        self._has_waited = False

    async def run(self) -> Members:
        """Return the members of the group once this broker may come online."""
        while True:
            try:
                return await self._round()
            except (_NotYet, OSError, TimeoutError, RemotingError, InvalidJson) as error:
                reason = str(error) or "there is no answer in time"
                if reason != self._membership.not_online_reason:
                    log.warning(
                        "broker_not_online",
                        reason=reason,
                        next_step="it tries again every second; skipPreOnline=true skips this",
                    )
                self._membership.not_online_reason = reason
            await asyncio.sleep(ROUND_PAUSE_S)

    async def _round(self) -> Members:
        self._membership.enter(PreOnlinePhase.MEMBERS)
        members = await self._list_members()
        others = {
            broker_id: address
            for broker_id, address in sorted(members.items())
            # The entry of this broker's former process does not speak for anyone (S118).
            if address != self._own_address and broker_id != self._membership.own_id
        }
        if isinstance(self._membership, FixedMaster):
            await self._return_to(self._membership, members, others)
        elif MASTER_ID in others:
            await self._join(self._membership, others[MASTER_ID])
        elif others:
            await self._succeed(min(others), others[min(others)])
        return others

    async def _list_members(self) -> Members:
        """Return the members; those that a name server lacks which has just begun come in a moment.

        Raises:
            _NotYet: no name server answers.
        """
        loop = asyncio.get_running_loop()
        is_master = isinstance(self._membership, FixedMaster)
        ends_s = loop.time() + (REPLICA_ABSENCE_S if is_master else MASTER_ABSENCE_S)
        while True:
            members = await self._ask_members()
            if members is None:
                self._membership.enter(PreOnlinePhase.NAME_SERVER)
                raise _NotYet("no name server answers who the members of the group are")
            count = len(members.keys() | {self._membership.own_id})
            if self._has_waited or count >= self._broker.settings.replica_count:
                return members
            self._has_waited = loop.time() > ends_s
            await asyncio.sleep(ABSENCE_CHECK_S)

    async def _return_to(self, master: FixedMaster, members: Members, others: Members) -> None:
        holder = members.get(MASTER_ID, self._own_address)
        if holder != self._own_address:
            raise _NotYet(f"the name server knows another master of this group, {holder}")
        # In each round from the first one on: a replica goes on acting until this broker serves.
        for address in others.values():
            master.enter(PreOnlinePhase.ANNOUNCE, address)
            await self._announce(master, address)
            master.enter(PreOnlinePhase.COPY, address)
            await self._await_copy(master, address, others)
        # Last, and at once: clients of the replica that acts wait. It has the least id.
        for address in reversed(others.values()):
            master.enter(PreOnlinePhase.TAKE_OVER, address)
            await take_over(self._broker, address)

    async def _announce(self, master: FixedMaster, address: str) -> None:
        """Notify a replica of the addresses of its master."""
        header = HaInfoHeader(
            master_ha_address=master.ha_address,
            master_flush_offset=self._broker.store.flushed_position,
            master_address=self._own_address,
        )
        answer = await _ask(address, RequestCode.EXCHANGE_BROKER_HA_INFO, encode_header(header))
        if answer.code != ResponseCode.SUCCESS:
            raise _NotYet(f"the replica {address} refused its master: {answer.remark}")

    async def _await_copy(self, master: FixedMaster, address: str, others: Members) -> None:
        """Wait until a replica copies this log.

        In the default protocol a replica does not say who it is, so replicas of one host are
        counted: stock takes one of them for all.
        """
        host = _host_of(address)
        hosts = [_host_of(one) for one in others.values()]
        wanted = list(others.values()).index(address)
        wanted_count = 1 + sum(one == host for one in hosts[:wanted])

        def is_copying() -> bool:
            found = master.leading.copying_hosts
            return sum(one == host for one in found) >= wanted_count

        reason = f"the replica {address} does not copy the log of this broker"
        try:
            await _await_within(is_copying, lambda: reason)
        except _NotYet as error:
            obstacle = await _obstacle_of(address)
            raise _NotYet(f"{reason}: it says that {obstacle}" if obstacle else reason) from error

    async def _succeed(self, broker_id: int, address: str) -> None:
        """Take over from the replica that acts now; this one serves next by a lesser id (S108)."""
        self._membership.enter(PreOnlinePhase.TAKE_OVER, address)
        link = MasterLink(address)
        try:
            await stand_by(
                self._broker,
                link,
                acts=True,
                is_wanted=lambda: True,
                serves_next=self._membership.own_id < broker_id,
            )
        finally:
            link.retire()

    async def _join(self, replica: FixedReplica, master_address: str) -> None:
        replica.enter(PreOnlinePhase.JOIN, master_address)
        await replica.follow(master_address)

        def is_ready() -> bool:
            follower = replica.follower
            return follower is not None and (follower.is_copying or follower.is_controlled)

        def describe() -> str:
            follower = replica.follower
            obstacle = "this log is damaged" if follower is None else follower.obstacle
            return f"the log of the master {master_address} is not copied yet: {obstacle}"

        await _await_within(is_ready, describe)


async def _ask(address: str, code: RequestCode, ext: dict[str, str]) -> Command:
    """Return the answer of a replica.

    Raises:
        _NotYet: it can't be reached. OSError, TimeoutError, RemotingError: it does not answer.
    """
    try:
        requester = await connect(split_address(address), peer_name="replica")
    except (OSError, TimeoutError) as error:
        raise _NotYet(f"the replica {address} can't be reached: {error}") from error
    try:
        return await requester.call(code, ext=ext)
    finally:
        requester.close()


async def _obstacle_of(address: str) -> str:
    """Return why a replica says that it does not copy; empty if it says nothing."""
    answer = await _ask(address, RequestCode.GET_BROKER_HA_STATUS, {})
    if answer.code != ResponseCode.SUCCESS:
        return ""
    return java_json.decode(answer.body, HaStatusBody).client.obstacle or ""


async def _await_within(is_reached: Callable[[], bool], describe: Callable[[], str]) -> None:
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + COPY_WAIT_S
    while not is_reached():
        if loop.time() > ends_at:
            raise _NotYet(describe())
        await asyncio.sleep(COPY_CHECK_S)


def _host_of(address: str) -> str:
    return split_address(address)[0]
