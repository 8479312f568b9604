"""Own share queues of SHARED topics at any member of a broker group (queue-ownership.md 4.2-4.11).

A lease of the control plane says who owns a share queue. Its owner says so in the lane, by an OWN
record with the epoch of the lease. From there on, records of a former owner have no effect. The
engine hands messages out. It answers consumers once the record of the delivery is confirmed.

The master judges and appends the records of all members: it is the sequencer. A replica sends its
records there (4101), and meets them again in the log that it copies (self-delivery).

So a failure of one member hits its clients only (Q88), and these may go to any other one (Q89,
Q91). The others serve on without an election (Q90). A queue with consumers at several members
costs more than in PRIMARY mode: a hand-over is two records and a round to the replicas (Q69).
"""

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import structlog
from regent_engine import Appending, StoreError

from backend.remoting.bodies import TopicConfig
from backend.remoting.errors import RemotingError
from backend.remoting.headers import InvalidHeader, PopMessageHeader, encode_header
from backend.remoting.headers.base import decode_header
from backend.remoting.headers.shares import SharesAppendedHeader, ShareStateAppendHeader
from backend.remoting.names import pop_retry_topic, share_state_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import SHARED_MODE, TIME_SHARE
from backend.rules.share_incident import IncidentKind
from backend.rules.topic import RETRY_PREFIX
from workers.broker.errors import Refusal
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.shares.share_mode import mode_of

if TYPE_CHECKING:
    from workers.broker.broker import Broker

DONE: Final = "DONE"
REFUSED: Final = "REFUSED"
ANY_QUEUE: Final = -1
FROM_START: Final = 0
"""The initial mode of a group that gets the messages which are there already."""

TICK_S: Final = 0.2
RETRY_S: Final = 0.2
APPLIED_S_MAX: Final = 3.0
"""How long a replica waits for its own confirmed record; then the outcome is unknown."""

Proposal = tuple[list[int], bytes]
"""The numbers of records in the engine, and the records."""

_UNKNOWN: Final = (OSError, RemotingError, TimeoutError, Refusal, StoreError)
"""Errors after which it is unknown whether records are in the lane."""

log = structlog.get_logger()


class Settle(Protocol):
    """Called with whether the records of deliveries are in the lane."""

    def __call__(self, *, is_recorded: bool) -> None:
        """Answer the consumers."""


class ShareName(NamedTuple):
    """One share queue."""

    topic: str
    queue_id: int
    group: str


@dataclass(frozen=True, slots=True)
class OwnedShare:
    """A share queue that this process owns: the epoch of its lease, and the end."""

    epoch: int
    ends_ms: int | None
    """By the clock that is never set; None without an end."""


@dataclass(frozen=True, slots=True)
class SeenShare:
    """A share queue of a SHARED topic, as the lane of this member has it."""

    known_epoch: int
    """The lease epoch of its last owner."""

    owner: int | None
    """The broker id of the owner; None without one."""

    has_messages: bool
    """Whether a message can be delivered now."""


def pairs_of(names: Iterable[ShareName]) -> set[tuple[str, str]]:
    """Return the topics of share queues, each with the group."""
    return {(name.topic, name.group) for name in names}


def _named(
    seen: Iterable[tuple[str, int, str, int, int | None, bool]],
) -> dict[ShareName, SeenShare]:
    return {
        ShareName(topic, queue_id, group): SeenShare(epoch, owner, has_messages)
        for topic, queue_id, group, epoch, owner, has_messages in seen
    }


