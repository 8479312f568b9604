"""Serve one master epoch: track the logs of replicas, confirm data, and update the set.

The rules are those of control-plane.md 3.11, 3.12.

Everything here belongs to the thread of the event loop. Set and epoch are one value that changes in
one place.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.acknowledgement import (
    NOWHERE,
    Acknowledgements,
    LeasePolicy,
    Outcome,
    Release,
)
from workers.broker.replication.controller_client import ControllerRefused
from workers.broker.replication.lease import EpochLease
from workers.broker.replication.sync_state import SyncState, SyncStateSet

CHECK_S: Final = 0.1
RETRY_S: Final = 0.5
APPROACH_BYTES_MAX: Final = 1 << 20
"""The maximum lag of a replica that joins the set: it receives this part within a moment."""

APPROACH_S_MAX: Final = 0.5
APPROACH_CHECK_S: Final = 0.002
APPROACH_PAUSE_S: Final = 5.0
"""How long a replica that was too late waits for its next attempt, since all wait during one."""

log = structlog.get_logger()


class TermHost(Protocol):
    """The functions of the broker that a term needs."""

    def log_end(self) -> int:
        """Return the end of the log."""

    def own_held(self) -> int:
        """Return the position up to which the log is as safe here as the settings require."""

    def show(self, position: int) -> None:
        """Let readers see the log up to a confirmed position."""

    def set_replica_count(self, count: int) -> None:
        """Called with the number of brokers in the set, for `minInSyncReplicas`."""

    def replica_ids(self) -> frozenset[int]:
        """Return the connected replicas."""

    async def ask_for_set(
        self, epoch: int, members: frozenset[int], set_epoch: int, *, is_fence: bool
    ) -> SyncStateSet:
        """Ask the controller for another set (1001); as `ControllerClient.alter`."""

    async def learn_set(self) -> None:
        """Read the present state of the group from the controller; raises OSError."""


class Term:
    """The work of a master in one epoch."""

    def __init__(
        self,
        host: TermHost,
        settings: BrokerSettings,
        *,
        own_id: int,
        epoch: int,
        initial_set: SyncStateSet,
        former_end: int,
        shown_position: int,
        lease: EpochLease,
        lease_policy: LeasePolicy,
        now_s: Callable[[], float],
    ) -> None:
        """Begin a term; the log ended at `former_end` before it, and readers see a part of it."""
        self.epoch, self._former_end = epoch, former_end
        self._host, self._own_id = host, own_id
        self._lease, self._now_s = lease, now_s
        self._started_at_s = now_s()
        self._state = SyncState(
            own_id=own_id,
            current=initial_set,
            term_start=host.log_end(),
            confirmed_position=shown_position,
            lag_ms_max=settings.replica_lag_ms_max,
        )
        self._acks = Acknowledgements(
            policy=lease_policy,
            timeout_ms=settings.replica_timeout_ms,
            member_count_min=settings.in_sync_count_min,
            sufficient_count=None if settings.all_ack else settings.in_sync_count,
        )
        if not settings.all_ack:
            _warn_of_few(self._acks.sufficient_count)
        self.published_position = shown_position
        self._check_wanted, self._news = asyncio.Event(), asyncio.Event()
        self._approach_at_s = self._started_at_s
        # The answer to a request for another set was lost.
        self._is_unsure = False
        self._is_over = False

    @property
    def current(self) -> SyncStateSet:
        """Return the committed set."""
        return self._state.current

    @property
    def is_alone(self) -> bool:
        """Return whether all data of this broker is acknowledged."""
        return len(self._state.counted) == 1 or self._acks.sufficient_count == 1

    @property
    def is_over(self) -> bool:
        """Return whether a newer epoch has ended the term."""
        return self._is_over

    @property
    def shows_former(self) -> bool:
        """Return whether readers see all data that may have been acknowledged before this term.

        Data that was read once must stay readable (I8), but a replica learns of a confirmation only
        with the data after it.
        """
        return self.published_position >= self._former_end

    async def show_former(self) -> None:
        """Show readers all data that may have been acknowledged before, as soon as allowed (D9)."""
        self.advance()
        await self._published(self._former_end)

    async def drain(self) -> None:
        """Wait until every held answer has been sent, and any member could take over."""
        drained, end = asyncio.Event(), self._host.log_end()
        # The waiter for the end of the log is the last one.
        self.wait(end, lambda _outcome: drained.set())
        self.advance()
        await drained.wait()
        await self._published(end)

    def wait(self, position: int, release: Release) -> None:
        """Call back once the log is confirmed up to a position, or if that is impossible."""
        if self._is_over:
            release(Outcome.DEPOSED)
            return
        has_lease = self._lease.is_live(self.epoch, self._now_s())
        if position == NOWHERE and self._acks.may_acknowledge(self._state, has_lease=has_lease):
            release(Outcome.CONFIRMED)
            return
        self._acks.wait(position, self._now_ms(), release)
        if position <= self.published_position:
            self.advance()

    def advance(self) -> None:
        """Confirm the data of all members, show it to readers, and send the held answers."""
        if self._is_over:
            return
        has_lease = self._lease.is_live(self.epoch, self._now_s())
        position = self._state.advance(self._host.own_held())
        if not self._acks.may_acknowledge(self._state, has_lease=has_lease):
            return
        is_news = position > self.published_position
        self.published_position = max(position, self.published_position)
        # Senders wait for their answers. Readers see the data before a client can ask again.
        self._acks.advance(self._state, has_lease=has_lease)
        if is_news:
            self._host.show(position)
            self._news.set()

    def end(self) -> None:
        """Stop acknowledging."""
        if not self._is_over:
            self._is_over = True
            self._news.set()
            self._acks.depose()

    def install(self, committed: SyncStateSet) -> None:
        """Use a set that the controller has committed in this epoch."""
        if self._state.install(committed):
            self._is_unsure = False
            log.info(
                "sync_state_set_changed",
                members=sorted(committed.broker_ids),
                epoch=committed.epoch,
            )
        self._host.set_replica_count(self._state.size)
        self.advance()

    def connected(self, broker_id: int, *, is_learner: bool) -> None:
        """Called when a replica connects."""
        self._state.connected(broker_id, is_learner=is_learner)

    def sent(self, broker_id: int) -> None:
        """Called when a part of the log was sent to a replica."""
        self._state.sent(broker_id, self._host.log_end(), self._now_ms())

    def held(self, broker_id: int, position: int) -> None:
        """Called when a replica reports the end of its log."""
        self._state.held(broker_id, position, self._host.log_end(), self._now_ms())
        self.advance()
        if self._state.joining(broker_id):
            self._check_wanted.set()

    def disconnected(self, broker_id: int) -> None:
        """Called when a replica is lost; it leaves the set immediately (S40)."""
        self._state.disconnected(broker_id)
        self._check_wanted.set()

    def tick(self) -> None:
        """End the waits that are too long."""
        self._acks.expire(self._now_ms())
        self.advance()

    async def keep_set(self) -> None:
        """Change the set as replicas join and leave, until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_S):
                    await self._check_wanted.wait()
            self._check_wanted.clear()
            await self.check_set()

    async def check_set(self) -> None:
        """Ask for another set if the present one is outdated."""
        wanted = self._wanted()
        if wanted == self.current.broker_ids:
            if self._state.proposed is not None:
                await self._ask(wanted, is_fence=True)
            return
        self._state.propose(wanted)
        self._host.set_replica_count(self._state.size)
        if not await self._await_members(wanted):
            self._approach_at_s = self._now_s() + APPROACH_PAUSE_S
            self._withdraw_if_certain()
            return
        await self._ask(wanted)

    async def _ask(self, wanted: frozenset[int], *, is_fence: bool = False) -> None:
        """Ask the controller to change the set.

        A fence is needed before a lost replica that was requested as a member can be ignored. A
        controller that was paused could carry out a request with a lost answer at any later time.
        This is possible as long as the set has the epoch of the request (D8).
        """
        try:
            committed = await self._host.ask_for_set(
                self.epoch, wanted, self.current.epoch, is_fence=is_fence
            )
        except ControllerRefused as error:
            log.info("sync_state_set_refused", members=sorted(wanted), reason=str(error))
            await self._learn()
            self._withdraw_if_certain()
            await asyncio.sleep(RETRY_S)
        except OSError as error:
            log.warning("sync_state_set_unanswered", members=sorted(wanted), reason=str(error))
            self._is_unsure = True
            await asyncio.sleep(RETRY_S)
            await self._learn()
        else:
            if not self._is_over:
                self.install(committed)

    def _wanted(self) -> frozenset[int]:
        state = self._state
        gone = state.leaving(self._now_ms(), term_started_at_ms=round(self._started_at_s * 1000))
        requested = (state.proposed or frozenset()) - state.current.broker_ids
        # One that lacks confirmed data again may never have it. A fence keeps it out of the set, so
        # that confirmation goes on.
        asked = {i for i in requested if state.holds_confirmed(i)}
        here = self._host.replica_ids()
        may_approach = self._now_s() >= self._approach_at_s
        near = (
            i
            for i in here
            if may_approach and state.approaching(i, distance_max=APPROACH_BYTES_MAX)
        )
        joining = {*near, *(i for i in here if state.joining(i)), *(asked & here)}
        return (state.current.broker_ids - gone) | joining | {self._own_id}

    async def _await_members(self, wanted: frozenset[int]) -> bool:
        """Wait until the joining replicas have all confirmed data; confirmation stops meanwhile."""
        newcomers = wanted - self.current.broker_ids
        deadline_s = self._now_s() + APPROACH_S_MAX
        while not self._is_over and self._now_s() < deadline_s:
            held = [self._state.held_position(i) for i in newcomers]
            if all(h is not None and h >= self._state.confirmed_position for h in held):
                return newcomers <= self._host.replica_ids()
            await asyncio.sleep(APPROACH_CHECK_S)
        return False

    def _withdraw_if_certain(self) -> None:
        if not self._is_unsure:
            self._state.withdraw()
            self._host.set_replica_count(self._state.size)
            self.advance()

    async def _published(self, position: int) -> None:
        """Wait until readers see the log up to a position, or this term ends."""
        while self.published_position < position and not self._is_over:
            self._news.clear()
            await self._news.wait()

    async def _learn(self) -> None:
        try:
            await self._host.learn_set()
        except (OSError, ControllerRefused) as error:
            log.info("controller_unanswered", reason=str(error))

    def _now_ms(self) -> int:
        return round(self._now_s() * 1000)


def _warn_of_few(sufficient_count: int | None) -> None:
    if sufficient_count is None:
        log.warning(
            "all_members_needed",
            reason="allAckInSyncStateSet=false needs a group under REGENT_LEASE_POLICY=strict",
        )
    else:
        log.warning(
            "failovers_may_lose_messages",
            reason="allAckInSyncStateSet=false",
            in_sync_replicas=sufficient_count,
        )
