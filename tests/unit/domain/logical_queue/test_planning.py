"""Changes of static topics are planned evenly, deterministically, and only where they may run."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.change import (
    ChangeKind,
    ChangeState,
    RequestKind,
    decide,
    due_requests,
    next_epoch,
    redirect,
    roll_back,
    with_sealed,
)
from backend.domain.logical_queue.commit import Seal
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingBroken
from backend.domain.logical_queue.mapping import QueueCounts, copies_of
from backend.domain.logical_queue.move_planning import plan_evacuation, plan_moves, plan_remapping
from backend.domain.logical_queue.placement import Relocation, relocate, spread_onto
from backend.domain.logical_queue.planning import (
    plan_conversion,
    plan_creation,
    plan_deletion,
    plan_expansion,
    plan_removal,
    plan_shrink,
)
from backend.domain.logical_queue.segment import INT64_MAX, QueueBounds
from backend.domain.logical_queue.topic_checks import check_plan
from tests.unit.domain.logical_queue.builders import (
    NOW,
    created,
    groups,
    moved,
    segment,
    shown,
    spread,
    topic,
)

THREE = groups("b1", "b2", "b3")


def led(found):
    return {name: len(found.led_by(name)) for name in found.counts}


def test_a_new_topic_is_spread_evenly_l1():
    found = created(8, "b1", "b2", "b3", cluster=("b1", "b2", "b3", "b4"))

    assert led(found) == {"b1": 3, "b2": 3, "b3": 2, "b4": 0}
    assert all(shown(found, one).startswith("[g0 b") for one in range(8))
    assert {one.leader.logical_start for one in found.queues} == {0}
    assert {copy.mapping.info.epoch for copy in copies_of(found).values()} == {NOW + 1_000}
    assert copies_of(found)["b4"].mapping.hosted == {}
    assert copies_of(found)["b4"].mapping.info.queue_count == 8
    assert check_plan(found) == ()


@given(st.integers(1, 40), st.sets(st.integers(0, 20), min_size=1), st.integers(0, 2**62))
def test_a_plan_depends_on_its_input_alone(count, numbers, now_ms):
    names = [f"b{number}" for number in numbers]
    plans = [
        plan_creation("T", count, targets=order, groups=groups(*order), now_ms=now_ms)
        for order in (names, names[::-1])
    ]

    assert plans[0] == plans[1]
    assert max(led(plans[0].after).values()) - min(led(plans[0].after).values()) <= 1
    assert plans[0].epoch == now_ms + 1_000


def test_a_topic_is_not_created_twice_l2():
    found = created(4, "b1", "b2")

    with pytest.raises(QueueChangeRefused, match="INV-1"):
        plan_creation(
            "T", 4, targets=["b1"], groups=THREE, now_ms=NOW, known_at=sorted(found.counts)
        )
    with pytest.raises(QueueChangeRefused, match="INV-24"):
        plan_expansion(found, 4, targets=[], groups=groups("b1", "b2"), now_ms=NOW)


@pytest.mark.parametrize("silent", ["b1", "b3"])
def test_a_topic_is_not_created_while_a_master_does_not_answer_l3(silent):
    with pytest.raises(QueueChangeRefused, match=f"{silent} does not answer"):
        plan_creation(
            "T",
            4,
            targets=["b1", "b2"],
            groups=groups("b1", "b2", "b3", silent=[silent]),
            now_ms=NOW,
        )


def test_the_name_of_a_topic_anywhere_is_not_used_again_l5():
    with pytest.raises(QueueChangeRefused, match="other-b7 already have"):
        plan_creation("T", 4, targets=["b1"], groups=THREE, now_ms=NOW, known_at=["other-b7"])


@pytest.mark.parametrize(
    ("count", "targets", "size", "reason"),
    [
        (0, ["b1"], 1, "queue count"),
        (-1, ["b1"], 1, "queue count"),
        (2**31, ["b1"], 1, "queue count"),
        (1, [], 1, "no broker group"),
        (1, ["b9"], 1, "not in the cluster"),
        (1, ["b1"], 0, "block size"),
        (1, ["b1"], 2**31, "block size"),
    ],
)
def test_a_creation_out_of_range_is_refused(count, targets, size, reason):
    with pytest.raises(QueueChangeRefused, match=reason):
        plan_creation("T", count, targets=targets, groups=THREE, now_ms=NOW, block_size=size)


def test_an_expansion_keeps_every_list_l6():
    before = created(4, "b1", "b2")

    after = spread(plan_expansion(before, 6, targets=[], groups=groups("b1", "b2"), now_ms=NOW))

    assert after.queues[:4] == before.queues
    assert led(after) == {"b1": 3, "b2": 3}
    assert after.epoch == before.epoch + 1_000
    assert check_plan(after) == ()


def test_an_expansion_stays_on_the_brokers_that_are_named_or_lead_l7():
    """Stock spreads new queues over all brokers that have a copy (H-13)."""
    before = created(2, "b1", cluster=("b1", "b2", "b3"))

    after = spread(plan_expansion(before, 5, targets=["b1"], groups=THREE, now_ms=NOW))

    assert led(after) == {"b1": 5, "b2": 0, "b3": 0}


def test_the_least_loaded_broker_gets_new_queues_first():
    before = created(8, "b1", "b2", cluster=("b1", "b2", "b3"))

    after = spread(plan_expansion(before, 12, targets=["b3"], groups=THREE, now_ms=NOW))

    assert led(after) == {"b1": 4, "b2": 4, "b3": 4}


def shrunk(found, ends):
    """End the last queues of a topic, which seal at these ends."""
    change = plan_shrink(
        found, found.queue_count - len(ends), groups=groups(*found.counts), now_ms=NOW
    )
    for global_id, end in ends.items():
        assert change.state is ChangeState.MOVING
        change = decide(with_sealed(change, global_id, Seal(end)), global_id)
    return spread(change)


def test_a_smaller_count_first_seals_and_then_removes_the_last_queues_l8():
    before = created(6, "b1", "b2")

    sealed = shrunk(before, {4: 70, 5: 0})

    assert (sealed.queue_count, sealed.writable_count) == (6, 4)
    assert shown(sealed, 4).endswith("E70]")
    with pytest.raises(QueueChangeRefused, match="unread"):
        plan_removal(sealed, [5], now_ms=NOW)
    removed = spread(plan_removal(sealed, [4, 5], now_ms=NOW))
    assert removed.queue_count == 4
    assert check_plan(removed) == ()
    # A queue that comes back goes on at increasing offsets, on the broker where it was.
    home = sealed.queue(4).leader
    revived = spread(
        plan_expansion(
            removed,
            5,
            targets=[],
            groups=groups("b1", "b2"),
            now_ms=NOW,
            bounds={home.place: QueueBounds(70, 70)},
        )
    )
    again = revived.queue(4).leader
    assert (again.place, again.physical_start) == (home.place, 70)
    assert (again.logical_start, again.generation) == (70, 1)
    assert check_plan(revived) == ()


def test_a_removed_queue_may_have_a_segment_that_a_forced_move_left_open():
    sealed = replace(
        topic(
            [segment(0, "b1:q0")],
            [segment(0, "b2:q0", start=7), segment(1, "b1:q1", 10_000, end=3)],
            forced=frozenset({(1, 0)}),
            reused={("b2", 0): 7},
        ),
        sealed_ids=frozenset({1}),
    )

    removed = spread(plan_removal(sealed, [1], now_ms=NOW))

    assert {one.place: one.final_offset for one in removed.retired} == {
        ("b2", 0): 7,
        ("b1", 1): 3,
    }
    assert check_plan(removed) == ()


def test_a_sealed_queue_takes_messages_again_before_new_ones_are_made_l8():
    sealed = shrunk(created(3, "b1", "b2"), {1: 9, 2: 0})

    after = spread(plan_expansion(sealed, 4, targets=[], groups=groups("b1", "b2"), now_ms=NOW))

    assert after.sealed_ids == frozenset()
    assert shown(after, 1) == "[g0 b2:q0 L0 S0 E9] [g1 b2:q1 L9 S0 E-]"
    # An empty segment can't have the start of its successor, so it is gone.
    assert shown(after, 2) == "[g1 b1:q2 L0 S0 E-]"
    assert after.queue_count == after.writable_count == 4
    assert check_plan(after) == ()


@pytest.mark.parametrize("count", [-1, 0, 6, 7])
def test_a_smaller_count_is_smaller_and_leaves_a_queue(count):
    with pytest.raises(QueueChangeRefused, match="the smaller count is 1 to 5"):
        plan_shrink(created(6, "b1"), count, groups=groups("b1"), now_ms=NOW)


def test_a_queue_whose_leader_does_not_answer_is_not_ended():
    with pytest.raises(QueueChangeRefused, match="b2 does not answer"):
        plan_shrink(created(2, "b1", "b2"), 1, groups=groups("b1", "b2", silent=["b2"]), now_ms=NOW)


def test_a_smaller_count_is_undone_before_the_first_queue_has_ended():
    change = plan_shrink(created(4, "b1", "b2"), 2, groups=groups("b1", "b2"), now_ms=NOW)
    sealed = with_sealed(change, 2, Seal(7))

    assert [one.kind for one in due_requests(change)] == [RequestKind.SEAL] * 2
    assert roll_back(sealed).after.queues == change.before.queues
    with pytest.raises(QueueChangeRefused, match="only goes forward"):
        roll_back(decide(sealed, 2))
    with pytest.raises(QueueChangeRefused, match="already moved"):
        redirect(change, 2, "b2")


def test_a_remapping_to_the_present_brokers_only_raises_the_epoch_l18():
    before = created(4, "b1", "b2")

    change = plan_remapping(before, targets=["b1", "b2"], groups=groups("b1", "b2"), now_ms=NOW)

    assert change.moves == ()
    assert change.state is ChangeState.SPREADING
    after = spread(change)
    assert after == replace(before, epoch=before.epoch + 1_000)


@st.composite
def topics(draw):
    names = [f"b{number}" for number in range(5)]
    leaders = draw(st.lists(st.sampled_from(names), min_size=1, max_size=25))
    seen = Counter()
    lists = []
    for name in leaders:
        lists.append([segment(0, f"{name}:q{seen[name]}")])
        seen[name] += 1
    return topic(*lists, counts={name: seen[name] for name in names})


@given(topics(), st.sets(st.sampled_from([f"b{number}" for number in range(5)]), min_size=1))
def test_a_remapping_moves_the_fewest_queues_and_ends_even_l19(found, targets):
    moves = relocate(found, targets)

    counts = Counter(one.leader_name for one in found.queues)
    for one in moves:
        counts[one.source] -= 1
        counts[one.destination] += 1
    after = [counts[name] for name in targets]
    assert max(after) - min(after) <= 1
    assert sum(after) == found.queue_count
    assert not {one.source for one in moves} & {one.destination for one in moves}
    base, rest = divmod(found.queue_count, len(targets))
    kept = sorted((len(found.led_by(name)) for name in targets), reverse=True)
    most = sum(min(one, base + (at < rest)) for at, one in enumerate(kept))
    assert len(moves) == found.queue_count - most


@given(topics())
def test_a_new_broker_gets_its_share_and_nothing_else_moves(found):
    moves = spread_onto(found, "b9")

    leaders = {one.leader_name for one in found.queues}
    assert {one.destination for one in moves} <= {"b9"}
    assert len(moves) == found.queue_count // (len(leaders) + 1)
    left = Counter(one.leader_name for one in found.queues)
    left.subtract(one.source for one in moves)
    assert min(left.values()) >= 0


@given(topics(), st.sampled_from([f"b{number}" for number in range(5)]))
def test_an_evacuated_broker_leads_nothing_and_others_keep_their_queues(found, leaving):
    names = [f"b{number}" for number in range(5)]
    change = plan_evacuation(found, leaving, targets=names, groups=groups(*names), now_ms=NOW)

    assert {one.relocation.source for one in change.moves} <= {leaving}
    after = moved(change, {one.global_id: 5 for one in change.moves})
    assert after.led_by(leaving) == ()
    assert check_plan(after) == ()


def test_a_broker_without_another_one_is_not_evacuated():
    with pytest.raises(QueueChangeRefused, match="no other broker group"):
        plan_evacuation(created(2, "b1"), "b1", targets=["b1"], groups=groups("b1"), now_ms=NOW)


def test_queues_do_not_leave_for_a_cordoned_broker_group():
    cluster = groups("b1", "b2", "b3", cordoned=["b2"])

    change = plan_evacuation(
        created(4, "b1", "b2", cluster=("b1", "b2", "b3")),
        "b1",
        targets=["b2", "b3"],
        groups=cluster,
        now_ms=NOW,
    )

    assert {one.relocation.destination for one in change.moves} == {"b3"}
    with pytest.raises(QueueChangeRefused, match="no other broker group"):
        plan_evacuation(created(2, "b1"), "b1", targets=["b2"], groups=cluster, now_ms=NOW)


def test_new_queues_go_to_a_cordoned_broker_group_only_where_it_is_named():
    cluster = groups("b1", "b2", cordoned=["b1"])
    found = created(2, "b1", "b2")

    def leaders(topic, *targets):
        change = plan_expansion(topic, 4, targets=targets, groups=cluster, now_ms=NOW)
        return [one.leader_name for one in change.after.queues[2:]]

    assert leaders(found) == ["b2", "b2"]
    assert leaders(found, "b1") == ["b1", "b2"]
    with pytest.raises(QueueChangeRefused, match="b1 is cordoned: name a broker group"):
        leaders(created(2, "b1", cluster=("b1", "b2")))


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ([Relocation(9, "b1", "b2")], "does not lead"),
        ([Relocation(0, "b2", "b3")], "does not lead"),
        ([Relocation(0, "b1", "b9")], "not in the cluster"),
        ([Relocation(0, "b1", "b2"), Relocation(1, "b2", "b3")], "both gives and takes"),
        ([Relocation(0, "b1", "b2"), Relocation(0, "b1", "b3")], "moves twice"),
    ],
)
def test_moves_that_can_not_run_are_refused(moves, reason):
    with pytest.raises(QueueChangeRefused, match=reason):
        plan_moves(created(2, "b1", "b2"), moves, groups=THREE, now_ms=NOW)


def test_a_move_to_the_leader_changes_nothing():
    found = created(2, "b1", "b2")

    change = plan_moves(found, [Relocation(0, "b1", "b1")], groups=THREE, now_ms=NOW)

    assert change.moves == ()


def test_no_change_is_planned_on_a_broken_mapping():
    broken = topic([segment(0, "b1:q0", 0, 0, 9), segment(1, "b2:q0", 5)])

    with pytest.raises(QueueMappingBroken, match="INV-14") as refusal:
        plan_remapping(broken, targets=["b1", "b2"], groups=groups("b1", "b2"), now_ms=NOW)

    assert refusal.value.facts["findings"]


def test_no_queue_moves_while_the_count_is_being_reduced():
    sealed = shrunk(created(3, "b1", "b2"), {2: 0})

    with pytest.raises(QueueChangeRefused, match="being reduced"):
        plan_moves(sealed, [Relocation(0, "b1", "b2")], groups=groups("b1", "b2"), now_ms=NOW)


@given(st.integers(0, INT64_MAX - 1_000), st.integers(0, INT64_MAX))
def test_epochs_rise_by_a_thousand_at_least_in_the_full_width(epoch, now_ms):
    found = topic([segment(0, "b1:q0")], epoch=epoch)

    assert next_epoch(found, now_ms=now_ms, topic_name="T") == max(epoch + 1_000, now_ms)


@pytest.mark.parametrize("epoch", [INT64_MAX - 999, INT64_MAX])
def test_no_epoch_is_made_beyond_64_bits(epoch):
    found = topic([segment(0, "b1:q0")], epoch=epoch)

    with pytest.raises(QueueChangeRefused, match="no greater epoch"):
        plan_remapping(found, targets=["b1"], groups=groups("b1"), now_ms=0)


def test_an_ordinary_topic_becomes_static_in_place():
    change = plan_conversion(
        "T", {"b2": QueueCounts(1, 1), "b1": QueueCounts(2, 2)}, groups=THREE, now_ms=NOW
    )

    assert change.kind is ChangeKind.CONVERT
    after = spread(change)
    assert [shown(after, one) for one in range(3)] == [
        "[g0 b1:q0 L0 S0 E-]",
        "[g0 b1:q1 L0 S0 E-]",
        "[g0 b2:q0 L0 S0 E-]",
    ]
    assert after.counts["b3"] == QueueCounts()
    assert check_plan(after) == ()


def test_a_topic_with_hidden_read_queues_does_not_become_static():
    with pytest.raises(QueueChangeRefused, match="differ on b1"):
        plan_conversion("T", {"b1": QueueCounts(4, 2)}, groups=THREE, now_ms=NOW)


def test_a_topic_with_messages_is_deleted_by_a_purge_only():
    found = created(2, "b1", "b2")
    empty = {("b1", 0): QueueBounds(0, 0), ("b2", 0): QueueBounds(5, 5)}

    change = plan_deletion(found, empty, now_ms=NOW)

    assert change.after.queues == ()
    assert change.epoch > found.epoch
    for bounds in ({}, {**empty, ("b2", 0): QueueBounds(5, 6)}):
        with pytest.raises(QueueChangeRefused, match="may hold messages"):
            plan_deletion(found, bounds, now_ms=NOW)
        assert plan_deletion(found, bounds, now_ms=NOW, is_purge=True).after.queues == ()
