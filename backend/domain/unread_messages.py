"""Count the unread messages of a broker that is being drained."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

NAMED_COUNT_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class UnreadMessages:
    """Hold the lag of each consumer group in messages, the online groups, and delayed messages.

    Groups that never committed an offset on the broker are unknown, and not counted.
    """

    lags: Mapping[str, int]
    online: frozenset[str]
    delayed_count: int

    @property
    def count(self) -> int:
        """Count the messages that consumers still have to read."""
        return sum(self.lags.values()) + self.delayed_count

    @property
    def sentence(self) -> str:
        """Describe the unread messages."""
        behind = {name: lag for name, lag in self.lags.items() if lag}
        parts = [
            f"{name} has {lag} to read"
            for name, lag in sorted(behind.items(), key=lambda one: -one[1])[:3]
        ]
        if len(behind) > len(parts):
            parts.append(f"{len(behind) - len(parts)} more groups are behind")
        if self.delayed_count:
            parts.append(f"{self.delayed_count} messages wait for their time")
        return "; ".join(parts) or "nothing is left"

    def without(self, consumer_group_names: Collection[str]) -> "UnreadMessages":
        """Leave some groups out."""
        return replace(
            self,
            lags={name: lag for name, lag in self.lags.items() if name not in consumer_group_names},
        )

    def as_value(self) -> dict[str, Any]:
        """Return the value for the journal; of many groups, those with the highest lag."""
        most = sorted(self.lags.items(), key=lambda one: (-one[1], one[0]))[:NAMED_COUNT_MAX]
        return {
            "unread_count": self.count,
            "delayed_count": self.delayed_count,
            "groups": dict(most),
            "group_count": len(self.lags),
        }
