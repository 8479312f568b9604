"""`cluster.json`: the addresses and process ids of a running local cluster, for tools and tests."""

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.supervisor.layout import CLUSTER_NAME, ClusterLayout
from backend.supervisor.supervision import Supervised


def describe(
    layout: ClusterLayout,
    parts: Sequence[Supervised],
    *,
    started_at: datetime,
) -> dict[str, Any]:
    """Return the content of `cluster.json`; it names the file of the secret, never the secret."""
    pids = {supervised.name: supervised.part.pid for supervised in parts}
    return {
        "cluster": CLUSTER_NAME,
        "data_dir": str(layout.data_dir),
        "started_at": started_at.isoformat(),
        "supervisor_pid": os.getpid(),
        "http": {"url": layout.http_url, "port": layout.http_port},
        "remoting": {"address": layout.name_server_address, "port": layout.remoting_port},
        "bootstrap_secret_file": str(layout.bootstrap_secret_path),
        "brokers": [
            {
                "name": broker.name,
                "group": broker.broker_group_name,
                "is_controlled": group.is_replicated,
                "address": broker.address,
                "fast_port": broker.fast_port,
                "replication_port": broker.replication_port if group.is_replicated else None,
                "pid": pids.get(broker.name),
                "config": str(broker.config_path),
                "store": str(broker.store_path),
            }
            for group in layout.groups
            for broker in group.brokers
        ],
        "processes": [
            {
                "name": supervised.name,
                "pid": supervised.part.pid,
                "log": str(supervised.part.log_path),
                "restarts": supervised.restart_count,
            }
            for supervised in parts
        ],
    }


def write_atomically(path: Path, state: dict[str, Any]) -> None:
    """Replace the file at `path` atomically."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(state, indent=2) + "\n")
    temporary.replace(path)
