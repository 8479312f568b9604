"""`cluster.json`: where the parts of a running local cluster are, for tools and tests."""

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.supervisor.layout import CLUSTER_NAME, ClusterLayout
from backend.supervisor.process import SupervisedProcess


def describe(
    layout: ClusterLayout,
    processes: Sequence[SupervisedProcess],
    *,
    started_at: datetime,
    postgres_pid: int | None,
) -> dict[str, Any]:
    """Return the content of `cluster.json`; it names the secret's file, never the secret."""
    pids = {process.spec.name: process.pid for process in processes}
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
                "group": broker.group_name,
                "address": broker.address,
                "pid": pids.get(broker.group_name),
                "config": str(broker.config_path),
                "store": str(broker.store_path),
            }
            for broker in layout.brokers
        ],
        "processes": [
            {
                "name": "postgres",
                "pid": postgres_pid,
                "log": str(layout.postgres_dir / "log"),
                "restarts": 0,
            },
            *(
                {
                    "name": process.spec.name,
                    "pid": process.pid,
                    "log": str(process.spec.log_path),
                    "restarts": process.restart_count,
                }
                for process in processes
            ),
        ],
    }


def write_atomically(path: Path, state: dict[str, Any]) -> None:
    """Replace the file at `path`, so that a reader sees the old or the new state, whole."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(state, indent=2) + "\n")
    temporary.replace(path)
