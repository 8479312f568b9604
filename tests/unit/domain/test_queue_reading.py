"""The unread part of a queue for a group: present, expired and unknown."""

from itertools import product

import pytest

from backend.domain.queue_reading import QueueProgress, Unread, add_lags, count_unread


@pytest.mark.parametrize(
    ("committed", "begin", "end", "unread"),
    [
        # Case B4: what expired unread is no lag.
        (10, 300, 301, Unread(1, expired=290)),
        (0, 300, 301, Unread(1, expired=300)),
        (300, 300, 301, Unread(1)),
        (5, 0, 9, Unread(4)),
        # A queue that holds nothing, whether or not something was ever in it.
        (0, 0, 0, Unread(0)),
        (10, 301, 301, Unread(0, expired=291)),
        (301, 301, 301, Unread(0)),
        # Ahead of the end: nothing is left, and the group skips what comes until there.
        (99, 0, 15, Unread(0, ahead=84)),
        (99, None, 15, Unread(0, ahead=84)),
        # A broker that reports a begin beyond the end holds nothing.
        (10, 400, 301, Unread(0, expired=291)),
        # A broker reports an unknown value as -1.
        (-1, 0, 9, None),
        (None, 0, 9, None),
        (5, 0, -1, None),
        (5, 0, None, None),
        (5, -1, 9, None),
        (5, None, 9, None),
        (9, None, 9, Unread(0)),
    ],
)
def test_unread_messages_are_those_that_the_queue_holds(committed, begin, end, unread):
    assert count_unread(committed, begin=begin, end=end) == unread


def test_no_lag_is_ever_below_zero_or_above_what_the_queue_holds():
    # Case B4.
    offsets = range(-1, 7)
    for committed, begin, end in product(offsets, repeat=3):
        unread = count_unread(committed, begin=begin, end=end)
        if unread is None:
            continue
        assert 0 <= unread.lag <= max(0, end - max(0, begin))
        assert unread.expired >= 0 <= unread.ahead
        assert unread.lag + unread.expired - unread.ahead == end - committed


def test_a_lag_that_is_not_known_makes_the_sum_unknown():
    # Case B4 (D21).
    known = QueueProgress("orders", 0, 5, 9)
    unknown = QueueProgress("orders", 1, 5, 9, begin=None)

    assert add_lags([known]) == 4
    assert add_lags([known, unknown]) is None
    assert add_lags([]) == 0
