"""What a reset skips and brings again, in one queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.offset_reset import QueueReset


@pytest.mark.parametrize(
    ("former", "offset", "skipped", "repeated"),
    [
        (8, 3, 0, 5),
        (8, 10, 2, 0),
        (8, 8, 0, 0),
        (None, 10, 8, 0),
        (None, 2, 0, 0),
        # What expired before it was read is neither.
        (0, 2, 0, 0),
        (0, 5, 3, 0),
        # A group that claims more than there is has read what there is.
        (12, 4, 0, 6),
    ],
)
def test_messages_are_counted_that_are_there(former, offset, skipped, repeated):
    reset = QueueReset(0, low=2, high=10, former=former, offset=offset)

    assert (reset.skipped_count, reset.repeated_count) == (skipped, repeated)


@given(st.integers(0, 20), st.integers(0, 20), st.none() | st.integers(0, 60), st.integers(0, 60))
def test_never_more_than_the_queue_holds(low, size, former, offset):
    reset = QueueReset(0, low, low + size, former, min(max(offset, low), low + size))

    assert reset.is_inside
    assert 0 <= reset.skipped_count <= size
    assert 0 <= reset.repeated_count <= size
    assert not (reset.skipped_count and reset.repeated_count)
