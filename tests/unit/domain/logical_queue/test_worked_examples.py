"""The numbers of logical-queues.md 21, which are those of the tables of RIP-21."""

import pytest

from backend.domain.logical_queue.change import decide, with_prepared, with_sealed
from backend.domain.logical_queue.commit import Prepared
from backend.domain.logical_queue.commit import Seal as Sealed
from backend.domain.logical_queue.expiry import (
    CarriedPosition,
    Sighting,
    drop_oldest,
    holding_queues,
    removable_groups,
)
from backend.domain.logical_queue.lookup import locate, min_offset, to_logical
from backend.domain.logical_queue.mapping import QueueCounts, copy_for
from backend.domain.logical_queue.move_planning import (
    plan_evacuation,
    plan_moves,
    plan_remapping,
    plan_spread,
)
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.reading import PullCode, decide_pull, find_position
from backend.domain.logical_queue.segment import OffsetMode, QueueBounds
from backend.domain.logical_queue.topic_checks import check_plan
from tests.unit.domain.logical_queue.builders import NOW, groups, moved, segment, shown, topic

BOTH = groups("b1", "b2")
T0 = topic(
    [segment(0, "b1:q0")],
    [segment(0, "b1:q1")],
    [segment(0, "b2:q0")],
    [segment(0, "b2:q1")],
)


def move(before, global_id, source, destination, end, *, prepared=None):
    change = plan_moves(
        before, [Relocation(global_id, source, destination)], groups=BOTH, now_ms=NOW
    )
    reused = None if prepared is None else {global_id: prepared}
    return moved(change, {global_id: end}, prepared=reused)


def expire(before, global_id, bounds, positions=None):
    sightings = (Sighting(0, bounds), Sighting(60_000, bounds))
    return drop_oldest(before, global_id, sightings, positions or {})


T1 = move(T0, 0, "b1", "b2", 101)
T2 = expire(T1, 0, QueueBounds(101, 101)).topic


def test_a_queue_moves_to_another_broker_l11():
    assert shown(T1, 0) == "[g0 b1:q0 L0 S0 E101] [g1 b2:q2 L101 S0 E-]"
    assert [T1.queue(one) for one in (1, 2, 3)] == [T0.queue(one) for one in (1, 2, 3)]
    assert T1.counts == {"b1": QueueCounts(2, 2), "b2": QueueCounts(3, 3)}
    assert check_plan(T1) == ()
    assert copy_for(T1, "b1").registered.led == {1: 1}
    assert copy_for(T1, "b2").registered.led == {0: 2, 2: 0, 3: 1}
    # The source is second leader and keeps the list.
    assert set(copy_for(T1, "b1").hosted) == {0, 1}


def test_a_reader_goes_from_the_old_broker_to_the_new_one_l11():
    queue = T1.queue(0)

    first = decide_pull(queue, locate(queue, 0), QueueBounds(0, 101))
    last = decide_pull(queue, locate(queue, 100), QueueBounds(0, 101))
    after = decide_pull(queue, locate(queue, 101), QueueBounds(0, 0))

    assert (first.code, first.next_offset, first.count_max) == (PullCode.FOUND, 0, 101)
    assert (last.code, last.count_max) == (PullCode.FOUND, 1)
    assert (after.code, after.next_offset) == (PullCode.WAIT, 101)
    assert min_offset(queue, 0) == 0


def test_a_queue_moves_with_a_jump_in_block_mode_l17():
    blocks = topic([segment(0, "b1:q0")], counts={"b2": 2}, offset_mode=OffsetMode.BLOCK)

    full = move(blocks, 0, "b1", "b2", 101)
    empty = move(blocks, 0, "b1", "b2", 0)

    assert shown(full, 0) == "[g0 b1:q0 L0 S0 E101] [g1 b2:q2 L10000 S0 E-]"
    assert shown(empty, 0) == "[g0 b1:q0 L0 S0 E0] [g1 b2:q2 L10000 S0 E-]"
    queue = full.queue(0)
    gap = decide_pull(queue, locate(queue, 101), QueueBounds(0, 101))
    assert (gap.code, gap.next_offset) == (PullCode.RETRY_IMMEDIATELY, 10_000)


