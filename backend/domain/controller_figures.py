"""Count requests and elections of a controller by RocketMQ's names (control-plane.md 2.9).

The counters are plain numbers, so counting costs almost nothing.
"""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

LATENCY_BOUNDS_US: Final = (
    *(100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000),
    *(100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000),
)


class HandleStatus(StrEnum):
    """Say how the handling of a request ended; a refusal is a success of the controller."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"


class ElectionResult(StrEnum):
    """Say how an election ended."""

    NEW_MASTER_ELECTED = "new_master_elected"
    KEEP_CURRENT_MASTER = "keep_current_master"
    NO_MASTER_ELECTED = "no_master_elected"


@dataclass(slots=True)
class Latencies:
    """Hold the number of requests by duration; the last place is for those beyond every bound."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS_US) + 1))
    sum_us: int = 0

    def note(self, duration_us: int) -> None:
        """Count one request; a duration equal to a bound is counted below it."""
        self.counts[bisect_left(LATENCY_BOUNDS_US, duration_us)] += 1
        self.sum_us += duration_us


@dataclass(slots=True)
class RequestTally:
    """Count the requests of brokers and tools to a controller, by the request's name."""

    counts: Counter[tuple[str, HandleStatus]] = field(default_factory=Counter)
    latencies: dict[str, Latencies] = field(default_factory=dict)

    def note(self, name: str, status: HandleStatus, duration_us: int) -> None:
        """Count one request; only handled requests have a duration."""
        self.counts[name, status] += 1
        if status is HandleStatus.SUCCESS:
            self.latencies.setdefault(name, Latencies()).note(duration_us)


@dataclass(slots=True)
class ElectionTally:
    """Count elections, by cluster and group."""

    counts: Counter[tuple[str, str, ElectionResult]] = field(default_factory=Counter)

    def note(self, cluster_name: str, broker_group_name: str, result: ElectionResult) -> None:
        """Count one election."""
        self.counts[cluster_name, broker_group_name, result] += 1


@dataclass(frozen=True, slots=True)
class ControllerFigures:
    """Hold the figures of one process since its start, and its present brokers."""

    requests: RequestTally
    elections: ElectionTally
    # By cluster and group.
    active_broker_counts: dict[tuple[str, str], int]
