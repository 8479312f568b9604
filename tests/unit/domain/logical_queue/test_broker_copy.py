"""A broker takes requests of the newest change only, and a refused one leaves no trace."""

from dataclasses import replace

import pytest

from backend.domain.logical_queue.broker_copy import (
    BrokerTopic,
    finish_seal,
    prepare,
    retire,
    seal,
    store,
    unseal,
)
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueEpochFenced
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    QueueCounts,
    RetiredQueue,
    copy_for,
)
from backend.domain.logical_queue.segment import QueueBounds
from tests.unit.domain.logical_queue.builders import NOW, segment, topic

E = NOW
TRUTH = topic([segment(0, "b1:q0")], [segment(0, "b1:q1")], [segment(0, "b2:q0")], epoch=E)
B1 = BrokerTopic(copy_for(TRUTH, "b1"), QueueCounts(2, 2))
B2 = BrokerTopic(copy_for(TRUTH, "b2"), QueueCounts(1, 1))
AFTER = replace(
    TRUTH.with_queue(
        TRUTH.queue(0).with_segments(segment(0, "b1:q0", 0, 0, 9), segment(1, "b2:q1", 9))
    ),
    epoch=E + 1_000,
)
RETIRED = RetiredQueue("b2", 0, 0, 0, 40)


def test_a_destination_reserves_a_new_queue_and_answers_the_same_again():
    one, answer = prepare(B2, 0, epoch=E + 1_000, bounds={})
    again, second = prepare(one, 0, epoch=E + 1_000, bounds={})

    assert answer == second == Prepared(1, 0)
    assert one == again
    assert one.counts == QueueCounts(2, 2)
    assert not one.admits_sends(0)
    newer, third = prepare(one, 0, epoch=E + 5_000, bounds={})
    assert third == answer
    with pytest.raises(QueueEpochFenced):
        prepare(newer, 0, epoch=E + 1_000, bounds={})


@pytest.mark.parametrize(
    ("retired", "bounds", "is_across", "answer"),
    [
        ([(0, 0, True)], {0: (40, 40)}, False, Prepared(0, 40)),
        ([(0, 0, True)], {0: (39, 40)}, False, Prepared(3, 0)),
        ([(0, 0, True)], {}, False, Prepared(3, 0)),
        ([(0, 0, False)], {0: (40, 40)}, False, Prepared(3, 0)),
        ([(0, 5, True)], {0: (40, 40)}, False, Prepared(3, 0)),
        ([(0, 5, True)], {0: (40, 40)}, True, Prepared(0, 40)),
        ([(0, 5, True), (2, 0, True)], {0: (4, 4), 2: (7, 7)}, True, Prepared(2, 7)),
        ([(2, 0, True), (1, 0, True)], {1: (4, 4), 2: (7, 7)}, False, Prepared(1, 4)),
    ],
)
def test_a_retired_queue_is_used_again_if_it_is_empty(retired, bounds, is_across, answer):
    empty = BrokerMapping(B2.info)
    known = {
        queue_id: replace(RETIRED, queue_id=queue_id, global_id=last, is_reusable=reusable)
        for queue_id, last, reusable in retired
    }
    state = BrokerTopic(empty, QueueCounts(3, 3), retired=known)
    seen = {queue_id: QueueBounds(*one) for queue_id, one in bounds.items()}

    after, found = prepare(state, 0, epoch=E, bounds=seen, is_reuse_across_allowed=is_across)

    assert found == answer
    assert answer.queue_id not in after.retired
    assert after.counts.write_count == max(3, answer.queue_id + 1)


def test_a_source_stops_messages_at_once_and_keeps_its_first_end():
    sealed = seal(B1, 0, epoch=E + 1_000)

    assert B1.admits_sends(0)
    assert not sealed.admits_sends(0)
    assert sealed.admits_sends(1)
    done = finish_seal(sealed, 0, Seal(9))
    assert finish_seal(done, 0, Seal(11)) == done
    assert seal(done, 0, epoch=E + 1_000) == done
    assert seal(done, 0, epoch=E + 2_000).seals[0].result == Seal(9)


def test_only_the_leader_is_sealed():
    with pytest.raises(QueueChangeRefused, match="does not lead"):
        seal(B2, 0, epoch=E + 1_000)
    with pytest.raises(QueueChangeRefused, match="not sealed"):
        finish_seal(B1, 0, Seal(9))


