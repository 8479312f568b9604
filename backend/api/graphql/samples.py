"""Present what brokers reported of themselves."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.scalars import Int64
from backend.services.samples import ObservedSample
from backend.views.instants import instant


@strawberry.type(
    description="Rates are null while unknown: the first sample after a start has none."
)
class BrokerSample:
    """Hold one sample."""

    cluster_name: str
    group_name: str
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
        """Present a sample."""
        return cls(
            cluster_name=sample.cluster_name,
            group_name=sample.broker_name,
            broker_id=Int64(sample.broker_id),
            observed_at=instant(sample.observed_at_ms),
            messages_in_per_second=sample.messages_in_per_second,
            messages_out_per_second=sample.messages_out_per_second,
            bytes_in_per_second=sample.bytes_in_per_second,
            bytes_out_per_second=sample.bytes_out_per_second,
            store_bytes=Int64(sample.store_bytes),
            disk_total_bytes=Int64(sample.disk_total_bytes),
            disk_free_bytes=Int64(sample.disk_free_bytes),
            resident_bytes=Int64(sample.resident_bytes),
            commit_log_max_position=Int64(sample.commit_log_max_position),
        )
