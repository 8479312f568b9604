"""What a cluster has written: compared around requests that must leave no trace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.system.cluster import Cluster, wait_until
from tests.system.console import topic_names
from tests.system.peer import broker_groups, broker_sample
from tests.waiting import PATIENCE_S

Facts = dict[str, Any]


def written(cluster: Cluster, client: httpx.Client) -> Facts:
    """Look at the brokers' logs, topics, groups and folders, and at the tables behind the API."""
    facts: Facts = {"topics of the control plane": topic_names(client)}
    for name in ("brokers", "broker-groups"):
        page = client.get(f"/api/v1/clusters/DefaultCluster/{name}").json()
        facts[name] = [
            {k: v for k, v in item.items() if "heartbeat" not in k} for item in page["items"]
        ]
    facts["clusters"] = [item["name"] for item in client.get("/api/v1/clusters").json()["items"]]
    for broker in cluster.brokers:
        sample = broker_sample(broker.address)
        facts[f"log of {broker.name}"] = sample["commitLogMaxPosition"]
        facts[f"topics of {broker.name}"] = sorted(topic["name"] for topic in sample["topics"])
        facts[f"groups of {broker.name}"] = sorted(broker_groups(broker.address))
        facts[f"folders of {broker.name}"] = folders(broker.store_path)
    return facts


def folders(store: Path) -> list[str]:
    return sorted(str(path.relative_to(store)) for path in store.rglob("*") if path.is_dir())


def settled(observe: Callable[[], Facts]) -> Facts:
    """Observe until two looks agree, since what earlier tests began may still be on its way."""
    seen = [observe()]

    def is_settled() -> bool:
        seen.append(observe())
        return seen[-1] == seen[-2]

    wait_until(is_settled, timeout_s=PATIENCE_S, what=lambda: "a quiet cluster", interval_s=0.1)
    return seen[-1]