def test_an_unseal_needs_a_higher_epoch_and_refuses_late_requests_l45():
    sealed = finish_seal(seal(B1, 0, epoch=E + 1_000), 0, Seal(9))
    with pytest.raises(QueueEpochFenced):
        unseal(sealed, 0, epoch=E + 1_000)

    opened = unseal(sealed, 0, epoch=E + 2_000)

    # It takes messages once it has the mapping of that epoch (INV-34).
    assert not opened.admits_sends(0)
    back = store(opened, copy_for(replace(TRUTH, epoch=E + 2_000), "b1"), QueueCounts(2, 2))
    assert back.admits_sends(0)
    assert back.mapping.hosted == B1.mapping.hosted
    with pytest.raises(QueueEpochFenced):
        seal(back, 0, epoch=E + 1_000)
    prepared, _ = prepare(B2, 0, epoch=E + 1_000, bounds={})
    ended = store(
        prepared, copy_for(replace(TRUTH, epoch=E + 2_000), "b2"), QueueCounts(1, 1), is_final=True
    )
    with pytest.raises(QueueEpochFenced):
        store(ended, copy_for(AFTER, "b2"), QueueCounts(2, 2))
    assert ended.prepared == {}
    assert ended.retired[1].global_id == 0


def test_a_queue_moves_between_two_brokers():
    source = finish_seal(seal(B1, 0, epoch=E + 1_000), 0, Seal(9))
    destination, _ = prepare(B2, 0, epoch=E + 1_000, bounds={})

    active = store(destination, copy_for(AFTER, "b2"), QueueCounts(2, 2))
    former = store(source, copy_for(AFTER, "b1"), QueueCounts(2, 2), is_final=True)

    assert (active.admits_sends(0), former.admits_sends(0)) == (True, False)
    assert (active.prepared, former.seals) == ({}, {})
    assert former.mapping.hosted[0] == active.mapping.hosted[0]
    assert store(active, copy_for(AFTER, "b2"), QueueCounts(2, 2)) == active
    assert active.retired == former.retired == {}


def test_an_empty_queue_that_moved_is_retired_at_its_source():
    empty = replace(
        TRUTH.with_queue(TRUTH.queue(0).with_segments(segment(1, "b2:q1"))), epoch=E + 1_000
    )
    source = finish_seal(seal(B1, 0, epoch=E + 1_000), 0, Seal(0))

    former = store(source, copy_for(empty, "b1"), QueueCounts(2, 2), is_final=True)

    assert not former.admits_sends(0)
    assert former.mapping.registered.led == {1: 1}
    assert former.retired[0] == RetiredQueue("b1", 0, 0, 0, 0)


def test_an_older_segment_stays_in_use_where_an_empty_leader_and_its_list_go():
    """The new leader's list still names b2:q0, which b2 knew from its own list only."""
    before = topic(
        [segment(0, "b2:q0", 0, 0, 9), segment(1, "b1:q0", 9, 0, 9), segment(2, "b2:q1", 18)]
    )
    held = BrokerTopic(copy_for(before, "b2"), QueueCounts(2, 2))
    after = replace(
        before.with_queue(
            before.queue(0).with_segments(
                segment(0, "b2:q0", 0, 0, 9), segment(1, "b1:q0", 9, 0, 9), segment(3, "b1:q1", 18)
            )
        ),
        epoch=before.epoch + 1_000,
    )

    stored = store(held, copy_for(after, "b2"), held.counts, is_final=True)

    assert stored.mapping.hosted == {}
    assert set(stored.retired) == {1}
    bounds = {0: QueueBounds(9, 9), 1: QueueBounds(0, 0)}
    _, answer = prepare(stored, 0, epoch=after.epoch + 1_000, bounds=bounds)
    assert answer == Prepared(1, 0)


def test_a_lower_epoch_with_more_queues_leaves_no_trace_l53():
    """Stock has changed the counts by then (H-5)."""
    newer = store(B1, copy_for(replace(TRUTH, epoch=E + 9_000), "b1"), QueueCounts(2, 2))

    with pytest.raises(QueueEpochFenced) as refusal:
        store(newer, copy_for(TRUTH, "b1"), QueueCounts(99, 99))

    assert refusal.value.held == E + 9_000
    assert newer.counts == QueueCounts(2, 2)


