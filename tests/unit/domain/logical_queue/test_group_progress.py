"""Positions and lags of a consumer group are those of logical queues."""

from backend.domain.consumer_group_lag import QueueKind, QueueLag
from backend.domain.logical_queue.group_progress import in_logical_terms
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.queue_reading import Unread
from tests.unit.domain.logical_queue.builders import segment, topic

MOVED = topic([segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 10_000)], [segment(0, "b1:q1")])


def at(place, committed, end, *, begin=0, waiting_ms=0, consumed_at_ms=None):
    group, queue_id = place.split(":q")
    return QueueLag(
        group,
        MOVED.topic_name,
        int(queue_id),
        QueueKind.NORMAL,
        committed,
        end,
        waiting_ms,
        consumed_at_ms,
        begin=begin,
    )


def show(*lags, bounds=None):
    found = in_logical_terms(MOVED, lags, bounds or {})
    return {one.queue_id: one for one in found}


def test_a_group_in_an_older_segment_has_the_messages_of_the_newer_ones_before_it_l41():
    shown = show(
        at("b1:q0", 97, 101, waiting_ms=900, consumed_at_ms=5),
        at("b1:q1", 3, 3, consumed_at_ms=7),
        at("b2:q2", None, 7, waiting_ms=40),
    )

    moved = shown[0]
    assert (moved.broker_group_name, moved.committed, moved.end) == ("b2", 97, 10_007)
    assert (moved.unread, moved.begin) == (Unread(11), 0)
    assert (moved.waiting_ms, moved.consumed_at_ms) == (900, 5)
    assert (shown[1].committed, shown[1].lag, shown[1].waiting_ms) == (3, 0, 0)


def test_an_old_position_of_a_segment_that_was_left_is_no_lag_l41():
    """The last commit in a segment may lie before its end."""
    shown = show(
        at("b1:q0", 97, 101, waiting_ms=900),
        at("b1:q1", None, 0),
        at("b2:q2", 2, 7, waiting_ms=40),
    )

    assert (shown[0].committed, shown[0].lag, shown[0].waiting_ms) == (10_002, 5, 40)
    assert (shown[1].committed, shown[1].lag) == (None, 0)


def test_a_broker_without_the_group_is_asked_for_its_bounds_only():
    bounds = {("b2", 2): QueueBounds(0, 7), ("b1", 1): QueueBounds(0, 0)}

    shown = show(at("b1:q0", 101, 101), bounds=bounds)

    assert (shown[0].committed, shown[0].lag, shown[0].waiting_ms) == (101, 7, None)


def test_what_a_silent_broker_may_have_is_unknown():
    of_old = show(at("b1:q0", 97, 101), at("b1:q1", 0, 0))
    of_new = show(at("b2:q2", None, 7))

    assert of_old.keys() == {1}
    assert (of_new[0].committed, of_new[0].lag) == (None, None)
