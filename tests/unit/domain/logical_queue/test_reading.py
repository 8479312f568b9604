"""A reader goes through the segments in order and leaves none before it has read it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.lookup import locate
from backend.domain.logical_queue.reading import (
    PullCode,
    count_unread,
    decide_pull,
    find_position,
    may_leave,
)
from backend.domain.logical_queue.segment import INT64_MAX, INT64_MIN, QueueBounds
from backend.domain.queue_reading import Unread
from tests.unit.domain.logical_queue.builders import queue, segment

THREE = queue(
    segment(0, "b1:q0", 0, 0, 10), segment(1, "b2:q0", 10, 0, 10), segment(2, "b3:q0", 20)
)
ONE = queue(segment(0, "b1:q0"))
OPEN = queue(segment(0, "b1:q0"), segment(1, "b2:q0", 10_000))


@pytest.mark.parametrize(
    ("one", "offset", "bounds", "code", "following"),
    [
        (THREE, 0, (0, 10), PullCode.FOUND, 0),
        (THREE, 9, (0, 10), PullCode.FOUND, 9),
        # The oldest segment lost its head: the reader is moved.
        (THREE, 0, (4, 10), PullCode.OFFSET_MOVED, 4),
        (THREE, 0, (10, 10), PullCode.OFFSET_MOVED, 10),
        # A middle segment lost its head: a reader is never reset by that (L40).
        (THREE, 10, (3, 10), PullCode.RETRY_IMMEDIATELY, 13),
        (THREE, 10, (10, 10), PullCode.RETRY_IMMEDIATELY, 20),
        (THREE, 20, (5, 9), PullCode.RETRY_IMMEDIATELY, 25),
        (THREE, 20, (0, 0), PullCode.WAIT, 20),
        (THREE, 25, (0, 5), PullCode.WAIT, 25),
        (THREE, 26, (0, 5), PullCode.OFFSET_MOVED, 25),
        # A queue that never moved answers an offset beyond its end with the end.
        (ONE, 9, (0, 5), PullCode.WAIT, 5),
        (ONE, 5, (0, 5), PullCode.WAIT, 5),
        (ONE, 0, (2, 5), PullCode.OFFSET_MOVED, 2),
    ],
)
def test_a_pull_is_answered_as_the_table_says_l40(one, offset, bounds, code, following):
    answer = decide_pull(one, locate(one, offset), QueueBounds(*bounds))

    assert (answer.code, answer.next_offset) == (code, following)


def test_a_pull_reads_to_the_end_of_its_segment_at_most():
    """Stock limits it by the length of the segment, not by its rest (H-18)."""
    assert decide_pull(THREE, locate(THREE, 7), QueueBounds(0, 999)).count_max == 3


def test_a_reader_does_not_leave_a_sealed_segment_before_its_end_l24():
    """The queue of the segment is dispatched up to 8 of 10 messages; stock goes on (H-6)."""
    waiting = decide_pull(THREE, locate(THREE, 8), QueueBounds(0, 8))

    assert (waiting.code, waiting.next_offset) == (PullCode.WAIT, 8)
    assert decide_pull(THREE, locate(THREE, 8), QueueBounds(0, 10)).code is PullCode.FOUND


def test_a_reader_at_the_end_of_a_sealed_queue_without_a_successor_waits_l31():
    sealed = queue(segment(0, "b1:q0", 0, 0, 10))

    answer = decide_pull(sealed, locate(sealed, 10), QueueBounds(0, 10))

    assert (answer.code, answer.next_offset) == (PullCode.WAIT, 10)


@pytest.mark.parametrize(
    ("offset", "now", "earlier", "leaves"),
    [
        (5, (0, 5), None, False),
        (5, (0, 5), (0, 5), True),
        (5, (0, 5), (0, 6), False),
        (5, (0, 6), (0, 5), False),
        (10_000, (0, 5), None, True),
    ],
)
def test_a_reader_leaves_an_open_segment_after_two_equal_reports(offset, now, earlier, leaves):
    found = may_leave(
        OPEN,
        OPEN.segments[0],
        offset,
        bounds=QueueBounds(*now),
        earlier=earlier and QueueBounds(*earlier),
    )

    assert found is leaves


def test_a_reader_leaves_an_expired_segment():
    assert may_leave(THREE, THREE.segments[0], 3, bounds=QueueBounds(0, 0), is_expired=True)
    assert not may_leave(ONE, ONE.segments[0], 3, bounds=QueueBounds(0, 0), is_expired=True)


def test_the_newest_position_of_a_group_is_its_position_l33():
    assert find_position(THREE, {("b1", 0): 4}) == 4
    assert find_position(THREE, {("b1", 0): 10, ("b2", 0): 3}) == 13
    assert find_position(THREE, {("b9", 0): 10}) is None
    # A position beyond the end of its segment is its end.
    assert find_position(THREE, {("b2", 0): 99}) == 20


def test_lag_is_the_number_of_stored_messages_without_gaps_l41():
    gapped = queue(segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q0", 10_000))
    bounds = {("b1", 0): QueueBounds(0, 101), ("b2", 0): QueueBounds(0, 7)}

    assert count_unread(gapped, 0, bounds) == Unread(108)
    assert count_unread(gapped, 100, bounds) == Unread(8)
    assert count_unread(gapped, 5_000, bounds) == Unread(7)
    assert count_unread(gapped, 10_007, bounds) == Unread(0)
    assert count_unread(gapped, 10_009, bounds) == Unread(0, ahead=2)
    expired = {("b1", 0): QueueBounds(50, 101), ("b2", 0): QueueBounds(3, 7)}
    assert count_unread(gapped, 0, expired) == Unread(55, expired=53)
    assert count_unread(gapped, 60, expired) == Unread(45, expired=3)
    # An answer of a broker group that has been read to its end is not needed.
    assert count_unread(gapped, 0, {("b1", 0): QueueBounds(0, 101)}) is None
    assert count_unread(gapped, 101, {("b2", 0): QueueBounds(0, 7)}) == Unread(7)
    # The segments before these were dropped without a message.
    assert count_unread(queue(segment(3, "b1:q0", 40)), 30, bounds) == Unread(101, expired=10)


@given(st.integers(INT64_MIN, INT64_MAX), st.integers(0, 30), st.integers(0, 30))
def test_a_reader_at_any_offset_gets_an_answer_and_never_goes_back_within_the_list(
    offset, first, size
):
    bounds = QueueBounds(first, first + size)

    answer = decide_pull(THREE, locate(THREE, offset), bounds)

    assert answer.next_offset >= 0
    if 0 <= offset <= 20:
        assert answer.next_offset >= offset
