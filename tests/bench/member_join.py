"""Q42, Q56, Q70: what a group with 2 GiB and live traffic notices of a new member (O35).

One process sends, pulls and pops at fixed rates from beginning to end: an open loop, in which a
latency begins when a request was due. So every interval of the run has its own percentiles. Quiet
intervals and joins alternate, and a ratio compares a join with the quiet intervals around it: a
machine that is busy otherwise slows both.
"""

import asyncio
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.bench.clients.load import build, run_load
from tests.bench.failover.group import GROUP, TOPIC, Member
from tests.bench.failover.network import loopback
from tests.bench.failover.ours import OurGroup
from tests.bench.measure import Measure, UnsteadyError, median, spread
from tests.bench.replication import log_end
from tests.integration.broker.client import Client, pull_fields, send_fields
from tests.integration.broker.popping import handle_fields, pop_fields, popped

PORT: Final = 18_300
FILL_BYTES: Final = 2 << 30
FILL_BODY_SIZE: Final = 8 << 10
BODY: Final = b"." * 1024
ROUND_COUNT: Final = 5
QUIET_S: Final = 8.0
JOIN_TIMEOUT_S: Final = 300.0
POLL_S: Final = 0.05
HEARTBEAT_S: Final = 20.0
RATES: Final = {"sends": 300, "pulls": 100, "pops": 50}
"""Requests a second; each message that a POP returns is acknowledged as well."""

PULLED: Final = {
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
}
SAMPLES_MIN: Final = 100
"""An interval with fewer requests of a kind has no 99th percentile."""

RATIO_MAX: Final = 1.3
GROWTH_MAX_MIB: Final = 16.0


@dataclass
class Traffic:
    """Requests to one broker, and when each was due and answered."""

    port: int
    samples: dict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: {kind: [] for kind in RATES}
    )
    offset: int = 0
    refused_count: int = 0

    async def run(self) -> None:
        """Send, pull and pop until cancelled."""
        client = await Client.connect(self.port)
        ends = await client.call(RequestCode.GET_MAX_OFFSET, {"topic": TOPIC, "queueId": 0})
        self.offset = int(ends.ext["offset"])
        kinds: dict[str, Callable[[Client], Awaitable[None]]] = {
            "sends": self._send,
            "pulls": self._pull,
            "pops": self._pop,
        }
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_stay_known(client))
            for kind, ask in kinds.items():
                tasks.create_task(self._repeat(kind, ask, client))

    async def _repeat(
        self, kind: str, ask: Callable[[Client], Awaitable[None]], client: Client
    ) -> None:
        """Begin a request whenever one is due, whatever became of the others."""
        async with asyncio.TaskGroup() as tasks:
            due_at = time.perf_counter()
            while True:
                due_at += 1 / RATES[kind]
                await asyncio.sleep(max(0.0, due_at - time.perf_counter()))
                tasks.create_task(self._time(kind, ask, client, due_at))

    async def _time(
        self, kind: str, ask: Callable[[Client], Awaitable[None]], client: Client, due_at: float
    ) -> None:
        await ask(client)
        self.samples[kind].append((due_at, time.perf_counter() - due_at))

    async def _send(self, client: Client) -> None:
        answer = await client.call(RequestCode.SEND_MESSAGE_V2, send_fields(TOPIC), BODY)
        self.refused_count += answer.code != ResponseCode.SUCCESS

    async def _pull(self, client: Client) -> None:
        fields = pull_fields(TOPIC) | {"queueOffset": self.offset, "suspendTimeoutMillis": 0}
        answer = await client.call(RequestCode.PULL_MESSAGE, fields | {"sysFlag": 4})
        self.refused_count += answer.code not in PULLED
        self.offset = max(self.offset, int(answer.ext.get("nextBeginOffset", 0)))

    async def _pop(self, client: Client) -> None:
        # A group begins at the end of its queues.
        fields = pop_fields(TOPIC, "joiners", pollTime=0, initMode=1)
        answer = await client.call(RequestCode.POP_MESSAGE, fields)
        if answer.code != 0:
            return
        for message in popped(answer):
            handle = message.handle.replace("broker-t", GROUP)
            fields = handle_fields(message, "joiners", extraInfo=handle)
            answer = await client.call(RequestCode.ACK_MESSAGE, fields)
            self.refused_count += answer.code != ResponseCode.SUCCESS

    def p99_ms(self, kind: str, begin: float, end: float) -> float | None:
        """Give the 99th percentile of the requests that were due in an interval."""
        found = sorted(took for due_at, took in self.samples[kind] if begin <= due_at < end)
        if len(found) < SAMPLES_MIN:
            return None
        return found[int(0.99 * len(found))] * 1e3


async def _stay_known(client: Client) -> None:
    """Send heartbeats as a consumer: a broker closes the connection of a silent client."""
    while True:
        await client.heartbeat("joiners", TOPIC)
        await asyncio.sleep(HEARTBEAT_S)