def test_a_segment_that_a_tool_decides_later_takes_no_messages_until_then():
    """Stock would answer producers with offset -1 (logical-queues.md 9.2)."""
    info = replace(B1.info, epoch=E + 1_000)
    undecided = (segment(0, "b2:q0"), segment(1, "b1:q7", -1))
    held = store(
        B1,
        BrokerMapping(info, {**B1.mapping.hosted, 0: undecided}),
        QueueCounts(8, 8),
        is_forced=True,
        allows_undecided=True,
    )
    assert not held.admits_sends(0)

    decided = (undecided[0], replace(undecided[1], logical_start=10_000))
    held = store(held, BrokerMapping(info, {**held.mapping.hosted, 0: decided}), held.counts)

    assert held.admits_sends(0)


@pytest.mark.parametrize(
    ("segments", "reason"),
    [
        ((segment(0, "b1:q0", 5),), "INV-29"),
        ((segment(0, "b1:q0", -1),), "undecided"),
        ((segment(0, "b1:q0"), segment(1, "b2:q1", 0)), "INV-12"),
        ((segment(0, "b1:q0", 0, 0, 9), segment(1, "b2:q1", 5)), "INV-14"),
    ],
)
@pytest.mark.parametrize("is_forced", [False, True])
def test_a_mapping_that_breaks_an_invariant_is_refused_l52(segments, reason, is_forced):
    info = replace(B1.info, epoch=E + 1_000)
    new = BrokerMapping(info, {**B1.mapping.hosted, 0: segments})
    if is_forced and reason == "INV-29":
        assert store(B1, new, B1.counts, is_forced=True).mapping.hosted[0] == segments
        return

    with pytest.raises(QueueChangeRefused, match=reason):
        store(B1, new, QueueCounts(9, 9), is_forced=is_forced)


def test_a_mapping_of_another_broker_or_topic_is_refused():
    for changes in ({"broker_group_name": "b2"}, {"topic_name": "U"}):
        new = BrokerMapping(replace(B1.info, **changes), {})
        with pytest.raises(QueueChangeRefused, match="it is of"):
            store(B1, new, B1.counts)


def test_a_new_broker_stores_its_first_mapping():
    first = store(None, copy_for(TRUTH, "b3"), QueueCounts())

    assert first.mapping.hosted == {}
    assert first.info.queue_count == 3
    assert not first.admits_sends(0)


def test_queues_beyond_a_smaller_count_are_dropped_and_retired():
    fewer = replace(TRUTH, queues=TRUTH.queues[:1], epoch=E + 1_000)
    sealed = finish_seal(seal(B1, 1, epoch=E + 500), 1, Seal(33))

    after = store(sealed, copy_for(fewer, "b1"), QueueCounts(2, 2), is_final=True)

    assert set(after.mapping.hosted) == {0}
    assert after.retired[1] == RetiredQueue("b1", 1, 1, 0, 33)


def test_a_queue_that_is_used_or_reserved_or_has_messages_is_not_retired():
    free = replace(RETIRED, queue_id=7)
    empty = {"epoch": E, "bounds": QueueBounds(40, 40)}

    with pytest.raises(QueueChangeRefused, match="uses physical queue 0"):
        retire(B1, replace(RETIRED, broker_group_name="b1"), **empty)
    with pytest.raises(QueueChangeRefused, match="has messages"):
        retire(B1, free, epoch=E, bounds=QueueBounds(39, 40))
    with pytest.raises(QueueEpochFenced):
        retire(B1, free, epoch=E - 1, bounds=QueueBounds(40, 40))
    reserved, prepared = prepare(B1, 0, epoch=E + 1_000, bounds={})
    with pytest.raises(QueueChangeRefused, match="is reserved"):
        retire(
            reserved,
            replace(RETIRED, queue_id=prepared.queue_id, global_id=5),
            epoch=E + 1_000,
            bounds=QueueBounds(40, 40),
        )
    assert retire(B1, free, **empty).retired[7].final_offset == 40


def test_a_backup_that_names_a_retired_queue_goes_with_it():
    backup = store(B1, copy_for(AFTER, "b1"), QueueCounts(2, 2))
    [segment] = [one for one in backup.mapping.hosted[0] if one.broker_group_name == "b1"]
    retired = RetiredQueue("b1", segment.queue_id, 0, segment.generation, segment.physical_end)

    after = retire(backup, retired, epoch=AFTER.epoch, bounds=QueueBounds(101, 101))

    assert set(after.mapping.hosted) == set(backup.mapping.hosted) - {0}
    assert after.retired[segment.queue_id] == retired
