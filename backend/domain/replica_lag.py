"""Compute the lag of replicas behind their master, from the reports about their logs.

Positions are bytes of the log. A value that was not reported is unknown (D21).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.domain.replica_identity import Reporter


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Hold the end of the log of a broker, and how a replica follows its master, or why not.

    `reported_by` is the identity that the broker reports.
    """

    max_offset: int | None
    is_following: bool
    bytes_per_second: int
    obstacle: str | None = None
    reported_by: Reporter | None = None


@dataclass(frozen=True, slots=True)
class ReplicaLag:
    """Hold the lag of one replica; `catch_up_ms` is the time for the lag at its present rate.

    A replica that receives nothing has no rate, so `catch_up_ms` is then known only without a lag.
    A replica that is ahead by `ahead_bytes` has data that its master lacks. It has no lag, and will
    truncate that part.
    """

    lag_bytes: int | None
    catch_up_ms: int | None
    ahead_bytes: int | None = 0


UNKNOWN_LAG: Final = ReplicaLag(None, None, None)


def measure_lags(
    positions: Mapping[int, LogPosition], *, master_end: int | None
) -> dict[int, ReplicaLag]:
    """Compare the logs of replicas, by id, with the end of their master's."""
    return {broker_id: _lag(position, master_end) for broker_id, position in positions.items()}


def _lag(position: LogPosition, master_end: int | None) -> ReplicaLag:
    if master_end is None or position.max_offset is None:
        return UNKNOWN_LAG
    lag_bytes = master_end - position.max_offset
    if lag_bytes < 0:
        return ReplicaLag(None, None, -lag_bytes)
    if not lag_bytes:
        return ReplicaLag(0, 0)
    if not position.is_following or position.bytes_per_second <= 0:
        return ReplicaLag(lag_bytes, None)
    return ReplicaLag(lag_bytes, -(-lag_bytes * 1000 // position.bytes_per_second))
