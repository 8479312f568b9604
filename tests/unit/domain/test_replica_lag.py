"""How far replicas are behind their master."""

import pytest

from backend.domain.replica_lag import UNKNOWN_LAG, LogPosition, ReplicaLag, measure_lags


@pytest.mark.parametrize(
    ("reported", "lag"),
    [
        (LogPosition(1000, is_following=True, bytes_per_second=0), ReplicaLag(0, 0)),
        # Case B6: one that is ahead of its master has no lag, and catches up with nothing.
        (LogPosition(1001, is_following=True, bytes_per_second=9), ReplicaLag(None, None, 1)),
        (LogPosition(9000, is_following=False, bytes_per_second=0), ReplicaLag(None, None, 8000)),
        (LogPosition(400, is_following=True, bytes_per_second=250), ReplicaLag(600, 2400)),
        (LogPosition(999, is_following=True, bytes_per_second=3000), ReplicaLag(1, 1)),
        (LogPosition(400, is_following=True, bytes_per_second=0), ReplicaLag(600, None)),
        (LogPosition(400, is_following=False, bytes_per_second=250), ReplicaLag(600, None)),
        (LogPosition(None, is_following=False, bytes_per_second=0), UNKNOWN_LAG),
    ],
)
def test_lag_is_bytes_and_the_time_at_the_present_rate(reported, lag):
    assert measure_lags({2: reported}, master_end=1000) == {2: lag}


def test_what_replicas_lack_is_unknown_without_their_master():  # D21
    reported = LogPosition(400, is_following=True, bytes_per_second=250)

    assert measure_lags({2: reported}, master_end=None) == {2: UNKNOWN_LAG}
