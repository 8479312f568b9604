"""Stock clients send to a static topic and consume from it while its queues move."""

# ruff: noqa: T201 - the gaps are for the reader of the run

import asyncio
import os
import signal

import pytest

from tests.interop import go_client
from tests.interop.client import RunningScenario, StockClient
from tests.interop.go_client import GoClient
from tests.interop.java import VERSIONS, build
from tests.interop.queue_moves import (
    SENT_BETWEEN,
    Client,
    move_under_load,
    order,
    show_to_old_clients,
)
from tests.long_form import RUNS_ALL_CASES, few
from tests.system.cluster import Cluster, cluster

__all__ = ["cluster"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

QUEUE_COUNT = 100 if RUNS_ALL_CASES else 16
RATE = 2_000 if RUNS_ALL_CASES else 320
MOVES = ("broker-b", "broker-a", "broker-b") if RUNS_ALL_CASES else ("broker-b",)
KINDS = ("orderly", "concurrent", "litepull")
UNWRITABLE_MS_MAX = 2_000
"""R15: its floor, for 95 of 100 queues."""

ROUTE_POLL_MS = 30_000
"""Stock's own `pollNameServerInterval`."""

OLD_QUEUE_COUNT = 100 if RUNS_ALL_CASES else 16
OLD_RATE = 1_000 if RUNS_ALL_CASES else 200
OLD_VERSIONS = [version for version in VERSIONS if version.startswith("4")]
NEW_VERSIONS = [version for version in VERSIONS if version.startswith("5")]


@pytest.mark.parametrize("version", few(reversed(NEW_VERSIONS), 1))
async def test_queues_move_and_no_client_of_version_5_notices(cluster: Cluster, tmp_path, version):
    """L15, L20, L21, L22, L29, L59: all clients but one producer look at the route as usual.

    No consumer gets other queues than at its start.
    """
    await asyncio.to_thread(build)
    topic = f"moving-{version.replace('.', '-')}"
    create = (order, cluster, "create", topic, "--queues", str(QUEUE_COUNT))
    await asyncio.to_thread(*create, "--broker-group", "broker-a")
    client = StockClient(version, cluster.name_server_address, tmp_path)

    seen = await asyncio.to_thread(
        move_under_load,
        cluster,
        client,
        topic,
        destinations=MOVES,
        rate=RATE,
        consumers=KINDS,
        route_poll_ms=ROUTE_POLL_MS,
    )

    print(f"\n{seen.text}")
    assert seen.faults() == []
    assert seen.result["queues"] == QUEUE_COUNT
    assert seen.result["allocated"] == dict.fromkeys(KINDS, 1)
    assert seen.gap_ms(0.95) <= UNWRITABLE_MS_MAX, sorted(seen.gaps_ms)[-10:]


@pytest.mark.parametrize("name", few(["go", *OLD_VERSIONS], 1))
async def test_queues_move_and_no_old_client_notices(cluster: Cluster, tmp_path, name):
    """L58: clients that know no static topics send to one broker group, which forwards."""
    topic, kinds = f"old-{name.replace('.', '-')}", KINDS
    client: Client
    if name == "go":
        await asyncio.to_thread(go_client.build)
        client, kinds = GoClient(cluster.name_server_address), KINDS[:2]
    else:
        await asyncio.to_thread(build)
        client = StockClient(name, cluster.name_server_address, tmp_path)
    create = (order, cluster, "create", topic, "--queues", str(OLD_QUEUE_COUNT))
    await asyncio.to_thread(*create, "--broker-group", "broker-a")
    await show_to_old_clients(cluster, topic)

    seen = await asyncio.to_thread(
        move_under_load,
        cluster,
        client,
        topic,
        destinations=MOVES,
        rate=OLD_RATE,
        consumers=kinds,
        queues=OLD_QUEUE_COUNT,
    )

    print(f"\n{name}: {seen.text}")
    assert seen.faults() == []
    assert seen.result["queues"] == OLD_QUEUE_COUNT


def test_a_retry_stays_in_the_queue_that_a_selector_chose(cluster: Cluster, tmp_path):
    """L28: the leader of half of the queues is killed, and later all queues move."""
    build()
    topic, version = "selected", NEW_VERSIONS[0]
    order(cluster, "create", topic, "--queues", "8")
    client = StockClient(version, cluster.name_server_address, tmp_path)

    with client.start("selector", topic=topic, send_timeout_ms=3_000) as sending:
        await_more(sending)
        broker = cluster.await_broker("broker-a")
        os.kill(broker.pid, signal.SIGKILL)
        sending.wait_for(lambda event: event.get("retried", 0) > 0, timeout_s=60)
        cluster.await_broker("broker-a", other_than=broker.pid)
        await_more(sending)
        order(cluster, "move", topic, "--to", "broker-b")
        await_more(sending)
        sending.write_line("stop")
        result = sending.result()

    assert result["retried"] > 0
    assert result["elsewhere"] == []


def await_more(sending: RunningScenario) -> None:
    """Wait until more messages are acknowledged."""
    due = sending.event_count + 2
    seen = sending.wait_for(lambda _: sending.event_count >= due, timeout_s=60)["acknowledged"]
    sending.wait_for(lambda event: event["acknowledged"] >= seen + SENT_BETWEEN, timeout_s=120)
