"""The delay before something is started again."""

from backend.supervisor.backoff import DELAY_S_MAX, DELAY_S_MIN, STEADY_AFTER_S, Backoff


def test_early_ends_double_the_delay_up_to_the_limit():
    backoff = Backoff()

    delays = [backoff.delay_s(ran_s=0.0) for _ in range(10)]

    assert delays[:3] == [DELAY_S_MIN, 2 * DELAY_S_MIN, 4 * DELAY_S_MIN]
    assert delays == sorted(delays)
    assert delays[-1] == DELAY_S_MAX


def test_a_steady_run_begins_again_with_the_shortest_delay():
    backoff = Backoff()
    for _ in range(10):
        backoff.delay_s(ran_s=0.0)

    assert backoff.delay_s(ran_s=STEADY_AFTER_S) == DELAY_S_MIN


def test_no_start_follows_an_end_without_a_delay():
    backoff = Backoff()

    assert min(backoff.delay_s(ran_s=ran_s) for ran_s in (0.0, 1e9, 0.0, 1e9)) > 0
