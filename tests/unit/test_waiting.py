import time

import pytest

from tests.waiting import POLL_S_MAX, POLL_S_MIN, eventually, poll_s


@pytest.mark.parametrize(
    ("waited_ms", "expected_s"),
    [(0, POLL_S_MIN), (50, POLL_S_MIN), (400, 0.04), (30_000, POLL_S_MAX)],
)
def test_polls_are_a_tenth_of_the_wait_apart_within_bounds(
    waited_ms: int, expected_s: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(time, "monotonic", lambda: 100 + waited_ms / 1000)

    assert poll_s(100) == pytest.approx(expected_s)


async def test_a_condition_that_does_not_come_to_hold_fails_at_the_deadline():
    polls = []

    with pytest.raises(AssertionError, match="did not come to hold"):
        await eventually(lambda: polls.append(1), timeout_s=0.05)

    assert 2 <= len(polls) <= 7
