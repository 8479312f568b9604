"""Load a broker group for an hour, and look for growth and for lost messages.

Usage: `python -m tests.chaos.endurance [--minutes N] [--leg S] [--share S]`; see docs/chaos.md.

The load generator of `tests/bench/load` sends at a share of the rate that the master reaches.
Topics are created and deleted. After each leg the master is killed under load. The messages of the
chaos workload are checked at the end; the generator reads back its own after each leg.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import asyncio
import itertools
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from backend.remoting.request_code import RequestCode
from tests.bench.clients.load import LoadError, build, run_load
from tests.chaos.__main__ import until_reported
from tests.chaos.cluster import AGENTS, CONTROLLER, Cluster, agent_name
from tests.chaos.endurance_checks import Footprint, check_growth, check_shown
from tests.chaos.journal import Journal
from tests.chaos.run import IN_SYNC, Outcome, Plan, Scene
from tests.chaos.workload import Address, Workload

RESULTS: Final = Path("build/endurance")
FILES: Final = {
    "mappedFileSizeCommitLog": str(64 << 20),
    "mappedFileSizeConsumeQueue": "6000000",
    "maxHashSlotNum": "5000000",
    "maxIndexNum": "20000000",
}
"""RocketMQ's defaults, but for the log: a broker keeps a handle for each file of its indexes."""

DISK_BYTES_MIN: Final = 40 << 30
BULK_TOPIC: Final = "bulk"
CONNECTIONS: Final = 64
MEASURE_S: Final = 10
KILLED_S: Final = 15
"""How long the generator sends when the master is killed; it ends with the connection."""

ENDING_S: Final = 300.0
"""How long the generator may take to read back the messages of a leg."""

CHURN_INTERVAL_S: Final = 1.0
CHURN_KEPT: Final = 20
"""The number of topics between the newest one and the one that is deleted."""

CHURN_QUEUES: Final = 4
SAMPLE_INTERVAL_S: Final = 5.0
DOWN_S: Final = 2.0


@dataclass
class Endurance(Scene):
    """A run in progress."""

    leg_s: float = 300.0
    share: float = 0.6
    rate: int = 0
    legs: list[dict[str, Any]] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)
    topic_count: int = 0

    async def load(self, until_s: float) -> None:
        """Send, create and delete topics, and kill a master after each leg, until a time."""
        async with asyncio.TaskGroup() as tasks:
            around = [tasks.create_task(self._churn()), tasks.create_task(self._sample())]
            await self._measure()
            while time.monotonic() < until_s:
                await self._send_a_leg()
                await self._kill_the_master()
            for task in around:
                task.cancel()

    async def _measure(self) -> None:
        """Find the rate of a closed loop of many clients, and take a share of it."""
        measured = await self._send(seconds=MEASURE_S, warm_up=MEASURE_S / 2)
        self.rate = int(measured["per_second"] * self.share)
        print(f"{measured['per_second']:.0f} sends/s are reached; {self.rate} are sent", flush=True)

    async def _send_a_leg(self) -> None:
        report = await self._send("--read-back", seconds=self.leg_s, rate=self.rate)
        self.legs.append(report)
        print(f"leg {len(self.legs)}: {json.dumps(report)}", flush=True)

    async def _kill_the_master(self) -> None:
        """Kill the master while it is loaded, and wait until all members are in sync again."""
        standing = await self.await_standing(IN_SYNC)
        assert standing.master is not None
        sending = asyncio.create_task(self._send(seconds=KILLED_S, rate=self.rate))
        await asyncio.sleep(KILLED_S / 3)
        self.cluster.agents[standing.master].kill()
        self.journal.note("killed", agent=standing.master)
        try:
            await sending
            raise AssertionError("the load generator did not notice the end of the master")
        except LoadError:
            pass
        await asyncio.sleep(DOWN_S)
        self.cluster.agents[standing.master].start()
        self.outcome.failovers["kill"] = self.outcome.failovers.get("kill", 0) + 1
        await self.await_whole()

    async def _send(self, *flags: str, **options: float) -> dict[str, Any]:
        """Have the generator send to the master."""
        standing = await self.await_standing(IN_SYNC)
        address = f"{self.cluster.hosts.real}:{self.cluster.ports[standing.master or 0]}"
        return await run_load(
            "send",
            address,
            BULK_TOPIC,
            *flags,
            ended_within_s=self.leg_s + ENDING_S,
            connections=CONNECTIONS,
            **options,
        )

    async def _churn(self) -> None:
        """Create topics, send to each queue, and delete the topics after a while."""
        for number in itertools.count():
            await asyncio.sleep(CHURN_INTERVAL_S)
            client = self.workload.client_of(self.workload.last_master)
            if client is None:
                continue
            name, old = f"churn-{number}", f"churn-{number - CHURN_KEPT}"
            try:
                created = await client.call(
                    RequestCode.UPDATE_AND_CREATE_TOPIC,
                    {
                        "topic": name,
                        "defaultTopic": "TBW102",
                        "readQueueNums": CHURN_QUEUES,
                        "writeQueueNums": CHURN_QUEUES,
                        "perm": 6,
                        "topicFilterType": "SINGLE_TAG",
                        "order": "false",
                    },
                )
                self.topic_count += created.code == 0
                for queue in range(CHURN_QUEUES):
                    await client.send(name, b"churn", queue_id=queue)
                await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": old})
            except (OSError, TimeoutError):
                continue  # The master was killed.

    async def _sample(self) -> None:
        """Note the memory and the handles of each process."""
        while True:
            await asyncio.sleep(SAMPLE_INTERVAL_S)
            standing = await self.cluster.standing()
            master = None if standing is None else standing.master
            processes = {CONTROLLER: (self.cluster.controller, "controller")}
            for agent, process in self.cluster.agents.items():
                processes[agent_name(agent)] = (process, "master" if agent == master else "replica")
            for process, role in processes.values():
                if process.pid is not None:
                    found = Footprint.of(process.pid, role, self.journal.now_s())
                    self.footprints += [found] if found else []


