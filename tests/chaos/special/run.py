"""Run one seed with stock Java clients, whose messages are not visible at once, and check it.

It is a run of `tests.chaos` with more traffic, fewer kinds of faults, and time to recover after
each fault: then everything that was acknowledged until then is received.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.chaos.cluster import SMALL, Cluster
from tests.chaos.committer import Committer
from tests.chaos.evidence import Violation
from tests.chaos.faults import Faults
from tests.chaos.journal import Journal
from tests.chaos.run import IN_SYNC, RECOVERY_S_MAX, Outcome, Plan, Scene
from tests.chaos.schedule import Kind, Side, draw_faults
from tests.chaos.special.acting_cluster import ActingCluster
from tests.chaos.special.checks import Observations, check_special
from tests.chaos.special.clients import SpecialClients
from tests.chaos.special.locker import Locker
from tests.chaos.workload import Address, Workload

KINDS: Final = (Kind.KILL, Kind.PAUSE, Kind.PARTITION, Kind.ONE_WAY)
PAUSE_S_MAX: Final = 4.0
POLL_S: Final = 0.2
PROPERTIES: Final = SMALL | {
    "timerPrecisionMs": "100",
    # A producer is asked soon, and again until it answers.
    "transactionTimeOut": "2000",
    "transactionCheckInterval": "500",
    "transactionCheckMax": "10000",
}


class Mode(StrEnum):
    """How a group replaces its master."""

    CONTROLLER = "controller"
    ACTING = "acting"


@dataclass(frozen=True, slots=True)
class SpecialPlan(Plan):
    """The parameters of a run; `failover_count` is the number of its faults."""

    kinds: tuple[Kind, ...] = KINDS
    mode: Mode = Mode.CONTROLLER

    @property
    def command(self) -> str:
        """Return the command that repeats it."""
        kinds = "" if self.kinds == KINDS else f" --kinds {' '.join(self.kinds)}"
        return (
            f"python -m tests.chaos.special --seed {self.seed} --faults {self.failover_count}"
            f" --mode {self.mode}{kinds}"
        )


@dataclass
class SpecialOutcome(Outcome):
    """The results of a run."""

    special_count: int = 0
    receipt_count: int = 0
    lock_count: int = 0


async def run_special(plan: SpecialPlan, directory: Path) -> SpecialOutcome:
    """Run a plan and check it."""
    started_at_s = time.monotonic()
    (directory / "command").write_text(plan.command + "\n")
    outcome = SpecialOutcome(plan)
    journal = Journal(directory / "journal.jsonl")
    try:
        async with _scene(plan, directory, journal, outcome) as scene:
            await scene.begin()
            await scene.disturb()
            outcome.violations += map(str, await scene.judge())
    except AssertionError as error:
        outcome.violations.append(f"{type(error).__name__}: {error}")
    finally:
        journal.close()
    outcome.acknowledged_count = len(journal.acknowledgements)
    outcome.read_count = sum(len(seen.numbers) for seen in journal.readings)
    outcome.lock_count = sum(event.is_given for event in journal.locks)
    outcome.duration_s = time.monotonic() - started_at_s
    outcome.own_processor_s = time.process_time()
    return outcome


@asynccontextmanager
async def _scene(
    plan: SpecialPlan, directory: Path, journal: Journal, outcome: SpecialOutcome
) -> AsyncIterator["SpecialScene"]:
    """Prepare a run, and end everything that it has started."""
    kind = ActingCluster if plan.mode is Mode.ACTING else Cluster
    cluster = kind(directory, policy=plan.policy, flush=plan.flush, properties=PROPERTIES)
    hosts = cluster.hosts
    addresses = {a: Address(hosts.proxy, port, hosts.client) for a, port in cluster.ports.items()}
    workload = Workload(addresses, journal)
    server = Server(cluster, workload)
    committer = Committer(workload, journal, server.find)
    locker = Locker(workload, journal, server.find)
    scene = SpecialScene(
        plan, cluster, workload, committer, journal, outcome, server=server, locker=locker
    )
    try:
        yield scene
    finally:
        await locker.close()
        await committer.close()
        await server.close()
        await workload.close()
        if scene.clients is not None:
            scene.clients.close()
        await cluster.close()


@dataclass
class Server:
    """The broker that serves the group now: the master, or a replica that acts for it."""

    cluster: Cluster
    workload: Workload
    _named: int | None = None
    _task: asyncio.Task[None] | None = None

    def find(self) -> int:
        """Return the agent that the route names, or the one that acknowledged last."""
        return self.workload.last_master if self._named is None else self._named

    def start(self) -> None:
        """Ask for the route repeatedly, if the group has no elections."""
        if isinstance(self.cluster, ActingCluster):
            self._task = asyncio.create_task(self._watch(self.cluster))

    def check_alive(self) -> None:
        """Raise the error that ended the questions."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self, cluster: ActingCluster) -> None:
        while True:
            self._named = await cluster.serving_agent() or self._named
            await asyncio.sleep(POLL_S)


