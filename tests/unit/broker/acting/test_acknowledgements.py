"""How many brokers must have a message, and until when it is waited for (storage-and-ha.md 9.6)."""

import pytest

from workers.broker.acting.acknowledgements import Needs, ReplicaAcknowledgements
from workers.broker.replication.acknowledgement import Outcome


class Waits:
    def __init__(self):
        self.now_ms = 1_000
        self.acks = ReplicaAcknowledgements(timeout_ms=3_000, now_ms=lambda: self.now_ms)
        self.outcomes = {}

    def wait(self, position):
        self.acks.wait(position, lambda outcome: self.outcomes.setdefault(position, outcome))


@pytest.fixture
def waits():
    return Waits()


def test_a_message_is_confirmed_once_enough_replicas_have_it(waits):
    waits.wait(100)
    waits.wait(200)

    waits.acks.advance(200, [150, 50], 2)
    assert waits.outcomes == {100: Outcome.CONFIRMED}
    waits.acks.advance(200, [200, 199], 3)
    assert waits.outcomes == {100: Outcome.CONFIRMED}
    waits.acks.advance(200, [200, 200], 3)

    assert waits.outcomes == {100: Outcome.CONFIRMED, 200: Outcome.CONFIRMED}


def test_no_message_is_confirmed_that_this_broker_may_lose(waits):
    waits.wait(100)

    waits.acks.advance(99, [100, 100], 2)

    assert waits.outcomes == {}


def test_too_few_connected_replicas_confirm_nothing(waits):
    waits.wait(100)

    waits.acks.advance(200, [200], 3)

    assert waits.outcomes == {}


def test_a_message_is_late_after_the_timeout_but_stored(waits):
    waits.wait(100)
    waits.now_ms += 2_999
    waits.acks.expire()
    assert waits.outcomes == {}

    waits.now_ms += 1
    waits.acks.expire()

    assert waits.outcomes == {100: Outcome.LATE}


def test_the_end_releases_everyone(waits):
    waits.wait(100)
    waits.wait(200)

    waits.acks.end(Outcome.FLUSH_FAILED)
    waits.acks.advance(300, [300], 2)

    assert set(waits.outcomes.values()) == {Outcome.FLUSH_FAILED}


@pytest.mark.parametrize(
    ("count", "least", "is_lowered", "in_sync", "needed"),
    [
        (2, 1, False, 1, 2),
        (2, 1, True, 1, 1),
        (3, 2, True, 1, 2),
        (3, 2, True, 5, 3),
        (1, 1, False, 1, 1),
    ],
)
def test_fewer_are_enough_only_if_the_settings_lower_the_number(
    count, least, is_lowered, in_sync, needed
):
    assert Needs(count, least, is_lowered).needed(in_sync) == needed
