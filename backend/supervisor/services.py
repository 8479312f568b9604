"""Regent's own processes in a local cluster: their commands and settings."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from backend.java_properties import parse_properties_text
from backend.supervisor import process_checks as signs
from backend.supervisor.layout import (
    CLUSTER_NAME,
    LOOPBACK,
    BrokerLayout,
    ClusterLayout,
    GroupLayout,
)
from backend.supervisor.process import ProcessSpec
from backend.supervisor.supervision import Condition

SEGMENT_BYTES = 128 << 20
"""Commit-log segments of a local cluster: an eighth of stock's size, since they are
preallocated."""
DISK_USED_RATIO_MAX = 95
"""A developer's disk is often fuller than a broker's; stock refuses writes above 75 %."""
CONSOLE_DIR = Path(__file__).resolve().parents[2] / "frontend" / "dist"


def environment(layout: ClusterLayout, *, database_url: str, redis_url: str) -> dict[str, str]:
    """Return the settings that all processes of the cluster share."""
    return {
        "PYTHONUNBUFFERED": "1",
        # No plugin changes our models; the search for plugins reads every installed package.
        "PYDANTIC_DISABLE_PLUGINS": "1",
        "REGENT_DATABASE_URL": database_url,
        "REGENT_REDIS_URL": redis_url,
        "REGENT_HTTP_HOST": LOOPBACK,
        "REGENT_HTTP_PORT": str(layout.http_port),
        "REGENT_REMOTING_HOST": LOOPBACK,
        "REGENT_REMOTING_PORT": str(layout.remoting_port),
        "REGENT_BOOTSTRAP_SECRET_FILE": str(layout.bootstrap_secret_path),
        "REGENT_CONSOLE_DIR": str(CONSOLE_DIR),
        "REGENT_HISTORY_DIR": str(layout.history_dir),
        "REGENT_REPORT_DIR": str(layout.report_dir),
    }


def server_process(layout: ClusterLayout, settings: Mapping[str, str]) -> ProcessSpec:
    """Describe the control plane."""
    is_ready = partial(signs.is_http_ready, layout)
    return _python(layout, "control-plane", settings, "backend.server", is_ready=is_ready)


def worker_process(layout: ClusterLayout, settings: Mapping[str, str]) -> ProcessSpec:
    """Describe the worker."""
    return _python(
        layout,
        "worker",
        settings,
        *("celery", "-A", "workers.celery_app", "worker"),
        *("--loglevel", "info"),
        # This is the only worker, so it need not wait for the answers of others.
        *("--without-mingle", "--without-gossip"),
        is_ready=partial(signs.is_worker_ready, settings["REGENT_REDIS_URL"]),
    )


def beat_process(layout: ClusterLayout, settings: Mapping[str, str]) -> ProcessSpec:
    """Describe the scheduler."""
    return _python(
        layout,
        "beat",
        settings,
        *("celery", "-A", "workers.celery_app", "beat", "--loglevel", "info"),
        *("--pidfile", ""),
    )


def broker_process(
    layout: ClusterLayout,
    group: GroupLayout,
    broker: BrokerLayout,
    settings: Mapping[str, str],
) -> ProcessSpec:
    """Describe one broker agent."""
    return _python(
        layout,
        broker.name,
        settings,
        *("workers.broker", "-c", str(broker.config_path)),
        is_ready=partial(signs.is_broker_ready, layout, group, broker),
    )


def write_broker_config(layout: ClusterLayout, group: GroupLayout, broker: BrokerLayout) -> None:
    """Write the broker's settings; an existing file keeps the user's settings."""
    ours = {
        "listenPort": str(broker.port),
        "namesrvAddr": layout.name_server_address,
        "storePathRootDir": str(broker.store_path),
    }
    if group.is_replicated:
        ours |= {
            "enableControllerMode": "true",
            "controllerAddr": layout.name_server_address,
            "brokerIP2": LOOPBACK,
            "haListenPort": str(broker.replication_port),
        }
    if broker.config_path.exists():
        if is_uncontrolled(broker):
            ours.pop("enableControllerMode", None)
        _update(broker.config_path, ours)
        return
    first = {
        "brokerClusterName": CLUSTER_NAME,
        "brokerName": group.name,
        "brokerId": "0",
        "brokerIP1": LOOPBACK,
        "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
        "diskMaxUsedSpaceRatio": str(DISK_USED_RATIO_MAX),
    }
    broker.config_path.write_text(
        "# Written by `regent up`; you can add RocketMQ broker properties.\n"
        + "".join(f"{name}={value}\n" for name, value in (first | ours).items()),
    )


def is_uncontrolled(broker: BrokerLayout) -> bool:
    """Return whether the settings of a broker say that it has no controller.

    So they do once its group was switched to acting-master mode. They say nothing at first.
    """
    if not broker.config_path.exists():
        return False
    given = parse_properties_text(broker.config_path.read_text())
    return given.get("enableControllerMode", "").strip().lower() == "false"


def _update(path: Path, ours: Mapping[str, str]) -> None:
    """Update this start's ports, directory and mode in an existing file."""
    lines = path.read_text().splitlines()
    given = [line.partition("=")[0].strip() for line in lines]
    updated = [
        f"{name}={ours[name]}" if name in ours else line
        for name, line in zip(given, lines, strict=True)
    ]
    updated += [f"{name}={value}" for name, value in ours.items() if name not in given]
    if updated != lines:
        path.write_text("\n".join(updated) + "\n")


def _python(
    layout: ClusterLayout,
    name: str,
    settings: Mapping[str, str],
    module: str,
    *arguments: str,
    is_ready: Condition | None = None,
) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=(sys.executable, "-m", module, *arguments),
        log_path=layout.log_dir / f"{name}.log",
        environment=settings,
        is_ready=is_ready,
    )
