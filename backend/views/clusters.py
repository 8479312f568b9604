"""Show clusters, and how much they hold together."""

from dataclasses import dataclass
from datetime import datetime

from backend.domain.cluster import Cluster, ClusterCounts
from backend.views.copying import Copied
from backend.views.graph_forms import GraphId, Int64


@dataclass(frozen=True, slots=True)
class ClusterOut(Copied[Cluster]):
    """A cluster."""

    id: GraphId
    name: str
    created_at: datetime
    route_version: Int64


@dataclass(frozen=True, slots=True)
class OverviewOut(Copied[ClusterCounts]):
    """How much all clusters within reach hold."""

    cluster_count: int
    broker_group_count: int
    broker_count: int
    online_broker_count: int
    topic_count: int
