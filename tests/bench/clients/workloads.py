"""What a row does to one system for some seconds, and what it notes."""

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.bench.clients.cold_work import COLD_MS, ColdRequests, beside
from tests.bench.clients.java_producer import JavaProducer
from tests.bench.clients.load import LoadError, Result, run_load
from tests.bench.clients.systems import System

WARM_UP_S = 0.5
"""Time of each load that is not measured: connections open, and the processor reaches its speed."""

ECHO_CODE = 310
"""An echo answers a send with the send."""

FILL_COUNT = 200_000
POP_FILL_S = 5.0
"""Time of sends before POPs. A turn of POPs takes less of what a system stores in this time."""

HOT_RATE = 5_000
"""Sends a second beside cold work, as in targets.md 3.3."""

WAKE_RATE = 2_000
HELD_PULLS = 10_000
ROUND_S = 0.5
"""About what one round takes: to hold 10 000 pulls, to wait, and to wake them."""

Sample = dict[str, Any]


class Workload(ABC):
    """One load, which every system gets in turn."""

    @abstractmethod
    async def prepare(self, system: System) -> None:
        """Do what is done once before all blocks."""

    @abstractmethod
    async def take(self, system: System, seconds: float) -> Sample:
        """Load a system, and give the figures of a block."""


@dataclass(frozen=True, slots=True)
class Sends(Workload):
    """Sends in a closed loop."""

    connections: int
    in_flight: int
    body_size: int

    @property
    def topic(self) -> str:
        return f"Sent{self.body_size}"

    @property
    def _options(self) -> dict[str, float]:
        return {
            "connections": self.connections,
            "in_flight": self.in_flight,
            "body_size": self.body_size,
            "warm_up": WARM_UP_S,
        }

    async def prepare(self, system: System) -> None:
        await system.create_topic(self.topic)

    async def take(self, system: System, seconds: float) -> Sample:
        before_s = system.cpu_s()
        result = await run_load(
            "send", system.address, self.topic, seconds=seconds, **self._options
        )
        cpu_s = system.cpu_s() - before_s
        if not result["acknowledged"]:
            raise LoadError(f"{system.label} acknowledged nothing: {result.get('refusal')}")
        return {
            "per_second": result["per_second"],
            "cpu_us": cpu_s * 1e6 / result["acknowledged"],
            "refused": sum(result["refused"].values()),
            **_percentiles(result),
        }

    async def echoes(self, address: str, seconds: float) -> float:
        """Send the same frames to an echo, and give the answers a second."""
        result = await run_load(
            "send", address, self.topic, seconds=seconds, answer_code=ECHO_CODE, **self._options
        )
        rate: float = result["per_second"]
        return rate


@dataclass(frozen=True, slots=True)
class Pulls(Workload):
    """Pulls of 32 messages, one in flight for each of eight queues, over and over."""

    body_size: int

    @property
    def topic(self) -> str:
        return f"Pulled{self.body_size}"

    async def prepare(self, system: System) -> None:
        await system.create_topic(self.topic)
        await run_load(
            "send", system.address, self.topic,
            count=FILL_COUNT, in_flight=64, body_size=self.body_size,
        )  # fmt: skip

    async def take(self, system: System, seconds: float) -> Sample:
        before_s = system.cpu_s()
        result = await run_load(
            "pull", system.address, self.topic, seconds=seconds, warm_up=WARM_UP_S
        )
        cpu_s = system.cpu_s() - before_s
        return {
            "per_second": result["per_second"],
            "cpu_us": cpu_s * 1e6 / max(1, result["messages"]),
            **_percentiles(result),
        }


