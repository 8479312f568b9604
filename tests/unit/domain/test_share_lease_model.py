"""Random lives of a share queue with three members, lost answers and control planes that are away.

The lane is the log of the share queue: a record of an owner is refused unless its epoch is greater
than that of the record before (queue-ownership.md 4.4).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from backend.domain.share_lease import (
    HeldLease,
    LeaseHeartbeat,
    LeaseTerms,
    Member,
    ShareLease,
    Standing,
    Wish,
    arbitrate,
)
from backend.domain.share_queue import ShareQueueName

SQ = ShareQueueName("orders", 0, "billing")
SEQUENCER = 1
IDS = st.sampled_from((SEQUENCER, 2, 3))
TERMS = LeaseTerms(ttl=timedelta(seconds=10), slice=timedelta(seconds=2))
GUARD_S = 1
TTL_S = 10


@dataclass
class Process:
    """What a member believes: the epoch of its lease, and when it stops by its own clock."""

    life: int = 1
    epoch: int = 0
    serves_until: float = 0
    must_release: bool = False
    wants: bool = True

    def stop(self):
        self.epoch, self.serves_until, self.must_release = 0, 0, False


class LeaseLife(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.clock = 0.0
        self.lease = ShareLease()
        self.processes = {one: Process() for one in (SEQUENCER, 2, 3)}
        self.lane = (0, None)
        # The model: the member of each epoch, and members in the order of their first request.
        self.owner_of = {}
        self.queue = {}

    def serving(self):
        return [
            one
            for one, process in self.processes.items()
            if self.clock < process.serves_until and self.lane == (process.epoch, one)
        ]

    def send(self, broker_id, *, has_messages, is_answer_lost, is_in_sync=True):
        process = self.processes[broker_id]
        if process.epoch and self.lane != (process.epoch, broker_id):
            # A member reads the lane: the record of a later owner ends what the member believes.
            process.stop()
        member = Member(broker_id, process.life)
        held, released, wanted = {}, {}, {}
        if process.epoch and process.must_release:
            released = {SQ: process.epoch}
            process.stop()
        elif process.epoch:
            held = {SQ: HeldLease(process.epoch, has_messages)}
        if process.wants and not held:
            wanted = {SQ: Wish(self.lane[0], has_messages)}
        before, sent_at = self.lease, self.clock
        decided = arbitrate(
            {SQ: before},
            LeaseHeartbeat(member, held, wanted, released),
            Standing(is_in_sync=is_in_sync, is_sequencer=broker_id == SEQUENCER),
            now=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.clock),
            terms=TERMS,
        )
        self.lease = decided.changed.get(SQ, before)
        self.check_epochs(before, held)
        self.check_order(broker_id, before, wanted, is_in_sync=is_in_sync)
        if is_answer_lost:
            return
        if SQ in decided.granted:
            self.own(broker_id, decided.granted[SQ], until=sent_at + TTL_S - GUARD_S)
        elif SQ in decided.revoked:
            process.must_release, process.serves_until = True, 0
        elif held:
            process.serves_until = sent_at + TTL_S - GUARD_S

    def check_epochs(self, before, held):
        assert self.lease.epoch >= before.epoch
        if self.lease.owner is not None:
            owner = self.lease.owner
            assert self.owner_of.setdefault(self.lease.epoch, owner) == owner
        if self.lease.owner not in (None, before.owner):
            assert self.lease.epoch > before.epoch
        if len({one.broker_id for one in self.lease.waiters}) == 0 and held:
            assert self.lease.slice_ends_at is None

    def check_order(self, broker_id, before, wanted, *, is_in_sync):
        """Follow the waiters in another list: the first one that sees messages is served."""
        self.queue = {one: end for one, end in self.queue.items() if end[0] > self.clock}
        was_owner = before.owner is not None and before.owner.broker_id == broker_id
        is_owner = self.lease.owner is not None and self.lease.owner.broker_id == broker_id
        if wanted and is_in_sync and not (was_owner and is_owner and self.lease == before):
            self.queue[broker_id] = (self.clock + TTL_S, wanted[SQ].has_messages)
        else:
            self.queue.pop(broker_id, None)
        is_grant = is_owner and self.lease.epoch == before.epoch + 1 and wanted
        if is_grant:
            first = next(one for one, (_, has_messages) in self.queue.items() if has_messages)
            assert first == broker_id
        if is_owner:
            self.queue.pop(broker_id, None)
        assert [one.broker_id for one in self.lease.waiters] == list(self.queue)

    def own(self, broker_id, epoch, *, until):
        """Append the record of an owner; the lane refuses it unless its epoch is the highest."""
        process = self.processes[broker_id]
        process.stop()
        if epoch > self.lane[0]:
            self.lane = (epoch, broker_id)
            process.epoch, process.serves_until = epoch, until

    @rule(
        broker_id=IDS,
        seconds=st.sampled_from((0, 0.3, 1, 2.5, 5)),
        has_messages=st.sampled_from((True, True, True, False)),
        is_answer_lost=st.sampled_from((False, False, False, True)),
    )
    def beat(self, broker_id, seconds, has_messages, is_answer_lost):
        self.clock += seconds
        self.send(broker_id, has_messages=has_messages, is_answer_lost=is_answer_lost)

    @rule(broker_id=IDS, kind=st.sampled_from(("late", "unwanted", "given back", "restarted")))
    def disturb(self, broker_id, kind):
        process = self.processes[broker_id]
        if kind == "late":
            self.send(broker_id, has_messages=True, is_answer_lost=False, is_in_sync=False)
        elif kind == "unwanted":
            process.wants = not process.wants
        elif kind == "given back":
            process.must_release, process.serves_until = bool(process.epoch), 0
        else:
            self.processes[broker_id] = Process(life=process.life + 1)

    @precondition(
        lambda self: not any(self.clock < p.serves_until for p in self.processes.values())
    )
    @rule()
    def fall_back(self):
        """The sequencer takes a share queue whose lease has ended, without the control plane."""
        self.own(SEQUENCER, self.lane[0] + 1, until=self.clock)

    @invariant()
    def at_most_one_member_serves(self):
        believing = [p for p in self.processes.values() if self.clock < p.serves_until]
        assert len(self.serving()) <= 1
        assert len(believing) <= 1


TestLeaseLife = LeaseLife.TestCase
TestLeaseLife.settings = settings(max_examples=200, stateful_step_count=50, deadline=None)
