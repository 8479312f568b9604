"""Unread messages of a logical queue are those stored at and after a position, in all segments."""

import pytest

from backend.domain.logical_queue.reading import count_unread, find_position
from backend.domain.logical_queue.segment import QueueBounds
from tests.unit.domain.logical_queue.builders import queue, segment

# In block mode the second segment begins after a jump, which is no message.
QUEUE = queue(
    segment(0, "b1:q0", 0, 0, 101),
    segment(1, "b2:q2", 10_000, 50, 70),
    segment(2, "b1:q1", 20_000, 0),
)
BOUNDS = {
    ("b1", 0): QueueBounds(40, 101),
    ("b2", 2): QueueBounds(0, 70),
    ("b1", 1): QueueBounds(0, 9),
}


def unread(bounds, positions):
    """Count what a group with these positions has to read; without one it has everything."""
    found = count_unread(QUEUE, find_position(QUEUE, positions) or 0, bounds)
    return None if found is None else found.lag


@pytest.mark.parametrize(
    ("positions", "count"),
    [
        ({}, 61 + 20 + 9),
        ({("b1", 0): 0}, 61 + 20 + 9),
        ({("b1", 0): 100}, 1 + 20 + 9),
        ({("b1", 0): 101}, 20 + 9),
        ({("b1", 0): 50, ("b2", 2): 69}, 1 + 9),
        ({("b2", 2): 70, ("b1", 1): 4}, 5),
        ({("b1", 1): 99}, 0),
    ],
)
def test_messages_after_the_newest_position_are_unread_l41(positions, count):
    assert unread(BOUNDS, positions) == count


def test_a_segment_with_unknown_bounds_is_not_taken_for_read():
    known = {("b1", 1): QueueBounds(0, 9)}

    assert unread(known, {}) is None
    assert unread(known, {("b1", 1): 9}) == 0


def test_an_expired_segment_has_nothing_to_read():
    expired = {**BOUNDS, ("b1", 0): QueueBounds(101, 101)}

    assert unread(expired, {("b1", 0): 3}) == 20 + 9
