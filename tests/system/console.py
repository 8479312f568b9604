"""The control plane's HTTP door, signed in and as a stranger."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.system.cluster import Cluster
from tests.waiting import PATIENCE_S


@contextmanager
def stranger(cluster: Cluster) -> Iterator[httpx.Client]:
    """Talk to a cluster without a session."""
    with httpx.Client(base_url=cluster.http_url, timeout=PATIENCE_S, verify=False) as client:
        yield client


@contextmanager
def administrator(cluster: Cluster) -> Iterator[httpx.Client]:
    """Talk to a cluster as its first user."""
    with stranger(cluster) as client:
        credentials = {"name": cluster.admin_name, "password": cluster.admin_password}
        client.post("/api/v1/session", json=credentials).raise_for_status()
        yield client


def topic_names(client: httpx.Client, cluster_name: str = "DefaultCluster") -> set[str]:
    """List every topic the control plane knows."""
    names: set[str] = set()
    after: str | None = None
    while True:
        parameters = {"limit": "100"} | ({"after": after} if after else {})
        path = f"/api/v1/clusters/{cluster_name}/topics"
        answer = client.get(path, params=parameters)
        answer.raise_for_status()
        page = answer.json()
        names |= {topic["name"] for topic in page["items"]}
        after = page["next"]
        if after is None:
            return names
