"""Random lives of a static topic in a cluster in memory: what must hold after any step (P-...)."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from backend.domain.logical_queue.change import ChangeState, MoveStep, redirect, roll_back
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.expiry import last_known_end
from backend.domain.logical_queue.mapping import QueueCounts
from backend.domain.logical_queue.move_planning import (
    plan_evacuation,
    plan_moves,
    plan_remapping,
    plan_spread,
)
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import (
    plan_conversion,
    plan_creation,
    plan_expansion,
    plan_removal,
    plan_shrink,
)
from backend.domain.logical_queue.route import client_endpoints
from backend.domain.logical_queue.segment import INT64_MAX, OffsetMode
from backend.domain.logical_queue.topic_checks import check_plan
from tests.unit.domain.logical_queue.builders import groups
from tests.unit.domain.logical_queue.simulated_cluster import Cluster

NAMES = ("b1", "b2", "b3")
BROKERS = st.sampled_from(NAMES)
QUEUES = st.integers(0, 5)
CONSUMERS = st.sampled_from(["g", "h"])
EPOCHS = st.sampled_from([0, 1, 1_760_000_000_000, 2**53, 2**62, INT64_MAX - 10**6])
OFFSETS = st.sampled_from([0, 1, 9_999, 2**31, 2**53, 2**62])


class TopicLife(RuleBasedStateMachine):
    """Moves, expands, expires and reads a topic in any order, with failures between the steps."""

    def __init__(self):
        super().__init__()
        self.cluster = Cluster(NAMES)
        self.now_ms = 0
        self.counts_seen = []

    @property
    def topic(self):
        return self.cluster.truth

    @property
    def groups(self):
        down = [name for name, one in self.cluster.brokers.items() if not one.is_up]
        return groups(*NAMES, silent=down)

    def attempt(self, plan, *args, **named):
        """Begin a change if it is allowed; a refused one leaves everything as it was."""
        before = self.topic
        try:
            change = plan(*args, groups=self.groups, now_ms=self.now_ms, **named)
        except QueueChangeRefused:
            assert self.topic == before
            return
        assert change.epoch > before.epoch
        self.cluster.begin(change)

    @initialize(
        now_ms=EPOCHS, count=st.integers(1, 4), mode=st.sampled_from(OffsetMode), size=OFFSETS
    )
    def create(self, now_ms, count, mode, size):
        self.now_ms = now_ms
        if size == 0:
            change = plan_creation(
                "T",
                count,
                targets=NAMES[:2],
                groups=self.groups,
                now_ms=now_ms,
                offset_mode=mode,
                block_size=100,
            )
        else:
            # An ordinary topic whose queues begin at a great offset becomes static.
            for name, queue_id in [("b1", 0), ("b1", 1), ("b2", 0)]:
                log = self.cluster.brokers[name].logs[queue_id]
                log.first = log.end = log.dispatched = size
            counts = {"b1": QueueCounts(2, 2), "b2": QueueCounts(1, 1)}
            change = plan_conversion(
                "T", counts, groups=self.groups, now_ms=now_ms, offset_mode=mode
            )
        self.cluster.begin(change)
        self.cluster.finish()

    def queue_id(self, number):
        """Name a logical queue that exists."""
        return number % self.topic.queue_count

    @rule(number=QUEUES, count=st.integers(1, 4))
    def send(self, number, count):
        for _ in range(count):
            self.cluster.send(self.queue_id(number))

    @rule(number=QUEUES)
    def admit(self, number):
        self.cluster.admit(self.queue_id(number))

    @rule(number=QUEUES)
    def complete(self, number):
        self.cluster.complete(self.queue_id(number))

    @rule()
    def dispatch(self):
        self.cluster.dispatch()

    @rule(group=CONSUMERS, number=QUEUES, limit=st.sampled_from([1, 3, 1_000]))
    def consume(self, group, number, limit):
        self.cluster.consume(group, self.queue_id(number), limit=limit)

    @precondition(lambda self: not self.cluster.is_idle)
    @rule(count=st.integers(1, 4), loses_answer=st.booleans())
    def step(self, count, loses_answer):
        for _ in range(count):
            if not self.cluster.is_idle:
                self.cluster.step(loses_answer=loses_answer)

    @precondition(lambda self: not self.cluster.is_idle)
    @rule()
    def finish(self):
        for queue in self.topic.queues:
            self.cluster.complete(queue.global_id)
        self.cluster.dispatch()
        self.cluster.finish()

    @precondition(lambda self: self.cluster.is_idle)
    @rule(number=QUEUES, destination=BROKERS)
    def move(self, number, destination):
        queue = self.topic.queue(self.queue_id(number))
        move = Relocation(queue.global_id, queue.leader_name, destination)
        self.attempt(plan_moves, self.topic, [move])

    @precondition(lambda self: self.cluster.is_idle)
    @rule(group=CONSUMERS, number=QUEUES, back=st.booleans())
    def move_and_expire(self, group, number, back):
        """A group reads a queue, the queue moves, its old data goes, and it may move back."""
        global_id = self.queue_id(number)
        self.send(number, 2)
        self.cluster.dispatch()
        self.cluster.consume(group, global_id)
        source = self.topic.queue(global_id).leader_name
        destination = NAMES[(NAMES.index(source) + 1) % len(NAMES)]
        self.move(number, destination)
        self.finish_if_begun()
        self.send(number, 3)
        self.retain(number, 1_000)
        self.expire(number)
        if back:
            self.move(number, source)
            self.finish_if_begun()

    @precondition(lambda self: self.cluster.is_idle)
    @rule(number=QUEUES, destination=BROKERS, steps=st.integers(1, 3))
    def move_under_load(self, number, destination, steps):
        """Messages are admitted and not dispatched yet while the first steps of a move run."""
        self.send(number, 1)
        self.admit(number)
        self.move(number, destination)
        for _ in range(steps):
            if not self.cluster.is_idle:
                self.cluster.step()
        self.complete(number)

    def finish_if_begun(self):
        if not self.cluster.is_idle:
            self.finish()

    @precondition(lambda self: self.cluster.is_idle)
    @rule(chosen=st.sets(BROKERS, min_size=1))
    def remap(self, chosen):
        self.attempt(plan_remapping, self.topic, targets=chosen)

    @precondition(lambda self: self.cluster.is_idle)
    @rule(leaving=BROKERS)
    def evacuate(self, leaving):
        self.attempt(plan_evacuation, self.topic, leaving, targets=NAMES)

    @precondition(lambda self: self.cluster.is_idle)
    @rule(newcomer=BROKERS)
    def spread_onto(self, newcomer):
        self.attempt(plan_spread, self.topic, newcomer)

    @precondition(lambda self: self.cluster.is_idle and self.topic.queue_count < 6)
    @rule(more=st.integers(1, 2), chosen=st.sets(BROKERS))
    def expand(self, more, chosen):
        count = self.topic.queue_count + more - len(self.topic.sealed_ids)
        self.attempt(plan_expansion, self.topic, count, targets=chosen, bounds=self.cluster.bounds)

    @precondition(lambda self: self.cluster.is_idle)
    @rule(count=st.integers(1, 4))
    def shrink(self, count):
        self.attempt(plan_shrink, self.topic, count)

    @precondition(lambda self: self.cluster.is_idle and self.topic.sealed_ids)
    @rule()
    def remove(self):
        """The sealed queues go once all groups that read them have read them to the end."""
        readers = {group for group, _ in self.cluster.next_expected}
        for global_id in self.topic.sealed_ids:
            for group in readers:
                self.cluster.consume(group, global_id, limit=10_000)
        ids = self.topic.sealed_ids
        self.cluster.begin(plan_removal(self.topic, ids, now_ms=self.now_ms))
        self.cluster.finish()
        self.cluster.removed |= set(ids)
        for global_id in ids:
            self.cluster.lost |= set(self.cluster.acknowledged[global_id].values())
        self.counts_seen.clear()

    @precondition(lambda self: not self.cluster.is_idle)
    @rule()
    def roll_back(self):
        change = self.cluster.change
        committed = [one for one in change.moves if one.step in {MoveStep.DECIDED, MoveStep.ACTIVE}]
        try:
            undone = roll_back(change)
        except QueueChangeRefused:
            assert committed or change.state is not ChangeState.MOVING
            return
        assert not committed
        assert undone.after.queues == change.before.queues
        self.cluster.change = undone
        self.cluster.truth = undone.after

    @precondition(lambda self: not self.cluster.is_idle and self.cluster.change.moves)
    @rule(destination=BROKERS)
    def redirect(self, destination):
        change = self.cluster.change
        global_id = change.moves[0].global_id
        try:
            self.cluster.change = redirect(change, global_id, destination)
        except QueueChangeRefused:
            assert self.cluster.change == change
        else:
            self.cluster.truth = self.cluster.change.after

    @precondition(lambda self: self.cluster.is_idle)
    @rule(name=BROKERS, admits=st.integers(0, 3))
    def fail_and_force(self, name, admits):
        """A broker dies with admitted messages, its queues are forced away, and it returns."""
        broker = self.cluster.brokers[name]
        led = self.topic.led_by(name)
        ends = {}
        for queue in led:
            for _ in range(admits):
                self.cluster.admit(queue.global_id)
            log = broker.logs[queue.leader.queue_id]
            ends[queue.global_id] = last_known_end(queue.leader, [log.end], [])
        broker.is_up = False
        target = next(one for one in NAMES if one != name)
        moves = [Relocation(one.global_id, name, target) for one in led]
        self.attempt(plan_moves, self.topic, moves, forced_ends=ends)
        if not self.cluster.is_idle:
            self.cluster.finish()
        for queue in self.topic.queues:
            assert len(self.cluster.admitting(queue.global_id)) <= 1
        self.cluster.return_of(name)

    @precondition(lambda self: self.cluster.is_idle)
    @rule(number=QUEUES, count=st.sampled_from([1, 2, 1_000]))
    def retain(self, number, count):
        """Retention deletes the first messages of the oldest segment of a queue."""
        segment = self.topic.queue(self.queue_id(number)).segments[0]
        self.cluster.brokers[segment.broker_group_name].logs[segment.queue_id].expire(count)

    @precondition(lambda self: self.cluster.is_idle)
    @rule(number=QUEUES)
    def expire(self, number):
        queue = self.topic.queue(self.queue_id(number))
        if len(queue.segments) < 2:
            return
        segment = queue.segments[0]
        log = self.cluster.brokers[segment.broker_group_name].logs[segment.queue_id]
        try:
            self.cluster.expire(queue.global_id)
        except QueueChangeRefused:
            assert log.messages or not segment.is_ended
        else:
            assert not log.messages

    @invariant()
    def the_truth_is_sound(self):
        if self.topic is not None:
            assert check_plan(self.topic) == ()

    @invariant()
    def one_broker_at_most_takes_messages(self):
        for queue in self.topic.queues if self.topic else ():
            assert len(self.cluster.admitting(queue.global_id)) <= 1, "P-ONE"

    @invariant()
    def clients_see_one_fixed_set_of_queues(self):
        if self.cluster.route is None:
            return
        shown = self.cluster.route
        assert sorted(shown.leaders) == list(range(shown.queue_count)), "P-FIXED"
        assert shown.conflicts == {}
        self.counts_seen.append(shown.queue_count)
        assert self.counts_seen == sorted(self.counts_seen)
        names = {name for name, _ in client_endpoints(self.cluster.registered)}
        assert names == {"__syslo__global__"}

    @invariant()
    def every_message_has_one_offset(self):
        if self.topic is not None:
            self.cluster.check_offsets()

    @invariant()
    def all_agree_when_nothing_changes(self):
        if self.topic is not None and self.cluster.is_idle:
            assert self.cluster.findings() == (), "P-CONV"
            for queue in self.topic.queues:
                assert self.cluster.route.leader_name(queue.global_id) == queue.leader_name

    def teardown(self):
        """Finish what is open; then each group reads all that is stored, in order (P-LOSS)."""
        if self.topic is None:
            return
        cluster = self.cluster
        for queue in self.topic.queues:
            cluster.complete(queue.global_id)
        cluster.dispatch()
        cluster.finish()
        self.all_agree_when_nothing_changes()
        for queue in cluster.truth.queues:
            for group in ("g", "h", "new"):
                cluster.consume(group, queue.global_id, limit=10_000)
                assert cluster.consume(group, queue.global_id, limit=10_000) == []
            known = cluster.acknowledged[queue.global_id]
            stored = [one for one in known if cluster.is_stored(queue.global_id, one)]
            assert cluster.next_expected["new", queue.global_id] > max(stored, default=-1)


TestTopicLife = TopicLife.TestCase
TestTopicLife.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