def test_an_empty_segment_leaves_the_list_in_contiguous_mode_l17():
    after = move(T0, 0, "b1", "b2", 0)

    assert shown(after, 0) == "[g1 b2:q2 L0 S0 E-]"
    assert [(one.place, one.final_offset) for one in after.retired] == [(("b1", 0), 0)]
    assert check_plan(after) == ()


def test_an_expired_segment_leaves_the_list_l12():
    assert shown(T2, 0) == "[g1 b2:q2 L101 S0 E-]"
    assert [(one.place, one.final_offset) for one in T2.retired] == [(("b1", 0), 101)]
    assert T2.epoch == T1.epoch
    queue = T2.queue(0)
    moved_on = decide_pull(queue, locate(queue, 50), QueueBounds(0, 10))
    assert (moved_on.code, moved_on.next_offset) == (PullCode.OFFSET_MOVED, 101)


def test_an_expired_queue_is_used_again_when_the_logical_queue_comes_back_l12():
    after = move(T2, 0, "b2", "b1", 100, prepared=Prepared(0, 101))

    assert shown(after, 0) == "[g1 b2:q2 L101 S0 E100] [g2 b1:q0 L201 S101 E-]"
    assert after.counts["b1"] == QueueCounts(2, 2)
    assert after.queue(0).segments[-1].delta == 100
    assert to_logical(after.queue(0), "b1", 0, 101) == 201
    assert after.retired == ()
    assert check_plan(after) == ()


def test_a_queue_with_data_is_not_used_again_l13():
    after = move(T1, 0, "b2", "b1", 100)

    assert shown(after, 0) == (
        "[g0 b1:q0 L0 S0 E101] [g1 b2:q2 L101 S0 E100] [g2 b1:q2 L201 S0 E-]"
    )
    assert after.counts["b1"] == QueueCounts(3, 3)
    queue = after.queue(0)
    places = {at: locate(queue, at) for at in (100, 101, 200, 201, 250)}
    assert {at: (one.segment.generation, one.physical_offset) for at, one in places.items()} == {
        100: (0, 100),
        101: (1, 0),
        200: (1, 99),
        201: (2, 0),
        250: (2, 49),
    }


def test_positions_are_carried_forward_before_a_queue_is_used_again_l35():
    """Stock would find the old position on the reused queue, and skip 101 to 200 (H-16)."""
    kept = {("b1", 0): 101}
    reused = move(T2, 0, "b2", "b1", 100, prepared=Prepared(0, 101))

    expiry = expire(T1, 0, QueueBounds(101, 101), {"g": kept})

    assert find_position(reused.queue(0), kept) == 201
    assert expiry.carried == (CarriedPosition("g", ("b2", 2), 0),)
    assert find_position(reused.queue(0), {("b2", 2): 0}) == 101
    assert expiry.cleared == ("b1", 0)


def test_a_group_that_returns_after_its_segment_expired_reads_all_that_is_stored_l34():
    """Stock loses the position with the segment, and the group skips to the last message (H-15)."""
    expiry = expire(T1, 0, QueueBounds(101, 101), {"g": {("b1", 0): 7}})
    (carried,) = expiry.carried

    position = find_position(expiry.topic.queue(0), {carried.place: carried.physical_offset})

    assert position == 101


def test_a_group_with_a_later_position_is_not_moved_back():
    positions = {"g": {("b1", 0): 101, ("b2", 2): 40}, "h": {("b2", 2): 1}, "i": {}}

    assert expire(T1, 0, QueueBounds(101, 101), positions).carried == ()


def test_a_group_that_was_offline_during_two_moves_finds_its_oldest_position_l33():
    after = move(T1, 0, "b2", "b1", 100)

    assert find_position(after.queue(0), {("b1", 0): 30}) == 30
    assert find_position(after.queue(0), {}) is None


