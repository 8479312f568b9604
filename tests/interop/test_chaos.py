"""Brokers killed in the middle of sends keep every message they have acknowledged."""

import itertools
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.interop.client import VERSIONS, RunningScenario, StockClient
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

THREADS = 64
KILLS = 10
ACKNOWLEDGED_BEFORE_A_KILL = 200
"""So many sends a broker must have acknowledged since its start before it is killed again."""
RETURN_TIMEOUT_S = 60.0


def test_every_acknowledged_message_is_read_back_after_ten_kills(
    cluster: Cluster,
    stock_clients: dict[str, StockClient],
    tmp_path: Path,
):
    # Not through the recorder: its connections would hide the moment a broker's die.
    home = stock_clients[VERSIONS[0]].home
    client = StockClient(VERSIONS[0], cluster.name_server_address, home)
    journal = tmp_path / "acknowledged.tsv"
    names = [broker.name for broker in cluster.brokers]

    with client.start("chaos-send", topic="chaos", threads=THREADS, journal=journal) as sending:
        for name in itertools.islice(itertools.cycle(names), KILLS):
            await_acknowledgements(sending, name)
            kill(cluster, name)
        for name in names:
            await_acknowledgements(sending, name)
        sending.tell("stop")
        sent = sending.result()
    for name in names:
        cluster.await_broker(name)
    read = client.run("read-back", topic="chaos", group="chaos-group", journal=journal)

    assert read["acknowledged"] == sum(sent["acknowledged"].values())
    assert read["stored"] >= read["acknowledged"]
    assert sent["failed"] > 0, "no kill hit a send, so nothing was shown"


def kill(cluster: Cluster, name: str) -> None:
    killed = cluster.broker(name).pid
    assert killed is not None, f"{name} is not running"
    os.kill(killed, signal.SIGKILL)
    # Its successor, and not yet the killed one, must take the sends that are waited for next.
    cluster.await_broker(name, other_than=killed)


def await_acknowledgements(sending: RunningScenario, name: str) -> None:
    def count(event: dict[str, Any]) -> int:
        return event.get("acknowledged", {}).get(name, 0)

    start = count(sending.wait_for(lambda event: event["event"] == "progress", timeout_s=20))
    sending.wait_for(
        lambda event: count(event) >= start + ACKNOWLEDGED_BEFORE_A_KILL,
        timeout_s=RETURN_TIMEOUT_S,
    )
