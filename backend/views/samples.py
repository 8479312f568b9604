"""Show what brokers reported of themselves."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.services.samples import ObservedSample
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph
from backend.views.instants import instant


@in_graph(
    "BrokerSample",
    description="Rates are null while unknown: the first sample after a start has none.",
)
@dataclass(frozen=True, slots=True)
class SampleOut:
    """What a broker reported at one time, with the role that it had then: id 0 is the master."""

    cluster_name: str
    broker_group_name: str
    broker_name: str
    broker_id: Int64
    observed_at: datetime
    messages_in_per_second: float | None
    messages_out_per_second: float | None
    bytes_in_per_second: float | None
    bytes_out_per_second: float | None
    store_bytes: Int64
    disk_total_bytes: Int64
    disk_free_bytes: Int64
    resident_bytes: Int64
    commit_log_max_position: Int64

    @classmethod
    def of(cls, sample: ObservedSample) -> Self:
        """Show a sample."""
        return copied(
            cls,
            sample,
            broker_group_name=sample.broker_name,
            broker_name=str(sample.name),
            observed_at=instant(sample.observed_at_ms),
        )
