"""Bodies about messages for a time: stock's metrics (61), and our request 7020."""

import msgspec

from backend.remoting.bodies.base import Body, DataVersion


class TimerCountBody(Body, frozen=True, kw_only=True):
    """The number of waiting messages of a topic, and when it was counted, in ms since 1970."""

    count: int
    timestamp_ms: int = msgspec.field(name="timeStamp", default=0)


class TimerMetricsBody(Body, frozen=True, kw_only=True):
    """The waiting messages of a broker by topic, as stock brokers exchange them (61)."""

    data_version: DataVersion = DataVersion()
    timing_count: dict[str, TimerCountBody] = msgspec.field(default_factory=dict)


class TimersBody(Body, frozen=True, kw_only=True):
    """How the messages for a time of a broker stand (7020).

    Times are ms since 1970 by the clock of the broker. `minutes` and `hours` are pairs of the start
    of a span and the number of messages that are due in it; minutes are those of the next hour.
    `topics` are pairs of a name and a number, those with most messages.
    """

    is_delivering: bool
    hindrance: str | None = None
    """Why messages that are due are not delivered; null if nothing is in the way."""
    waiting_count: int
    overdue_count: int
    """Waiting messages whose time has come."""
    held_count: int
    """Overdue messages whose queue takes no messages now."""
    rolled_count: int
    """Messages that are due later than the wheel reaches. They are listed where they go on."""
    untaken_count: int
    """Messages that the wheel has not taken yet. They are not in the other numbers."""
    behind_ms: int
    """How long the next slot of the wheel is over already; 0 if it is not over."""
    first_due_ms: int | None = None
    last_due_ms: int | None = None
    minutes: list[tuple[int, int]] = msgspec.field(default_factory=list)
    hours: list[tuple[int, int]] = msgspec.field(default_factory=list)
    topics: list[tuple[str, int]] = msgspec.field(default_factory=list)
    topic_count: int
    """The number of all topics with waiting messages."""
