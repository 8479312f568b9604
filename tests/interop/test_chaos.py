"""Brokers killed in the middle of sends keep every message they have acknowledged.

`make soak SOAK=kills` kills 20 times.
"""

import itertools
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.interop.client import RunningScenario, StockClient
from tests.interop.java import VERSIONS
from tests.system.cluster import BrokerProcess, Cluster

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

THREADS = 64
KILLS = int(os.environ.get("REGENT_BROKER_KILLS", "4"))
ACKNOWLEDGED_BEFORE_A_KILL = 200
"""So many sends a broker must have acknowledged since its start before it is killed again."""
RETURN_TIMEOUT_S = 60.0


def test_every_acknowledged_message_is_read_back_after_kills_of_both_brokers(
    cluster: Cluster,
    stock_clients: dict[str, StockClient],
    tmp_path: Path,
):
    # Not through the recorder: its connections would hide the moment a broker's die.
    home = stock_clients[VERSIONS[0]].home
    client = StockClient(VERSIONS[0], cluster.name_server_address, home)
    journal = tmp_path / "acknowledged.tsv"
    names = [broker.name for broker in cluster.brokers]

    options = {"topic": "chaos", "threads": THREADS, "journal": journal, "send_timeout_ms": 3_000}
    with client.start("chaos-send", **options) as sending:
        seen = dict.fromkeys(names, 0)
        for name in itertools.islice(itertools.cycle(names), KILLS):
            # One broker comes back while the other takes the sends and is killed in its turn.
            broker = cluster.await_broker(name)
            await_acknowledgements(sending, name, seen[name] + ACKNOWLEDGED_BEFORE_A_KILL)
            seen[name] = kill(broker, sending)
        for name in names:
            await_acknowledgements(sending, name, seen[name] + ACKNOWLEDGED_BEFORE_A_KILL)
        sending.write_line("stop")
        sent = sending.result()
    read = client.run("read-back", topic="chaos", group="chaos-group", journal=journal)

    assert read["acknowledged"] == sum(sent["acknowledged"].values())
    assert read["stored"] >= read["acknowledged"]
    assert sent["failed"] > 0, "no kill hit a send, so nothing was shown"


def kill(broker: BrokerProcess, sending: RunningScenario) -> int:
    """Kill a broker and return how many sends it had acknowledged."""
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGKILL)
    # The next event may have been on its way already; the one after it is from after the kill.
    due = sending.event_count + 2
    after = sending.wait_for(lambda _event: sending.event_count >= due, timeout_s=20)
    return acknowledged(after, broker.name)


def await_acknowledgements(sending: RunningScenario, name: str, count: int) -> None:
    sending.wait_for(
        lambda event: acknowledged(event, name) >= count,
        timeout_s=RETURN_TIMEOUT_S,
    )


def acknowledged(event: dict[str, Any], name: str) -> int:
    return event.get("acknowledged", {}).get(name, 0)
