"""How late messages for a time are, beside sends, and what a million waiting ones take.

The lateness of a message is the time between the one that its producer named and that of its
delivery, as the broker stored it. With slots of one second half a second of it is by design.
"""

import asyncio
import math
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.bench.clients.systems import OURS, STOCK, Setup, System, running
from tests.bench.failover.group import GroupError
from tests.bench.measure import Measure
from tests.bench.special.bulk import Bulk

SETUP = Setup("messages for a time")
DUE_COUNT = 100_000
DUE_S = 60
AHEAD_S = 60
"""Until the first message is due: all of them are sent before."""

SETTLING_S = 15
WINDOW = 128
BODY = b"x" * 128
BESIDE_BODY = b"x" * 1024
BESIDE_PAUSE_S = 0.002
LATENESS_S_MAX = 1.1
WAITING_COUNT = 1_000_000
WAITING_TOPIC = "Waiting"
WARMING_COUNT = 100_000
MIB = 1 << 20
GROWTH_MIB_MAX = 16.0
"""What the allocator of a process may take by itself."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """How late the messages of a system came, and how long sends took meanwhile; in seconds."""

    sending_s: float
    late_s: list[float]
    repeated_count: int
    beside_s: list[float]

    @property
    def facts(self) -> dict[str, object]:
        return {
            "sends/s of them": round(DUE_COUNT / self.sending_s),
            "p50": f"{share_of(self.late_s, 0.5):.3f} s",
            "p99": f"{share_of(self.late_s, 0.99):.3f} s",
            "max": f"{max(self.late_s):.3f} s",
            "early": sum(late < 0 for late in self.late_s),
            "lost": DUE_COUNT - len(self.late_s),
            "delivered again": self.repeated_count,
            "sends/s beside": round(len(self.beside_s) / DUE_S),
            "p99 of sends": f"{share_of(self.beside_s, 0.99) * 1000:.1f} ms",
        }


def share_of(values: list[float], share: float) -> float:
    """Give the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def measure_timers() -> Iterator[Measure]:
    """Measure how late both systems are, one after the other in one run, and then our memory."""
    yield asyncio.run(_measure_lateness())
    yield asyncio.run(_measure_memory())


async def _measure_lateness() -> Measure:
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        async with running(SETUP, Path(directory), before=None) as systems:
            found = {one.label: await _deliver(one) for one in systems}
    return Measure(
        "W16",
        f"{DUE_COUNT} messages due within {DUE_S} s: p99 of lateness",
        share_of(found[OURS].late_s, 0.99),
        " s",
        ceiling=LATENESS_S_MAX,
        facts=found[OURS].facts
        | {f"stock: {name}": fact for name, fact in found[STOCK].facts.items()},
    )


async def _measure_memory() -> Measure:
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        async with running(SETUP, Path(directory), before=None) as systems:
            ours = next(one for one in systems if one.label == OURS)
            await ours.create_topic(WAITING_TOPIC)
            return await asyncio.to_thread(_fill, ours)


async def _deliver(system: System) -> Delivered:
    topic, beside_topic = "Due", "Beside"
    await system.create_topic(topic)
    await system.create_topic(beside_topic)
    first_ms = time.time_ns() // 1_000_000 + AHEAD_S * 1000
    begun = time.monotonic()
    await asyncio.to_thread(_send_due, system.address, topic, first_ms)
    sending_s = time.monotonic() - begun
    left_s = first_ms / 1000 - time.time()
    if left_s < 0:
        raise GroupError(f"{system.label} took {AHEAD_S - left_s:.0f} s for {DUE_COUNT} messages")
    await asyncio.sleep(left_s)
    beside_s = await asyncio.to_thread(_send_beside, system.address, beside_topic)
    await asyncio.sleep(SETTLING_S)
    late_s, repeated_count = await asyncio.to_thread(_read_late, system.address, topic)
    return Delivered(sending_s, late_s, repeated_count, beside_s)


def _send_due(address: str, topic: str, first_ms: int) -> None:
    chance = random.Random(1)
    times = (first_ms + chance.randrange(DUE_S * 1000) for _ in range(DUE_COUNT))
    properties = (
        {"TIMER_DELIVER_MS": str(due_ms), "UNIQ_KEY": f"D{index:031}"}
        for index, due_ms in enumerate(times)
    )
    with Bulk(address) as bulk:
        for _ in bulk.send(topic, properties, BODY, window=WINDOW):
            pass


def _send_beside(address: str, topic: str) -> list[float]:
    """Send one message after another with a short pause between, and time each."""
    ends_at, taken_s = time.monotonic() + DUE_S, []
    with Bulk(address) as bulk:
        while time.monotonic() < ends_at:
            begun = time.perf_counter()
            next(bulk.send(topic, [{"KEYS": "k"}], BESIDE_BODY, window=1))
            taken_s.append(time.perf_counter() - begun)
            time.sleep(BESIDE_PAUSE_S)
    return taken_s


def _read_late(address: str, topic: str) -> tuple[list[float], int]:
    """Return how late each message came at first, and how many came again."""
    late_s: dict[str, float] = {}
    count = 0
    with Bulk(address) as bulk:
        for queue_id in range(8):
            for one in bulk.read(topic, queue_id):
                count += 1
                late_ms = one.store_timestamp_ms - int(one.properties["TIMER_DELIVER_MS"])
                key = one.properties["UNIQ_KEY"]
                late_s[key] = min(late_ms / 1000, late_s.get(key, math.inf))
    return list(late_s.values()), count - len(late_s)


def _fill(system: System) -> Measure:
    """Let a million messages wait, and measure the private memory of the process then."""
    topic = WAITING_TOPIC
    with Bulk(system.address) as bulk:
        plain = ({"KEYS": "k"} for _ in range(WARMING_COUNT))
        for _ in bulk.send(topic, plain, BODY, window=WINDOW):
            pass
        before = _own_bytes(system)
        begun = time.monotonic()
        for _ in bulk.send(topic, _far_away(), BODY, window=WINDOW):
            pass
        took_s = time.monotonic() - begun
        while True:
            (told,) = bulk.ask(RequestCode.GET_TIMERS, [{}])
            timers = java_json.loads(told.body)
            if timers["waitingCount"] == WAITING_COUNT:
                break
            time.sleep(1)
        asked = time.perf_counter()
        bulk.ask(RequestCode.GET_TIMERS, [{}])
        asked_s = time.perf_counter() - asked
    growth = (_own_bytes(system) - before) / MIB
    return Measure(
        "W16",
        f"memory beyond maps for {WAITING_COUNT} waiting messages",
        growth,
        " MiB",
        ceiling=GROWTH_MIB_MAX,
        facts={
            "before": f"{before / MIB:.0f} MiB",
            "sends/s": round(WAITING_COUNT / took_s),
            "counting them": f"{asked_s * 1000:.0f} ms",
        },
    )


def _far_away() -> Iterator[dict[str, str]]:
    chance, now_ms = random.Random(2), time.time_ns() // 1_000_000
    for _ in range(WAITING_COUNT):
        yield {"TIMER_DELIVER_MS": str(now_ms + chance.randrange(3_600_000, 40 * 3_600_000))}


def _own_bytes(system: System) -> int:
    """Give the memory of a process that is of no file."""
    rollup = Path(f"/proc/{system.broker.pid}/smaps_rollup").read_text()
    line = next(line for line in rollup.splitlines() if line.startswith("Anonymous:"))
    return int(line.split()[1]) * 1024
