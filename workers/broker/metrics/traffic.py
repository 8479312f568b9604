"""Count messages by topic and by reader, under the names of stock's tools (315)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from regent_engine import Counters

from workers.broker.metrics.tally import MINUTE, Span, Tally

FRESH_MS: Final = 1_000
"""Maximum age of the store's counters in an answer: to copy them takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a time span: the sum, the sum per second, and the mean per event."""

    total: int
    rate: float
    average: float


@dataclass(frozen=True, slots=True)
class _Kind:
    tally: Tally
    sum_column: int
    times_column: int


class Traffic:
    """The counts of one broker under stock's names; a restart resets them."""

    def __init__(self, started_at_ms: int) -> None:
        """Begin with nothing counted."""
        self._topics = Tally(2, started_at_ms)
        self._readers = Tally(3, started_at_ms)
        self._returned = Tally(1, started_at_ms)
        self._whole = Tally(3, started_at_ms)
        self._tallies = (self._topics, self._readers, self._returned, self._whole)
        # The number of sends is not counted, so one send stands for one message.
        self._kinds = {
            "TOPIC_PUT_NUMS": _Kind(self._topics, 0, 0),
            "TOPIC_PUT_SIZE": _Kind(self._topics, 1, 0),
            "GROUP_GET_NUMS": _Kind(self._readers, 1, 0),
            "GROUP_GET_SIZE": _Kind(self._readers, 2, 0),
            "SNDBCK_PUT_NUMS": _Kind(self._returned, 0, 0),
            "BROKER_PUT_NUMS": _Kind(self._whole, 0, 0),
            "BROKER_GET_NUMS": _Kind(self._whole, 2, 1),
        }
        self._refreshed_at_ms = started_at_ms

    def pulled(self, group: str, topic: str, *, pulls: int, messages: int, size_bytes: int) -> None:
        """Count pulls that found messages."""
        self._readers.add(f"{topic}@{group}", pulls, messages, size_bytes)

    def sent_back(self, group: str, topic: str) -> None:
        """Count a message that a consumer could not process, by its original topic."""
        self._returned.add(f"{topic}@{group}", 1)

    def is_fresh(self, now_ms: int) -> bool:
        """Return whether the counters of the store were copied just now."""
        return 0 <= now_ms - self._refreshed_at_ms < FRESH_MS

    def refresh(
        self,
        now_ms: int,
        counters: Counters,
        *,
        is_known: Callable[[str], bool],
        cluster_name: str,
        whole: tuple[int, int, int],
    ) -> None:
        """Take over the store's counts of known topics, and the counts of the broker.

        The counts of the broker are stored messages, pulls that found some, and read messages.
        """
        self._refreshed_at_ms = now_ms
        for name, traffic in counters.topics.items():
            if is_known(name):
                self._topics.put(name, *traffic)
        self._whole.put(cluster_name, *whole)

    def sample(self, now_ms: int) -> None:
        """Take the due snapshots."""
        for tally in self._tallies:
            tally.sample(now_ms)

    def find(self, name: str, key: str, span: Span, now_ms: int) -> Figures | None:
        """Return the figures of a stock name; None if there are none."""
        kind = self._kinds.get(name)
        growth = None if kind is None else kind.tally.growth(key, span, now_ms)
        if kind is None or growth is None:
            return None
        total, times = growth.amounts[kind.sum_column], growth.amounts[kind.times_column]
        return Figures(
            total=total,
            rate=total * 1000 / growth.elapsed_ms if growth.elapsed_ms else 0.0,
            average=total / times if times else 0.0,
        )

    def read_rate(self, group: str, topic: str, now_ms: int) -> float:
        """Return the messages per second that a group read from a topic in the last minute."""
        found = self.find("GROUP_GET_NUMS", f"{topic}@{group}", MINUTE, now_ms)
        return 0.0 if found is None else found.rate

    def forget_topic(self, name: str) -> None:
        """Drop the counts of a deleted topic."""
        self._topics.forget(name.__eq__)
        for tally in (self._readers, self._returned):
            tally.forget(lambda key: key.rpartition("@")[0] == name)

    def forget_group(self, name: str) -> None:
        """Drop the counts of a deleted consumer group."""
        for tally in (self._readers, self._returned):
            tally.forget(lambda key: key.rpartition("@")[2] == name)
