"""Describe a cluster: a name under which broker groups serve topics together."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Cluster:
    """Hold the known facts of a cluster.

    The route version grows whenever a route of the cluster may have changed.
    """

    id: int
    name: str
    created_at: datetime
    route_version: int


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """Count the objects of the clusters."""

    cluster_count: int
    broker_group_count: int
    broker_count: int
    online_broker_count: int
    topic_count: int
