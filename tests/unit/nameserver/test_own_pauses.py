"""When a process stood still, and for how long it has to listen after that."""

import pytest

from backend.nameserver.own_pauses import (
    LISTENING_MAX_MS,
    LOOK_INTERVAL_S,
    PAUSE_MIN_MS,
    STALL_MIN_MS,
    OwnPauses,
)

LOOK_MS = LOOK_INTERVAL_S * 1000


class Elapsed:
    now_ms = 1_000.0

    def __call__(self):
        return self.now_ms


@pytest.fixture
def elapsed():
    return Elapsed()


@pytest.fixture
def reported():
    return []


@pytest.fixture
def pauses(elapsed, reported):
    pauses = OwnPauses(elapsed)
    pauses.on_stall(lambda stood_ms: reported.append(("stall", stood_ms)))
    pauses.on_pause(lambda stood_ms: reported.append(("pause", stood_ms)))
    return pauses


def test_a_process_that_looks_in_time_did_not_stand_still(pauses, elapsed, reported):
    for _ in range(1000):
        elapsed.now_ms += LOOK_MS + STALL_MIN_MS - 1
        pauses.look()

    assert reported == []
    assert not pauses.has_ended_within(LISTENING_MAX_MS)


def test_what_a_process_did_before_it_listened_is_no_pause(pauses, elapsed, reported):
    elapsed.now_ms += 5_000
    pauses.begin()
    pauses.look()

    assert reported == []
    assert not pauses.has_ended_within(LISTENING_MAX_MS)


def test_a_short_standstill_is_reported_but_is_no_pause(pauses, elapsed, reported):
    elapsed.now_ms += LOOK_MS + PAUSE_MIN_MS - 1
    pauses.look()

    assert reported == [("stall", PAUSE_MIN_MS - 1)]
    assert not pauses.has_ended_within(LISTENING_MAX_MS)


def test_a_pause_is_found_by_the_first_check_and_reported_once(pauses, elapsed, reported):
    # Case A15.
    elapsed.now_ms += LOOK_MS + 16_000
    pauses.look()
    pauses.look()

    assert reported == [("stall", 16_000), ("pause", 16_000)]


def test_after_a_pause_a_process_listens_for_one_lease_but_not_without_end(pauses, elapsed):
    # Case A15.
    elapsed.now_ms += LOOK_MS + 2_000
    pauses.look()

    assert pauses.has_ended_within(3_000)
    for _ in range(30):
        elapsed.now_ms += LOOK_MS
        pauses.look()
    assert not pauses.has_ended_within(3_000)
    assert pauses.has_ended_within(86_400_000)
    elapsed.now_ms += LISTENING_MAX_MS
    assert not pauses.has_ended_within(86_400_000)