@dataclass
class SpecialScene(Scene):
    """A run in progress."""

    server: Server = field(kw_only=True)
    locker: Locker = field(kw_only=True)
    clients: SpecialClients | None = None

    async def begin(self) -> None:
        """Start everything, the Java clients last."""
        await super().begin()
        self.server.start()
        self.locker.start()
        directory = self.cluster.directory
        self.clients = SpecialClients(directory, self.cluster.name_server)
        self.cluster.client_pids.add(self.clients.pid)
        await self.await_received()

    async def disturb(self) -> None:
        """Inject faults, and let the group and its consumers recover after each."""
        faults = Faults(self.cluster, self.journal, await_whole=self.await_whole)
        plan = self.plan
        drawn = draw_faults(
            plan.seed, pause_s_max=plan.pause_s_max, only=plan.kinds, of=Side.MASTER
        )
        for fault in itertools.islice(drawn, plan.failover_count):
            await faults.carry_out(fault)
            self.outcome.faults[fault.kind] = self.outcome.faults.get(fault.kind, 0) + 1
            await self.await_whole()
            await self.await_received()

    async def judge(self) -> list[Violation]:
        """Let everything arrive, stop, and compare what was seen with what must hold."""
        clients = self._clients
        await self.await_standing(IN_SYNC)
        await clients.stop_sending()
        await self.await_received()
        await clients.stop()
        await self.locker.close()
        violations = await super().judge()
        traffic = clients.read_journal()
        outcome = self.outcome
        assert isinstance(outcome, SpecialOutcome)
        outcome.special_count = len(traffic.acknowledged)
        outcome.receipt_count = len(traffic.receipts)
        journal = self.journal
        seen = Observations(
            traffic,
            journal.acknowledgements,
            journal.commits,
            journal.looks,
            journal.locks,
            is_acting=self.plan.mode is Mode.ACTING,
        )
        return violations + check_special(seen)

    async def await_received(self) -> None:
        """Wait until both groups have received what was acknowledged until now.

        Raises:
            NotRecovered: something is missing at the deadline.
        """
        until_ms = time.time_ns() // 1_000_000
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while True:
            traffic = self._clients.read_journal()
            if traffic.acknowledged and not traffic.missing(until_ms):
                return
            missing = sorted(traffic.missing(until_ms))
            self.check(deadline_s, f"not received after the fault: {missing[:10]}")
            await asyncio.sleep(POLL_S)

    def observation_counts(self) -> dict[str, int]:
        """Return how often each was seen that the invariants are judged by, the locks too."""
        locks = [one for one in self.journal.locks if not one.is_release]
        return super().observation_counts() | {
            "lock given (I11)": sum(one.is_given for one in locks),
            "lock refused (I11)": sum(not one.is_given for one in locks),
        }

    def check_others(self) -> None:
        """Raise the error that ended the rivals, the clients or the questions for the server."""
        self.server.check_alive()
        self.locker.check_alive()
        if self.clients is not None:
            self.clients.check_alive()

    @property
    def _clients(self) -> SpecialClients:
        assert self.clients is not None, "the run has not begun"
        return self.clients
