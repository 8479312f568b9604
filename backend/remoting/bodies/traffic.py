"""Bodies about the counters of a broker (remoting.md 3.4)."""

import msgspec

from backend.remoting.bodies.base import Body


class BrokerStatsItem(Body, frozen=True, kw_only=True):
    """The figures of a time span: the sum, the sum per second, and the mean per event."""

    total: int = msgspec.field(name="sum", default=0)
    rate: float = msgspec.field(name="tps", default=0.0)
    average: float = msgspec.field(name="avgpt", default=0.0)


class BrokerStatsData(Body, frozen=True, kw_only=True):
    """The counters of one key in the last minute, hour and day (315)."""

    minute: BrokerStatsItem = msgspec.field(name="statsMinute")
    hour: BrokerStatsItem = msgspec.field(name="statsHour")
    day: BrokerStatsItem = msgspec.field(name="statsDay")
