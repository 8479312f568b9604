"""A master that returns takes how far its replica delivered meanwhile (control-plane.md 5.7)."""

import struct

import pytest

from tests.unit.broker.test_delay_delivery import QueueDouble, delivery
from workers.broker.commit_log.timer_delivery import TimerDelivery
from workers.broker.tables.escaped import EscapedMessages


def checkpoint(read_ms, queue_offset=7):
    return struct.pack(">7q", read_ms, 0, queue_offset, queue_offset, 0, 0, 0)


class WheelDouble:
    """The timers of a store: its own checkpoint, and the progress that it was given."""

    max_position, has_timers_of_stock = 900, False

    def __init__(self, own):
        self.own, self.progress = own, None

    def timer_checkpoint(self):
        return self.own

    def set_timer_progress(self, progress):
        self.progress = progress


def timers(own):
    store = WheelDouble(own)
    found = TimerDelivery(
        store,
        precision_ms=1000,
        arrived=lambda _: None,
        find_target=lambda *_: None,
        find_block=lambda: None,
        clock=lambda: 0,
        escaped=EscapedMessages(),
    )
    return found, store


def test_levels_in_which_a_replica_is_ahead_are_taken():
    """S115; stock compares the versions of the whole files."""
    delays, _, _ = delivery(QueueDouble(level_1=[1] * 9, level_2=[1] * 9), stored={1: 5, 2: 5})
    delays.lead()

    assert delays.take_over({1: 4, 2: 8}) == 1

    assert delays.progress == {1: 5, 2: 8}
    assert delays.take_changes() == {2: 8}


@pytest.mark.parametrize("own", [None, checkpoint(1_000)])
def test_timers_of_a_replica_that_is_ahead_are_taken(own):  # S115
    found, store = timers(own)

    assert found.take_over(checkpoint(2_000))

    assert store.progress == (2_000, 0, 7)


@pytest.mark.parametrize("theirs", [checkpoint(1_000), checkpoint(900), bytes(56), b"short"])
def test_timers_of_a_replica_that_is_not_ahead_are_not_taken(theirs):
    found, store = timers(checkpoint(1_000))

    assert not found.take_over(theirs)

    assert store.progress is None
