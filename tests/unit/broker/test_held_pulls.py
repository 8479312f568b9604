from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from workers.broker.requests.held_pulls import SLOT_MS, HeldPull, HeldPulls


def pull(*, group="g", topic="T", queue_id=0, offset=5, deadline_ms=1000, owner="c"):
    return HeldPull(group, topic, queue_id, offset, deadline_ms, request="r", owner=owner)


def test_an_arrival_wakes_only_those_with_something_to_read():
    held = HeldPulls()
    early, late = pull(offset=5), pull(offset=7)
    for one in (early, late, pull(topic="U"), pull(queue_id=1)):
        held.hold(one)

    assert held.wake("T", 0, 6) == [early]
    assert held.wake("T", 0, 6) == []
    assert held.wake("T", 0, 8) == [late]
    assert len(held) == 2


def test_a_pull_expires_within_a_slot_after_its_deadline_and_never_before():
    held = HeldPulls()
    one = pull(deadline_ms=1050)
    held.hold(one)

    assert held.expire(1050) == []
    assert held.next_deadline_ms == 1100
    assert held.expire(1100) == [one]
    assert held.next_deadline_ms is None


def test_a_clock_that_is_set_back_holds_no_pull_for_longer():
    held = HeldPulls()
    before, since = pull(deadline_ms=3_630_000), pull(deadline_ms=31_000)
    held.hold(before)
    held.hold(since)

    assert held.expire(1_000) == [before]
    assert held.expire(31_000 + SLOT_MS) == [since]


def test_a_woken_pull_does_not_expire_as_well():
    held = HeldPulls()
    held.hold(pull(deadline_ms=100))

    assert len(held.wake("T", 0, 6)) == 1
    assert held.expire(10_000) == []


def test_a_full_table_refuses():
    held = HeldPulls(count_max=1)

    assert held.hold(pull())
    assert not held.hold(pull())
    held.wake("T", 0, 6)
    assert held.hold(pull())


def test_the_pulls_of_an_owner_or_a_topic_go_together():
    held = HeldPulls()
    for owner in ("a", "b"):
        for topic in ("T", "U"):
            held.hold(pull(topic=topic, owner=owner))

    held.drop_owner("a")
    taken = held.take_queue("T")

    assert [(one.topic, one.owner) for one in taken] == [("T", "b")]
    assert [(one.topic, one.owner) for one in held.take_all()] == [("U", "b")]
    assert len(held) == 0


def test_the_pulls_of_a_group_at_some_queues_go_without_those_of_others():
    held = HeldPulls()
    mine = [pull(queue_id=number) for number in (0, 1)]
    others = [pull(group="h"), pull(topic="U"), pull(queue_id=2)]
    for one in [*mine, *others]:
        held.hold(one)

    assert held.take_group("g", "T", range(2)) == mine
    assert sorted(map(id, held.take_all())) == sorted(map(id, others))


class HeldPullsMachine(RuleBasedStateMachine):
    """Compare the table with a plain list."""

    def __init__(self):
        super().__init__()
        self.held, self.model = HeldPulls(count_max=8), []

    @rule(
        topic=st.sampled_from("TU"),
        offset=st.integers(0, 4),
        deadline_ms=st.integers(0, 1000),
        owner=st.sampled_from("ab"),
    )
    def hold(self, topic, offset, deadline_ms, owner):
        one = pull(topic=topic, offset=offset, deadline_ms=deadline_ms, owner=owner)
        assert self.held.hold(one) == (len(self.model) < 8)
        self.model = [*self.model, one][:8]

    @rule(topic=st.sampled_from("TU"), max_offset=st.integers(0, 5))
    def wake(self, topic, max_offset):
        woken = self.held.wake(topic, 0, max_offset)
        self.remove(woken, lambda one: one.topic == topic and one.offset < max_offset)

    @rule(now_ms=st.integers(0, 1200))
    def expire(self, now_ms):
        over = self.held.expire(now_ms)
        self.remove(over, lambda one: (one.deadline_ms // SLOT_MS + 1) * SLOT_MS <= now_ms)

    @rule(owner=st.sampled_from("ab"))
    def drop(self, owner):
        self.held.drop_owner(owner)
        self.model = [one for one in self.model if one.owner != owner]

    @invariant()
    def counts_agree(self):
        assert len(self.held) == len(self.model)

    def remove(self, taken, condition):
        assert set(map(id, taken)) == {id(one) for one in self.model if condition(one)}
        self.model = [one for one in self.model if not condition(one)]


HeldPullsMachine.TestCase.settings = settings(max_examples=60, deadline=None)
TestHeldPulls = HeldPullsMachine.TestCase
