"""Describe a cluster: a name under which broker groups serve topics together."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Cluster:
    """Hold what is known of a cluster.

    The route version rises whenever a route of the cluster may have changed.
    """

    id: int
    name: str
    created_at: datetime
    route_version: int


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """Count what the clusters hold."""

    cluster_count: int
    broker_group_count: int
    broker_count: int
    online_broker_count: int
    topic_count: int
