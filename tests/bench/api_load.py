"""A cluster at the size of goal G10, for the pages to be asked of.

200 broker groups of a master and a replica, 10 000 topics with 80 000 queues register with the
control plane as brokers do. One real agent answers for all of them: it listens on every address of
the loopback network, and each broker has one of its own. So the agent's own state (25 consumer
groups) is told by 200 brokers, and what they are asked at once costs one process.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import ROOT, START_TIMEOUT_S, ControlPlane, Peer, frame
from tests.integration.broker.properties import broker_properties
from tests.ports import free_port
from workers.broker.properties import format_properties_text

CLUSTER = "bench"
GROUP_COUNT = 200
TOPICS_PER_GROUP = 50
QUEUE_COUNT = 8
CONSUMER_GROUPS_PER_BROKER = 25
REPLICA_IDS = (1, 2)
TIMEOUT_MS = 3_600_000


@contextmanager
def answering_agent(directory: Path) -> Iterator[int]:
    """Run the agent that answers for every broker; give its port."""
    port = free_port()
    config = directory / "broker.conf"
    properties = broker_properties(
        directory, listenPort=str(port), bindAddress="0.0.0.0", namesrvAddr=""
    )
    config.write_text(format_properties_text(properties))
    log = directory / "agent.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.broker", "-c", str(config)],
            cwd=ROOT,
            env=dict(os.environ),
            stderr=output,
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    try:
        while "broker_started" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the agent did not start:\n{log.read_text()}")
            time.sleep(0.05)
        _fill(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=START_TIMEOUT_S)


def load_cluster(plane: ControlPlane, agent_port: int) -> None:
    """Register every broker with its topics, as id and as route."""
    peer = plane.connect()
    for number in range(GROUP_COUNT):
        for broker_id in REPLICA_IDS:
            for asked in _joining(number, broker_id, agent_port):
                _ask(peer, asked)
    peer.close()


def _fill(port: int) -> None:
    """Give the agent its consumer groups and a topic with messages."""
    peer = Peer(port)
    for number in range(CONSUMER_GROUPS_PER_BROKER):
        group = {"groupName": f"group-{number}", "consumeEnable": True, "retryQueueNums": 1}
        body = json.dumps(group).encode()
        _ask(peer, frame(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body))
    peer.close()


def _joining(number: int, broker_id: int, agent_port: int) -> list[bytes]:
    name, address = f"group-{number}", f"127.{broker_id}.{number}.1:{agent_port}"
    applied = {
        "clusterName": CLUSTER,
        "brokerName": name,
        "appliedBrokerId": str(broker_id),
        "registerCheckCode": f"{address};1",
    }
    own = {"clusterName": CLUSTER, "brokerName": name, "brokerId": str(broker_id)}
    registered = {
        "clusterName": CLUSTER,
        "brokerName": name,
        "brokerAddr": address,
        # To clients, the first of a controller's ids is a master.
        "brokerId": str(broker_id - 1),
        "haServerAddr": address,
        "heartbeatTimeoutMillis": str(TIMEOUT_MS),
    }
    heard = {
        **own,
        "brokerAddr": address,
        "epoch": "1",
        "maxOffset": "1048576",
        "confirmOffset": "1048576",
        "heartbeatTimeoutMills": str(TIMEOUT_MS),
        "electionPriority": "1",
    }
    known = {**own, "brokerControllerId": str(broker_id), "brokerAddress": address}
    return [
        frame(RequestCode.CONTROLLER_APPLY_BROKER_ID, applied),
        frame(RequestCode.CONTROLLER_REGISTER_BROKER, known),
        frame(RequestCode.REGISTER_BROKER, registered, _topics(number)),
        frame(RequestCode.BROKER_HEARTBEAT, heard),
        *([frame(RequestCode.CONTROLLER_ELECT_MASTER, own)] if broker_id == 1 else []),
    ]


def _topics(number: int) -> bytes:
    first = number * TOPICS_PER_GROUP
    names = [f"topic-{first + i}" for i in range(TOPICS_PER_GROUP)]
    table = {
        name: {
            "topicName": name,
            "readQueueNums": QUEUE_COUNT,
            "writeQueueNums": QUEUE_COUNT,
            "perm": 6,
        }
        for name in names
    }
    version = {"counter": 1, "stateVersion": 0, "timestamp": 1_000}
    wrapper = {"dataVersion": version, "topicConfigTable": table}
    return json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": wrapper}).encode()


def _ask(peer: Peer, asked: bytes) -> None:
    answer = peer.ask(asked)
    if answer.code:
        raise RuntimeError(f"answered with {answer.code}: {answer.remark}")
