"""Show the rates of clusters over the last minutes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.services.samples.rate_history import RatePoint
from backend.views.field_texts import BYTES_IN, BYTES_OUT, MESSAGES_IN, MESSAGES_OUT
from backend.views.graph_forms import Text, in_graph
from backend.views.instants import instant


@in_graph(description="A rate is null while it is unknown.")
@dataclass(frozen=True, slots=True)
class RatesOut:
    """Rates of all clusters together at one time; null is unknown."""

    observed_at: Annotated[datetime, Text("Time of the rates.")]
    messages_in_per_second: Annotated[float | None, MESSAGES_IN]
    messages_out_per_second: Annotated[float | None, MESSAGES_OUT]
    bytes_in_per_second: Annotated[float | None, BYTES_IN]
    bytes_out_per_second: Annotated[float | None, BYTES_OUT]

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