@dataclass(frozen=True, slots=True)
class Pops(Workload):
    """POPs of 32 messages by eight consumers, which acknowledge each message."""

    body_size: int
    groups: Iterator[int] = field(default_factory=itertools.count)
    """Numbers of consumer groups: each turn has a new one, which begins at the first message."""

    stored: dict[str, int] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        return f"Popped{self.body_size}"

    async def prepare(self, system: System) -> None:
        await system.create_topic(self.topic)
        result = await run_load(
            "send", system.address, self.topic,
            seconds=POP_FILL_S, in_flight=64, body_size=self.body_size,
        )  # fmt: skip
        self.stored[system.label] = result["acknowledged"]

    async def take(self, system: System, seconds: float) -> Sample:
        before_s = system.cpu_s()
        result = await run_load(
            "pop", system.address, self.topic, seconds=seconds, warm_up=WARM_UP_S,
            group=f"popping{next(self.groups)}", broker=system.label,
        )  # fmt: skip
        cpu_s = system.cpu_s() - before_s
        if result["messages"] >= self.stored[system.label]:
            raise LoadError(f"{system.label} has no more than {result['messages']} messages")
        return {
            "per_second": result["per_second"],
            "cpu_us": cpu_s * 1e6 / max(1, result["messages"]),
            "empty": result["empty_answers"],
            **_percentiles(result),
        }


@dataclass(frozen=True, slots=True)
class JavaSends(Workload):
    """Threads of one unmodified Java producer that each send and wait."""

    threads: int
    body_size: int
    producers: dict[str, JavaProducer] = field(default_factory=dict)

    async def prepare(self, system: System) -> None:
        # Both brokers may have one name server: a common topic would spread over both.
        topic = f"Java-{system.label}"
        await system.create_topic(topic)
        self.producers[system.label] = await system.stack.enter_async_context(
            JavaProducer.running(system.name_server, topic, self.threads, self.body_size)
        )

    async def take(self, system: System, seconds: float) -> Sample:
        before_s = system.cpu_s()
        sent = await self.producers[system.label].send(seconds)
        cpu_s = system.cpu_s() - before_s
        if not sent.acknowledged:
            raise LoadError(f"{system.label} acknowledged nothing of the Java producer")
        return {
            "per_second": sent.acknowledged / sent.seconds,
            "cpu_us": cpu_s * 1e6 / sent.acknowledged,
            "refused": sent.refused,
        }


@dataclass(frozen=True, slots=True)
class SendsBesideColdWork(Workload):
    """Sends at a rate, with cold work inside the broker and then as much in another process."""

    requests: dict[str, ColdRequests] = field(default_factory=dict)

    async def prepare(self, system: System) -> None:
        await system.create_topic("Hot")
        self.requests[system.label] = await ColdRequests.prepare(system)

    async def take(self, system: System, seconds: float) -> Sample:
        requests = self.requests[system.label]
        async with beside(COLD_MS):
            outside = await self._sends(system, seconds)
        async with requests.repeated(system):
            inside = await self._sends(system, seconds)
        return {
            "ratio": inside["p99_us"] / outside["p99_us"],
            "inside_p99_us": inside["p99_us"],
            "outside_p99_us": outside["p99_us"],
            "requests": requests.count,
        }

    async def _sends(self, system: System, seconds: float) -> Sample:
        return _percentiles(
            await run_load(
                "send", system.address, "Hot",
                rate=HOT_RATE, seconds=seconds, body_size=1024, warm_up=WARM_UP_S,
            )
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wakes(Workload):
    """Messages that wake 10 000 held pulls, and other sends meanwhile and before."""

    async def prepare(self, system: System) -> None:
        for topic in ("Held", "Meanwhile"):
            await system.create_topic(topic)

    async def take(self, system: System, seconds: float) -> Sample:
        alone = await self._sends(system, seconds)
        rounds = max(2, round((seconds + WARM_UP_S) / ROUND_S))
        meanwhile, woken = await asyncio.gather(
            self._sends(system, seconds),
            run_load("wake", system.address, "Held", pulls=HELD_PULLS, rounds=rounds),
        )
        rounds_us = sorted(woken["rounds_us"])
        return {
            "wake_us": rounds_us[len(rounds_us) // 2] / HELD_PULLS,
            "ratio": meanwhile["p99_us"] / alone["p99_us"],
            "alone_p99_us": alone["p99_us"],
            "meanwhile_p99_us": meanwhile["p99_us"],
        }

    async def _sends(self, system: System, seconds: float) -> Sample:
        return _percentiles(
            await run_load(
                "send", system.address, "Meanwhile",
                rate=WAKE_RATE, seconds=seconds, warm_up=WARM_UP_S,
            )
        )  # fmt: skip


def _percentiles(result: Result) -> Sample:
    return {f"{name}_us": value for name, value in result["latency_us"].items()}
