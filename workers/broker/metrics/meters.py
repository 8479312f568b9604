"""Count what consumers read, and compute rates over the last ten seconds, minute and ten minutes.

Stock's tools subtract two counters to show a day. So the counters at the last two local midnights
are kept too. As in stock they start with the process.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from regent_engine import Counters, turn_time_limits_ms

from backend.remoting.names import is_state_topic
from workers.broker.metrics.traffic import Traffic

SNAPSHOT_INTERVAL_MS: Final = 10_000
_WINDOWS: Final = (1, 6, 60)
_TURN_TIME_NAMES: Final = (
    *("[<=0ms]", "[0~10ms]", "[10~50ms]", "[50~100ms]", "[100~200ms]", "[200~500ms]"),
    *("[500ms~1s]", "[1~2s]", "[2~3s]", "[3~4s]", "[4~5s]", "[5~10s]", "[10s~]"),
)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at_ms: int
    put_count: int
    got_count: int
    found_count: int
    missed_count: int

    @property
    def asked_count(self) -> int:
        return self.found_count + self.missed_count


@dataclass(frozen=True, slots=True)
class Morning:
    """The counters at a local midnight; 0 if the process did not run then."""

    put_count: int = 0
    got_count: int = 0


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """Durations of one kind of turns of the engine: the longest, and the count of each range."""

    longest_ms: int
    counts: list[int]

    def distribution(self) -> str:
        """Return the count of each range, in the form of stock's tools."""
        pairs = zip(_TURN_TIME_NAMES, self.counts, strict=True)
        return "".join(f"{name}:{count} " for name, count in pairs)

    def percentile(self, share: float) -> float:
        """Return the time within which a share of the turns ended: the end of its range."""
        rank = share * sum(self.counts)
        passed = 0
        for limit_ms, count in zip(turn_time_limits_ms(), self.counts, strict=False):
            passed += count
            if passed >= rank:
                return float(min(limit_ms, self.longest_ms))
        return float(self.longest_ms)


def day_of(now_ms: int) -> int:
    """Return the number of the local day of a time."""
    return datetime.fromtimestamp(now_ms / 1000).toordinal()  # noqa: DTZ006 - days are local


def ms_to_midnight(now_ms: int) -> int:
    """Return the time to the next local midnight."""
    now = datetime.fromtimestamp(now_ms / 1000)  # noqa: DTZ006 - days are local
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
    return max(1, round((midnight - now).total_seconds() * 1000))


def taken_in(counters: Counters) -> tuple[int, int]:
    """Count messages and their bytes, without those that the broker writes for itself (D14)."""
    own = [counts for name, counts in counters.topics.items() if is_state_topic(name)]
    own_messages, own_bytes = (sum(count) for count in zip((0, 0), *own, strict=True))
    return counters.messages - own_messages, counters.bytes - own_bytes


class Meters:
    """Counters since the start; `snapshot` must be called about every ten seconds."""

    def __init__(self, booted_at_ms: int, started_ms: int = 0) -> None:
        """Start to count; all times but the first are of the clock that is never set."""
        self.booted_at_ms, self.started_ms = booted_at_ms, started_ms
        self.messages_out = 0
        self.bytes_out = 0
        self.pull_count = 0
        self.pull_miss_count = 0
        self.traffic = Traffic(started_ms)
        # Requests to the master of the group: answered, not answered, and not sent.
        self.passed_on_count = self.passed_on_unanswered_count = self.not_passed_on_count = 0
        self._snapshots: deque[_Snapshot] = deque(maxlen=max(_WINDOWS) + 1)
        self._snapshots.append(_Snapshot(started_ms, 0, 0, 0, 0))
        # Messages that the store unexpectedly refused.
        self.put_failure_count = 0
        self.this_morning, self.yesterday_morning = Morning(), Morning()
        self._day = day_of(booted_at_ms)

    def pulled(
        self,
        group: str,
        topic: str,
        *,
        messages: int,
        size_bytes: int,
        pulls: int = 1,
        missed: int = 0,
    ) -> None:
        """Count answered pulls: those that found messages, and those that missed."""
        self.pull_count += pulls + missed
        self.pull_miss_count += missed
        self.messages_out += messages
        self.bytes_out += size_bytes
        if messages:
            self.traffic.pulled(group, topic, pulls=pulls, messages=messages, size_bytes=size_bytes)

    def snapshot(self, now_ms: int, put_count: int) -> None:
        """Store the present counters."""
        missed = self.pull_miss_count
        found = self.pull_count - missed
        self._snapshots.append(_Snapshot(now_ms, put_count, self.messages_out, found, missed))
        self.traffic.sample(now_ms)

    def mornings(self, at_ms: int, put_count: int) -> tuple[Morning, Morning]:
        """Return the counters at the last local midnight and at the one before."""
        self.note_day(at_ms, put_count)
        return self.this_morning, self.yesterday_morning

    def note_day(self, at_ms: int, put_count: int) -> None:
        """Start another day of the wall clock; a clock that was set back starts none."""
        day = day_of(at_ms)
        if day <= self._day:
            return
        now = Morning(put_count, self.messages_out)
        is_next = day == self._day + 1
        self.yesterday_morning = self.this_morning if is_next else now
        self.this_morning, self._day = now, day

    def put_rates(self) -> str:
        """Return the stored messages per second over the three windows, in the form of tools."""
        return self._rates(lambda one: one.put_count)

    def got_rates(self) -> str:
        """Return the read messages per second over the three windows, in the form of tools."""
        return self._rates(lambda one: one.got_count)

    def found_rates(self) -> str:
        """Return the pulls per second that found messages, over the three windows."""
        return self._rates(lambda one: one.found_count)

    def missed_rates(self) -> str:
        """Return the pulls per second that found none, over the three windows."""
        return self._rates(lambda one: one.missed_count)

    def asked_rates(self) -> str:
        """Return all pulls per second over the three windows."""
        return self._rates(lambda one: one.asked_count)

    def _rates(self, count: Callable[[_Snapshot], int]) -> str:
        last = self._snapshots[-1]
        rates = []
        for window in _WINDOWS:
            first = self._snapshots[max(0, len(self._snapshots) - 1 - window)]
            elapsed_ms = last.at_ms - first.at_ms
            rate = (count(last) - count(first)) * 1000 / elapsed_ms if elapsed_ms > 0 else 0.0
            rates.append(f"{rate:.3f}")
        return " ".join(rates)
