"""R11b: how many heartbeats (904) and route reads (105) one control plane takes in a second.

Heartbeats are one-way, as stock's are, and come in packs. Each pack ends with a question, whose
answer shows that the control plane has read the pack. Meanwhile it writes the heartbeats to
Postgres and Redis in batches, as always. Heartbeats that ask for a lease wait for a commit. They
have a separate line.
"""

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.remoting.command import notice
from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import (
    ControlPlane,
    Peer,
    ask_in_turn,
    frame,
    running_control_plane,
)
from tests.bench.measure import BLOCK_COUNT, Measure, median, spread

GROUP_COUNT = 200
REPLICA_IDS = (1, 2)
TOPICS_PER_GROUP = 10
GROUPS_PER_TOPIC = 2
TOPIC_COUNT = GROUP_COUNT * TOPICS_PER_GROUP // GROUPS_PER_TOPIC
CONNECTION_COUNT = 40
PACK_SIZE = 50
BLOCK_S = 1.0
CLUSTER = "bench"
TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True)
class Load:
    """One kind of request, and how many requests a question counts for."""

    title: str
    floor: float | None
    target: float | None
    questions: Sequence[Iterator[bytes]]
    """What each connection asks, without end."""

    weight: int = 1


def measure_heartbeats(
    *, block_count: int = BLOCK_COUNT, block_s: float = BLOCK_S
) -> list[Measure]:
    """Interleave blocks of heartbeats, of leases and of route reads."""
    with running_control_plane() as plane:
        peers = [plane.connect() for _ in range(CONNECTION_COUNT)]
        brokers = [
            (number, broker_id) for number in range(GROUP_COUNT) for broker_id in REPLICA_IDS
        ]
        for i, (number, broker_id) in enumerate(brokers):
            _join(peers[i % CONNECTION_COUNT], number, broker_id)
        loads = _loads(brokers)
        for load in loads:
            ask_in_turn(peers, load.questions, seconds=block_s)
        blocks = [
            {load.title: _measure_block(plane, peers, load, block_s) for load in loads}
            for _ in range(block_count)
        ]
        for peer in peers:
            peer.close()
    return [_measure(load, [block[load.title] for block in blocks]) for load in loads]


def _loads(brokers: list[tuple[int, int]]) -> list[Load]:
    # Each connection speaks for other brokers, as they were joined.
    own = [brokers[i::CONNECTION_COUNT] for i in range(CONNECTION_COUNT)]
    asked = frame(RequestCode.CONTROLLER_GET_METADATA_INFO, {})
    packs = [
        b"".join(itertools.islice(itertools.cycle(map(_heartbeat, of_one)), PACK_SIZE)) + asked
        for of_one in own
    ]
    leases = [itertools.cycle([_lease(broker) for broker in of_one]) for of_one in own]
    topics = itertools.cycle(
        [
            frame(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": f"topic-{number}"})
            for number in range(TOPIC_COUNT)
        ]
    )
    return [
        Load("heartbeats a second", 5_000, 15_000, list(map(itertools.repeat, packs)), PACK_SIZE),
        Load("heartbeats a second that are given a lease", None, None, leases),
        Load("route reads a second", 5_000, 10_000, [topics] * CONNECTION_COUNT),
    ]


def _measure_block(
    plane: ControlPlane, peers: list[Peer], load: Load, seconds: float
) -> dict[str, float]:
    cpu_s = plane.cpu_s()
    asked = ask_in_turn(peers, load.questions, seconds=seconds)
    count = asked.count * load.weight
    return {
        "rate": asked.rate * load.weight,
        "cpu_us": (plane.cpu_s() - cpu_s) / count * 1e6,
    }


def _measure(load: Load, blocks: list[dict[str, float]]) -> Measure:
    rates = [block["rate"] for block in blocks]
    facts = {
        "blocks": spread(rates),
        "CPU of the process": f"{median([block['cpu_us'] for block in blocks]):.1f} us",
        "brokers": GROUP_COUNT * len(REPLICA_IDS),
        "connections": CONNECTION_COUNT,
    }
    if load.target is not None:
        facts["target"] = load.target
    return Measure(
        "R11b",
        load.title,
        median(rates),
        floor=load.floor,
        facts=facts,
        blocks=list(blocks),
    )


def _join(peer: Peer, number: int, broker_id: int) -> None:
    applied = {
        "clusterName": CLUSTER,
        "brokerName": f"group-{number}",
        "appliedBrokerId": str(broker_id),
        "registerCheckCode": f"{_address(number, broker_id)};1",
    }
    registered = {
        "clusterName": CLUSTER,
        "brokerName": f"group-{number}",
        "brokerAddr": _address(number, broker_id),
        # To clients, the first of a controller's ids is a master.
        "brokerId": str(broker_id - 1),
        "haServerAddr": f"10.0.{number}.{broker_id}:10912",
        "heartbeatTimeoutMillis": str(TIMEOUT_MS),
    }
    for asked in (
        frame(RequestCode.CONTROLLER_APPLY_BROKER_ID, applied),
        frame(RequestCode.REGISTER_BROKER, registered, _topics(number)),
    ):
        peer.ask(asked)


def _topics(group_number: int) -> bytes:
    first = group_number * TOPICS_PER_GROUP // GROUPS_PER_TOPIC
    names = [f"topic-{(first + i) % TOPIC_COUNT}" for i in range(TOPICS_PER_GROUP)]
    table = {
        name: {"topicName": name, "readQueueNums": 8, "writeQueueNums": 8, "perm": 6}
        for name in names
    }
    version = {"counter": 1, "stateVersion": 0, "timestamp": 1_000}
    wrapper = {"dataVersion": version, "topicConfigTable": table}
    return json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": wrapper}).encode()


def _address(number: int, broker_id: int) -> str:
    return f"10.0.{number}.{broker_id}:10911"


def _sign(broker: tuple[int, int]) -> dict[str, str]:
    number, broker_id = broker
    return {
        "clusterName": CLUSTER,
        "brokerName": f"group-{number}",
        "brokerAddr": _address(number, broker_id),
        "brokerId": str(broker_id),
        "epoch": "1",
        "maxOffset": "1048576",
        "confirmOffset": "1048576",
        "heartbeatTimeoutMills": str(TIMEOUT_MS),
        "electionPriority": "1",
    }


def _heartbeat(broker: tuple[int, int]) -> bytes:
    return notice(RequestCode.BROKER_HEARTBEAT, opaque=0, ext=_sign(broker))


def _lease(broker: tuple[int, int]) -> bytes:
    return frame(RequestCode.BROKER_HEARTBEAT, _sign(broker))


if __name__ == "__main__":
    for measured in measure_heartbeats():
        sys.stdout.write(f"{measured.line()}\n")
