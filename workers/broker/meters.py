"""Count what consumers read, and keep rates over the last ten seconds, minute and ten minutes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from regent_engine import Counters

from backend.remoting.names import STATE_TOPIC
from workers.broker.traffic import Traffic

SNAPSHOT_INTERVAL_MS: Final = 10_000
_WINDOWS: Final = (1, 6, 60)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at_ms: int
    put_count: int
    got_count: int


def taken_in(counters: Counters) -> tuple[int, int]:
    """Count the messages, and their bytes, that are not what the broker itself keeps (D14)."""
    own_messages, own_bytes = counters.topics.get(STATE_TOPIC, (0, 0))
    return counters.messages - own_messages, counters.bytes - own_bytes


class Meters:
    """Counters since boot; `snapshot` must be called about every ten seconds."""

    def __init__(self, booted_at_ms: int, started_ms: int = 0) -> None:
        """Begin to count; all times but the first are of the clock that is never set."""
        self.booted_at_ms, self.started_ms = booted_at_ms, started_ms
        self.messages_out = 0
        self.bytes_out = 0
        self.pull_count = 0
        self.pull_miss_count = 0
        self.traffic = Traffic(started_ms)
        # To the master of the group: answered by it, given no answer by it, never sent to it.
        self.passed_on_count = self.passed_on_unanswered_count = self.not_passed_on_count = 0
        self._snapshots: deque[_Snapshot] = deque(maxlen=max(_WINDOWS) + 1)
        self._snapshots.append(_Snapshot(started_ms, 0, 0))

    def pulled(
        self, group: str, topic: str, *, messages: int, size_bytes: int, pulls: int = 1
    ) -> None:
        """Count one answered pull, or some of which each found messages."""
        self.pull_count += pulls
        self.messages_out += messages
        self.bytes_out += size_bytes
        if messages:
            self.traffic.pulled(group, topic, pulls=pulls, messages=messages, size_bytes=size_bytes)
        else:
            self.pull_miss_count += 1

    def snapshot(self, now_ms: int, put_count: int) -> None:
        """Remember the counters of this moment."""
        self._snapshots.append(_Snapshot(now_ms, put_count, self.messages_out))
        self.traffic.sample(now_ms)

    def put_rates(self) -> str:
        """Give the messages stored a second over the three windows, as tools split it."""
        return self._rates(lambda one: one.put_count)

    def got_rates(self) -> str:
        """Give the messages read a second over the three windows, as tools split it."""
        return self._rates(lambda one: one.got_count)

    def _rates(self, count: Callable[[_Snapshot], int]) -> str:
        last = self._snapshots[-1]
        rates = []
        for window in _WINDOWS:
            first = self._snapshots[max(0, len(self._snapshots) - 1 - window)]
            elapsed_ms = last.at_ms - first.at_ms
            rate = (count(last) - count(first)) * 1000 / elapsed_ms if elapsed_ms > 0 else 0.0
            rates.append(f"{rate:.3f}")
        return " ".join(rates)
