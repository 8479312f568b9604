"""A cluster at the size of goal G10, which answers the questions of all pages.

200 broker groups of a master and a replica, 10 000 topics with 80 000 queues register with the
control plane as brokers do. One process answers as all of them, each by its own address of the
loopback network (`many_brokers.py`): 5 000 consumer groups with a member each and a lag, 25 on
every broker. Messages, and answers that are the same at every broker, come from a real agent.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from regent_engine import encode_properties

from backend.java_properties import format_properties_text
from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import ROOT, START_TIMEOUT_S, ControlPlane, Peer, frame
from tests.bench.many_brokers import (
    BROKER_COUNT,
    QUEUE_COUNT,
    REPLICA_IDS,
    TOPICS_PER_BROKER,
)
from tests.integration.broker.client import send_fields
from tests.integration.broker.properties import broker_properties
from tests.ports import free_port

CLUSTER = "bench"
TOPIC, KEY = "topic-7117", "a-key"
MESSAGE_COUNT = 100
MADE_QUEUE_COUNT = 4
"""So many queues a topic has that was made by its first message."""
TIMEOUT_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Answering:
    """Hold the port that all brokers listen on, and the id of a message that they hold."""

    port: int
    message_id: str


@contextmanager
def answering_brokers(directory: Path) -> Iterator[Answering]:
    """Run what answers as every broker, and the agent behind it."""
    port = free_port()
    # Messages name the place where the broker that holds their topic is asked for them.
    home = f"127.{REPLICA_IDS[0]}.{int(TOPIC.removeprefix('topic-')) // TOPICS_PER_BROKER}.1"
    with _running_agent(directory, port, home) as agent:
        message_id = _fill(agent)
        command = [sys.executable, "-m", "tests.bench.many_brokers", str(port), str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            if process.stdout.readline() != b"listening\n":
                raise RuntimeError("the brokers do not listen")
            yield Answering(port, message_id)
        finally:
            process.terminate()
            process.wait(timeout=START_TIMEOUT_S)


@contextmanager
def _running_agent(directory: Path, port: int, home: str) -> Iterator[int]:
    config = directory / "broker.conf"
    properties = broker_properties(
        directory,
        listenPort=str(port),
        bindAddress="127.0.0.1",
        brokerIP1=home,
        namesrvAddr="",
        autoCreateTopicEnable="true",
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
        yield port
    finally:
        process.terminate()
        process.wait(timeout=START_TIMEOUT_S)


@contextmanager
def loaded_cluster(plane: ControlPlane, port: int) -> Iterator[None]:
    """Register every broker with its topics, as id and as route; they stay as long as it lasts."""
    peer = plane.connect()
    for number in range(BROKER_COUNT):
        for broker_id in REPLICA_IDS:
            for asked in _joining(number, broker_id, port):
                _ask(peer, asked)
    try:
        yield
    finally:
        # Whose connection closes is away at once.
        peer.close()


def _fill(port: int) -> str:
    """Send messages to the agent; give the id of one."""
    peer = Peer(port)
    message_id = ""
    for number in range(MESSAGE_COUNT):
        text = encode_properties({"KEYS": KEY, "UNIQ_KEY": f"U-{number}"}).decode()
        fields = send_fields(TOPIC, queue_id=number % MADE_QUEUE_COUNT, properties=text)
        asked = frame(
            RequestCode.SEND_MESSAGE_V2, {name: str(one) for name, one in fields.items()}, b"{}"
        )
        message_id = peer.ask(asked).ext["msgId"]
    peer.close()
    return message_id


def _joining(number: int, broker_id: int, port: int) -> list[bytes]:
    name, address = f"group-{number}", f"127.{broker_id}.{number}.1:{port}"
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
    first = number * TOPICS_PER_BROKER
    names = [f"topic-{first + i}" for i in range(TOPICS_PER_BROKER)]
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
