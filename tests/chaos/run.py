"""Run one seed: a cluster, a workload, faults until enough masters have changed, and the check.

All its output is in one directory: the journal, every process's log, the stores, and the command
that repeats it.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from backend.domain.share_mode import ShareMode
from tests.chaos import checker
from tests.chaos.cluster import AGENTS, Cluster, Standing
from tests.chaos.committer import GROUP as COMMITTING_GROUP
from tests.chaos.committer import Committer
from tests.chaos.evidence import Evidence, Violation
from tests.chaos.faults import Faults
from tests.chaos.journal import (
    NONE_COMMITTED,
    Act,
    Delivery,
    Effect,
    Journal,
    Settlement,
)
from tests.chaos.poppers import Poppers
from tests.chaos.schedule import Kind, draw_faults
from tests.chaos.stores import read_store
from tests.chaos.workload import DELAYED_TOPIC, QUEUE_COUNT, TOPIC, Address, Workload

RECOVERY_S_MAX: Final = 120.0
PROGRESS_COUNT: Final = 10
POLL_S: Final = 0.05
STILL_S: Final = 1.0
"""Twice as long as a broker takes to write what share queues have done after its answers."""

IN_SYNC: Final = frozenset(AGENTS)


class NotJudged(AssertionError):
    """Nothing was seen that an invariant is judged by, so the run shows nothing of it."""


class NotRecovered(AssertionError):
    """The group did not recover although no fault was active any more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run; the same plan has the same faults."""

    seed: int
    failover_count: int
    pause_s_max: float
    kinds: tuple[Kind, ...] = tuple(Kind)
    share_mode: ShareMode = field(default=ShareMode.PRIMARY, kw_only=True)

    @property
    def policy(self) -> str:
        """Return the lease policy of the run: seeds alternate."""
        return ("quorum", "strict")[self.seed % 2]

    @property
    def flush(self) -> str:
        """Return the flush mode."""
        return ("ASYNC_FLUSH", "SYNC_FLUSH")[self.seed // 2 % 3 == 2]

    @property
    def command(self) -> str:
        """Return the command that repeats it."""
        kinds = "" if self.kinds == tuple(Kind) else f" --kinds {' '.join(self.kinds)}"
        return (
            f"python -m tests.chaos --seed {self.seed} --failovers {self.failover_count}"
            f" --runs 1 --pause-max {self.pause_s_max:g} --share-modes {self.share_mode}{kinds}"
        )


@dataclass
class Outcome:
    """The results of a run."""

    plan: Plan
    failovers: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    acknowledged_count: int = 0
    read_count: int = 0
    delivery_count: int = 0
    duration_s: float = 0.0
    own_processor_s: float = 0.0
    violations: list[str] = field(default_factory=list)

    @property
    def failover_count(self) -> int:
        """Return the number of elections after the first."""
        return sum(self.failovers.values())

    @property
    def fault_count(self) -> int:
        """Return the number of faults, with or without a new master."""
        return sum(self.faults.values())


def check_is_judged(observation_counts: Mapping[str, int]) -> None:
    """Check that everything was seen that the invariants are judged by.

    Raises:
        NotJudged: something was never seen.
    """
    missing = [name for name, count in observation_counts.items() if not count]
    if missing:
        raise NotJudged(f"never seen: {', '.join(missing)}")


def count_pops(deliveries: Sequence[Delivery], settlements: Sequence[Settlement]) -> dict[str, int]:
    """Return how often each was seen that share queues are judged by."""
    done = [one for one in settlements if one.effect is Effect.DONE]
    places = {(one.queue, one.offset) for one in deliveries}
    finished = [one for one in done if one.act is Act.FINISH]
    return {
        "message handed out (Q8)": len(deliveries),
        "message handed out again (Q12)": len(deliveries) - len(places),
        "message finished (Q9)": sum(not one.is_batch for one in finished),
        "messages finished in a batch (Q9)": sum(one.is_batch for one in finished),
        "message given back (Q10)": sum(one.act is Act.GIVE_BACK for one in done),
        "message kept longer (Q8)": sum(one.act is Act.KEEP for one in done),
    }


async def run(plan: Plan, directory: Path) -> Outcome:
    """Run a plan and check it."""
    started_at_s = time.monotonic()
    (directory / "command").write_text(plan.command + "\n")
    outcome = Outcome(plan)
    journal = Journal(directory / "journal.jsonl")
    # Not on a thread: a signal must not come between its processes and their owner.
    cluster = Cluster(directory, policy=plan.policy, flush=plan.flush)
    hosts = cluster.hosts
    addresses = {a: Address(hosts.proxy, port, hosts.client) for a, port in cluster.ports.items()}
    workload = Workload(addresses, journal)
    committer = Committer(workload, journal, lambda: workload.last_master)
    poppers = Poppers(workload, journal, lambda: workload.last_master, plan.share_mode)
    try:
        scene = Scene(plan, cluster, workload, committer, journal, outcome, poppers)
        await scene.begin()
        await scene.disturb()
        outcome.violations += map(str, await scene.judge())
    except AssertionError as error:
        outcome.violations.append(f"{type(error).__name__}: {error}")
    finally:
        await poppers.close()
        await committer.close()
        await workload.close()
        await cluster.close()
        journal.close()
    outcome.acknowledged_count = len(journal.acknowledgements)
    outcome.read_count = sum(len(seen.numbers) for seen in journal.readings)
    outcome.delivery_count = len(journal.deliveries)
    outcome.duration_s = time.monotonic() - started_at_s
    outcome.own_processor_s = time.process_time()
    return outcome


@dataclass
class Scene:
    """A run in progress."""

    plan: Plan
    cluster: Cluster
    workload: Workload
    committer: Committer | None
    journal: Journal
    outcome: Outcome
    poppers: Poppers | None = None

    async def begin(self) -> None:
        """Start everything, one broker after the other, so that the ids are known."""
        self.cluster.controller.start()
        await self.cluster.open_network()
        for agent in AGENTS:
            self.cluster.agents[agent].start()
            await self.await_standing(frozenset(range(1, agent + 1)))
        self.workload.start()
        if self.committer is not None:
            self.committer.start()
        if self.poppers is not None:
            await self.poppers.create_topic()
            self.poppers.start()
        await self.await_progress()

    async def disturb(self) -> None:
        """Inject faults until each kind has occurred and enough masters were elected."""
        faults = Faults(self.cluster, self.journal, await_whole=self.await_whole)
        elected_count = len(await self._elections())
        plan = self.plan
        for fault in draw_faults(plan.seed, pause_s_max=plan.pause_s_max, only=plan.kinds):
            is_each_there = self.outcome.faults.keys() >= set(plan.kinds)
            if is_each_there and self.outcome.failover_count >= plan.failover_count:
                return
            await faults.carry_out(fault)
            self.outcome.faults[fault.kind] = self.outcome.faults.get(fault.kind, 0) + 1
            await self.await_progress()
            if fault.rests:
                await self.await_standing(IN_SYNC)
            count = len(await self._elections())
            if count > elected_count:
                earlier = self.outcome.failovers.get(fault.kind, 0)
                self.outcome.failovers[fault.kind] = earlier + count - elected_count
            elected_count = count

    async def judge(self) -> list[Violation]:
        """Let the cluster recover, stop it, and compare it with the journal."""
        await self.await_calm()
        if self.committer is not None:
            await self.committer.close()
        if self.poppers is not None:
            await self.poppers.finish()
            await self.poppers.end_sharing()
        check_is_judged(self.observation_counts())
        standing, elections = await self._stop_brokers()
        await self.workload.close()
        stores = {
            agent: read_store(self.cluster.directory / f"agent{agent}" / "store")
            for agent in AGENTS
        }
        return checker.check(
            Evidence(
                topic=TOPIC,
                acknowledgements=self.journal.acknowledgements,
                readings=self.journal.readings,
                masters=elections,
                stores=stores,
                last_master=standing.master,
                deferred=self.journal.deferred,
                delayed_topic=DELAYED_TOPIC,
                committing_group=COMMITTING_GROUP,
                commits=self.journal.commits,
                looks=self.journal.looks,
                deliveries=self.journal.deliveries,
                settlements=self.journal.settlements,
                share_mode=self.plan.share_mode,
            )
        )

    async def _stop_brokers(self) -> tuple[Standing, dict[int, int]]:
        """Stop all brokers, the master last; return the last standing, and all elections.

        If this machine stands still meanwhile, another epoch begins, which a replica that is
        stopped already lacks. Then all of them start again.
        """
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while True:
            standing = await self.await_standing(IN_SYNC)
            await self._await_still_logs()
            elections = await self._elections()
            assert standing.master is not None
            replicas = [agent for agent in AGENTS if agent != standing.master]
            for agent in (*replicas, standing.master):
                code = await asyncio.to_thread(self.cluster.agents[agent].stop)
                assert code == 0, f"broker {agent} ended with {code} when told to stop"
            if await self._elections() == elections:
                return standing, elections
            self.check(deadline_s, "another epoch began while the brokers were stopped")
            for agent in AGENTS:
                self.cluster.agents[agent].start()

    async def await_calm(self) -> Standing:
        """Let the cluster recover, send no more, and wait until all that was sent is shown."""
        await self.await_whole()
        await self.workload.stop_sending()
        await self._await_all_read()
        await self._await_all_delivered()
        await self._await_all_finished()
        # If this machine stood still meanwhile, another broker is the master.
        return await self.await_standing(IN_SYNC)

    async def _master(self) -> int:
        master = (await self.await_standing(IN_SYNC)).master
        assert master is not None
        return master

    async def _elections(self) -> dict[int, int]:
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while (elections := await self.cluster.elections()) is None:
            self.check(deadline_s, "Postgres does not answer")
            await asyncio.sleep(POLL_S)
        return elections

    async def await_standing(self, members: frozenset[int]) -> Standing:
        found: Standing | None = None
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while True:
            found = await self.cluster.standing()
            if found is not None and found.master is not None and found.members == members:
                self.journal.note("standing", master=found.master, epoch=found.epoch)
                return found
            self.check(deadline_s, f"the group is {found}, not {sorted(members)}")
            await asyncio.sleep(POLL_S)

    async def await_whole(self) -> None:
        await self.await_standing(IN_SYNC)
        await self.await_progress()

    async def await_progress(self) -> None:
        """Wait until messages that are sent from now on are acknowledged."""
        since_s, told = self.journal.now_s(), self.journal.acknowledgements
        first, deadline_s = len(told), time.monotonic() + RECOVERY_S_MAX
        while sum(entry.sent_at_s > since_s for entry in told[first:]) < PROGRESS_COUNT:
            self.check(deadline_s, "nothing is acknowledged any more")
            await asyncio.sleep(POLL_S)

    async def _await_all_read(self) -> None:
        """Wait until every broker has shown all acknowledged messages."""
        ends = [0] * QUEUE_COUNT
        for told in self.journal.acknowledgements:
            ends[told.queue] = max(ends[told.queue], told.offset + 1)
        shown = self.workload.next_offsets
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while any(
            shown.get((agent, queue), 0) < end for agent in AGENTS for queue, end in enumerate(ends)
        ):
            self.check(deadline_s, f"brokers show {shown}, acknowledged was up to {ends}")
            await asyncio.sleep(POLL_S)

    async def _await_all_delivered(self) -> None:
        """Wait until every acknowledged delayed message is shown."""
        wanted, deadline_s = set(self.journal.deferred), time.monotonic() + RECOVERY_S_MAX
        missing = wanted
        while missing:
            self.check(deadline_s, f"not delivered: {sorted(missing)[:10]} of {len(wanted)}")
            with contextlib.suppress(OSError, TimeoutError):
                missing = wanted - await self.workload.read_delivered(await self._master())
            await asyncio.sleep(POLL_S)

    async def _await_all_finished(self) -> None:
        """Wait until the consumers by POP have finished every message."""
        if self.poppers is None:
            return
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        while (left := await self.poppers.unfinished(await self._master())) != {}:
            self.check(deadline_s, f"not finished by POP, start and end of queues: {left}")
            await asyncio.sleep(POLL_S)

    async def _await_still_logs(self) -> None:
        """Wait until all logs end at one position: progress is written after the answers."""
        deadline_s = time.monotonic() + RECOVERY_S_MAX
        ends, since_s = set[int](), time.monotonic()
        while len(ends) != 1 or time.monotonic() - since_s < STILL_S:
            self.check(deadline_s, f"the logs end at {sorted(ends)}")
            await asyncio.sleep(POLL_S)
            found = await self.workload.log_ends()
            if found != ends:
                ends, since_s = found, time.monotonic()

    def observation_counts(self) -> dict[str, int]:
        """Return how often each was seen that the invariants are judged by."""
        journal = self.journal
        found = {
            "message acknowledged (I1)": len(journal.acknowledgements),
            "message read (I8)": sum(len(seen.numbers) for seen in journal.readings),
            "delayed message acknowledged (I13)": len(journal.deferred),
        }
        if self.committer is not None:
            found |= {
                "commit taken (I9)": sum(one.is_taken for one in journal.commits),
                "committed offset reported (I9)": sum(
                    one.offset != NONE_COMMITTED for one in journal.looks
                ),
            }
        if self.poppers is not None:
            found |= count_pops(journal.deliveries, journal.settlements)
        return found

    def check_others(self) -> None:
        """Raise the error that ended something that a subclass has added."""

    def check(self, deadline_s: float, otherwise: str) -> None:
        self.workload.check_alive()
        if self.committer is not None:
            self.committer.check_alive()
        if self.poppers is not None:
            self.poppers.check_alive()
        self.check_others()
        ended = self.cluster.ended_by_itself()
        if ended:
            raise NotRecovered(f"ended by itself, with what code: {ended}")
        if time.monotonic() > deadline_s:
            raise NotRecovered(otherwise)
