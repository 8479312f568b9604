"""Offsets of one segment: the tables of logical-queues.md 4, and what stock computes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.lookup import find_segment, next_segment
from backend.domain.logical_queue.mapping import LogicalQueue
from backend.domain.logical_queue.segment import (
    INT64_MAX,
    INT64_MIN,
    QueueBounds,
    QueueSegment,
    SegmentStatus,
    block_round_up,
)
from tests.unit.domain.logical_queue.builders import segment

# Written by the classes of stock 5.5.0: random lists, and what its functions answer for offsets.
STOCK = json.loads((Path(__file__).parent / "stock_offsets.json").read_text())
INT64 = st.integers(INT64_MIN, INT64_MAX)


def from_stock(item):
    return QueueSegment(
        item["gen"],
        item["bname"],
        item["queueId"],
        item["logicOffset"],
        item["startOffset"],
        item["endOffset"],
    )


def without_overflow(answer):
    """Give what 64 bits hold: sums of stock go round to negative numbers, and here they do not."""
    return INT64_MAX if answer < -1_000 else answer


@pytest.mark.parametrize("row", STOCK, ids=range(len(STOCK)))
def test_offsets_are_those_that_stock_computes(row):
    queue = LogicalQueue(0, tuple(map(from_stock, row["items"])))

    for case in row["cases"]:
        found = find_segment(queue, case["offset"])
        following = next_segment(queue, found)

        assert found.generation == case["gen"]
        assert (following and following.generation) == case["next"]
        assert found.to_physical(case["offset"]) == case["physical"]
        assert found.to_logical_loose(case["offset"] - 1) == without_overflow(case["loose"])
        assert found.to_logical_strict(case["offset"] - 1) == without_overflow(case["strict"])
        assert found.logical_end == case["max"]


@pytest.mark.parametrize(
    ("offset", "rounded"),
    [
        (0, 10_000),
        (1, 10_000),
        (100, 10_000),
        (101, 10_000),
        (4_999, 10_000),
        (5_000, 20_000),
        (9_999, 20_000),
        (10_000, 20_000),
        (14_999, 20_000),
    ],
)
def test_an_offset_is_rounded_up_to_a_block_as_stock_does(offset, rounded):
    assert block_round_up(offset) == rounded


@given(st.integers(0, INT64_MAX), st.integers(2, 100_000))
def test_a_block_jump_is_half_a_block_to_one_and_a_half(offset, size):
    jump = block_round_up(offset, size) - offset

    assert size / 2 - 1 < jump <= 1.5 * size + 1
    assert block_round_up(offset, size) % size == 0


@given(
    st.builds(
        QueueSegment,
        generation=st.integers(-(2**31), 2**31 - 1),
        broker_group_name=st.just("b1"),
        queue_id=st.integers(-(2**31), 2**31 - 1),
        logical_start=INT64,
        physical_start=INT64,
        physical_end=INT64,
    ),
    INT64,
)
def test_every_function_of_a_segment_answers_any_offset_with_64_bits(one, offset):
    answers = [
        one.to_logical_strict(offset),
        one.to_logical_loose(offset),
        one.to_physical(offset),
        one.logical_end,
        one.delta,
    ]

    assert all(INT64_MIN <= answer <= INT64_MAX for answer in answers)
    assert str(one).startswith("[g")


def test_the_loose_form_stops_at_the_recorded_end():
    one = segment(0, "b1:q0", logical=100, start=10, end=20)

    assert one.to_logical_loose(25) == 110
    assert one.to_logical_strict(25) == 115
    assert one.to_logical_loose(5) == one.to_logical_strict(5) == 100
    assert one.delta == 90


def test_an_undecided_segment_gives_no_offset_in_the_loose_form():
    assert segment(1, "b1:q0", logical=-1).to_logical_loose(7) == -1


@pytest.mark.parametrize(
    ("is_last", "bounds", "status"),
    [
        (True, QueueBounds(0, 0), SegmentStatus.NORMAL),
        (True, QueueBounds(7, 7), SegmentStatus.NORMAL),
        (False, QueueBounds(0, 7), SegmentStatus.READ_ONLY),
        (False, QueueBounds(7, 7), SegmentStatus.EXPIRED),
        (False, QueueBounds(0, 0), SegmentStatus.EXPIRED),
        (False, None, SegmentStatus.READ_ONLY),
    ],
)
def test_the_status_follows_from_the_place_in_the_list_and_the_bounds(is_last, bounds, status):
    assert segment(0, "b1:q0").status(is_last=is_last, bounds=bounds) is status


def test_an_undecided_segment_is_never_writable():
    assert segment(0, "b1:q0", logical=-1).status(is_last=True) is SegmentStatus.UNDECIDED
