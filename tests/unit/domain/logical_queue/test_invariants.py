"""Each invariant is named where it is broken, and a sound topic has none broken."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.invariant import RULES, Invariant
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    MappingInfo,
    QueueCounts,
    RetiredQueue,
    TopicCopy,
    copies_of,
    copy_for,
)
from backend.domain.logical_queue.segment import INT32_MAX, INT64_MAX, INT64_MIN, QueueSegment
from backend.domain.logical_queue.segment_checks import check_segments, check_update, merged
from backend.domain.logical_queue.topic_checks import (
    Observation,
    ReplicaCopy,
    check_growth,
    check_hosts,
    check_lock,
    check_plan,
    check_targets,
    check_topic,
)
from tests.unit.domain.logical_queue.builders import segment, topic

TRUTH = topic(
    [segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 101)],
    [segment(0, "b1:q1")],
    [segment(0, "b2:q0")],
    [segment(0, "b2:q1")],
    counts={"b3": 0},
)
COPIES = copies_of(TRUTH)
SEEN = Observation("T", TRUTH, COPIES)


def with_copy(name, **changes):
    copies = {**COPIES, name: replace(COPIES[name], **changes)}
    return replace(SEEN, copies=copies)


def with_info(name, **changes):
    mapping = COPIES[name].mapping
    return with_copy(name, mapping=replace(mapping, info=replace(mapping.info, **changes)))


def with_list(name, global_id, *segments):
    mapping = COPIES[name].mapping
    hosted = {**mapping.hosted, global_id: segments}
    return with_copy(name, mapping=replace(mapping, hosted=hosted))


def with_segments(*segments, **others):
    """The truth with another list of queue 0, and copies that follow from it."""
    changed = replace(TRUTH.with_queue(TRUTH.queue(0).with_segments(*segments)), **others)
    return Observation("T", changed, copies_of(changed))


def route(*infos):
    return {"n1": {info.broker_group_name: info for info in infos}}


OLD, NEW = TRUTH.queue(0).segments
BROKEN = {
    Invariant.MAPPING_EXISTS: with_copy("b2", mapping=None),
    Invariant.OWN_BROKER_GROUP: with_copy("b2", mapping=COPIES["b1"].mapping),
    Invariant.NOT_DIRTY: with_info("b2", is_dirty=True),
    Invariant.SAME_TOPIC: with_copy("b2", configured_name="U"),
    Invariant.SAME_SCOPE: with_info("b2", scope="c1"),
    Invariant.SAME_EPOCH: with_info("b2", epoch=TRUTH.epoch - 1),
    Invariant.SAME_QUEUE_COUNT: with_info("b2", queue_count=5),
    Invariant.NOT_NEGATIVE: with_segments(replace(OLD, queue_id=-1), NEW),
    Invariant.ONLY_LAST_UNDECIDED: with_segments(replace(OLD, logical_start=-1), NEW),
    Invariant.GENERATIONS_RISE: with_segments(OLD, replace(NEW, generation=0)),
    Invariant.END_AFTER_START: with_segments(replace(OLD, physical_end=-2), NEW),
    Invariant.STARTS_RISE: with_segments(OLD, replace(NEW, logical_start=0)),
    Invariant.UNDECIDED_HAS_NO_RANGE: with_segments(
        OLD, replace(NEW, logical_start=-1, physical_end=9)
    ),
    Invariant.RANGES_APART: with_segments(OLD, replace(NEW, logical_start=100)),
    Invariant.ONE_LEADER: with_list("b1", 2, segment(0, "b1:q1")),
    Invariant.ALL_IDS_LED: with_list("b1", 4, segment(0, "b1:q1")),
    Invariant.QUEUES_USED_ONCE: with_segments(OLD, replace(NEW, queue_id=0)),
    Invariant.READS_COVER_WRITES: with_copy("b2", counts=QueueCounts(2, 3)),
    Invariant.STARTS_AT_ZERO: with_segments(OLD, replace(NEW, physical_start=7)),
    Invariant.BROKER_GROUPS_KNOWN: replace(
        SEEN, copies={name: one for name, one in COPIES.items() if name != "b1"}
    ),
    Invariant.QUEUE_EXISTS: with_copy("b2", counts=QueueCounts(2, 2)),
    Invariant.ENDS_DECIDED: with_segments(replace(OLD, physical_end=-1), NEW),
    Invariant.ONE_LIFE: with_segments(OLD, NEW, retired=(RetiredQueue("b1", 0, 0, 0, 101),)),
    Invariant.SEALS_FENCE: replace(
        SEEN, served={"b1": [1]}, seal_epochs={("b1", 1): TRUTH.epoch + 1}
    ),
    Invariant.REPLICAS_HOLD_MAPPING: replace(SEEN, replicas=(ReplicaCopy("b1", 2, None),)),
    Invariant.TOPIC_EXISTS: replace(SEEN, mapping_holders=frozenset({"n1"})),
    Invariant.KIND_UNCHANGED: replace(SEEN, ordinary_holders=frozenset({"b3"})),
}
OF_PLANS_AND_UPDATES = {
    Invariant.LEADERS_AMONG_TARGETS,
    Invariant.HOSTS_AMONG_TARGETS,
    Invariant.COUNT_GROWS,
    Invariant.EPOCH_NOT_LOWER,
    Invariant.SCOPE_UNCHANGED,
    Invariant.SAME_EPOCH_SAME_LEADERS,
    Invariant.MISSING_CARRIED_OVER,
    Invariant.SEGMENTS_IMMUTABLE,
    Invariant.FORCE_BYPASSES,
    Invariant.ONE_LOCK,
}


def test_a_sound_topic_has_no_finding():
    infos = [copy.mapping.registered for copy in COPIES.values()]
    seen = replace(
        SEEN,
        routes=route(*infos),
        replicas=(ReplicaCopy("b1", 2, COPIES["b1"].mapping),),
        seal_epochs={("b1", 0): TRUTH.epoch},
        served={"b1": [1], "b2": [0, 2, 3]},
        topic_holders=frozenset({"n1", "b1"}),
        mapping_holders=frozenset({"n1", "b1"}),
    )

    assert check_topic(seen) == ()
    assert check_plan(TRUTH) == ()


def test_every_invariant_has_a_rule_and_a_test():
    assert set(RULES) == set(Invariant)
    assert [one.value for one in Invariant] == [f"INV-{number}" for number in range(1, 38)]
    assert BROKEN.keys() | OF_PLANS_AND_UPDATES == set(Invariant)


@pytest.mark.parametrize("invariant", BROKEN, ids=[one.name.lower() for one in BROKEN])
def test_a_broken_invariant_is_named(invariant):
    findings = check_topic(BROKEN[invariant])

    own = [one for one in findings if one.invariant is invariant]
    assert own
    assert all(one.where and one.what for one in own)
    assert str(own[0]).startswith(f"{invariant.value}: ")


def test_a_query_names_each_broker_with_a_broken_copy_l9():
    """Another epoch on b2, a dirty b3, and two leaders of one queue."""
    copies = {
        **with_list("b1", 2, segment(0, "b1:q1")).copies,
        "b2": with_info("b2", epoch=1).copies["b2"],
        "b3": with_info("b3", is_dirty=True).copies["b3"],
    }

    found = {one.invariant: one for one in check_topic(replace(SEEN, copies=copies))}

    assert found[Invariant.SAME_EPOCH].where == "broker group b2"
    assert found[Invariant.NOT_DIRTY].where == "broker group b3"
    assert found[Invariant.ONE_LEADER].where == "logical queue 2"
    assert "b1 and b2" in found[Invariant.ONE_LEADER].what


def test_an_undecided_segment_alone_is_named_l66():
    found = check_topic(with_segments(replace(NEW, logical_start=-1)))

    assert {one.invariant for one in found} == {Invariant.ONLY_LAST_UNDECIDED}
    assert {one.what for one in found} == {"no segment is decided"}


REGISTERED = {name: copy.mapping.registered for name, copy in COPIES.items()}


def routed(name, *, with_id=None, without_id=None, **changes):
    """What is registered, where one broker group leads another set of logical queues."""
    info = REGISTERED[name]
    led = {one: place for one, place in info.led.items() if one != without_id}
    led |= {} if with_id is None else {with_id: 0}
    return {**REGISTERED, name: replace(info, led=led, **changes)}


@pytest.mark.parametrize(
    ("infos", "what"),
    [
        (routed("b1", with_id=0) | {"b2": routed("b2", without_id=0)["b2"]}, "b1 lead it"),
        (routed("b1", with_id=0), "b1 and b2 lead it"),
    ],
)
def test_a_route_with_the_wrong_leader_is_named(infos, what):
    [found] = check_topic(replace(SEEN, routes=route(*infos.values())))

    assert (found.invariant, found.broker_group_name) == (Invariant.ONE_LEADER, "b2")
    assert what in found.what
    assert (found.where, found.name_server) == ("name server n1, logical queue 0", "n1")


def test_a_route_that_lacks_a_leader_is_named_with_the_broker_group():
    infos = [one for name, one in REGISTERED.items() if name != "b2"]

    [found] = check_topic(replace(SEEN, routes=route(*infos)))

    assert (found.invariant, found.broker_group_name) == (Invariant.ALL_IDS_LED, "b2")
    assert found.what == "it leads 3 logical queues that the route does not have, first 0"


def test_a_route_with_a_broker_group_that_does_not_have_the_topic_is_named():
    foreign = replace(REGISTERED["b1"], broker_group_name="b9", led={})

    [found] = check_topic(replace(SEEN, routes=route(*REGISTERED.values(), foreign)))

    assert (found.invariant, found.broker_group_name) == (Invariant.TOPIC_EXISTS, "b9")


def test_a_route_and_a_truth_of_two_epochs_are_no_wrong_leader():
    stale = routed("b1", with_id=0, epoch=TRUTH.epoch - 1)

    found = [one.invariant for one in check_topic(replace(SEEN, routes=route(*stale.values())))]

    assert found == [Invariant.SAME_EPOCH]


def test_a_reused_queue_may_start_where_its_former_segment_ended():
    changed = with_segments(OLD, replace(NEW, physical_start=7), reused={("b2", 2): 7})

    assert check_topic(changed) == ()


def test_a_forced_move_leaves_an_open_segment_that_is_no_finding():
    changed = with_segments(replace(OLD, physical_end=-1), NEW, forced=frozenset({(0, 0)}))

    assert check_topic(changed) == ()


def test_stock_also_refuses_segments_that_touch():
    assert list(check_segments(0, (OLD, NEW))) == []
    found = list(check_segments(0, (OLD, NEW), allows_touching=False))
    assert [one.invariant for one in found] == [Invariant.RANGES_APART]


def test_a_count_of_any_size_is_checked_at_once():
    found = check_topic(with_info("b2", queue_count=INT32_MAX))

    assert Invariant.ALL_IDS_LED in {one.invariant for one in found}


COPY = copy_for(TRUTH, "b2")


def changed_copy(*, epoch=TRUTH.epoch, scope="__global__", **lists):
    hosted = {**COPY.hosted, **{int(key[1:]): one for key, one in lists.items()}}
    info = replace(COPY.info, epoch=epoch, scope=scope)
    return BrokerMapping(info, {key: one for key, one in hosted.items() if one is not None})


@pytest.mark.parametrize(
    ("new", "invariant"),
    [
        (changed_copy(epoch=TRUTH.epoch - 1), Invariant.EPOCH_NOT_LOWER),
        (changed_copy(scope="c1"), Invariant.SCOPE_UNCHANGED),
        (changed_copy(q0=None), Invariant.SAME_EPOCH_SAME_LEADERS),
        (
            changed_copy(q2=(segment(0, "b2:q0", 0, 0, 9), segment(1, "b1:q5", 9))),
            Invariant.SAME_EPOCH_SAME_LEADERS,
        ),
    ],
)
def test_an_update_of_a_copy_that_breaks_an_invariant_is_named(new, invariant):
    assert invariant in {one.invariant for one in check_update(COPY, new)}


def test_an_update_with_the_same_content_is_fine():
    assert list(check_update(COPY, COPY)) == []
    assert list(check_update(COPY, changed_copy(epoch=TRUTH.epoch + 1, q0=None))) == []


@pytest.mark.parametrize(
    "lists",
    [
        (replace(OLD, broker_group_name="b3"), NEW),
        (replace(OLD, queue_id=7), NEW),
        (replace(OLD, physical_start=1), NEW),
        (OLD, replace(NEW, logical_start=102)),
        (OLD, replace(NEW, logical_start=-1)),
        (replace(OLD, physical_end=102), NEW),
        (replace(OLD, physical_end=-1), NEW),
        (OLD,),
        (),
        (OLD, segment(3, "b3:q0", 150)),
        (segment(0, "b3:q0"), replace(OLD, generation=1)),
    ],
)
def test_a_segment_that_exists_never_changes_l52(lists):
    """Stock checks this by assertions that are off (H-2), and resets a decided offset (H-7)."""
    new = changed_copy(epoch=TRUTH.epoch + 1, q0=tuple(lists))

    found = {one.invariant for one in check_update(COPY, new)}

    assert found == {Invariant.SEGMENTS_IMMUTABLE}


@pytest.mark.parametrize(
    "lists",
    [
        (OLD, NEW),
        (NEW,),
        (OLD, replace(NEW, physical_end=50)),
        (OLD, replace(NEW, physical_end=50), segment(2, "b3:q0", 151)),
        # The segment that led was empty, so its successor starts where it started.
        (OLD, segment(2, "b3:q0", 101)),
        (segment(2, "b3:q0", 101),),
        (segment(5, "b3:q0", 900),),
    ],
)
def test_a_list_may_end_grow_and_lose_its_oldest_segments(lists):
    new = changed_copy(epoch=TRUTH.epoch + 1, q0=tuple(lists))

    assert list(check_update(COPY, new)) == []


def test_queues_that_a_new_mapping_lacks_are_kept_also_when_it_is_forced():
    new = changed_copy(epoch=TRUTH.epoch - 5, q0=None, q2=(segment(0, "b3:q9", 5),))

    assert list(check_update(COPY, new, is_forced=True)) == []
    assert merged(COPY, new) == {**COPY.hosted, 2: (segment(0, "b3:q9", 5),)}
    assert merged(None, new) == new.hosted


def test_an_update_without_the_lock_is_a_finding():
    assert [one.invariant for one in check_lock(is_held=False, where="b1")] == [Invariant.ONE_LOCK]
    assert list(check_lock(is_held=True, where="b1")) == []


def test_plans_are_held_to_their_targets_and_their_count():
    assert {one.invariant for one in check_targets(TRUTH, {"b2"})} == {
        Invariant.LEADERS_AMONG_TARGETS
    }
    assert [one.where for one in check_hosts(TRUTH, {"b2"})] == ["broker group b1"]
    assert [one.invariant for one in check_growth(TRUTH, 4)] == [Invariant.COUNT_GROWS]
    assert list(check_growth(TRUTH, 5)) == []


INT64 = st.integers(INT64_MIN, INT64_MAX)
ANY_SEGMENT = st.builds(
    QueueSegment,
    st.integers(-2, 3),
    st.sampled_from(["b1", "b2", "b9"]),
    st.integers(-1, 3),
    INT64,
    INT64,
    INT64,
)
ANY_MAPPING = st.builds(
    BrokerMapping,
    st.builds(
        MappingInfo,
        st.sampled_from(["T", "U"]),
        st.sampled_from(["b1", "b2"]),
        INT64,
        st.integers(-1, INT32_MAX),
    ),
    st.dictionaries(st.integers(-1, 4), st.lists(ANY_SEGMENT, max_size=3).map(tuple)),
)


@given(
    st.dictionaries(
        st.sampled_from(["b1", "b2"]),
        st.builds(TopicCopy, st.builds(QueueCounts), st.none() | ANY_MAPPING),
    ),
    ANY_MAPPING,
    ANY_MAPPING,
)
def test_the_checks_judge_whatever_brokers_answer(copies, stored, new):
    check_topic(Observation("T", TRUTH, copies))
    check_topic(Observation("T", None, copies))

    assert list(check_update(stored, stored)) == [
        one
        for one in check_update(stored, stored)
        if one.invariant is not Invariant.EPOCH_NOT_LOWER
    ]
    assert all(one.where for one in check_update(stored, new))
