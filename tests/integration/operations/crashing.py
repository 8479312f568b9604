"""A world in which a process dies wherever a test wants, and what is outside of it goes on.

A process is one call of a use case. It dies at a point: at each read of the clock, before a commit,
and before and after each message or effect. Postgres, the queue's messages and the agent live on,
as they do when a worker is killed. An agent dies too, before or after an effect: then there is no
answer, and the data on its disk is there when it is back.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import event

from backend.brokers.errors import BrokerUnreachable
from backend.clients.task_queue import TaskQueueUnavailable
from backend.domain.operation import Author
from backend.domain.operation_approval import SecondPerson
from backend.domain.operation_errors import OperationFenced
from backend.domain.orders.parameter import ClusterName, Parameter
from backend.domain.plan import Plan, PlannedStep, Precondition, Risk
from backend.operations.engine import engine, orders
from backend.operations.engine.kind import Facts, Kind, OperationContext, OperationRequest
from backend.operations.engine.steps import planned_steps
from backend.operations.planning.groups import compare
from tests.long_form import stride

ANNA = Author("anna", "test")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
POINTS = ("commit", "clock", "before the effect", "after the effect")
"""The points of workers. `test_crashes` has all of them, whatever the kind of the operation."""


def points(name: str) -> Iterator[int]:
    """Count the points of a name at which a worker dies: each effect, or some of the others."""
    return itertools.count(step=1 if "effect" in name else stride(6))


class Crash(BaseException):
    """The process is gone; nothing in it may catch this."""


class Tripwire:
    """Count the points of each name that a process passes, and kill it at one of them."""

    def __init__(self):
        self.disarm()

    def arm(self, fatal, act=None):
        """Make a point fatal: its name, and how many of that name are passed before.

        With `act` the process lives on, and that is done at the point, once.
        """
        self.passed, self.fatal, self.act = Counter(), fatal, act

    def disarm(self):
        self.arm(None)

    def point(self, name):
        if not self.is_reached(name):
            return
        if self.act is None:
            raise Crash
        act = self.act
        self.disarm()
        act()

    def is_reached(self, name):
        """Return whether what passes a point now dies there."""
        self.passed[name] += 1
        return (
            self.fatal is not None and self.fatal[0] == name and self.passed[name] > self.fatal[1]
        )


class Clock:
    def __init__(self, wire):
        self._wire, self._now = wire, NOON

    def now(self):
        self._wire.point("clock")
        return self._now

    def now_ms(self):
        return int(self.now().timestamp() * 1000)

    def advance(self, **duration):
        self._now += timedelta(**duration)


class Queue:
    """Hold messages until a worker takes them; some are lost, some are delivered twice."""

    def __init__(self, wire):
        self._wire, self.messages, self.is_away = wire, [], False

    async def send(self, task_name, *arguments):
        self._wire.point("send")
        if self.is_away:
            raise TaskQueueUnavailable(task_name)
        self.messages.append(arguments[0])
        self._wire.point("sent")


@dataclass
class Agent:
    """Count up, once for each key, and refuse a lower fencing number.

    `effects` is what the test counts; `known` is what it keeps of them itself. All that it holds is
    on its disk, which `test_fenced_changes.py` holds agents to.
    """

    wire: Tripwire
    totals: Counter = field(default_factory=Counter)
    effects: Counter = field(default_factory=Counter)
    known: set[str] = field(default_factory=set)
    fences: Counter = field(default_factory=Counter)
    # Effects are held up here while it is not set, as in a worker that has stalled.
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)
    has_stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self):
        self.may_go_on.set()

    async def add(self, counter, run):
        self.wire.point("before the effect")
        if not self.may_go_on.is_set():
            self.has_stopped.set()
            await self.may_go_on.wait()
        if run.fence < self.fences[counter]:
            raise OperationFenced(run.operation.id, run.fence, held=self.fences[counter])
        self.fences[counter] = run.fence
        self._pass("agent before the effect")
        if run.key not in self.known:
            self.known.add(run.key)
            self.effects[run.key] += 1
            self.totals[counter] += 1
        self._pass("agent after the effect")
        self.wire.point("after the effect")
        return {"total": self.totals[counter]}

    def _pass(self, name):
        if self.wire.is_reached(name):
            # Once: the next one that asks finds it back.
            self.wire.disarm()
            self.restart()
            raise BrokerUnreachable("127.0.0.1:10911", "the connection was closed")

    def restart(self):
        """Come back with what was on its disk: all of it."""


@dataclass(frozen=True, slots=True)
class Count:
    """Count a counter of the agent up, in steps of one."""

    cluster_name: ClusterName
    counter: Annotated[str, Parameter("Name of the counter.")]
    step_count: Annotated[int, Parameter("How many steps it takes.")]

    @property
    def target(self):
        return self.counter


@dataclass(frozen=True, slots=True)
class CountingContext(OperationContext):
    """Reach the agent as kinds of operations reach brokers."""

    agent: Agent | None = None


@dataclass(frozen=True, slots=True)
class AddOne:
    """Count up by one; the last of the steps says what the total must be."""

    tag: ClassVar[str] = "add_one"
    counter: str
    number: int
    step_count: int

    @property
    def step(self):
        return PlannedStep(f"add-{self.number}", "add one")

    async def read(self, context):
        return {"total": context.agent.totals[self.counter]}

    async def do(self, run, context):
        return await context.agent.add(self.counter, run)

    async def verify(self, _step, context):
        if self.number + 1 < self.step_count:
            return []
        return [compare("total", self.step_count, context.agent.totals[self.counter])]

    def undo(self, _step):
        parameters = {"cluster_name": "c", "counter": self.counter, "step_count": self.step_count}
        return OperationRequest("count", parameters)


class World:
    """Put everything together around a database."""

    def __init__(self, database):
        self.wire = Tripwire()
        self.clock, self.queue = Clock(self.wire), Queue(self.wire)
        self.agent = Agent(self.wire)
        self.epoch, self.risk = 1, Risk.SMALL
        self.context = CountingContext(
            database, self.clock, self.queue, controller=None, agent=self.agent
        )
        kind = Kind("count", Count, self._facts, self._preview, (AddOne,))
        self.kinds = {"count": kind}
        self._engine = database.sync_engine
        event.listen(self._engine, "commit", self._on_commit)

    def demand(self, second_person):
        """Let plans from now on need the approval of a second user, where any does."""
        self.context = replace(self.context, second_person=second_person)
        self.risk = Risk.SMALL if second_person is SecondPerson.NONE else Risk.LOSS

    def leave(self):
        """Have what others commit in this database pass by."""
        event.remove(self._engine, "commit", self._on_commit)

    def _on_commit(self, _connection):
        self.wire.point("commit")

    async def _facts(self, _order, _context):
        return Facts(None, (Precondition("epoch", str(self.epoch)),))

    async def _preview(self, order, _facts, _context):
        count = order.step_count
        return Plan(
            "count",
            self.risk,
            planned_steps([AddOne(order.counter, i, count) for i in range(count)]),
        )

    def parameters(self, step_count):
        # Worlds share a database: no name, nor key made of it, may come twice.
        name = f"counter-{uuid4()}"
        return {"cluster_name": "c", "counter": name, "step_count": step_count}

    async def run(self, operation_id):
        return await engine.run_operation(operation_id, self.context, kinds=self.kinds)

    async def settle(self):
        """Let everything happen that will: time passes, messages arrive, workers live."""
        self.wire.disarm()
        self.queue.is_away = False
        for _ in range(60):
            self.clock.advance(seconds=20)
            await orders.deliver(self.context)
            messages, self.queue.messages = self.queue.messages, []
            if not messages:
                return
            for operation_id in messages:
                await self.run(UUID(operation_id))
        raise AssertionError("the workers never came to rest")
