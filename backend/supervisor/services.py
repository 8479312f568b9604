"""Regent's own processes in a local cluster: their commands, settings and signs of life."""

import asyncio
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from regent_engine import Decoder, encode_command

from backend.remoting.request_code import RequestCode
from backend.supervisor.layout import (
    CLUSTER_NAME,
    LOOPBACK,
    BrokerLayout,
    ClusterLayout,
)
from backend.supervisor.process import ProcessSpec

SEGMENT_BYTES = 128 << 20
"""Commit-log segments of a local cluster: an eighth of stock's, since they are preallocated."""
DISK_USED_RATIO_MAX = 95
"""A developer's disk is often fuller than a broker's; stock refuses writes from 75 %."""
CONSOLE_DIR = Path(__file__).resolve().parents[2] / "frontend" / "dist"


def environment(layout: ClusterLayout, *, database_url: str, redis_url: str) -> dict[str, str]:
    """Return the settings that all of the cluster's processes share."""
    return {
        "PYTHONUNBUFFERED": "1",
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
    return _python(layout, "control-plane", settings, "backend.server")


def worker_process(layout: ClusterLayout, settings: Mapping[str, str]) -> ProcessSpec:
    """Describe the worker."""
    return _python(
        layout,
        "worker",
        settings,
        *("celery", "-A", "workers.celery_app", "worker"),
        *("--concurrency", "2", "--loglevel", "info"),
        # Alone here: no second to spend on asking other workers what they know.
        *("--without-mingle", "--without-gossip"),
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
    broker: BrokerLayout,
    settings: Mapping[str, str],
) -> ProcessSpec:
    """Describe one broker agent."""
    name = broker.group_name
    return _python(layout, name, settings, "workers.broker", "-c", str(broker.config_path))


def write_broker_config(layout: ClusterLayout, broker: BrokerLayout) -> None:
    """Write the broker's settings, unless the user has a file there already to keep."""
    if broker.config_path.exists():
        _update_addresses(layout, broker)
        return
    broker.config_path.write_text(
        "# Written by `regent up`; further RocketMQ broker properties may be added.\n"
        f"brokerClusterName={CLUSTER_NAME}\n"
        f"brokerName={broker.group_name}\n"
        "brokerId=0\n"
        f"brokerIP1={LOOPBACK}\n"
        f"listenPort={broker.port}\n"
        f"namesrvAddr={layout.name_server_address}\n"
        f"storePathRootDir={broker.store_path}\n"
        f"mappedFileSizeCommitLog={SEGMENT_BYTES}\n"
        f"diskMaxUsedSpaceRatio={DISK_USED_RATIO_MAX}\n",
    )


def _update_addresses(layout: ClusterLayout, broker: BrokerLayout) -> None:
    """Carry the ports and directory of this start into a file from an earlier one."""
    ours = {
        "listenPort": str(broker.port),
        "namesrvAddr": layout.name_server_address,
        "storePathRootDir": str(broker.store_path),
    }
    lines = broker.config_path.read_text().splitlines()
    updated = [
        f"{key}={ours[key]}" if (key := line.partition("=")[0].strip()) in ours else line
        for line in lines
    ]
    if updated != lines:
        broker.config_path.write_text("\n".join(updated) + "\n")


async def is_http_ready(layout: ClusterLayout) -> bool:
    """Tell whether the control plane says that it can serve."""
    return await asyncio.to_thread(_get, f"{layout.http_url}/readyz") is not None


async def registered_groups(layout: ClusterLayout) -> set[str]:
    """Return the broker groups that the name server knows (remoting.md 2.7, request 106)."""
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(LOOPBACK, layout.remoting_port)
            try:
                writer.write(encode_command(code=RequestCode.GET_BROKER_CLUSTER_INFO, opaque=1))
                decoder = Decoder()
                while chunk := await reader.read(1 << 16):
                    for answer in decoder.receive(chunk):
                        return set(json.loads(answer.body or b"{}").get("brokerAddrTable", ()))
            finally:
                writer.close()
    except (TimeoutError, OSError, ValueError):
        pass
    return set()


def _get(url: str) -> str | None:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - our own address
            return str(response.read().decode())
    except (urllib.error.URLError, OSError, ValueError):
        return None


def _python(
    layout: ClusterLayout,
    name: str,
    settings: Mapping[str, str],
    module: str,
    *arguments: str,
) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=(sys.executable, "-m", module, *arguments),
        log_path=layout.log_dir / f"{name}.log",
        environment=settings,
    )


async def is_worker_ready(redis_url: str) -> bool:
    """Tell whether a worker answers on the task queue."""
    return await asyncio.to_thread(_ping_worker, redis_url)


def _ping_worker(redis_url: str) -> bool:
    from celery import Celery  # noqa: PLC0415 - half a second that only a start pays

    app = Celery(broker=redis_url.replace("unix://", "redis+socket://"))
    try:
        return bool(app.control.ping(timeout=1.0, limit=1))
    except OSError:
        return False
