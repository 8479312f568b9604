"""Serve as the master of a group: the term of one epoch, its lease and its handover.

The rules are those of control-plane.md 3.11, 3.12.

A master serves from the time its epoch is in the log until a newer one is known. All of this
belongs to the loop's thread.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final

from regent_engine import StoreError

from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from backend.rules.share_incident import IncidentKind
from workers.broker.broker import Broker
from workers.broker.commit_log.elapsed import elapsed_s
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
from workers.broker.replication.acknowledgement import Outcome, Release
from workers.broker.replication.catch_up_pace import CatchUpPace
from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.ha_listener import HaListener
from workers.broker.replication.handover import Handover
from workers.broker.replication.lease import EpochLease
from workers.broker.replication.roles import Authority
from workers.broker.replication.sync_state import SyncStateSet
from workers.broker.replication.term import Term
from workers.broker.requests.gate import WAIT_S_MAX

TICK_S: Final = 0.05
"""The time between two ticks."""

LEASE_REST_S_MIN: Final = 0.1
"""The least rest of a lease for queues that take messages; ticks are more frequent."""


class MasterRole:
    """The work of this broker as master; the host of its `Term`."""

    def __init__(
        self,
        broker: Broker,
        *,
        ha_socket: socket.socket,
        show: Callable[[int], None],
        announce: Callable[[int, int], None],
    ) -> None:
        """Take the functions that show readers the log, and that register a role."""
        self._broker, self._store, self._settings = broker, broker.store, broker.settings
        self.show, self._announce = show, announce
        self.listener = HaListener(broker.store, broker.settings, ha_socket)
        broker.cleaner.keep_from(self.listener.needed_from)
        self.handover = Handover(broker, broker.journal)
        self.pace = CatchUpPace(
            broker.settings.catch_up_rate_max,
            tick_s=TICK_S,
            count_requests=self._count_requests,
        )
        self._own_id, self._lease = 0, EpochLease()
        self._authority: Authority | None = None
        self.led_epoch: int | None = None
        """The epoch that this broker was elected for, from that time on; None unless it is
        master."""
        self.term: Term | None = None
        self._term_task: asyncio.Task[None] | None = None
        # The log position of a damaged record of share queues, and what is wrong with it.
        self._lane_damage: tuple[int, str] | None = None
        self.is_leaving = self._has_resigned = False

    @property
    def is_over(self) -> bool:
        """Return whether this broker must not become master again."""
        return self.is_leaving or self._has_resigned

    @property
    def is_beginning(self) -> bool:
        """Return whether this broker was elected, and its epoch is not in the log yet."""
        return self.led_epoch is not None and self.term is None

    def attach(self, own_id: int, authority: Authority) -> None:
        """Take the id that the controller has given; terms come after it."""
        self._own_id, self._authority = own_id, authority

    def elect(self, epoch: int) -> None:
        """Prepare for the election of this broker, before it ends its role as replica."""
        self.led_epoch = epoch

    async def begin(self, state: ReplicaGroupState) -> bool:
        """Begin the epoch in the log, and accept messages; False if the epoch has ended."""
        if self.led_epoch is None or self._has_resigned:
            return False  # Another broker was elected meanwhile, or is about to be.
        # While the epoch is written the lease is granted, and clients are routed here.
        self.take_first_lease(state)
        self.hurry()
        self._announce(MASTER_ID, state.epoch)
        try:
            await asyncio.to_thread(self._begin_epoch, state.epoch)
        except BaseException:
            self.led_epoch = None
            self._broker.gate.open()
            raise
        if self.led_epoch is None or self._has_resigned:
            return False
        former_end = self._store.max_position
        self._broker.journal.lead(state.epoch)
        self._lead_shares(state)
        await self._broker.local_log.lead(state.epoch)
        if self.led_epoch is None or self._has_resigned:
            return False
        term = self.term = self._term_of(state, former_end)
        self.listener.serve(term)
        self._term_task = asyncio.create_task(term.keep_set(), name="keep-set")
        self.set_replica_count(len(term.current.broker_ids))
        self._broker.unblock_writes(WriteBlock.NOT_MASTER)
        self._broker.start_deliveries()
        # The epoch is flushed, if the settings require it.
        self.when_safe(former_end, lambda _outcome: None)
        return True

    def _begin_epoch(self, epoch: int) -> None:
        self._broker.local_log.note_reign(epoch)
        self._store.begin_epoch(epoch)

    def _lead_shares(self, state: ReplicaGroupState) -> None:
        """Own the share queues, unless a record of them is damaged here (queue-ownership.md 4.12).

        The set of a new epoch has no other member that could be elected. So this master serves
        everything else until a replica has joined the set.
        """
        shares, self._lane_damage = self._broker.shares, None
        try:
            shares.lead(state.epoch)
        except StoreError as error:
            if error.position is None:
                raise
            shares.stand_down()
            self._lane_damage = error.position, str(error)
            self._broker.share_incidents.open(IncidentKind.CANNOT_APPLY, *self._lane_damage)
            return
        shares.use_version(state.protocol_version, asked_at_ms=self._broker.elapsed_ms())

    def leave_if_damaged(self) -> None:
        """Leave the group if a record of share queues is damaged here: another member leads."""
        if self._lane_damage is not None and not self.is_leaving:
            damage, self._lane_damage = self._lane_damage, None
            self._broker.copy_damaged(*damage)

    async def let_clients_come(self) -> None:
        """Open the gate once readers see all messages acknowledged before, or after a moment."""
        term = self.term
        if term is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S_MAX):
                await term.show_former()
        if not (term.is_over or self.is_leaving):
            self._broker.gate.open()

    def end(self) -> None:
        """End the mastership, and answer the waiting clients."""
        self.listener.close_sessions()
        self._broker.journal.stand_down()
        self._broker.shares.stand_down()
        self._broker.local_log.stand_down()
        self.led_epoch = None
        if self.term is not None:
            self.term.end()
            self.term = None
        if self._term_task is not None:
            self._term_task.cancel()
            self._term_task = None
        self._lease.drop()

    async def hand_over(self, epoch: int) -> None:
        """Stop appends and confirm all data, until another master is elected or for a moment.

        Raises:
            Refusal: this broker is not the master of that epoch, or too much is unconfirmed.
        """
        term = self.term
        if term is None or term.epoch != epoch or self.is_leaving:
            raise Refusal(ResponseCode.CONTROLLER_INVALID_MASTER, f"epoch {epoch} is not served")
        await self.handover.prepare(term)

    async def leave(self) -> None:
        """Confirm the appended data until a deadline; nothing more is appended."""
        self.is_leaving = True
        if self.term is not None:
            await self.handover.leave(self.term)

    def resign(self) -> None:
        """Stop acknowledging: another broker may be elected at once (D9)."""
        self._has_resigned = True
        self._lease.drop()
        if self.term is not None:
            self.term.end()

    def take_lease(self, epoch: int, *, asked_at_s: float, lease_ms: int) -> bool:
        """Record the lease from the controller; False if it grants none to this broker."""
        if epoch != self.led_epoch or self.is_over:
            return True
        if lease_ms <= 0:
            self._lease.refuse(asked_at_s=asked_at_s)
            return False
        self._lease.grant(epoch, asked_at_s=asked_at_s, lease_ms=lease_ms)
        if self.term is not None:
            self.term.advance()
        return True

    def take_first_lease(self, state: ReplicaGroupState) -> None:
        """Record the lease of the election; a poll may have reported the election before it."""
        if self.is_over:
            return
        self._lease.grant(state.epoch, asked_at_s=state.lease_from_s, lease_ms=state.lease_ms)
        if self.term is not None:
            self.term.advance()

    def hurry(self) -> None:
        """Report the state of this broker to the controller now."""
        if self._authority is not None:
            self._authority.hurry()

    def appended(self) -> None:
        """Send new data of the log to the replicas."""
        if self.term is not None and self.term.is_alone:
            # No other broker must have the data: answers are sent before data for learners.
            self.term.advance()
            self.listener.send_later()
        else:
            self.listener.appended()

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position may be acknowledged, or if it never will be."""
        if self.term is None:
            release(Outcome.DEPOSED)
            return
        self.term.wait(position, release)
        if self._settings.flush_mode == "sync":
            self._broker.flusher.when_durable(position, self._on_flushed)

    def tick(self, now_s: float) -> None:
        """Do the due work; raises the error that ended the task of the term."""
        if self._term_task is not None and self._term_task.done():
            self._term_task.result()
        if self.term is not None:
            self._broker.journal.write()
            self.term.tick()
        self._broker.confirmation.follow(may_lead=self._has_lease())
        if self.term is not None:
            members = self.term.current.broker_ids
            if len(members) > 1:
                self.leave_if_damaged()
            if self.listener.limit(self.pace.rate, members):
                self.pace.note_use(now_s)
        self.pace.tick(now_s)
        self.listener.tick(now_s)

    def _count_requests(self) -> int:
        """Return a number that grows with each message that is stored, and with each pull."""
        return self._store.max_position + self._broker.meters.pull_count

    def _has_lease(self) -> bool:
        """Return whether this broker is master, and stays it until after the next tick (L47).

        After its lease a logical queue may be moved to another broker group. A quorum of replicas,
        which replaces the lease within the group, does not know of that.
        """
        term = self.term
        # By the clock of the lease: that of the event loop stops while the machine sleeps.
        ends_s = elapsed_s() + LEASE_REST_S_MIN
        return term is not None and self._lease.is_live(term.epoch, ends_s)

    # The functions of the broker that a term needs.

    def log_end(self) -> int:
        """Return the end of the log."""
        return self._store.max_position

    def own_held(self) -> int:
        """Return the position up to which the log is as safe here as the settings require."""
        if self._settings.flush_mode == "sync":
            return self._store.flushed_position
        return self._store.max_position

    def set_replica_count(self, count: int) -> None:
        """Refuse messages while the set is smaller than `minInSyncReplicas` (S45)."""
        if count < self._settings.in_sync_count_min:
            self._broker.block_writes(WriteBlock.TOO_FEW_REPLICAS)
        else:
            self._broker.unblock_writes(WriteBlock.TOO_FEW_REPLICAS)

    def replica_ids(self) -> frozenset[int]:
        """Return the connected replicas."""
        return self.listener.broker_ids

    async def ask_for_set(
        self, epoch: int, members: frozenset[int], set_epoch: int, *, is_fence: bool
    ) -> SyncStateSet:
        """Ask the controller for another set."""
        assert self._authority is not None, "terms come after the id"
        return await self._authority.ask_for_set(epoch, members, set_epoch, is_fence=is_fence)

    async def learn_set(self) -> None:
        """Ask the controller for its present state."""
        assert self._authority is not None, "terms come after the id"
        await self._authority.learn_set()

    def _term_of(self, state: ReplicaGroupState, former_end: int) -> Term:
        return Term(
            self,
            self._settings,
            own_id=self._own_id,
            epoch=state.epoch,
            initial_set=state.sync_state_set or SyncStateSet(frozenset({self._own_id}), 0),
            former_end=former_end,
            shown_position=self._store.confirmed_position,
            lease=self._lease,
            lease_policy=state.lease_policy,
            now_s=elapsed_s,
        )

    def _on_flushed(self, _is_durable: bool) -> None:  # noqa: FBT001 - as the flusher calls
        if self.term is not None:
            self.term.advance()
