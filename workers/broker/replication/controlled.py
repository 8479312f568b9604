"""The membership of a broker under a controller (control-plane.md 3.6, 3.7)."""

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Mapping
from functools import partial

import structlog
from regent_engine import Command

from backend.remoting.bodies.controller import HaStatusBody
from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.commit_log.late_answers import unconfirmed
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
from workers.broker.group.own_locks import OwnLocks
from workers.broker.group.required_role import RequiredRole, check_role
from workers.broker.replication.acknowledgement import Outcome, outcome_of
from workers.broker.replication.controller_client import HeartbeatFacts, ReplicaGroupState
from workers.broker.replication.ha_status import describe_ha
from workers.broker.replication.mark_keeping import MarkKeeping
from workers.broker.replication.master_role import TICK_S, MasterRole
from workers.broker.replication.replica_role import ReplicaRole
from workers.broker.replication.roles import Authority
from workers.broker.replication.sync_state import SyncStateSet
from workers.broker.replication.verification import Verification
from workers.broker.routing.registration import RegistrationSource

log = structlog.get_logger()


class Controlled(OwnLocks):
    """The membership of a broker under a controller, with its changes of role."""

    decisions = None
    escapes = None
    # A commit does not wait for its record (D14).
    appends_commits = False
    # The log of every member must store an order.
    keeps_room = False
    hears_appends = True

    def __init__(
        self,
        broker: Broker,
        registration_source: RegistrationSource,
        verification: Verification,
        *,
        ha_socket: socket.socket,
    ) -> None:
        self._broker, self._store = broker, broker.store
        self._registration_source, self._verification = registration_source, verification
        self._life = secrets.randbits(63) or 1
        self.own_id = 0
        self.master = MasterRole(
            broker, ha_socket=ha_socket, show=self._show, announce=self._announce
        )
        self.replica = ReplicaRole(
            broker, self.master.handover, verification, on_confirmed=self._show
        )
        self.marks = MarkKeeping(
            broker.store,
            verification,
            confirmed_term=self._confirmed_term,
            is_beginning=lambda: self.master.is_beginning,
        )
        # Every turn of the hot path calls these.
        self.appended, self.when_safe = self.master.appended, self.master.when_safe
        self.hand_over = self.master.hand_over
        self._is_readable = self.is_broken = False

    @property
    def role_id(self) -> int:
        """Return the id of the role: 0 for the master, the own id for a replica."""
        return self.own_id if self.master.term is None else 0

    @property
    def ha_address(self) -> str | None:
        """Return the address for replicas; None unless this broker is master."""
        return None if self.master.term is None else self._registration_source.ha_address

    @property
    def epoch(self) -> int | None:
        """Return the epoch of this broker as master; None unless it is master."""
        return None if self.master.term is None else self.master.term.epoch

    @property
    def safe_position(self) -> int:
        """Return the position up to which all members have the log."""
        return self._store.confirmed_position

    def describe_ha(self) -> HaStatusBody:
        """Describe the replication of the log of this broker (907)."""
        master, end = self.master, self._store.max_position
        return describe_ha(
            master.term, self.replica, master.listener, end=end, now_ms=self._broker.clock()
        )

    def figures(self) -> dict[str, str | int]:
        """Return nothing: what there is to say is in other answers."""
        return {}

    def check(self, required: RequiredRole) -> None:
        """Check that this broker may serve a request in its role.

        Raises:
            Refusal: it may not.
        """
        term = self.master.term
        is_readable = self._is_readable if term is None else term.shows_former
        check_role(
            required,
            is_readable=is_readable,
            is_master=term is not None,
            is_catching_up=term is None and self.replica.backfill.is_under_way,
        )

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Let the master answer a request; None if this broker must answer."""
        return self.replica.passing.take(command)

    async def ask_master(self, code: int, ext: Mapping[str, str], body: bytes) -> Command:
        """Ask the master of the group on behalf of this replica; return its answer."""
        return await self.replica.passing.ask(code, ext, body)

    def begin_topic(self, name: str) -> None:
        """Do nothing: the log shows which messages of a former topic are deleted."""

    async def stored(self, position: int, reply: bytes, _late_reply: bytes) -> bytes:
        """Return the answer once the log up to a position may be acknowledged, or the outcome."""
        outcome = await self.outcome(position)
        return reply if outcome is Outcome.CONFIRMED else unconfirmed(reply, outcome)

    async def outcome(self, position: int) -> Outcome:
        """Return whether the log up to a position may be acknowledged, once that is known."""
        return await outcome_of(partial(self.when_safe, position))

    async def await_pace(self, size: int) -> None:
        """Wait until bytes of the log may be sent to a new member beside the traffic of clients.

        Raises:
            Refusal: this broker is not master.
        """
        if self.master.term is None:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "this broker is not the master")
        await self.master.pace.take(size)

    def flush_failed(self) -> None:
        """Give up the lease: the content of the disk is unknown (D13)."""
        self.is_broken = True
        self.master.resign()
        self.hurry()

    def take_least(self, _sent: LeastIdHeader) -> None:
        """Do nothing: the controller decides who is master."""

    async def take_master(self, _sent: HaInfoHeader) -> None:
        """Do nothing: the controller decides who is master."""

    def give_way(self) -> None:
        """Do nothing: the controller decides who is master."""

    def hurry(self) -> None:
        """Report the state of this broker to the controller now, before the next heartbeat."""
        self.master.hurry()

    # The reports of a member to its controller, and its work in the group.

    def heartbeat_facts(self) -> HeartbeatFacts:
        """Return the facts for the heartbeat to the controller.

        The epoch is that of the end of the log on the disk (D12). A broker that was just elected
        has no rival: it reports its new epoch, and gets the lease before the epoch is on the disk.
        """
        epoch, end = self.master.led_epoch, self._store.max_position
        if epoch is None:
            epochs = self._store.epochs()
            epoch = max((one for one, start in epochs if start <= end), default=-1)
        refused_cut, mark = self.replica.refused_cut, self._verification.confirmed
        confirmed, confirmed_epoch = self.marks.confirmed_end()
        if refused_cut is not None:
            confirmed, confirmed_epoch = mark.position, mark.epoch
        return HeartbeatFacts(
            epoch=epoch,
            max_position=end,
            confirmed_position=confirmed,
            is_verified=self._verification.is_verified,
            is_cordoned=self._broker.is_cordoned,
            is_learner=self._broker.settings.is_learner or self.replica.backfill.is_under_way,
            life=self._life,
            confirmed_epoch=confirmed_epoch,
            refused_cut=refused_cut,
        )

    def elapsed_ms(self) -> int:
        """Return the time by the clock of this broker that is never set, in ms."""
        return self._broker.elapsed_ms()

    def use_version(self, version: int, *, asked_at_ms: int) -> None:
        """Write records of the version of the group, which the controller had at that time."""
        self._broker.shares.use_version(version, asked_at_ms=asked_at_ms)

    def known_epoch(self) -> int:
        """Return the newest epoch that this broker ever took part in; -1 for none."""
        return max((epoch for epoch, _ in self._store.epochs()), default=-1)

    def attach(self, own_id: int, authority: Authority) -> None:
        """Set the id that the controller has assigned; this comes before any role."""
        self.own_id = own_id
        self.master.attach(own_id, authority)

    def fence(self) -> None:
        """Refuse appends and reads until the master is known; called before clients connect."""
        self._broker.journal.load()
        self._broker.hot.set_deferring(True)
        self._broker.block_writes(WriteBlock.NOT_MASTER)
        self._broker.confirm(0)

    async def listen(self) -> None:
        """Listen for replicas; they are accepted while this broker is master."""
        await self.master.listener.start()

    async def tick(self) -> None:
        """Do the periodic work until cancelled; a failed task ends this one too."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            self.replica.check()
            if self.master.term is None:
                self._broker.journal.catch_up()
            self.master.tick(loop.time())
            self._broker.changes.tick()
            self.marks.note()

    async def stop(self) -> None:
        """End the present role, and answer the waiting clients."""
        self._broker.journal.write()
        self.replica.passing.close()
        self.marks.note()
        self.master.end()
        await self.replica.stop()
        self.master.listener.stop()
        await self.marks.save()
        await self.master.handover.let_clients_go()

    # The decisions of the controller about the role.

    def suspend(self) -> None:
        """Stop acknowledging and storing messages immediately."""
        self.marks.note()
        self._broker.block_writes(WriteBlock.NOT_MASTER)
        self._broker.stop_deliveries()
        self.replica.passing.pause()
        self._broker.member_shares.pause()
        self.master.handover.end()
        self.master.end()

    async def become_master(self, state: ReplicaGroupState) -> None:
        """Serve as master of a new epoch; clients may connect at once, and wait until it serves."""
        if self.master.is_over:
            return
        self._verification.waive()
        self._verification.confirmed.accept_loss(state.loss_epoch)
        self.marks.forget_if_lacking()
        self._broker.gate.shut()
        self.master.elect(state.epoch)
        await self.replica.stop()
        if self.replica.backfill.is_under_way:
            # An operator had this broker elected although it lacks older messages (O40).
            log.warning("older_segments_given_up", begins_at=self._store.min_position)
            await self.replica.backfill.end()
        if await self.master.begin(state):
            self.replica.passing.lead()
            await self.master.let_clients_come()

    async def become_replica(self, state: ReplicaGroupState) -> None:
        """Follow a master."""
        if self.master.is_leaving:
            return
        await self._broker.local_log.follow(state.epoch)
        await self.replica.begin(self.own_id, state)
        self._broker.member_shares.follow()
        self.master.leave_if_damaged()
        self._announce(self.own_id, state.epoch)

    def take_first_lease(self, state: ReplicaGroupState) -> None:
        """Use the lease of the election whose epoch this broker serves or is about to serve."""
        self.master.take_first_lease(state)

    def install(self, committed: SyncStateSet) -> None:
        """Use a new set of the present epoch."""
        if self.master.term is not None:
            self.master.term.install(committed)

    def _confirmed_term(self) -> int | None:
        """Return the epoch whose master reports the confirmed position; None without one."""
        term = self.master.term
        return self.replica.confirmed_term if term is None else term.epoch

    def _show(self, position: int) -> None:
        """Let readers see the log up to a confirmed position."""
        self._is_readable = True
        shares = self._broker.member_shares
        self._broker.confirm(position)
        if self.master.term is None:
            shares.advance()
        elif shares.is_any:
            # Owners among the replicas hand out what is confirmed.
            self.master.listener.announce_later()

    def _announce(self, broker_id: int, epoch: int) -> None:
        """Register at name servers with the id of the role."""
        self._broker.topics.begin_epoch(epoch)
        self._registration_source.become(broker_id)
        if self._broker.name_servers is not None and not self.master.is_leaving:
            self._broker.name_servers.release()
            self._broker.name_servers.poke()
