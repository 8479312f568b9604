"""The membership of a broker in a group: its identity, and its role by the controller (3.2-3.10).

The controller decides. The tasks here ask it, and `Controlled` carries out its decisions.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, Final

import structlog

from backend.remoting.bodies.share_leases import LeaseDecisionsBody, LeaseHeartbeatBody
from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.elapsed import elapsed_s
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.controlled import Controlled
from workers.broker.replication.controller_client import (
    ControllerClient,
    ControllerRefused,
    RegistrationFacts,
    ReplicaGroupState,
)
from workers.broker.replication.identity import Identity, IdentityFiles, negotiate
from workers.broker.replication.mending import mend
from workers.broker.replication.roles import Role, RoleKeeper, Verdict
from workers.broker.replication.sync_state import SyncStateSet

JOIN_RETRY_S: Final = 0.5
BEAT_RETRY_S: Final = 0.2
GOODBYE_PAUSE_S: Final = 0.3
POLL_RETRY_S: Final = 1.0

log = structlog.get_logger()


class GroupMember:
    """This broker in its group."""

    def __init__(
        self, settings: BrokerSettings, membership: Controlled, *, own_address: str
    ) -> None:
        self._settings, self._membership, self._own_address = settings, membership, own_address
        self._controller = ControllerClient(
            settings.controllers,
            own_address=own_address,
            timeout_ms=settings.controller_timeout_ms,
            priority=settings.election_priority,
            protocol_version=settings.protocol_version_max,
            on_notice=self._on_notice,
        )
        self._identity: Identity | None = None
        self._keeper: RoleKeeper | None = None
        self._beat_wanted, self._poll_wanted = asyncio.Event(), asyncio.Event()
        self._is_gone = False
        self._needs_election = False
        self._answered_beat_at_s = 0.0

    async def run(self) -> None:
        """Join the group and stay in it, until cancelled.

        Raises:
            IdentityMismatch: the store belongs to another group (S24).
        """
        identity = self._identity = await self._negotiate()
        self._membership.attach(identity.broker_id, self)
        keeper = self._keeper = RoleKeeper(
            identity.broker_id, self._membership, known_epoch=self._membership.known_epoch()
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keeper.run())
            tasks.create_task(self._membership.tick())
            tasks.create_task(self._membership.marks.run())
            await self._join(identity, keeper)
            tasks.create_task(self._beat(identity))
            tasks.create_task(self._poll(identity, keeper))

    async def mend(self) -> None:
        """Stay out of the group until its master has repaired a damaged log.

        Raises:
            IdentityMismatch: the store belongs to another group (S24).
        """
        identity = await self._negotiate()
        await mend(
            identity.broker_id,
            ask_group=partial(self._controller.replica_info, identity),
            mend_from=partial(self._membership.replica.mend, identity.broker_id),
            report=self._membership.replica.note_obstacle,
        )

    async def leave(self) -> None:
        """Hand over: stop appends, confirm all data, then unregister (R10c)."""
        await self._membership.master.leave()
        self._is_gone = True
        if self._identity is not None:
            try:
                await self._say_goodbye(self._identity)
            except (OSError, ControllerRefused) as error:
                log.warning("goodbye_unanswered", reason=str(error))
        await self._membership.stop()
        self._controller.close()

    def hurry(self) -> None:
        """Report the state of this broker to the controller now."""
        self._beat_wanted.set()

    async def ask_for_set(
        self, epoch: int, members: frozenset[int], set_epoch: int, *, is_fence: bool
    ) -> SyncStateSet:
        """Ask the controller for another set."""
        assert self._identity is not None, "terms come after the identity"
        return await self._controller.alter(
            self._identity, epoch=epoch, members=members, set_epoch=set_epoch, is_fence=is_fence
        )

    async def ask_for_leases(self, heartbeat: LeaseHeartbeatBody) -> LeaseDecisionsBody:
        """Report the leases of share queues to the arbiter (4102).

        Raises:
            OSError: this broker has no id yet, or there is no answer. ControllerRefused: the
            heartbeat is refused.
        """
        if self._identity is None or self._is_gone:
            raise ConnectionError("this broker is no member of its group now")
        life = self._membership.heartbeat_facts().life
        return await self._controller.share_leases(self._identity, life, heartbeat)

    async def learn_set(self) -> None:
        """Read the present state of the group from the controller."""
        assert self._identity is not None, "terms come after the identity"
        assert self._keeper is not None, "terms come after the role"
        self._keeper.take(await self._controller.replica_info(self._identity))

    async def _negotiate(self) -> Identity:
        settings = self._settings
        reported = ""
        while True:
            try:
                return await negotiate(
                    IdentityFiles(settings.root_dir),
                    self._controller,
                    cluster_name=settings.cluster_name,
                    broker_name=settings.broker_name,
                    new_code=lambda: f"{self._own_address};{secrets.token_hex(16)}",
                )
            except (OSError, ControllerRefused) as error:
                reported = _report("broker_id_awaited", error, reported)
            await asyncio.sleep(JOIN_RETRY_S)

    async def _join(self, identity: Identity, keeper: RoleKeeper) -> None:
        """Stay fenced until the group has a master."""
        reported = ""
        while not self._membership.master.is_leaving:
            try:
                if await self._try_to_join(identity, keeper):
                    return
            except (OSError, ControllerRefused) as error:
                reported = _report("master_awaited", error, reported)
            await asyncio.sleep(JOIN_RETRY_S)

    async def _try_to_join(self, identity: Identity, keeper: RoleKeeper) -> bool:
        state = await self._register(identity, keeper)
        verdict = Verdict.IGNORED if state.master_id is None else keeper.take(state)
        if verdict is Verdict.TAKEN:
            return True
        if verdict is Verdict.NEEDS_ELECTION and state.master_id == identity.broker_id:
            # The epoch is of before the restart, and must not continue; no request is served in it.
            await self._controller.say_goodbye(identity, self._membership.heartbeat_facts())
            await asyncio.sleep(GOODBYE_PAUSE_S)
        await self._controller.heartbeat(identity, self._membership.heartbeat_facts())
        if self._membership.master.is_leaving:
            return False
        state = await self._controller.elect(identity)
        if keeper.take(state) is Verdict.TAKEN:
            return True
        raise ConnectionError(
            f"the controller is in epoch {state.epoch}, and this log in {keeper.epoch} already"
        )

    async def _register(self, identity: Identity, keeper: RoleKeeper) -> ReplicaGroupState:
        heartbeat_facts = self._membership.heartbeat_facts()
        facts = RegistrationFacts(
            epoch=max(keeper.epoch, 0),
            max_position=heartbeat_facts.max_position,
            master_id=keeper.known_master_id,
            is_verified=heartbeat_facts.is_verified,
        )
        return await self._controller.register(identity, facts)

    async def _beat(self, identity: Identity) -> None:
        reported = ""
        while True:
            pause_s = self._settings.heartbeat_interval_ms / 1000
            self._beat_wanted.clear()
            asked_at_s, heartbeat_facts = elapsed_s(), self._membership.heartbeat_facts()
            try:
                if self._is_gone:
                    return
                if self._membership.is_broken:
                    await self._say_goodbye(identity)
                    return
                beat = self._controller.heartbeat(identity, heartbeat_facts)
                lease_ms = await _unless(self._beat_wanted, beat)
                if lease_ms is None:
                    # The answer is outdated.
                    continue
            except (OSError, ControllerRefused) as error:
                reported = _report("heartbeat_unanswered", error, reported)
                pause_s = BEAT_RETRY_S
            else:
                reported = ""
                self._answered_beat_at_s = asked_at_s
                if not self._membership.master.take_lease(
                    heartbeat_facts.epoch, asked_at_s=asked_at_s, lease_ms=lease_ms
                ):
                    self._needs_election = True
                    self._poll_wanted.set()
            await _wait(self._beat_wanted, pause_s)

    async def _say_goodbye(self, identity: Identity) -> None:
        """Give back the lease: before the controller learns of it, acknowledging has stopped."""
        self._membership.master.resign()
        await self._controller.say_goodbye(identity, self._membership.heartbeat_facts())

    async def _poll(self, identity: Identity, keeper: RoleKeeper) -> None:
        """Repair the state after a lost notice (S68), and ask for a master if there is none."""
        reported = ""
        while not self._is_gone:
            pause_s = self._settings.metadata_poll_interval_ms / 1000
            try:
                asked_at_ms = self._membership.elapsed_ms()
                state = await self._controller.replica_info(identity)
                verdict = keeper.take(state)
                self._membership.use_version(state.protocol_version, asked_at_ms=asked_at_ms)
                is_deposed = self._needs_election and keeper.role is Role.MASTER
                self._needs_election = False
                is_wanted = verdict is Verdict.NEEDS_ELECTION or is_deposed
                if is_wanted and not self._membership.master.is_leaving:
                    keeper.take(await self._controller.elect(identity))
            except (OSError, ControllerRefused) as error:
                reported = _report("controller_unanswered", error, reported)
                pause_s = POLL_RETRY_S
                if _is_group_lost(error):
                    await self._claim(identity, keeper)
            else:
                reported = ""
            await _wait(self._poll_wanted, pause_s)

    async def _claim(self, identity: Identity, keeper: RoleKeeper) -> None:
        """Register this broker at a controller that lost the group, as RocketMQ does.

        An operator must adopt the broker (D6, control-plane.md 3.10).
        """
        try:
            await self._register(identity, keeper)
        except (OSError, ControllerRefused) as error:
            log.debug("adoption_awaited", reason=str(error))

    def _on_notice(self, state: ReplicaGroupState) -> None:
        state = replace(state, lease_from_s=self._answered_beat_at_s)
        if self._keeper is not None and self._keeper.take(state) is Verdict.NEEDS_ELECTION:
            self._poll_wanted.set()


def _is_group_lost(error: Exception) -> bool:
    """Return whether the controller does not know the group of this broker."""
    return (
        isinstance(error, ControllerRefused)
        and error.code == ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST
    )


async def _unless(event: asyncio.Event, work: Coroutine[Any, Any, int]) -> int | None:
    """Return the result of some work, or None if something else is wanted meanwhile."""
    working, wanted = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((working, wanted), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        wanted.cancel()


async def _wait(event: asyncio.Event, pause_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(pause_s):
            await event.wait()
    event.clear()


def _report(event: str, error: Exception, reported: str) -> str:
    """Log a reason once, however often it repeats."""
    reason = str(error)
    if reason != reported:
        log.warning(event, reason=reason)
    return reason
