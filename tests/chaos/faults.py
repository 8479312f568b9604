"""Carry out a fault on a cluster, and undo it: after each, everything runs and is connected
again."""

import asyncio
import shutil
import signal
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final

from tests.chaos.cluster import AGENTS, CLIENT, CONTROLLER, Cluster, Standing, agent_name
from tests.chaos.journal import Journal
from tests.chaos.schedule import LEASE_S, NEEDS_WHOLE, Fault, Kind, Side

COMMIT_TIMEOUT_S: Final = 6.0
"""How long to wait for a commit before the controller is killed anyway."""

POLL_S: Final = 0.005
PROXY_TURN_S: Final = 0.02
ALONE_S: Final = 3.0
"""How long a broker with a changed store is alone: it starts, and requests an election."""

LISTENING_S: Final = 1.5 * LEASE_S
"""How long after a pause of the controller an election would be a consequence of the pause."""


class Faults:
    """The possible actions on a cluster."""

    def __init__(
        self, cluster: Cluster, journal: Journal, *, await_whole: Callable[[], Awaitable[None]]
    ) -> None:
        """Prepare; `await_whole` waits until all brokers are members, and messages arrive."""
        self._cluster, self._journal, self._await_whole = cluster, journal, await_whole
        self._master = AGENTS[0]
        self._acts: dict[Kind, Callable[[Fault], object]] = {
            Kind.KILL: self._kill,
            Kind.PAUSE: self._pause,
            Kind.PARTITION: self._partition,
            Kind.ONE_WAY: self._one_way,
            Kind.LOST_REPLY: self._lost_reply,
            Kind.CONTROLLER: self._controller,
            Kind.POSTGRES: self._postgres,
            Kind.REDIS: self._redis,
            Kind.HAND_OVER: self._hand_over,
            Kind.DOUBLE: self._double,
            Kind.ALL: self._all,
            Kind.OBSERVER_PAUSE: self._observer_pause,
            Kind.OLDER_COPY: self._older_copy,
            Kind.EMPTIED_STORE: self._emptied_store,
        }

    async def carry_out(self, fault: Fault) -> None:
        """Carry the fault out and undo it."""
        if fault.kind in NEEDS_WHOLE:
            await self._await_whole()
        standing = await self._cluster.standing()
        if standing is not None and standing.master is not None:
            self._master = standing.master
        self._journal.note(
            "fault",
            number=fault.number,
            kind=fault.kind,
            master=self._master,
            duration_s=fault.duration_s,
            delay_s=fault.delay_s,
            sides=fault.sides,
            replica=self._replica(fault),
            resets=fault.resets,
            is_variant=fault.is_variant,
        )
        await self._acts[fault.kind](fault)
        self._journal.note("undone", number=fault.number)

    def _replicas(self) -> list[int]:
        return [agent for agent in AGENTS if agent != self._master]

    def _replica(self, fault: Fault) -> int:
        return self._replicas()[fault.replica_choice]

    async def _kill(self, fault: Fault) -> None:
        network, agent = self._cluster.network, self._cluster.agents[self._master]
        if fault.is_variant:
            name = agent_name(self._master)
            network.cut([name], [CONTROLLER, *map(agent_name, self._replicas())])
            await asyncio.sleep(fault.delay_s)
            network.drop(name)
        agent.kill()
        network.heal()
        await asyncio.sleep(fault.duration_s)
        agent.start()

    async def _pause(self, fault: Fault) -> None:
        agent = self._cluster.agents[self._master]
        agent.send_signal(signal.SIGSTOP)
        await asyncio.sleep(fault.duration_s)
        agent.send_signal(signal.SIGCONT)

    async def _partition(self, fault: Fault) -> None:
        one, other = self._sides(fault)
        self._cluster.network.cut(one, other)
        self._cluster.network.cut(other, one)
        await asyncio.sleep(fault.duration_s)
        self._cluster.network.heal(resets=fault.resets)

    async def _one_way(self, fault: Fault) -> None:
        one, other = self._sides(fault)
        self._cluster.network.cut(one, other)
        await asyncio.sleep(fault.duration_s)
        self._cluster.network.heal(resets=fault.resets)

    async def _lost_reply(self, fault: Fault) -> None:
        """Hold the controller's answers back, let it commit a change, and kill it then.

        Answers that no link has carried are lost with the process: the change is committed without
        an answer.
        """
        cluster = self._cluster
        victim = self._master if fault.is_variant else self._replica(fault)
        before = await cluster.standing()
        cluster.network.cut([CONTROLLER], map(agent_name, AGENTS))
        cluster.agents[victim].kill()
        committed = await self._await_change(before)
        cluster.controller.kill()
        cluster.network.drop(CONTROLLER)
        self._journal.note("controller_killed", after_commit=committed)
        await asyncio.sleep(fault.delay_s)
        cluster.network.heal()
        cluster.controller.start()
        await asyncio.sleep(fault.duration_s)
        cluster.agents[victim].start()

    async def _controller(self, fault: Fault) -> None:
        cluster = self._cluster
        cluster.controller.kill()
        await asyncio.sleep(fault.delay_s)
        cluster.agents[self._master].kill()
        if fault.is_variant:
            cluster.agents[self._master].start()
        await asyncio.sleep(fault.duration_s)
        cluster.controller.start()
        cluster.agents[self._master].start()

    async def _postgres(self, fault: Fault) -> None:
        cluster, agent = self._cluster, self._cluster.agents[self._master]
        if fault.is_variant:
            agent.kill()
            await asyncio.sleep(fault.delay_s)
            await cluster.postgres.crash()
        else:
            await cluster.postgres.crash()
            await asyncio.sleep(fault.delay_s)
            agent.kill()
        await asyncio.sleep(fault.duration_s)
        await cluster.postgres.start()
        agent.start()

    async def _redis(self, fault: Fault) -> None:
        agent = self._cluster.agents[self._master]
        agent.kill()
        await self._cluster.redis.flush()
        await asyncio.sleep(fault.duration_s)
        await self._cluster.redis.flush()
        agent.start()

    async def _hand_over(self, fault: Fault) -> None:
        await self._stop(self._master)
        await asyncio.sleep(fault.duration_s)
        self._cluster.agents[self._master].start()

    async def _double(self, fault: Fault) -> None:
        master = self._cluster.agents[self._master]
        replica = self._cluster.agents[self._replica(fault)]
        if fault.is_variant:
            replica.kill()
        else:
            replica.send_signal(signal.SIGSTOP)
        await asyncio.sleep(fault.delay_s)
        if fault.is_variant:
            replica.start()
            await asyncio.sleep(fault.delay_s)
        master.kill()
        await asyncio.sleep(fault.duration_s)
        replica.send_signal(signal.SIGCONT)
        master.start()

    async def _all(self, fault: Fault) -> None:
        agents = [self._cluster.agents[agent] for agent in AGENTS]
        for agent in agents:
            agent.kill()
        if fault.is_variant:
            agents.reverse()
        for agent in agents:
            agent.start()
            await asyncio.sleep(fault.delay_s)

    async def _observer_pause(self, fault: Fault) -> None:
        """Let the controller find closed connections and old heartbeats, as if all brokers had
        died."""
        cluster = self._cluster
        before = await cluster.elections()
        cluster.controller.send_signal(signal.SIGSTOP)
        if fault.is_variant:
            cluster.agents[self._master].kill()
        await asyncio.sleep(fault.duration_s)
        cluster.controller.send_signal(signal.SIGCONT)
        await asyncio.sleep(LISTENING_S)
        after = await cluster.elections()
        if fault.is_variant:
            cluster.agents[self._master].start()
        elif after != before:
            raise AssertionError(
                f"fault {fault.number}: the controller was paused for {fault.duration_s} s, and"
                f" masters were elected for that: {after} after {before}"
            )

    async def _older_copy(self, fault: Fault) -> None:
        victim = self._replica(fault)
        store = self._store_of(victim)
        copied = store.with_name("older-copy")
        await self._stop(victim)
        await asyncio.to_thread(shutil.copytree, store, copied)
        self._cluster.agents[victim].start()
        # All members acknowledge more messages, which the copy lacks.
        await self._await_whole()

        def put_back() -> None:
            shutil.rmtree(store)
            copied.rename(store)

        await self._change_store(fault, victim, put_back)

    async def _emptied_store(self, fault: Fault) -> None:
        victim = self._replica(fault)
        store = self._store_of(victim)

        def empty() -> None:
            for path in store.iterdir():
                # As `rm -rf store/*` does, which leaves the broker its id.
                if path.name.startswith("."):
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

        await self._change_store(fault, victim, empty)

    async def _change_store(self, fault: Fault, victim: int, change: Callable[[], None]) -> None:
        """Change a store while its broker is down; as a variant, while every broker is."""
        agents = self._cluster.agents
        # The victim first: as the only member of a new set it would lose the only copy of some
        # data.
        others = [agent for agent in AGENTS if agent != victim and fault.is_variant]
        down = [victim, *others]
        for agent in down:
            agents[agent].kill()
            # The proxies need a turn: its connections must end before those of the next one.
            await asyncio.sleep(PROXY_TURN_S)
        await asyncio.to_thread(change)
        agents[victim].start()
        if fault.is_variant:
            await asyncio.sleep(ALONE_S)
        for agent in down:
            agents[agent].start()

    async def _stop(self, agent: int) -> None:
        code = await asyncio.to_thread(self._cluster.agents[agent].stop)
        if code:
            raise AssertionError(f"broker {agent} ended with {code} when told to stop")

    def _store_of(self, agent: int) -> Path:
        return self._cluster.directory / agent_name(agent) / "store"

    async def _await_change(self, before: Standing | None) -> bool:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + COMMIT_TIMEOUT_S
        while loop.time() < deadline_s:
            now = await self._cluster.standing()
            if now is not None and before is not None and now.revision != before.revision:
                return True
            await asyncio.sleep(POLL_S)
        return False

    def _sides(self, fault: Fault) -> tuple[Collection[str], Collection[str]]:
        names = {
            Side.MASTER: {agent_name(self._master)},
            Side.REPLICAS: {agent_name(agent) for agent in self._replicas()},
            Side.ONE_REPLICA: {agent_name(self._replica(fault))},
            Side.CONTROLLER: {CONTROLLER},
            Side.CLIENT: {CLIENT},
        }
        everybody = {CLIENT, CONTROLLER, *map(agent_name, AGENTS)}
        sides = [names.get(side, set()) for side in fault.sides]
        for index, side in enumerate(fault.sides):
            if side is Side.OTHERS:
                sides[index] = everybody - sides[1 - index]
            elif side is Side.CLUSTER:
                sides[index] = everybody - sides[1 - index] - {CLIENT}
        return sides[0], sides[1]
