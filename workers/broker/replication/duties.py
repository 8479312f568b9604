"""Carry out on the broker what its role in the group asks for (control-plane.md 3.6, 3.7, 3.12)."""

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Awaitable
from typing import Final

import structlog
from regent_engine import Command, StoreError

from backend.remoting.bodies.controller import HaStatusBody
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.elapsed import elapsed_s
from workers.broker.errors import Refusal
from workers.broker.gate import WAIT_S_MAX
from workers.broker.late_answers import unconfirmed
from workers.broker.registration import Registrant
from workers.broker.replication.acknowledgement import Outcome, Release
from workers.broker.replication.confirmed_mark import epoch_before
from workers.broker.replication.controller_client import GroupState, Sign
from workers.broker.replication.following import Following
from workers.broker.replication.ha_listener import HaListener
from workers.broker.replication.ha_status import describe_ha
from workers.broker.replication.handover import Handover
from workers.broker.replication.lease import Lease
from workers.broker.replication.passing_on import PassingOn
from workers.broker.replication.roles import Authority
from workers.broker.replication.sync_state import SyncStateSet
from workers.broker.replication.term import Term
from workers.broker.replication.verification import Verification
from workers.broker.required_role import RequiredRole, check_role
from workers.broker.write_block import WriteBlock

TICK_S: Final = 0.05
MARK_S: Final = 0.25
"""How often what is confirmed is written down."""

log = structlog.get_logger()