async def run(options: argparse.Namespace) -> int:
    """Run it; return 1 after a violation."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    if shutil.disk_usage(RESULTS).free < DISK_BYTES_MIN:
        sys.exit(f"the logs of an hour need {DISK_BYTES_MIN >> 30} GiB; free space on this disk")
    await asyncio.to_thread(build)
    plan, journal = Plan(0, 0, 0.0), Journal(RESULTS / "journal.jsonl")
    cluster = Cluster(
        RESULTS, policy=plan.policy, flush=plan.flush, properties=FILES, is_proxied=False
    )
    hosts = cluster.hosts
    addresses = {a: Address(hosts.proxy, port, hosts.client) for a, port in cluster.ports.items()}
    workload, outcome = Workload(addresses, journal), Outcome(plan)
    scene = Endurance(
        plan, cluster, workload, None, journal, outcome, leg_s=options.leg, share=options.share
    )
    begun_s = time.monotonic()
    try:
        await scene.begin()
        await scene.load(begun_s + options.minutes * 60)
        await scene.await_calm()
        outcome.violations += check_shown(journal.acknowledgements, journal.readings, AGENTS)
    except (AssertionError, LoadError, ExceptionGroup) as error:
        outcome.violations += [f"{type(one).__name__}: {one}" for one in _causes(error)]
    finally:
        await workload.close()
        await cluster.close()
        journal.close()
    outcome.acknowledged_count = len(journal.acknowledgements)
    outcome.duration_s = time.monotonic() - begun_s
    rows, growths = check_growth(scene.footprints)
    outcome.violations += growths
    _report(scene, rows)
    return 1 if outcome.violations else 0


def _causes(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _causes(one)
    else:
        yield error


def _report(scene: Endurance, rows: list[str]) -> None:
    outcome = scene.outcome
    facts = {
        "rate": scene.rate,
        "legs": scene.legs,
        "topics": scene.topic_count,
        "footprints": [asdict(one) for one in scene.footprints],
    }
    (RESULTS / "outcome.json").write_text(json.dumps(asdict(outcome) | facts) + "\n")
    print("\n".join(rows))
    print(
        f"{outcome.duration_s:.0f} s at {scene.rate} sends/s: {outcome.failover_count} masters"
        f" killed, {scene.topic_count} topics created, {outcome.acknowledged_count} messages of"
        f" the workload acknowledged"
    )
    for violation in outcome.violations[:20]:
        print(f"  VIOLATION {violation}")
    if not outcome.violations:
        for store in RESULTS.glob("agent*/store"):
            shutil.rmtree(store)


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.endurance", description=__doc__)
    minutes = float(os.environ.get("REGENT_ENDURANCE_MINUTES", "60"))
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--leg", type=float, default=300.0, help="seconds between two failovers")
    parser.add_argument("--share", type=float, default=0.6, help="part of the rate it reaches")
    return uvloop.run(until_reported(run(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(main())
