"""Show clusters, and how much they hold together."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from backend.domain.cluster import Cluster, ClusterCounts
from backend.views.copying import Copied
from backend.views.field_texts import BROKER_COUNT, BROKER_GROUP_COUNT, ROUTE_VERSION, TOPIC_COUNT
from backend.views.graph_forms import GraphId, Int64, Text


@dataclass(frozen=True, slots=True)
class ClusterOut(Copied[Cluster]):
    """A cluster."""

    id: Annotated[GraphId, Text("Key of the row of the cluster.")]
    name: Annotated[str, Text("Name of the cluster, as its brokers register it.")]
    created_at: Annotated[datetime, Text("Time when the first broker of the cluster registered.")]
    route_version: Annotated[Int64, ROUTE_VERSION]


@dataclass(frozen=True, slots=True)
class OverviewOut(Copied[ClusterCounts]):
    """How much all clusters within reach hold."""

    cluster_count: Annotated[int, Text("Number of clusters.")]
    broker_group_count: Annotated[int, BROKER_GROUP_COUNT]
    broker_count: Annotated[int, BROKER_COUNT]
    online_broker_count: Annotated[int, Text("Number of brokers that are online.")]
    topic_count: Annotated[int, TOPIC_COUNT]
