"""Stock clients send to a static topic and consume from it while its queues move."""

import asyncio
import json
import subprocess

import pytest

from tests.interop.client import StockClient
from tests.interop.java import VERSIONS, build
from tests.long_form import few
from tests.system.cluster import REGENT, Cluster, cluster

__all__ = ["cluster"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

TOPIC = "moving"
QUEUE_COUNT = 8
SENT_BETWEEN = 400
"""So many messages are acknowledged before each move and after the last."""

ROUTE_POLL_MS = 30_000
"""Stock's own `pollNameServerInterval`: the test ends before a second look at the route."""

WAITED_MS = 2_500
"""The time that a former leader has a send wait."""

NEW_VERSIONS = [version for version in VERSIONS if version.startswith("5")]


def regent(cluster: Cluster, *words: str) -> dict:
    ended = subprocess.run(
        [str(REGENT), *words, "--data", str(cluster.data_dir), "-o", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(ended.stdout)


async def await_sends(sending, count):
    event = await asyncio.to_thread(
        sending.wait_for, lambda event: event.get("acknowledged", 0) >= count, timeout_s=120
    )
    return event["acknowledged"]


def order(cluster: Cluster, command: str, *words: str) -> dict:
    confirmed = ("--yes", "--reason", "test")
    return regent(cluster, "topic", "static", command, TOPIC, *words, *confirmed)


@pytest.mark.parametrize("version", few(reversed(NEW_VERSIONS), 1))
async def test_stock_clients_lose_and_reorder_nothing_while_queues_move(
    cluster: Cluster, tmp_path, version
):
    """L20, L22, L59: stock follows no hint, so a former leader here passes on what it gets."""
    await asyncio.to_thread(build)
    await asyncio.to_thread(order, cluster, "create", "--queues", str(QUEUE_COUNT))
    client = StockClient(version, cluster.name_server_address, tmp_path)

    options = {"topic": TOPIC, "group": "moved", "route_poll_ms": ROUTE_POLL_MS}

    with client.start("static-moves", **options) as sending:
        seen = await await_sends(sending, SENT_BETWEEN)
        for destination in ("broker-a", "broker-b", "broker-a"):
            moved = await asyncio.to_thread(order, cluster, "move", "--to", destination)
            assert moved["state"] == "done", moved
            seen = await await_sends(sending, seen + SENT_BETWEEN)
        sending.write_line("stop")
        result = await asyncio.to_thread(sending.result)

    assert result["queues"] == QUEUE_COUNT
    assert result["faults"] == []
    # On a busy machine a queue may be sealed for longer than a client waits.
    assert result["refused"] == {} or result["longest_gap_ms"] > WAITED_MS
    assert result["acknowledged"] >= seen
