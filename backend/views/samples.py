"""Show the samples that brokers reported."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.services.samples import ObservedSample
from backend.views.copying import copied
from backend.views.field_texts import BROKER_GROUP_NAME, BROKER_NAME, CLUSTER_NAME
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.instants import instant


@in_graph(
    "BrokerSample",
    description="A rate is null while it is unknown: the first sample after a start has no rates.",
)
@dataclass(frozen=True, slots=True)
class SampleOut:
    """The figures of a broker at one time, with its role at that time: id 0 is the master."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_name: Annotated[str, BROKER_NAME]
    broker_id: Annotated[Int64, Text("Id that clients were routed to then: 0 was the master.")]
    observed_at: Annotated[datetime, Text("Time of the sample.")]
    messages_in_per_second: Annotated[
        float | None, Text("Messages that the broker received per second. Null if it is unknown.")
    ]
    messages_out_per_second: Annotated[
        float | None, Text("Messages that the broker delivered per second. Null if it is unknown.")
    ]
    bytes_in_per_second: Annotated[
        float | None, Text("Bytes that the broker received per second. Null if it is unknown.")
    ]
    bytes_out_per_second: Annotated[
        float | None, Text("Bytes that the broker delivered per second. Null if it is unknown.")
    ]
    store_bytes: Annotated[Int64, Text("Size of the store in bytes.")]
    disk_total_bytes: Annotated[Int64, Text("Size of the disk in bytes.")]
    disk_free_bytes: Annotated[Int64, Text("Free space of the disk in bytes.")]
    resident_bytes: Annotated[Int64, Text("Resident memory of the broker process in bytes.")]
    commit_log_max_position: Annotated[Int64, Text("End of the commit log in bytes.")]

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
