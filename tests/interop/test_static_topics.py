"""Stock clients send to a static topic and consume from it while its queues move."""

# ruff: noqa: T201 - the gaps are for the reader of the run

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
from tests.interop.recorder import recording
from tests.long_form import RUNS_ALL_CASES, few
from tests.system.cluster import BrokerProcess, Cluster, cluster

__all__ = ["cluster"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

QUEUE_COUNT = int(os.environ.get("REGENT_MOVING_QUEUES", "16"))
RATE = 20 * QUEUE_COUNT
OLD_RATE = 10 * QUEUE_COUNT
"""One broker group takes all messages of clients before version 5, and forwards them."""

AUTO_COMMIT_S = 5
"""The default of lite pull consumers. They read again from there when another group serves them."""

CONSUMED_AT_ONCE = 20
"""Stock's own `consumeThreadMin`: these messages come again when another group serves them.

An orderly consumer of stock stores its offset before the last message of a lost queue is done.
"""

MOVES = ("broker-b", "broker-a", "broker-b") if RUNS_ALL_CASES else ("broker-b",)
KINDS = ("orderly", "concurrent", "litepull")
UNWRITABLE_MS_MAX = 2_000
"""R15: its floor, for 95 of 100 queues."""

ROUTE_POLL_MS = 30_000
"""Stock's own `pollNameServerInterval`."""

IN_FLIGHT = 32
"""So many sends of the scenario of selectors wait for their answers at most."""

OLD_VERSIONS = [version for version in VERSIONS if version.startswith("4")]
NEW_VERSIONS = [version for version in VERSIONS if version.startswith("5")]


@pytest.mark.parametrize("version", few(reversed(NEW_VERSIONS), 1))
async def test_queues_move_and_no_client_of_version_5_notices(cluster: Cluster, tmp_path, version):
    """L20, L21, L22, L29, L59: stock follows no hint, so a former leader here passes requests on.

    All clients but one producer request the route as usual. L15: no consumer gets other queues than
    at its start.
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
    create = (order, cluster, "create", topic, "--queues", str(QUEUE_COUNT))
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
        queues=QUEUE_COUNT,
    )

    print(f"\n{name}: {seen.text}")
    fronts = max(seen.result.get("allocated", {}).values(), default=1 + len(MOVES)) - 1
    may_repeat = {
        "orderly": CONSUMED_AT_ONCE * fronts,
        "concurrent": CONSUMED_AT_ONCE * fronts,
        "litepull": AUTO_COMMIT_S * OLD_RATE * fronts,
    }
    assert seen.faults(may_repeat=may_repeat) == []
    assert seen.result["queues"] == QUEUE_COUNT


def test_a_retry_stays_in_the_queue_that_a_selector_chose(cluster: Cluster, tmp_path):
    """L28: connections to the leader of half of the queues break, and later all queues move."""
    build()
    topic = "selected"
    order(cluster, "create", topic, "--queues", "8")
    broker, addresses = cluster.broker("broker-a"), {b.name: b.address for b in cluster.brokers}

    with recording(tmp_path, cluster.name_server_address, addresses) as recorder:
        client = StockClient(NEW_VERSIONS[0], recorder.name_server_address, tmp_path)
        with client.start("selector", topic=topic, send_timeout_ms=15_000) as sending:
            await_more(sending)
            with stopped(broker):
                sending.wait_for(lambda event: event["in_flight"] == IN_FLIGHT, timeout_s=60)
                recorder.cut(broker.name)
            sending.wait_for(lambda event: event["retried"] > 0, timeout_s=60)
            await_more(sending)
            order(cluster, "move", topic, "--to", "broker-b")
            await_more(sending)
            sending.write_line("stop")
            result = sending.result()

    assert result["refused"] == 0
    assert result["elsewhere"] == []


@contextmanager
def stopped(broker: BrokerProcess) -> Iterator[None]:
    """Have a broker answer nothing, and do its connections no harm."""
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(broker.pid, signal.SIGCONT)


def await_more(sending: RunningScenario) -> None:
    """Wait until more messages are acknowledged."""
    due = sending.event_count + 2
    seen = sending.wait_for(lambda _: sending.event_count >= due, timeout_s=60)["acknowledged"]
    sending.wait_for(lambda event: event["acknowledged"] >= seen + SENT_BETWEEN, timeout_s=120)