@dataclass(frozen=True, slots=True)
class Join:
    """One join between two quiet intervals, which begin and end at times of one clock."""

    before: tuple[float, float]
    during: tuple[float, float]
    after: tuple[float, float]
    memory_mib: tuple[float, float]
    """Private memory of the updater before the join, and its highest during the join."""

    @property
    def seconds(self) -> float:
        return self.during[1] - self.during[0]


def measure_member_join() -> Iterator[Measure]:
    """Let new members join one after another."""
    build()
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        traffic, joins = uvloop.run(_measure(Path(directory) / "group"))
    yield from _report(traffic, joins)


async def _measure(directory: Path) -> tuple[Traffic, list[Join]]:
    group = OurGroup(directory, "127.0.0.1", loopback(2).places, PORT, policy="quorum")
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await group.start()
        master = await group.await_whole()
        await _fill(master)
        await group.await_whole()
        traffic = Traffic(master.port)
        running = asyncio.create_task(traffic.run())
        try:
            joins = [await _join(group, master, directory / f"new{n}") for n in range(ROUND_COUNT)]
            if running.done():
                running.result()
        finally:
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return traffic, joins
    finally:
        await group.stop()


async def _fill(master: Member) -> None:
    """Send until the log has its size."""
    client = await Client.connect(master.port)
    while (left := FILL_BYTES - await log_end(client)) > 0:
        await run_load(
            "send",
            master.address,
            TOPIC,
            in_flight=64,
            body_size=FILL_BODY_SIZE,
            count=max(1, left // FILL_BODY_SIZE),
            ended_within_s=JOIN_TIMEOUT_S,
        )
    await client.close()


async def _join(group: OurGroup, master: Member, home: Path) -> Join:
    """Start an empty member, wait until it is in the set, and take it away again."""
    before = await _quiet()
    memory_before = _private_mib(master)
    await asyncio.to_thread(home.mkdir)
    (place,) = loopback(1).places
    newcomer = Member(place, PORT + 190, home)
    group.members.append(newcomer)
    try:
        await group.launch(newcomer)
        begin, highest = time.perf_counter(), memory_before
        while (state := await group.state()) is None or len(state.members) < len(group.members):
            highest = max(highest, _private_mib(master))
            if time.perf_counter() - begin > JOIN_TIMEOUT_S:
                raise TimeoutError(f"the new member did not join: {home / 'agent.log'}")
            await asyncio.sleep(POLL_S)
        during = begin, time.perf_counter()
    finally:
        group.members.remove(newcomer)
        await newcomer.end(with_signal=signal.SIGKILL)
    await asyncio.to_thread(shutil.rmtree, home / "store")
    await group.await_whole()
    return Join(before, during, await _quiet(), (memory_before, highest))


async def _quiet() -> tuple[float, float]:
    begin = time.perf_counter()
    await asyncio.sleep(QUIET_S)
    return begin, time.perf_counter()


def _private_mib(member: Member) -> float:
    """Give the memory of a broker that no file backs: the log is mapped, and in the page cache."""
    assert member.process is not None
    lines = Path(f"/proc/{member.process.pid}/status").read_text().splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith("RssAnon:"))
    return int(value) / 1024


def _report(traffic: Traffic, joins: list[Join]) -> Iterator[Measure]:
    for kind in RATES:
        yield _latency(traffic, joins, kind)
    growth = [join.memory_mib[1] - join.memory_mib[0] for join in joins]
    yield Measure(
        "Q70",
        "growth of the updater's private memory during a join",
        max(growth),
        " MiB",
        ceiling=GROWTH_MAX_MIB,
        facts={"joins": spread(growth), "before MiB": round(joins[0].memory_mib[0])},
    )
    seconds = [join.seconds for join in joins]
    yield Measure(
        "Q42",
        "a join of an empty member to 2 GiB, until it is in sync",
        median(seconds),
        " s",
        facts={
            "joins": spread(seconds),
            "MiB/s": round(FILL_BYTES / (1 << 20) / median(seconds)),
            "requests refused": traffic.refused_count,
        },
    )


def _latency(traffic: Traffic, joins: list[Join], kind: str) -> Measure:
    blocks: list[dict[str, Any]] = []
    for join in joins:
        found = [
            traffic.p99_ms(kind, *interval) for interval in (join.before, join.during, join.after)
        ]
        p99s = [one for one in found if one is not None]
        if len(p99s) == len(found):
            before, during, after = p99s
            ratio = 2 * during / (before + after)
            blocks.append({"ratio": ratio, "before": before, "during": during, "after": after})
    if not blocks:
        raise UnsteadyError(0, len(joins), "a join that was long enough")
    ratios = [block["ratio"] for block in blocks]
    quiet = [(block["before"] + block["after"]) / 2 for block in blocks]
    return Measure(
        "Q56",
        f"p99 of {kind} during a join / without",
        median(ratios),
        ceiling=RATIO_MAX,
        facts={
            "joins": spread(ratios),
            "during ms": round(median([block["during"] for block in blocks]), 2),
            "quiet ms": round(median(quiet), 2),
        },
        blocks=blocks,
    )