class MemberShares:
    """The share queues that this member owns by lease; belongs to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        """Take the broker; nothing is owned yet."""
        self._broker = broker
        self.life = secrets.randbits(32)
        """Distinguishes the clients of this process from those of others, in records."""

        self._wanted: set[str] = set()
        self._shared: set[str] = set()
        self._is_begun = self._is_over = False
        self._owned: dict[ShareName, OwnedShare] = {}
        self._may_follow = self._follows = False
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def topics(self) -> list[str]:
        """Return the topics in SHARED mode, without their retry topics."""
        return sorted(self._shared)

    @property
    def is_any(self) -> bool:
        """Return whether any topic is in SHARED mode."""
        return bool(self._shared)

    @property
    def follows(self) -> bool:
        """Return whether this broker is a replica with the lane of its master."""
        return self._follows

    @property
    def reads_lane(self) -> bool:
        """Return whether this member has the lane: as sequencer, or as a replica that reads it."""
        return self._is_sequencer or self._follows

    def is_shared(self, topic: str) -> bool:
        """Return whether any member may own the share queues of a topic.

        A retry topic has the mode of its topic. A replica that acts owns all of them, since it
        appends nothing.
        """
        if self._broker.shares.is_acting:
            return False
        return _subject_of(topic) in self._shared

    def takes_turns(self, topic: str) -> bool:
        """Return whether members share the share queues of a topic by time (Q69).

        A retry topic has the mode of its topic.
        """
        found = self._broker.topics.find(_subject_of(topic))
        return found is not None and found.attributes.get(TIME_SHARE, "").lower() == "true"

    def begin(self) -> None:
        """Use the modes of topics from now on: all parts of the broker are there."""
        self._is_begun = True
        for name in self._wanted:
            self._use_mode(name)

    def topic_changed(self, name: str, topic: TopicConfig | None) -> None:
        """Use the mode that a topic has now.

        After a change its share queues have no owner, and what consumers have is delivered again.
        """
        # Without a controller no member has a lease, so the master owns all.
        is_leased = self._broker.settings.controller_mode
        is_wanted = is_leased and mode_of(topic) == SHARED_MODE
        if is_wanted or name in self._wanted:
            (self._wanted.add if is_wanted else self._wanted.discard)(name)
            self._use_mode(name)
        if topic is not None and self._is_begun and self.is_shared(name):
            self._name_new_queues(name, topic.read_queue_count)

    def mapping_changed(self, name: str) -> None:
        """Serve a topic that is static now in PRIMARY mode: its queues have leaders elsewhere."""
        if name in self._wanted:
            self._use_mode(name)

    def _use_mode(self, name: str) -> None:
        if not self._is_begun:
            return
        is_shared = name in self._wanted and name not in self._broker.static_topics.all
        if is_shared == (name in self._shared):
            return
        (self._shared.add if is_shared else self._shared.discard)(name)
        if not is_shared:
            kept = {name: one for name, one in self._owned.items() if self.is_shared(name.topic)}
            self._owned = kept
        try:
            if self._broker.hot.set_shared(name, is_shared):
                self._broker.membership.appended()
        except StoreError as error:
            log.warning("share_mode_not_written", topic_name=name, reason=str(error))
        self._broker.hot.wake_pops(name, ANY_QUEUE)
        self.advance()

    def _name_new_queues(self, topic: str, queue_count: int) -> None:
        """Name the share queues of queues that a topic has got, at the master.

        Owners of the other queues may be replicas, so that no POP comes here.
        """
        if not self._is_sequencer:
            return
        for name in {one.group for one in self.seen() if one.topic == topic}:
            group = self._broker.groups.find(name)
            if group is None:
                continue
            try:
                self._broker.shares.begin(topic, group, queue_count, init_mode=FROM_START)
            except StoreError as error:
                log.warning("share_queues_not_named", topic_name=topic, reason=str(error))

    def seen(self) -> Mapping[ShareName, SeenShare]:
        """Return all share queues of SHARED topics in the lane of this member.

        That takes milliseconds for a thousand of them.
        """
        return _named(self._broker.hot.seen_shares())

    def seen_of(self, pairs: Iterable[tuple[str, str]]) -> Mapping[ShareName, SeenShare]:
        """Return those of them that groups have in topics; a pair is a topic and a group."""
        seen = self._broker.hot.seen_shares_of
        return {name: one for pair in pairs for name, one in _named(seen(*pair)).items()}

    @property
    def is_any_owned(self) -> bool:
        """Return whether a member owns a share queue, by the lane of this member."""
        return self._broker.hot.is_any_share_owned()

    def owned(self) -> Mapping[ShareName, int]:
        """Return the share queues that this process owns, each with its lease epoch."""
        return {name: one.epoch for name, one in self._owned.items()}

    def has_ended_by_order(self, name: ShareName, epoch: int) -> bool:
        """Return whether an operator has reset a share queue since an epoch, or deleted it."""
        found = self._broker.hot.finished_share(*name)
        if found is None:
            return True
        _, reset_epoch, _ = found
        return reset_epoch > epoch

    def owner_of(self, topic: str, queue_id: int, group: str) -> int | None:
        """Return the broker id of the owner by the lane of this member; None without one."""
        return self._broker.hot.share_owner(topic, queue_id, group)

    def serves(self, header: PopMessageHeader) -> bool:
        """Return whether a queue that a POP asks for is owned here, itself or a retry topic."""
        group = header.consumer_group
        named = None if header.queue_id == ANY_QUEUE else header.queue_id
        if self._hands_out(header.topic, named, group):
            return True
        # An orderly consumer gets no messages of retry topics.
        retry_topic = pop_retry_topic(group, header.topic)
        return not header.is_ordered and self._hands_out(retry_topic, None, group)

    def hands_out(self, name: ShareName) -> bool:
        """Return whether a share queue is owned here, by the lane and by a lease that lasts."""
        return name in self._owned and self._hands_out(*name)

    def _hands_out(self, topic: str, queue_id: int | None, group: str) -> bool:
        elapsed_ms = self._broker.elapsed_ms()
        return self._broker.hot.serves_any_share(topic, queue_id, group, elapsed_ms)

    async def own(self, name: ShareName, epoch: int, *, ends_at_s: float | None = None) -> bool:
        """Own a share queue by a lease, and hand out its messages until its end.

        Return once the record of it is in the lane of this member, from where on it is unlocked
        (Q24). False if another member has a later epoch, or if the share queue is unknown.
        """
        await self._await_lane()
        record = self._broker.hot.own_record(*name, epoch)
        if record is None or await self._submit_surely(record) != DONE:
            return False
        await self._await_lane()
        return self._serve(name, OwnedShare(epoch, _in_ms(ends_at_s)))

    def prolong(self, name: ShareName, ends_at_s: float | None) -> None:
        """Hand messages of an owned share queue out until another end; None without an end."""
        owned = self._owned.get(name)
        if owned is not None:
            self._owned[name] = replace(owned, ends_ms=_in_ms(ends_at_s))
            self._broker.hot.prolong_share(*name, _in_ms(ends_at_s))

    async def own_as_sequencer(self, name: ShareName) -> int | None:
        """Own a share queue while no control plane answers, and return the epoch.

        None unless this broker is the master, and stays it until the record is confirmed.

        Raises:
            StoreError: the store refused the record.
        """
        if not self._is_sequencer:
            return None
        owned = self._broker.hot.own_share_as_sequencer(*name)
        if owned is None:
            return None
        epoch, appending = owned
        is_owned = await self._confirmed(appending) == DONE
        is_served = is_owned and self._serve(name, OwnedShare(epoch, ends_ms=None))
        return epoch if is_served else None

    def stop(self, name: ShareName) -> None:
        """Hand out no message of a share queue any more: its lease has ended by this clock."""
        self._owned.pop(name, None)
        self._broker.hot.lock_share(*name)
        # POPs that the engine was granted may be for other members now.
        self._broker.hot.facts_changed()
        # Consumers that wait are to go to the next owner.
        self._broker.shares.wake(name.topic, name.queue_id)

    async def give_back(self, name: ShareName, *, wants_again: bool) -> None:
        """Give a share queue back, by a record that lets another member take over (Q28).

        Deliveries in progress end before. Return once the lane of this member has the record.
        """
        self.stop(name)
        await self._await_lane()
        while self._broker.hot.lock_share(*name):
            await self._changed.wait()
        record = self._broker.hot.unown_record(*name, wants_again)
        if record is not None:
            # If it is refused, another member owns the share queue already.
            await self._submit_surely(record)

    def began_to_lead(self) -> None:
        """Go on with what is owned here: this broker is the sequencer now."""
        self._may_follow = self._follows = False
        self._go_on()

    def follow(self) -> None:
        """Have the lane of the master from now on, as far as it is confirmed."""
        self._may_follow = True
        self.advance()

    def pause(self) -> None:
        """Hand nothing out until the next master is known. All leases stay valid (O31)."""
        self._may_follow = self._follows = False

    def advance(self) -> None:
        """Apply what is confirmed of the lane by now, at a replica that has SHARED topics."""
        if not self._may_follow or not (self._shared or self._follows):
            return
        broker = self._broker
        if not broker.is_read_limited:
            return  # The master has not said yet what is confirmed.
        try:
            ready = self._begin_to_follow() if not self._follows else broker.hot.advance_shares()
        except StoreError as error:
            log.exception("lane_not_followed", reason=str(error))
            self._may_follow = self._follows = False
            broker.hot.stand_down_shares()
            if error.position is not None:
                broker.copy_damaged(error.position, str(error))
            return
        for topic, queue_id in ready:
            broker.shares.wake(topic, queue_id)
        self._note_change()

    def _begin_to_follow(self) -> list[tuple[str, int]]:
        broker = self._broker
        broker.hot.follow_shares(
            share_state_topic(broker.settings.cluster_name),
            member=broker.membership.own_id,
            life=self.life,
            shared_topics=self.topics,
            version_max=broker.settings.protocol_version_max,
        )
        self._follows = True
        self._go_on()
        return []

    def propose(self, proposal: Proposal, settle: Settle | None) -> None:
        """Send records to the sequencer; call back with whether they are in this lane.

        So the cluster hears what a member hands out (Q20, Q25).
        """
        self._begin(self._propose(proposal, settle))

    def send_drafts(self) -> None:
        """Send what the engine has to propose without an answer that waits for it."""
        proposal = self._broker.hot.take_share_proposal()
        if proposal is not None:
            self.propose(proposal, None)

    async def append(self, member: int, records: bytes) -> tuple[str, int]:
        """Append the records of a member, as sequencer (4101); return the verdict and position.

        Return once they are confirmed.

        Raises:
            Refusal: it is unknown whether they will be, or this master can't read the lane.
            StoreError: the store refused them.
        """
        if not self._is_sequencer:
            reason = "this broker does not judge records of share queues: another one will lead"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        appending = self._broker.hot.append_share_records(member, records)
        return await self._confirmed(appending), appending.position

    async def run(self) -> None:
        """End deliveries whose deadline has passed, until cancelled."""
        try:
            while True:
                await asyncio.sleep(TICK_S)
                self._note_left_out()
                if self._owned:
                    self._tick()
        finally:
            self._is_over = True
            for task in self._tasks:
                task.cancel()

    def _note_left_out(self) -> None:
        """Report damaged records that each member leaves out, until a snapshot follows (O34)."""
        broker, kind = self._broker, IncidentKind.RECORD_LEFT_OUT
        if not self.reads_lane and (self._shared or not self._may_follow):
            # The next master is not known yet, or the lane is read in a moment.
            return
        # Without SHARED topics a replica does not read the lane, and its master reports them.
        positions = broker.hot.left_out_shares() if self.reads_lane else []
        for position in positions:
            broker.share_incidents.open(kind, position, "the checksum of a record is wrong")
        broker.share_incidents.end(kind, kept=positions)

    def _tick(self) -> None:
        broker, hot = self._broker, self._broker.hot
        if not (self._is_sequencer or self._follows):
            return
        for name in list(self._owned):
            # The keeper gives back those whose lease has ended by the clock.
            if not hot.serves_any_share(*name, None):
                log.warning("share_queue_lost", **name._asdict())
                self.stop(name)
        try:
            ready = hot.expire_served_shares()
        except StoreError as error:
            log.warning("share_queues_not_kept", work="expire", reason=str(error))
            return
        if self._is_sequencer:
            broker.membership.appended()
            for topic, queue_id in ready:
                broker.shares.wake(topic, queue_id)
        else:
            self.send_drafts()

    async def _await_lane(self) -> None:
        """Wait for the next master while there is none: only then the lane goes on."""
        while not (self._is_sequencer or self._follows):
            await self._changed.wait()

    @property
    def _is_sequencer(self) -> bool:
        shares = self._broker.shares
        return shares.is_leading and not shares.is_acting

    def _go_on(self) -> None:
        """Serve what is owned here, as far as the lane says the same."""
        for name, owned in list(self._owned.items()):
            self._serve(name, owned)
        self._note_change()

    def _serve(self, name: ShareName, owned: OwnedShare) -> bool:
        is_served = self._broker.hot.serve_share(*name, owned.epoch, owned.ends_ms)
        if is_served:
            self._owned[name] = owned
            self._broker.hot.facts_changed()
            self._broker.shares.wake(name.topic, name.queue_id)
        else:
            self._owned.pop(name, None)
        return is_served

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _propose(self, proposal: Proposal, settle: Settle | None) -> None:
        numbers, records = proposal
        try:
            verdict = await self._submit(records)
        except _UNKNOWN as error:
            log.info("deliveries_not_confirmed", reason=str(error) or type(error).__name__)
            if settle is not None:
                settle(is_recorded=False)
            await self._withdraw(proposal)
            return
        self._settle(numbers, is_recorded=verdict == DONE)
        if settle is not None:
            settle(is_recorded=verdict == DONE)

    async def _withdraw(self, proposal: Proposal) -> None:
        """Give back what was perhaps handed out, before it is handed out again.

        This member may have become the master meanwhile.
        """
        numbers, records = proposal
        withdrawal = self._broker.hot.withdraw_shares(records)
        if withdrawal is not None:
            more, records = withdrawal
            await self._submit_surely(records)
            numbers = [*numbers, *more]
        self._settle(numbers, is_recorded=False)

    def _settle(self, numbers: list[int], *, is_recorded: bool) -> None:
        broker = self._broker
        for topic, queue_id in broker.hot.settle_shares(numbers):
            # The records came into the lane earlier: consumers that looked then found nothing.
            if not is_recorded:
                broker.shares.wake(topic, queue_id)
        self._note_change()

    async def _submit_surely(self, records: bytes) -> str:
        """Have records appended, again and again until it is known what came of it."""
        while True:
            try:
                return await self._submit(records)
            except _UNKNOWN as error:
                log.debug("records_sent_again", reason=str(error) or type(error).__name__)
            await asyncio.sleep(RETRY_S)

    async def _submit(self, records: bytes) -> str:
        """Have records appended; return the verdict once they are in the lane of this member.

        Raises:
            OSError, RemotingError, TimeoutError, Refusal, StoreError: it is unknown whether they
            are, or will be.
        """
        broker = self._broker
        if self._is_sequencer:
            verdict, _ = await self.append(broker.membership.own_id, records)
            return verdict
        header = ShareStateAppendHeader(
            broker_name=broker.settings.broker_name,
            broker_id=broker.membership.own_id,
            life=self.life,
        )
        reply = await broker.membership.ask_master(
            RequestCode.SHARE_STATE_APPEND, encode_header(header), records
        )
        if reply.code != ResponseCode.SUCCESS:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reply.remark or str(reply.code))
        try:
            appended = decode_header(SharesAppendedHeader, reply.ext)
        except InvalidHeader as error:
            raise ConnectionError(f"the master's answer cannot be read: {error}") from error
        if appended.verdict == DONE:
            await self._applied(appended.position)
        return appended.verdict

    async def _confirmed(self, appending: Appending) -> str:
        """Wait until appended records are confirmed; return the verdict.

        Raises:
            Refusal: it is unknown whether they will be.
        """
        broker = self._broker
        if appending.verdict != DONE:
            return appending.verdict
        broker.membership.appended()
        for group, topic, queue_id, offset in appending.commits:
            broker.commit(group, topic, queue_id, offset=offset, address="")
        for topic, queue_id in appending.ready:
            broker.shares.wake(topic, queue_id)
        outcome = await broker.membership.outcome(appending.position)
        if outcome is not Outcome.CONFIRMED:
            reason = f"the record of share queues is not confirmed: {outcome}"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        return appending.verdict

    async def _applied(self, position: int) -> None:
        """Wait until the lane of this member has the records before a confirmed position.

        Raises:
            TimeoutError: it does not get them in time.
        """
        async with asyncio.timeout(APPLIED_S_MAX):
            while not self._has_applied(position):
                await self._changed.wait()

    def _has_applied(self, position: int) -> bool:
        # A master has all that was confirmed before.
        is_there = self._follows or self._is_sequencer
        return is_there and self._broker.hot.shares_end >= position

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_over:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        with contextlib.suppress(asyncio.CancelledError):
            task.result()


def _subject_of(topic: str) -> str:
    """Return the topic whose messages a retry topic has, else the topic itself."""
    return topic.partition("+")[2] if topic.startswith(RETRY_PREFIX) else topic


def _in_ms(ends_at_s: float | None) -> int | None:
    return None if ends_at_s is None else int(ends_at_s * 1000)
