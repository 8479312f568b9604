"""A member looks many times a second: each look reads the share queues that it is about."""

from types import SimpleNamespace

import pytest

from tests.unit.broker.shared_members import SQ, Group
from tests.unit.engine.builders import hot_path, open_store
from workers.broker.shares.credit import Credit
from workers.broker.shares.member_shares import MemberShares, SeenShare, ShareName, pairs_of


@pytest.fixture
def hot(tmp_path):
    store = open_store(tmp_path)
    hot = hot_path(store)
    hot.lead_shares(
        "lane", epoch=1, member=1, segment_size_bytes=16 << 20, life=5, shared_topics=["Orders"]
    )
    for topic, group in (("Orders", "g"), ("Orders", "h"), ("Bills", "g")):
        starts = [(queue_id, 0) for queue_id in range(4)]
        hot.begin_shares(topic, group, starts, attempts=16, discards=False, is_ordered=False)
    yield hot
    store.close()


def test_the_share_queues_of_a_group_are_those_of_it_in_the_lane(hot):
    shares = MemberShares(SimpleNamespace(hot=hot))
    wanted = [ShareName("Orders", queue_id, "h") for queue_id in range(4)]

    seen = shares.seen_of(pairs_of(wanted))

    assert list(seen) == wanted
    assert seen == {name: one for name, one in shares.seen().items() if name.group == "h"}
    assert seen[wanted[0]] == SeenShare(known_epoch=0, owner=None, has_messages=False)
    # A topic in PRIMARY mode, and an unknown one.
    assert shares.seen_of([("Bills", "g"), ("Unknown", "g")]) == {}


def test_the_lane_says_whether_any_share_queue_has_an_owner(hot):
    shares = MemberShares(SimpleNamespace(hot=hot))
    assert not shares.is_any_owned

    hot.own_share_as_sequencer("Orders", 2, "g")

    assert shares.is_any_owned
    assert shares.seen_of([("Orders", "g")])[ShareName("Orders", 2, "g")].owner == 1


def test_credit_asks_for_one_share_queue_and_not_for_all_of_its_group():
    counts = {0: 5, 1: 7}
    hot = SimpleNamespace(
        pop_count=lambda *_name: 0,
        share_delivered_count=lambda _topic, queue_id, _group: counts[queue_id],
    )
    credit, (one, two) = Credit(hot), (ShareName("Orders", queue_id, "g") for queue_id in (0, 1))
    assert not credit.has(one)
    assert not credit.has(two)

    counts[1] += 1

    assert not credit.has(one)
    assert credit.has(two)
    assert not credit.has(two)


def test_credit_keeps_nothing_of_a_share_queue_that_is_owned_no_more():
    hot = SimpleNamespace(pop_count=lambda *_name: 0, share_delivered_count=lambda *_name: 1)
    credit = Credit(hot)
    credit.has(SQ)
    credit.was_used(SQ)

    credit.forget(SQ)

    assert not credit._looked
    assert not credit._reported


async def test_a_look_does_not_read_all_share_queues_of_the_lane():
    group = Group()
    await group.own(1)
    group.keepers[2].want([SQ])
    await group.beat(2, 1)
    shares = group.shares[1]

    def read_all():
        raise AssertionError("a look has read the whole lane")

    def read(pairs):
        assert pairs == {("orders", "billing")}
        return {SQ: SeenShare(known_epoch=1, owner=1, has_messages=True)}

    shares.seen, shares.seen_of = read_all, read
    group.keepers[1].look()

    assert group.serving == [1]
