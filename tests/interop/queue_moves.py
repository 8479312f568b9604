"""Move the logical queues of a static topic between broker groups while clients use them."""

import json
import math
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Protocol

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.logical_queues import GetStaticTopic, StoreMapping
from backend.domain.logical_queue.route import LegacyMode
from backend.rules.attributes import LEGACY_CLIENTS
from tests.interop.client import RunningScenario
from tests.system.cluster import REGENT, Cluster

SENT_BETWEEN: Final = 400
"""So many messages are acknowledged before each move and after the last."""

WAITED_MS: Final = 2_500
"""The time that a former leader has a send wait."""

ORDER_TIMEOUT_S, SENT_TIMEOUT_S, RESULT_TIMEOUT_S = 300, 120, 180


class Client(Protocol):
    """A client with the scenario of moves."""

    def start(
        self, scenario: str, /, **options: Any
    ) -> AbstractContextManager[RunningScenario]: ...


@dataclass(frozen=True, slots=True)
class MovesSeen:
    """What the clients saw of the moves, and how long each order took.

    `gaps_ms` has for each queue the longest time between two acknowledged messages since right
    before the first order: the time in which it took no messages, and up to one interval more.
    """

    result: dict[str, Any]
    gaps_ms: tuple[float, ...]
    order_s: tuple[float, ...]
    acknowledged_meanwhile: int
    meanwhile_s: float

    def gap_ms(self, share: float) -> float:
        """Return the gap that a share of the queues does not exceed."""
        return sorted(self.gaps_ms)[math.ceil(share * len(self.gaps_ms)) - 1]

    @property
    def per_second(self) -> float:
        """Return the rate of acknowledged messages during the orders."""
        return self.acknowledged_meanwhile / self.meanwhile_s

    @property
    def text(self) -> str:
        """Describe the gaps and the orders in one line."""
        gaps = ", ".join(f"{self.gap_ms(share):.0f}" for share in (0.5, 0.95, 1))
        orders = ", ".join(f"{one:.1f} s" for one in self.order_s)
        rate = f"{self.per_second:.0f} messages a second"
        return f"gaps {gaps} ms (p50, p95, max); orders {orders}; {rate}"

    def faults(self, *, may_repeat: Mapping[str, int] = MappingProxyType({})) -> list[str]:
        """Name everything that a user must not see.

        `may_repeat` has how many messages a kind of consumer may receive again.
        """
        result = self.result
        found: list[str] = list(result["faults"])
        # On a busy machine a queue may be sealed for longer than a client waits.
        if result["refused"] and self.gap_ms(1) < WAITED_MS:
            found.append(f"refused: {result['refused']}")
        if not result["refused"] and any(result["displaced"].values()):
            found.append(f"offsets are not contiguous: {result['displaced']}")
        for kind, count in result["repeated"].items():
            if count > may_repeat.get(kind, 0):
                found.append(f"delivered again: {count} messages to {kind}")
        return found


def regent(cluster: Cluster, *words: str) -> dict[str, Any]:
    """Run a command against a cluster, and read its JSON."""
    ended = subprocess.run(
        [str(REGENT), *words, "--data", str(cluster.data_dir), "-o", "json"],
        capture_output=True,
        text=True,
        timeout=ORDER_TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def order(cluster: Cluster, command: str, topic: str, *words: str) -> dict[str, Any]:
    """Order a change of a static topic, and wait for its end."""
    done = regent(cluster, "topic", "static", command, topic, *words, "--yes", "--reason", "test")
    assert done["state"] == "done", done
    return done


async def show_to_old_clients(cluster: Cluster, topic: str) -> None:
    """Have clients before version 5 see all queues of a topic on one broker group (L58)."""
    remoting = RemotingClient()
    brokers = Brokers(remoting)
    for broker in cluster.brokers:
        held = await brokers.ask(broker.address, GetStaticTopic(topic))
        assert held is not None
        assert held.mapping is not None
        shown = {**held.layout.attributes, LEGACY_CLIENTS: LegacyMode.PROXY}
        layout = replace(held.layout, attributes=shown)
        request = StoreMapping(layout=layout, mapping=held.mapping, is_final=True)
        await brokers.ask(broker.address, request)
    await remoting.aclose()


def move_under_load(
    cluster: Cluster,
    client: Client,
    topic: str,
    *,
    destinations: Sequence[str],
    rate: int,
    consumers: Iterable[str],
    **options: Any,
) -> MovesSeen:
    """Move all queues of a topic to each broker group in turn, and return what clients saw."""
    options |= {"topic": topic, "group": topic, "rate": rate, "consumer": list(consumers)}
    order_s = []
    with client.start("static-moves", **options) as running:
        _await_sends(running, SENT_BETWEEN)
        running.write_line("measure")
        first, begun_s = _acknowledged(running), time.monotonic()
        for destination in destinations:
            ordered_s = time.monotonic()
            order(cluster, "move", topic, "--to", destination)
            order_s.append(time.monotonic() - ordered_s)
            last, ended_s = _acknowledged(running), time.monotonic()
            _await_sends(running, last + SENT_BETWEEN)
        running.write_line("stop")
        result = running.result(RESULT_TIMEOUT_S)
    return MovesSeen(
        result, tuple(result["gaps_ms"]), tuple(order_s), last - first, ended_s - begun_s
    )


def _await_sends(running: RunningScenario, count: int) -> None:
    running.wait_for(lambda event: event.get("acknowledged", 0) >= count, timeout_s=SENT_TIMEOUT_S)


def _acknowledged(running: RunningScenario) -> int:
    """Return the number of acknowledged messages in the next report."""
    due = running.event_count + 2
    event = running.wait_for(lambda _: running.event_count >= due, timeout_s=SENT_TIMEOUT_S)
    count: int = event["acknowledged"]
    return count
