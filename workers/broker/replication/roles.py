"""Carry out the controller's decisions about this broker's role, one step after the other.

Roles change as in control-plane.md 3.6, 3.7, 3.10.

Notices, polls and answers arrive in any order and more than once; only the newest epoch is
followed. Once a newer epoch is known, all work of the older one stops. A failed step is retried, or
replaced by a newer one; the role changes only when its step is complete.
"""

import asyncio
from enum import StrEnum
from typing import Final, Protocol

import structlog
from regent_engine import StoreError

from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.sync_state import SyncStateSet

RETRY_S: Final = 0.5
NO_MASTER: Final = 0

log = structlog.get_logger()


class Role(StrEnum):
    """The role of this broker in its group."""

    NONE = "none"
    """Fenced: no master is known, or a change of roles is in progress."""

    MASTER = "master"
    REPLICA = "replica"


class Verdict(StrEnum):
    """The effect of an answer of the controller."""

    IGNORED = "ignored"
    TAKEN = "taken"
    NEEDS_ELECTION = "needs_election"
    """There is no master, or it is this broker in an epoch that it must not resume."""


class Actor(Protocol):
    """The actions of a broker for its role."""

    def suspend(self) -> None:
        """Stop acknowledging and storing messages immediately."""

    async def become_master(self, state: ReplicaGroupState) -> None:
        """Serve as master of a new epoch; after OSError or StoreError it is called again."""

    async def become_replica(self, state: ReplicaGroupState) -> None:
        """Follow a master; after OSError or StoreError it is called again."""

    def take_first_lease(self, state: ReplicaGroupState) -> None:
        """Use the lease of the election whose epoch this broker serves or is about to serve."""

    def install(self, committed: SyncStateSet) -> None:
        """Use a new set of the present epoch."""


class Authority(Protocol):
    """The connection to the controller."""

    async def ask_for_set(
        self, epoch: int, members: frozenset[int], set_epoch: int, *, is_fence: bool
    ) -> SyncStateSet:
        """Ask for another set (1001); as `ControllerClient.alter`."""

    async def learn_set(self) -> None:
        """Read the controller's present state."""

    def hurry(self) -> None:
        """Report the state of this broker to the controller now."""


class RoleKeeper:
    """The only place where roles change."""

    def __init__(
        self, own_id: int, actor: Actor, *, known_epoch: int, retry_s: float = RETRY_S
    ) -> None:
        """Start fenced; `known_epoch` is the newest epoch of the log, under any master."""
        self._own_id, self._actor = own_id, actor
        self._retry_s = retry_s
        self._target: ReplicaGroupState | None = None
        self._has_news = asyncio.Event()
        self.role = Role.NONE
        self.epoch = known_epoch
        self._master_id = NO_MASTER

    @property
    def known_master_id(self) -> int:
        """Return the id of this broker's master, which may be itself; 0 while it is fenced."""
        return NO_MASTER if self.role is Role.NONE else self._master_id

    def take(self, state: ReplicaGroupState) -> Verdict:
        """Take an answer of the controller."""
        newest = self.epoch if self._target is None else self._target.epoch
        if state.epoch < newest:
            return Verdict.IGNORED
        is_settled = self.role is not Role.NONE or self._target is not None
        if state.epoch == newest and is_settled:
            if self.role is Role.MASTER and self._target is None and state.sync_state_set:
                self._actor.install(state.sync_state_set)
            if state.lease_ms > 0 and state.master_id == self._own_id:
                # A poll reported the election before this notice did.
                self._actor.take_first_lease(state)
            return Verdict.TAKEN
        if state.master_id is None or state.master_address is None:
            return Verdict.NEEDS_ELECTION
        if state.master_id == self._own_id and state.epoch <= self.epoch:
            # Before its restart this broker may have acknowledged messages as the master of that
            # epoch, and its log may have lost them since. So only a new election may decide (S71
            # does not apply).
            return Verdict.NEEDS_ELECTION
        self._target = state
        self.role = Role.NONE
        self._actor.suspend()
        self._has_news.set()
        return Verdict.TAKEN

    async def run(self) -> None:
        """Change roles until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while (target := self._target) is not None:
                if not await self._try(target):
                    await self._pause()

    async def _try(self, target: ReplicaGroupState) -> bool:
        is_own = target.master_id == self._own_id
        try:
            if is_own:
                await self._actor.become_master(target)
            else:
                await self._actor.become_replica(target)
        except (OSError, StoreError) as error:
            log.error(  # noqa: TRY400 - the reason is complete
                "role_change_failed", epoch=target.epoch, is_master=is_own, reason=str(error)
            )
            return False
        self.epoch = target.epoch
        if self._target is target:
            self._target = None
            self.role = Role.MASTER if is_own else Role.REPLICA
            self._master_id = target.master_id or NO_MASTER
            log.info("role_changed", role=self.role, epoch=target.epoch, master_id=target.master_id)
        else:
            # A newer epoch became known meanwhile.
            self._actor.suspend()
        return True

    async def _pause(self) -> None:
        self._has_news.clear()
        try:
            async with asyncio.timeout(self._retry_s):
                await self._has_news.wait()
        except TimeoutError:
            pass
