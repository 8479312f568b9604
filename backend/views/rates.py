"""Show what clusters took in and gave out lately."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.services.samples.rate_history import RatePoint
from backend.views.graph_forms import in_graph
from backend.views.instants import instant


@in_graph(description="A rate is null while unknown.")
@dataclass(frozen=True, slots=True)
class RatesOut:
    """Messages in and out of all clusters together at one time; null is unknown."""

    observed_at: datetime
    messages_in_per_second: float | None
    messages_out_per_second: float | None
    bytes_in_per_second: float | None
    bytes_out_per_second: float | None

    @classmethod
    def of(cls, point: RatePoint) -> Self:
        """Show the rates of one time."""
        return cls(
            observed_at=instant(point.at_ms),
            messages_in_per_second=point.rates.messages_in,
            messages_out_per_second=point.rates.messages_out,
            bytes_in_per_second=point.rates.bytes_in,
            bytes_out_per_second=point.rates.bytes_out,
        )
