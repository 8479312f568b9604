"""R11: elections that a control plane answers, over the commits that its Postgres makes.

Each election is one that a master asks for which stops (904 with no time to be waited for): the
other of two replicas that are in sync is elected. That is a compare-and-set of the group, with its
history, its event and the lease of the new master, committed and synced before the answer; the new
master hears of it by a push (1008). Between two elections of a group the former master comes back
(904) and is taken into the set again (1001), as with agents; that is not counted. An operator's
election (1002) waits for brokers and is entered into the audit besides, so it says little of this.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import (
    ControlPlane,
    Peer,
    ask_in_turn,
    frame,
    raw_commits,
    running_control_plane,
)
from tests.bench.measure import BLOCK_COUNT, Measure, UnsteadyError, median, spread

CONNECTION_COUNTS = (1, 4, 16)
FLOORS = {1: 0.20, 16: 0.06}
TARGETS = {1: 0.35, 16: 0.12}
GROUP_COUNT = 64
REPLICA_IDS = (1, 2)
RETURNS_AT_ONCE = 16
BLOCK_S = 1.0
RAW_BLOCK_S = 1
BLOCK_REPEATS_MAX = 3
RAW_DIFFERENCE_MAX = 0.20
"""A block whose two denominators differ by more is void, and repeated so often (targets.md 1.3)."""

CLUSTER = "bench"
TIMEOUT_MS = 60_000


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


class Group:
    """Two replicas and what is known of them: each election raises each epoch by one (D4)."""

    def __init__(self, number: int) -> None:
        self._names = {"clusterName": CLUSTER, "brokerName": f"group-{number}"}
        self._master_id, self._other_id = REPLICA_IDS
        self.epoch = self._set_epoch = 0

    def found(self, peer: Peer) -> None:
        """Have both replicas known, and the first one elected."""
        for broker_id in REPLICA_IDS:
            applied = {
                "appliedBrokerId": str(broker_id),
                "registerCheckCode": f"{_address(broker_id)};1",
            }
            peer.ask(frame(RequestCode.CONTROLLER_APPLY_BROKER_ID, self._names | applied))
            peer.ask(self._heartbeat(broker_id, TIMEOUT_MS))
        asked = self._names | {"brokerId": str(self._master_id)}
        peer.ask(frame(RequestCode.CONTROLLER_ELECT_MASTER, asked))
        self.epoch = self._set_epoch = 1
        peer.ask(self.completion())

    def goodbye(self) -> bytes:
        """Have the present master leave, and note who follows."""
        leave = self._heartbeat(self._master_id, 0)
        self._master_id, self._other_id = self._other_id, self._master_id
        self.epoch, self._set_epoch = self.epoch + 1, self._set_epoch + 1
        return leave

    def homecoming(self) -> bytes:
        """Have the former master heard again."""
        return self._heartbeat(self._other_id, TIMEOUT_MS)

    def completion(self) -> bytes:
        """Have the master ask for a set of both; refused unless it is what is noted here."""
        fields = {"masterBrokerId": str(self._master_id), "masterEpoch": str(self.epoch)}
        wanted = {"syncStateSet": REPLICA_IDS, "syncStateSetEpoch": self._set_epoch}
        self._set_epoch += 1
        code = RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET
        return frame(code, self._names | fields, json.dumps(wanted).encode())

    def _heartbeat(self, broker_id: int, timeout_ms: int) -> bytes:
        signs = {
            "brokerAddr": _address(broker_id),
            "brokerId": str(broker_id),
            "epoch": str(self.epoch),
            "maxOffset": "0",
            "confirmOffset": "0",
            "heartbeatTimeoutMills": str(timeout_ms),
        }
        return frame(RequestCode.BROKER_HEARTBEAT, self._names | signs)


class Brokers:
    """All replicas of all groups, which speak over some connections."""

    def __init__(self, plane: ControlPlane, *, group_count: int = GROUP_COUNT) -> None:
        self.plane = plane
        self.groups = [Group(number) for number in range(group_count)]
        self._peers = [plane.connect() for _ in range(max(CONNECTION_COUNTS))]
        for group in self.groups:
            group.found(self._peers[0])

    def measure_block(self, connection_count: int, *, seconds: float = BLOCK_S) -> Block:
        """Elect for so long, between two measurements of raw commits; all sets are whole before."""
        before = raw_commits(self.plane, connection_count, RAW_BLOCK_S)
        count, elapsed_s, cpu_s = 0, 0.0, 0.0
        while elapsed_s < seconds:
            cpu_before_s = self.plane.cpu_s()
            elapsed_s += self.replace_masters(connection_count)
            cpu_s += self.plane.cpu_s() - cpu_before_s
            count += len(self.groups)
            self.complete_sets(connection_count)
        after = raw_commits(self.plane, connection_count, RAW_BLOCK_S)
        return Block(connection_count, before, count / elapsed_s, after, cpu_s / count * 1e6)

    def replace_masters(self, connection_count: int) -> float:
        """Have each group's master leave; return how many seconds that took."""
        return self._ask_each(connection_count, Group.goodbye, at_once=1)

    def complete_sets(self, connection_count: int) -> None:
        """Have both replicas of each group alive and in its set, over the same connections."""
        for step in (Group.homecoming, Group.completion):
            self._ask_each(connection_count, step, at_once=RETURNS_AT_ONCE)

    def _ask_each(
        self, connection_count: int, step: Callable[[Group], bytes], *, at_once: int
    ) -> float:
        # Encoded before, and taken note of: what was asked for must come true.
        questions = [
            iter([step(group) for group in self.groups[i::connection_count]])
            for i in range(connection_count)
        ]
        return ask_in_turn(self._peers[:connection_count], questions, at_once=at_once).elapsed_s

    def close(self) -> None:
        """Close the connections."""
        for peer in self._peers:
            peer.close()


