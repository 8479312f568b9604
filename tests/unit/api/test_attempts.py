import pytest

from backend.api import attempts
from backend.api.attempts import AttemptLimiter
from backend.domain.errors import TooManyAttempts


class HandClock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def fail(limiter, times, *, caller="1.2.3.4", name="admin"):
    for _ in range(times):
        limiter.check(caller=caller, name=name)
        limiter.note_failure(caller=caller, name=name)


def test_a_name_is_guarded_after_five_failures():
    limiter = AttemptLimiter(HandClock())
    fail(limiter, 5)

    with pytest.raises(TooManyAttempts) as refusal:
        limiter.check(caller="1.2.3.4", name="admin")

    assert 1 <= refusal.value.retry_after_s <= 61


def test_another_caller_is_not_locked_out_by_a_guesser():
    limiter = AttemptLimiter(HandClock())
    fail(limiter, 5)

    limiter.check(caller="5.6.7.8", name="admin")


def test_a_caller_who_tries_many_names_is_slowed_down():
    limiter = AttemptLimiter(HandClock())
    for number in range(20):
        fail(limiter, 1, name=f"user-{number}")

    with pytest.raises(TooManyAttempts):
        limiter.check(caller="1.2.3.4", name="someone-else")


def test_a_minute_later_it_may_be_tried_again():
    clock = HandClock()
    limiter = AttemptLimiter(clock)
    fail(limiter, 5)

    clock.now += 61

    limiter.check(caller="1.2.3.4", name="admin")


def test_success_takes_the_count_back():
    limiter = AttemptLimiter(HandClock())
    fail(limiter, 4)

    limiter.note_success(caller="1.2.3.4", name="admin")

    fail(limiter, 5)


def test_the_table_of_attempts_is_bounded(monkeypatch):
    monkeypatch.setattr(attempts, "WINDOWS_MAX", 10)
    limiter = AttemptLimiter(HandClock())

    for number in range(50):
        fail(limiter, 1, caller=f"10.0.0.{number}")

    assert len(limiter._windows) <= 10


def test_an_attempt_in_which_nothing_was_compared_takes_back_itself_alone():
    limiter = AttemptLimiter(HandClock())
    fail(limiter, 5)

    limiter.take_back(caller="1.2.3.4", name="admin")
    fail(limiter, 1)

    with pytest.raises(TooManyAttempts):
        limiter.check(caller="1.2.3.4", name="admin")
