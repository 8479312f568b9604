"""What a controller counts."""

from backend.domain.controller_figures import (
    LATENCY_BOUNDS_US,
    HandleStatus,
    RequestTally,
)


def test_requests_are_counted_by_how_they_ended_and_only_handled_ones_are_timed():
    tally = RequestTally()

    tally.note("a", HandleStatus.SUCCESS, LATENCY_BOUNDS_US[0])
    tally.note("a", HandleStatus.SUCCESS, LATENCY_BOUNDS_US[0] + 1)
    tally.note("a", HandleStatus.SUCCESS, LATENCY_BOUNDS_US[-1] + 1)
    tally.note("a", HandleStatus.TIMEOUT, 1)

    assert tally.counts == {("a", HandleStatus.SUCCESS): 3, ("a", HandleStatus.TIMEOUT): 1}
    latencies = tally.latencies["a"]
    assert (latencies.counts[0], latencies.counts[1], latencies.counts[-1]) == (1, 1, 1)
    assert latencies.sum_us == 2 * LATENCY_BOUNDS_US[0] + 2 + LATENCY_BOUNDS_US[-1]