def measure_elections() -> list[Measure]:
    """Interleave blocks of elections and of raw commits at each count of connections."""
    with running_control_plane() as plane:
        brokers = Brokers(plane)
        for count in CONNECTION_COUNTS:
            brokers.replace_masters(count)
            brokers.complete_sets(count)
        blocks = measure_blocks(brokers)
        brokers.close()
    return [_measure(count, blocks) for count in CONNECTION_COUNTS]


def measure_blocks(brokers: Brokers) -> list[Block]:
    """Measure all counts in turn until each has enough valid blocks, or too many were void."""
    blocks: list[Block] = []
    for _ in range(BLOCK_COUNT * (1 + BLOCK_REPEATS_MAX)):
        wanting = [c for c in CONNECTION_COUNTS if len(_valid(c, blocks)) < BLOCK_COUNT]
        if not wanting:
            break
        blocks += [brokers.measure_block(count) for count in wanting]
    return blocks


def _valid(connection_count: int, blocks: list[Block]) -> list[Block]:
    return [b for b in blocks if b.connection_count == connection_count and not b.is_void]


def _measure(connection_count: int, blocks: list[Block]) -> Measure:
    of_count = [block for block in blocks if block.connection_count == connection_count]
    valid = _valid(connection_count, blocks)
    if len(valid) < BLOCK_COUNT:
        raise UnsteadyError(len(valid), len(of_count), "commits")
    ratios = [block.ratio for block in valid]
    facts = {
        "blocks": spread(ratios),
        "void": len(of_count) - len(valid),
        "elections/s": round(median([block.elections for block in valid])),
        "commits/s": round(median([(b.before + b.after) / 2 for b in valid])),
        "CPU of the process": f"{median([block.cpu_us for block in valid]):.0f} us",
    }
    if connection_count in TARGETS:
        facts["target"] = TARGETS[connection_count]
    return Measure(
        "R11",
        f"elections over {connection_count} connections / raw commits",
        median(ratios),
        floor=FLOORS.get(connection_count),
        facts=facts,
        blocks=[asdict(block) for block in of_count],
    )


def _address(broker_id: int) -> str:
    return f"10.0.0.{broker_id}:10911"


if __name__ == "__main__":
    for line in measure_elections():
        sys.stdout.write(f"{line.line()}\n")