class Duties:
    """What this broker does as master, as replica, and before it is either."""

    # No record waits for one commit (D14).
    appends_commits = False
    # The log of every member has to take an order.
    keeps_room = False

    def __init__(
        self,
        broker: Broker,
        registrant: Registrant,
        verification: Verification,
        *,
        ha_socket: socket.socket,
    ) -> None:
        self._broker, self._store, self._settings = broker, broker.store, broker.settings
        self._registrant, self.verification = registrant, verification
        self._mark = verification.confirmed
        self._life = secrets.randbits(63) or 1
        self._confirmed = (0, -1)
        self._listener = HaListener(broker.store, broker.settings, ha_socket)
        broker.cleaner.keep_from(self._listener.needed_from)
        self._journal = broker.journal
        self._handover = Handover(broker, self._journal)
        self.following = Following(
            broker, self._journal, self._handover, verification, on_confirmed=self.show
        )
        self.passing = PassingOn(broker.hot, broker.meters, lambda: broker.settings.passes_on)
        self.own_id, self._lease = 0, Lease()
        self._authority: Authority | None = None
        self._led_epoch: int | None = None
        self._term: Term | None = None
        self._term_task: asyncio.Task[None] | None = None
        self._is_readable = False
        self.is_leaving = self.is_broken = self._has_resigned = False

    @property
    def is_master(self) -> bool:
        """Tell whether this broker serves as master."""
        return self._term is not None

    @property
    def role_id(self) -> int:
        """Give the id that the role brings: 0 for the master, its own for a replica."""
        return 0 if self.is_master else self.own_id

    @property
    def ha_address(self) -> str | None:
        """Give where replicas get the log; None unless this broker is master."""
        return None if self._term is None else self._registrant.ha_address

    @property
    def epoch(self) -> int | None:
        """Give the epoch that this broker serves as master; None unless it is master."""
        return None if self._term is None else self._term.epoch

    @property
    def safe_position(self) -> int:
        """Give up to where all members hold the log."""
        return self._store.confirmed_position

    def describe_ha(self) -> HaStatusBody:
        """Say how this broker's log is replicated (907)."""
        end, now_ms = self._store.max_position, self._broker.clock()
        return describe_ha(self._term, self.following, self._listener, end=end, now_ms=now_ms)

    def sign(self) -> Sign:
        """Give what the controller is told of this broker.

        The epoch is that of the log's end, on the disk (D12). Who was just elected competes with
        nobody, and tells of its new one, so that it gets its lease before the disk has that.
        """
        epoch, end = self._led_epoch, self._store.max_position
        if epoch is None:
            epochs = self._store.epochs()
            epoch = max((one for one, start in epochs if start <= end), default=-1)
        refused_cut = self.following.refused_cut
        confirmed, confirmed_epoch = self._confirmed_end()
        if refused_cut is not None:
            confirmed, confirmed_epoch = self._mark.position, self._mark.epoch
        return Sign(
            epoch=epoch,
            max_position=end,
            confirmed_position=confirmed,
            is_verified=self.verification.is_verified,
            is_cordoned=self._broker.is_cordoned,
            is_learner=self._broker.settings.is_learner,
            life=self._life,
            confirmed_epoch=confirmed_epoch,
            refused_cut=refused_cut,
        )

    def known_epoch(self) -> int:
        """Give the newest epoch that this broker ever took part in; -1 for none."""
        return max((epoch for epoch, _ in self._store.epochs()), default=-1)

    def attach(self, own_id: int, authority: Authority) -> None:
        """Take the id that the controller has given; roles come after it."""
        self.own_id, self._authority = own_id, authority

    def fence(self) -> None:
        """Take and show nothing until the group's master is known; called before clients come."""
        self._journal.load()
        self._broker.hot.set_deferring(True)
        self._broker.block_writes(WriteBlock.NOT_MASTER)
        self._broker.confirm(0)

    async def listen(self) -> None:
        """Listen for replicas; they are taken while this broker is master."""
        await self._listener.start()

    async def hand_over(self, epoch: int) -> None:
        """Have all confirmed and take no more until another is elected, or for a moment.

        Raises:
            Refusal: this broker is not the master of that epoch, or too much is unconfirmed.
        """
        term = self._term
        if term is None or term.epoch != epoch or self.is_leaving:
            raise Refusal(ResponseCode.CONTROLLER_INVALID_MASTER, f"epoch {epoch} is not served")
        await self._handover.prepare(term)

    async def drain(self) -> None:
        """Let what was appended be confirmed, to a deadline; nothing is appended any more."""
        if self._term is not None:
            await self._handover.leave(self._term)

    async def stop(self) -> None:
        """Be neither master nor replica any more, and tell clients that waited for that."""
        self._journal.write()
        self.passing.close()
        self._note_confirmed()
        self._end_term()
        await self.following.stop()
        self._listener.stop()
        await self._save_mark()
        await self._handover.let_clients_go()

    def check(self, required: RequiredRole) -> None:
        """Pass a request that this broker may serve in its role.

        Raises:
            Refusal: it may not.
        """
        is_readable = self._is_readable if self._term is None else self._term.shows_former
        check_role(required, is_readable=is_readable, is_master=self.is_master)

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Have the master answer a request; None if this broker has to."""
        return self.passing.take(command)

    def begin_topic(self, name: str) -> None:
        """Do nothing: the log says which messages of a former topic are gone."""

    def appended(self) -> None:
        """Hear that the log has grown, and send it to the replicas."""
        if self._term is not None and self._term.is_alone:
            # Who waits for nobody else is answered before a learner is sent anything.
            self._term.advance()
            self._listener.send_later()
        else:
            self._listener.appended()

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position may be acknowledged, or when that is hopeless."""
        if self._term is None:
            release(Outcome.DEPOSED)
            return
        self._term.wait(position, release)
        if self._settings.flush_mode == "sync":
            self._broker.flusher.when_durable(position, self._on_flushed)

    async def stored(self, position: int, reply: bytes, _late_reply: bytes) -> bytes:
        """Give the answer once the log up to a position may be acknowledged, or what it is then."""
        told = await self.outcome(position)
        return reply if told is Outcome.CONFIRMED else unconfirmed(reply, told)

    async def outcome(self, position: int) -> Outcome:
        """Tell whether the log up to a position may be acknowledged, once that is known."""
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def release(told: Outcome) -> None:
            if not outcome.done():
                outcome.set_result(told)

        self.when_safe(position, release)
        return await outcome

    def flush_failed(self) -> None:
        """Give the lease up: nobody knows what is on the disk (D13)."""
        self.is_broken = True
        self.resign()
        self._hurry()

    def resign(self) -> None:
        """Acknowledge nothing any more, whoever holds it: another may be elected at once (D9)."""
        self._has_resigned = True
        self._lease.drop()
        if self._term is not None:
            self._term.end()

    def take_lease(self, epoch: int, *, asked_at_s: float, lease_ms: int) -> bool:
        """Take what the controller grants a master; False when it grants none to this one."""
        if epoch != self._led_epoch or self.is_leaving or self._has_resigned:
            return True
        if lease_ms <= 0:
            self._lease.drop()
            return False
        self._lease.grant(epoch, asked_at_s=asked_at_s, lease_ms=lease_ms)
        if self._term is not None:
            self._term.advance()
        return True

    async def tick(self) -> None:
        """Do what falls due, until cancelled; a task that died ends this one too."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            self.following.check()
            if self._term_task is not None and self._term_task.done():
                self._term_task.result()
            if self._term is not None:
                self._journal.write()
                self._term.tick()
            else:
                self._journal.catch_up()
            self._broker.changes.tick()
            self._note_confirmed()
            self._listener.tick(loop.time())

    async def keep_mark(self) -> None:
        """Keep on the disk what is confirmed, until cancelled."""
        while True:
            await asyncio.sleep(MARK_S)
            if not self._mark.is_saved:
                await self._save_mark()

    async def _save_mark(self) -> None:
        try:
            await asyncio.to_thread(self._mark.save)
        except OSError as error:
            log.warning("confirmed_mark_not_saved", reason=str(error))

    def _note_confirmed(self) -> None:
        """Remember what is confirmed in the present role, of a log that can be counted on."""
        following = self.following
        term = following.confirmed_term if self._term is None else self._term.epoch
        if term is None or not self.verification.is_verified:
            return
        # A store that is closed confirms nothing more.
        with contextlib.suppress(StoreError):
            position, epoch = self._confirmed_end()
            self._mark.note(term, epoch, position)

    def _confirmed_end(self) -> tuple[int, int]:
        """Give what is confirmed, and the epoch that wrote the last byte before it; -1 is none.

        While a new master's epoch is written, nothing is confirmed, and the list of epochs would
        wait for the disk.
        """
        position = self._store.confirmed_position
        is_beginning = self._led_epoch is not None and self._term is None
        if position != self._confirmed[0] and not is_beginning:
            self._confirmed = (position, epoch_before(self._store.epochs(), position))
        return self._confirmed

    def suspend(self) -> None:
        """Stop acknowledging and taking messages at once."""
        self._note_confirmed()
        self._broker.block_writes(WriteBlock.NOT_MASTER)
        self._broker.state.delays.stop()
        self.passing.pause()
        self._handover.end()
        self._end_term()

    async def become_master(self, state: GroupState) -> None:
        """Serve as master of a new epoch; clients may come at once, and wait until it serves."""
        if self.is_leaving or self._has_resigned:
            return
        self.verification.waive()
        self._mark.accept_loss(state.loss_epoch)
        if self._mark.find_lack(self._store.epochs(), self._store.max_position) is not None:
            # Whoever is elected holds what counts.
            self._mark.forget()
        self._broker.gate.shut()
        self._led_epoch = state.epoch
        await self.following.stop()
        if self._led_epoch is None or self._has_resigned:
            return  # Another was elected meanwhile, or is about to be.
        # While the epoch is written the lease is granted, and clients are sent here.
        self._lease.grant(state.epoch, asked_at_s=state.lease_from_s, lease_ms=state.lease_ms)
        self._hurry()
        self._announce(0, state.epoch)
        try:
            await asyncio.to_thread(self._store.begin_epoch, state.epoch)
        except BaseException:
            self._led_epoch = None
            self._broker.gate.open()
            raise
        if self._led_epoch is None or self._has_resigned:
            return
        former_end = self._store.max_position
        self._journal.lead(state.epoch)
        term = self._term = Term(
            self,
            self._settings,
            own_id=self.own_id,
            epoch=state.epoch,
            initial_set=state.sync_state_set or SyncStateSet(frozenset({self.own_id}), 0),
            former_end=former_end,
            shown_position=self._store.confirmed_position,
            lease=self._lease,
            lease_policy=state.lease_policy,
            now_s=elapsed_s,
        )
        self._listener.serve(term)
        self._term_task = asyncio.create_task(term.keep_set(), name="keep-set")
        self.set_replica_count(len(term.current.broker_ids))
        self._broker.unblock_writes(WriteBlock.NOT_MASTER)
        self.passing.lead()
        self._broker.state.delays.start()
        self.when_safe(former_end, lambda _outcome: None)  # flushed, where the settings ask for it
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S_MAX):
                await term.show_former()
        if not (term.is_over or self.is_leaving):
            self._broker.gate.open()

    async def become_replica(self, state: GroupState) -> None:
        """Follow a master."""
        if self.is_leaving:
            return
        assert state.master_address is not None, "the keeper takes no master without an address"
        await self.following.stop()
        self._mark.accept_loss(state.loss_epoch)
        self._journal.follow(state.epoch)
        self.passing.follow(state.master_address)
        self.following.begin(self.own_id, state)
        self._announce(self.own_id, state.epoch)

    def install(self, committed: SyncStateSet) -> None:
        """Take over the set of the present epoch."""
        if self._term is not None:
            self._term.install(committed)

    # What a term needs of its host.

    def log_end(self) -> int:
        """Give where the log ends."""
        return self._store.max_position

    def own_held(self) -> int:
        """Give up to where this broker itself holds the log as safely as its settings ask."""
        if self._settings.flush_mode == "sync":
            return self._store.flushed_position
        return self._store.max_position

    def show(self, position: int) -> None:
        """Let readers see the log up to a confirmed position."""
        self._is_readable = True
        self._broker.confirm(position)

    def set_replica_count(self, count: int) -> None:
        """Refuse messages while the set is smaller than `minInSyncReplicas` (S45)."""
        if count < self._settings.in_sync_count_min:
            self._broker.block_writes(WriteBlock.TOO_FEW_REPLICAS)
        else:
            self._broker.unblock_writes(WriteBlock.TOO_FEW_REPLICAS)

    def replica_ids(self) -> frozenset[int]:
        """Name the replicas that are connected."""
        return self._listener.broker_ids

    async def ask_for_set(
        self, epoch: int, members: frozenset[int], set_epoch: int, *, is_fence: bool
    ) -> SyncStateSet:
        """Ask the controller for another set."""
        assert self._authority is not None, "terms come after the id"
        return await self._authority.ask_for_set(epoch, members, set_epoch, is_fence=is_fence)

    async def learn_set(self) -> None:
        """Have the controller's present state told to this broker."""
        assert self._authority is not None, "terms come after the id"
        await self._authority.learn_set()

    def _on_flushed(self, _is_durable: bool) -> None:  # noqa: FBT001 - the flusher's way to tell
        if self._term is not None:
            self._term.advance()

    def _announce(self, broker_id: int, epoch: int) -> None:
        """Let name servers know, under the id that the role gives."""
        self._broker.topics.begin_epoch(epoch)
        self._registrant.become(broker_id)
        if self._broker.name_servers is not None and not self.is_leaving:
            self._broker.name_servers.release()
            self._broker.name_servers.poke()

    def _hurry(self) -> None:
        if self._authority is not None:
            self._authority.hurry()

    def _end_term(self) -> None:
        self._listener.close_sessions()
        self._journal.stand_down()
        self._led_epoch = None
        if self._term is not None:
            self._term.end()
            self._term = None
        if self._term_task is not None:
            self._term_task.cancel()
            self._term_task = None
        self._lease.drop()