T4 = moved(
    plan_evacuation(T0, "b2", targets=["b1", "b2"], groups=BOTH, now_ms=NOW), {2: 101, 3: 101}
)


def test_all_queues_move_off_a_broker_which_is_removable_once_its_data_is_gone_l14():
    assert shown(T4, 2) == "[g0 b2:q0 L0 S0 E101] [g1 b1:q2 L101 S0 E-]"
    assert shown(T4, 3) == "[g0 b2:q1 L0 S0 E101] [g1 b1:q3 L101 S0 E-]"
    assert (removable_groups(T4), holding_queues(T4, "b2")) == (frozenset(), (2, 3))

    half = expire(T4, 2, QueueBounds(101, 101)).topic
    gone = expire(half, 3, QueueBounds(101, 101)).topic

    assert (removable_groups(half), holding_queues(half, "b2")) == (frozenset(), (3,))
    assert (removable_groups(gone), holding_queues(gone, "b2")) == (frozenset({"b2"}), ())
    assert shown(gone, 2) == "[g1 b1:q2 L101 S0 E-]"
    assert gone.queue_count == T0.queue_count


@pytest.mark.parametrize("is_planned_as_spread", [True, False])
def test_a_new_broker_takes_its_share_l15(is_planned_as_spread):
    half = expire(T4, 2, QueueBounds(101, 101)).topic
    before = expire(half, 3, QueueBounds(101, 101)).topic
    three = groups("b1", "b2", "b3")
    if is_planned_as_spread:
        change = plan_spread(before, "b3", groups=three, now_ms=NOW)
    else:
        change = plan_remapping(before, targets=["b1", "b3"], groups=three, now_ms=NOW)

    after = moved(change, {2: 100, 3: 100})

    assert [one.relocation for one in change.moves] == [
        Relocation(2, "b1", "b3"),
        Relocation(3, "b1", "b3"),
    ]
    assert shown(after, 2) == "[g1 b1:q2 L101 S0 E100] [g2 b3:q0 L201 S0 E-]"
    assert shown(after, 3) == "[g1 b1:q3 L101 S0 E100] [g2 b3:q1 L201 S0 E-]"
    assert after.queue_count == before.queue_count == 4
    assert check_plan(after) == ()


def test_ten_moves_round_robin_keep_lists_short_and_generations_rising_l16():
    names = ("b1", "b2", "b3")
    present = topic([segment(0, "b1:q0")], counts={"b2": 0, "b3": 0})
    for number in range(10):
        source, destination = names[number % 3], names[(number + 1) % 3]
        change = plan_moves(
            present,
            [Relocation(0, source, destination)],
            groups=groups(*names),
            now_ms=NOW,
        )
        free = [one for one in present.retired if one.broker_group_name == destination]
        prepared = {0: Prepared(free[0].queue_id, free[0].final_offset)} if free else None
        start = present.queue(0).leader.physical_start
        present = moved(change, {0: start + 10}, prepared=prepared)
        while len(present.queue(0).segments) > 2:
            end = present.queue(0).segments[0].physical_end
            present = expire(present, 0, QueueBounds(end, end)).topic

    assert [one.generation for one in present.queue(0).segments] == [9, 10]
    assert present.queue(0).leader.logical_start == 100
    assert max(one.write_count for one in present.counts.values()) == 1
    assert check_plan(present) == ()


def test_a_source_that_was_sealed_twice_with_one_end_changes_nothing():
    change = plan_moves(T0, [Relocation(0, "b1", "b2")], groups=BOTH, now_ms=NOW)
    prepared = with_prepared(change, 0, Prepared(2))
    sealed = with_sealed(prepared, 0, Sealed(101))

    assert with_sealed(sealed, 0, Sealed(101)) == sealed
    assert decide(decide(sealed, 0), 0) == decide(sealed, 0)
