"""R11: elections that a control plane answers, over the commits that its Postgres makes.

Each election is a request 1002 by which an operator has the other of two replicas elected, so that
none is refused: a compare-and-set of the group, its history and its notice, committed and synced
before the answer. The brokers hear of each by a push (1008), as in a cluster.
"""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from selectors import EVENT_READ, DefaultSelector

from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import (
    ControlPlane,
    Peer,
    ask_in_turn,
    frame,
    raw_commits,
    running_control_plane,
)
from tests.bench.measure import BLOCK_COUNT, Measure, median, spread

CONNECTION_COUNTS = (1, 4, 16)
FLOORS = {1: 0.20, 16: 0.06}
REPLICA_IDS = (1, 2)
BLOCK_S = 1.0
RAW_BLOCK_S = 1
BLOCK_REPEATS_MAX = 3
RAW_DIFFERENCE_MAX = 0.20
"""A block whose two denominators differ by more is void, and repeated so often (targets.md 1.3)."""

CLUSTER = "bench"
TIMEOUT_MS = 60_000
BEAT_INTERVAL_S = 1.0


@dataclass(frozen=True, slots=True)
class Block:
    """Elections between two measurements of raw commits, each a second."""

    connection_count: int
    before: float
    elections: float
    after: float
    cpu_us: float

    @property
    def ratio(self) -> float:
        return 2 * self.elections / (self.before + self.after)

    @property
    def is_void(self) -> bool:
        least, most = sorted((self.before, self.after))
        return not least or most - least > RAW_DIFFERENCE_MAX * most


class Operator:
    """Has the two replicas of groups elected in turn, over one connection for each group."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.peers = [plane.connect() for _ in range(max(CONNECTION_COUNTS))]
        self._frames = [
            [frame(RequestCode.CONTROLLER_ELECT_MASTER, _wish(number, i)) for i in REPLICA_IDS]
            for number in range(len(self.peers))
        ]
        self._turns = [0] * len(self.peers)

    def next_frame(self, number: int) -> bytes:
        """Ask for the replica of a group that is not its master now."""
        self._turns[number] ^= 1
        return self._frames[number][self._turns[number]]

    def measure_block(self, connection_count: int) -> Block:
        before = raw_commits(self.plane, connection_count, RAW_BLOCK_S)
        cpu_s = self.plane.cpu_s()
        rate = ask_in_turn(self.peers[:connection_count], self.next_frame, BLOCK_S)
        cpu_us = (self.plane.cpu_s() - cpu_s) / (rate * BLOCK_S) * 1e6
        after = raw_commits(self.plane, connection_count, RAW_BLOCK_S)
        return Block(connection_count, before, rate, after, cpu_us)

    def close(self) -> None:
        for peer in self.peers:
            peer.close()


def measure_elections() -> list[Measure]:
    """Interleave blocks of elections and of raw commits at each count of connections."""
    with (
        # What an operator wants is done although the other replica has left the set meanwhile.
        running_control_plane(REGENT_UNCLEAN_ELECTION_ALLOWED="true") as plane,
        playing_brokers(plane.port, max(CONNECTION_COUNTS)),
    ):
        operator = Operator(plane)
        for count in CONNECTION_COUNTS:
            ask_in_turn(operator.peers[:count], operator.next_frame, BLOCK_S)
        blocks = measure_blocks(operator)
        operator.close()
    return [_measure(count, blocks) for count in CONNECTION_COUNTS]


def measure_blocks(operator: Operator) -> list[Block]:
    """Measure all counts in turn until each has enough valid blocks, or too many were void."""
    blocks: list[Block] = []
    for _ in range(BLOCK_COUNT * (1 + BLOCK_REPEATS_MAX)):
        wanting = [c for c in CONNECTION_COUNTS if len(_valid(c, blocks)) < BLOCK_COUNT]
        if not wanting:
            break
        blocks += [operator.measure_block(count) for count in wanting]
    return blocks


def _valid(connection_count: int, blocks: list[Block]) -> list[Block]:
    return [b for b in blocks if b.connection_count == connection_count and not b.is_void]


def _measure(connection_count: int, blocks: list[Block]) -> Measure:
    of_count = [block for block in blocks if block.connection_count == connection_count]
    valid = _valid(connection_count, blocks)
    if len(valid) < BLOCK_COUNT:
        raise RuntimeError(
            f"only {len(valid)} of {len(of_count)} blocks had commits that held still;"
            " let the machine come to rest and measure again"
        )
    ratios = [block.ratio for block in valid]
    return Measure(
        "R11",
        f"elections over {connection_count} connections / raw commits",
        median(ratios),
        floor=FLOORS.get(connection_count),
        facts={
            "blocks": spread(ratios),
            "void": len(of_count) - len(valid),
            "elections/s": round(median([block.elections for block in valid])),
            "commits/s": round(median([(b.before + b.after) / 2 for b in valid])),
            "CPU of the process": f"{median([block.cpu_us for block in valid]):.0f} us",
        },
        blocks=[asdict(block) for block in of_count],
    )


def group_name(number: int) -> str:
    return f"group-{number}"


def _wish(number: int, broker_id: int) -> dict[str, str]:
    return {
        "clusterName": CLUSTER,
        "brokerName": group_name(number),
        "brokerId": str(broker_id),
        "designateElect": "true",
    }


@contextmanager
def playing_brokers(port: int, group_count: int) -> Iterator[None]:
    """Play the brokers of groups in a process of their own: they apply, show life, and are told."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_play_brokers, args=(port, group_count, theirs))
    process.start()
    theirs.close()
    try:
        # Says when all are known; an end of file is a failure that its process has printed.
        ours.recv()
        yield
    finally:
        ours.close()
        process.join()


def _play_brokers(port: int, group_count: int, until: Connection) -> None:
    brokers = [
        _join(port, number, broker_id) for number in range(group_count) for broker_id in REPLICA_IDS
    ]
    until.send("known")
    selector = DefaultSelector()
    selector.register(until.fileno(), EVENT_READ)
    for peer, _ in brokers:
        selector.register(peer.socket, EVENT_READ, peer)
    beaten_at_s = time.monotonic()
    with suppress(EOFError, OSError):
        while True:
            for key, _ in selector.select(BEAT_INTERVAL_S):
                if key.data is None:
                    until.recv()
                else:
                    key.data.receive()
            if time.monotonic() - beaten_at_s > BEAT_INTERVAL_S:
                beaten_at_s = time.monotonic()
                for peer, beat in brokers:
                    peer.send(beat)


def _join(port: int, number: int, broker_id: int) -> tuple[Peer, bytes]:
    peer = Peer(port)
    address = f"10.0.{number}.{broker_id}:10911"
    names = {"clusterName": CLUSTER, "brokerName": group_name(number)}
    applied = names | {"appliedBrokerId": str(broker_id), "registerCheckCode": f"{address};1"}
    # Without an epoch nothing waits for a lease, which an election would have to await.
    beaten = names | {
        "brokerAddr": address,
        "brokerId": str(broker_id),
        "heartbeatTimeoutMills": str(TIMEOUT_MS),
    }
    beat = frame(RequestCode.BROKER_HEARTBEAT, beaten)
    for asked in (frame(RequestCode.CONTROLLER_APPLY_BROKER_ID, applied), beat):
        answer = peer.ask(asked)
        if answer.code:
            raise RuntimeError(f"answered with {answer.code}: {answer.remark}")
    return peer, beat


if __name__ == "__main__":
    for line in measure_elections():
        sys.stdout.write(f"{line.line()}\n")
