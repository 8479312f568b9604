import pytest

from backend.domain.broker import (
    HEARTBEAT_TIMEOUT_DEFAULT_MS,
    HEARTBEAT_TIMEOUT_MAX_MS,
    HEARTBEAT_TIMEOUT_MIN_MS,
    clamp_heartbeat_timeout_ms,
)


@pytest.mark.parametrize(
    ("asked_ms", "given_ms"),
    [
        (None, HEARTBEAT_TIMEOUT_DEFAULT_MS),
        (0, HEARTBEAT_TIMEOUT_DEFAULT_MS),
        (-5, HEARTBEAT_TIMEOUT_DEFAULT_MS),
        (1, HEARTBEAT_TIMEOUT_MIN_MS),
        (10_000, 10_000),
        (2**62, HEARTBEAT_TIMEOUT_MAX_MS),
    ],
)
def test_a_broker_is_waited_for_as_long_as_it_asked_within_bounds(asked_ms, given_ms):
    assert clamp_heartbeat_timeout_ms(asked_ms) == given_ms
