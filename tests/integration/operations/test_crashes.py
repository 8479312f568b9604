"""After any crash, no step's effect comes twice, none is lost, and the end is the model's.

That is 40 generated stories, in parts that test processes share out among them (I22, G1);
`make soak SOAK=operations` runs 3 000. `test_crash_mistakes` finds each mistake in fewer than 300.
"""

import asyncio
import math
import os
from contextlib import contextmanager, suppress
from dataclasses import replace
from uuid import UUID

import pytest
import uvloop
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from backend.db.engine import open_database
from backend.domain.errors import DomainError
from backend.domain.operation import Author, Confirmation, OperationState, StepState
from backend.domain.operation_approval import SecondPerson
from backend.operations.engine import approvals, leases, orders
from backend.operations.engine.kind import OperationRequest
from backend.services.access import audit
from tests.integration.operations.crashing import Crash, World
from tests.waiting import PATIENCE_S

RUNS = int(os.environ.get("REGENT_OPERATION_RUNS", "40"))
PARTS = 4
ANNA, BELA = Author("anna", "test"), Author("bela", "test")
S = OperationState
# About as many points of each name as an operation of three steps passes.
POINTS = st.one_of(
    st.none(),
    st.tuples(st.just("after the effect"), st.integers(0, 2)),
    st.tuples(st.sampled_from(["before the effect", "after the effect"]), st.integers(0, 2)),
    st.tuples(
        st.sampled_from(["agent before the effect", "agent after the effect"]), st.integers(0, 2)
    ),
    st.tuples(st.sampled_from(["send", "sent"]), st.just(0)),
    st.tuples(st.just("commit"), st.integers(0, 12)),
    st.tuples(st.just("clock"), st.integers(0, 40)),
)
SECOND_PERSONS = (SecondPerson.NONE, SecondPerson.NONE, SecondPerson.NONE, SecondPerson.LOSS)
AWAY_FROM_THE_END = st.integers(0, 10**6)


@contextmanager
def open_stories(database_url):
    """Give a loop and a database, which hold nothing between two stories.

    The loop is the server's own.
    """
    loop = uvloop.new_event_loop()
    database = open_database(database_url)
    try:
        yield loop, database
    finally:
        loop.run_until_complete(database.dispose())
        loop.close()


@pytest.fixture
def machine(database_url):
    """Give machines, and look at the audit of all of them when they are done."""
    with open_stories(database_url) as (loop, database):
        yield lambda: ReviewedMachine(loop, database)
        loop.run_until_complete(_check_audit(database))


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.usefixtures("part")
def test_no_effect_is_lost_or_doubled(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=math.ceil(RUNS / PARTS),
            stateful_step_count=8,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )


async def _check_audit(database):
    verified = await audit.verify_chain(database=database)
    assert verified.fault is None
    assert verified.checked_count > RUNS / PARTS


class Machine(RuleBasedStateMachine):
    """Operators, workers and what befalls them."""

    def __init__(self, loop, database):
        super().__init__()
        self.loop = loop
        self.world = World(database)
        self.ids, self.targets = [], {}
        self.confirmed, self.cancelled = set(), set()
        self.stalled = []

    def do(self, awaitable, crash_at=None):
        """Let a process run until it is done, refused or dead; return whether it lives."""
        self.world.wire.arm(crash_at)
        try:
            return self.loop.run_until_complete(awaitable)
        except Crash:
            return None
        finally:
            self.world.wire.disarm()

    @initialize(step_count=st.integers(1, 3))
    def begin(self, step_count):
        self.plan(step_count, None)
        self.confirm(0, None, again=False)

    @precondition(lambda self: len(self.ids) < 2)
    @rule(step_count=st.integers(1, 3), crash_at=POINTS)
    def plan(self, step_count, crash_at):
        request = OperationRequest("count", self.world.parameters(step_count))
        key = f"plan {request.parameters['counter']}"

        def ask():
            return orders.plan_operation(
                request, ANNA, self.world.context, key=key, kinds=self.world.kinds
            )

        first = self.do(ask(), crash_at)
        again = self.do(ask())
        assert first is None or again.id == first.id
        self.ids.append(again.id)
        self.targets[again.id] = again.target

    @rule(which=AWAY_FROM_THE_END, crash_at=POINTS, again=st.booleans())
    def confirm(self, which, crash_at, again):
        operation_id = self.pick(which)
        attempts = [crash_at, None] if again else [crash_at]
        for point in attempts:
            confirmed = self.do(self._confirm(operation_id), point)
            if confirmed is not None:
                assert confirmed.state is not S.PLANNED
                self.confirmed.add(operation_id)

    async def _confirm(self, operation_id):
        try:
            return await orders.confirm_operation(
                operation_id,
                Confirmation(self.targets[operation_id], "why", accepts_loss=True),
                ANNA,
                self.world.context,
                key=f"confirm {operation_id}",
                kinds=self.world.kinds,
            )
        except DomainError:
            return None

    @rule(
        which=AWAY_FROM_THE_END,
        verb=st.sampled_from(["pause", "resume", "cancel", "retry"]),
        crash_at=POINTS,
    )
    def order(self, which, verb, crash_at):
        operation_id = self.pick(which)
        if verb == "cancel":
            self.cancelled.add(operation_id)

        async def ask():
            try:
                act = getattr(orders, f"{verb}_operation")
                return await act(operation_id, ANNA, self.world.context)
            except DomainError:
                return None

        self.do(ask(), crash_at)

    @rule(which=AWAY_FROM_THE_END, crash_at=POINTS)
    def take_away(self, which, crash_at):
        """An operator takes an operation from the worker that has it."""

        async def ask():
            with suppress(DomainError):
                await leases.break_lease(self.pick(which), ANNA, self.world.context)

        self.do(ask(), crash_at)

    @rule(which=AWAY_FROM_THE_END, deaths=st.lists(POINTS, min_size=1, max_size=4))
    def work(self, which, deaths):
        """Workers take messages, one behind another; one that dies has not acknowledged its own."""
        for death in deaths:
            messages = self.world.queue.messages
            if not messages:
                self.world.clock.advance(seconds=6)
                self.do(orders.deliver(self.world.context))
            if not messages:
                return
            message = messages.pop(which % len(messages))
            self.do(self.world.run(UUID(message)), death)
            if death is not None:
                # Delivered again, to one that lives or because the first had died.
                messages.append(message)

    @precondition(lambda self: self.world.queue.messages and not self.stalled)
    @rule(which=AWAY_FROM_THE_END)
    def stall(self, which):
        """A worker stops right before an effect, and its lease runs out meanwhile."""
        messages = self.world.queue.messages
        self.world.agent.may_go_on.clear()
        self.world.agent.has_stopped.clear()
        task = self.loop.create_task(self.world.run(UUID(messages.pop(which % len(messages)))))

        async def until_it_waits():
            stopped = asyncio.create_task(self.world.agent.has_stopped.wait())
            await asyncio.wait([stopped, task], return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()

        self.loop.run_until_complete(asyncio.wait_for(until_it_waits(), PATIENCE_S))
        self.world.clock.advance(seconds=30)
        if not task.done():
            self.stalled.append((task, self.world.agent.may_go_on))
        else:
            task.result()
        # Others are not held up.
        self.world.agent.may_go_on = asyncio.Event()
        self.world.agent.may_go_on.set()

    @precondition(lambda self: self.stalled)
    @rule()
    def go_on(self):
        """The worker that had stopped goes on as if nothing had happened."""
        task, gate = self.stalled.pop()
        gate.set()
        self.loop.run_until_complete(task)

    @precondition(lambda self: self.world.queue.messages)
    @rule(which=AWAY_FROM_THE_END)
    def lose(self, which):
        messages = self.world.queue.messages
        messages.pop(which % len(messages))

    @rule(seconds=st.integers(1, 30), crash_at=POINTS, is_away=st.booleans())
    def reconcile(self, seconds, crash_at, is_away):
        self.world.clock.advance(seconds=seconds)
        self.world.queue.is_away = is_away
        self.do(orders.deliver(self.world.context), crash_at)
        self.world.queue.is_away = False

    def pick(self, which):
        return self.ids[which % len(self.ids)]

    def teardown(self):
        try:
            if self.ids:
                self._settle()
        finally:
            for task, gate in self.stalled:
                gate.set()
                self.loop.run_until_complete(task)
            self.world.leave()

    def _settle(self):
        for operation_id in self.ids:
            # Who heard no answer asks again under the same key, within the plan's time.
            if operation_id in self.confirmed:
                self.do(self._confirm(operation_id))
        while self.stalled:
            self.go_on()
        self.loop.run_until_complete(self.world.settle())
        for operation_id in self.ids:
            self.loop.run_until_complete(self._end(operation_id))

    async def _end(self, operation_id):
        # Where a second person must agree, what is unknown is not tried again but planned again;
        # each story is to be followed to its end all the same.
        context = replace(self.world.context, second_person=SecondPerson.NONE)
        for _ in range(10):
            operation = await orders.describe_operation(operation_id, context)
            if operation.state is S.PAUSED:
                await orders.resume_operation(operation_id, ANNA, context)
            elif operation.state is S.UNKNOWN:
                await orders.retry_operation(operation_id, ANNA, context)
            else:
                break
            await self.world.settle()
        self._check(operation)

    def _check(self, operation):
        agent = self.world.agent
        effects = [agent.effects[f"operation {operation.id}/{s.position}"] for s in operation.steps]
        done = [step.state is StepState.DONE for step in operation.steps]
        assert max(effects) <= 1, "an effect came twice"
        assert effects == [int(one) for one in done], "the journal tells something else"
        for position, step in enumerate(operation.steps):
            if step.state is StepState.DONE:
                assert (step.before, step.after) == ({"total": position}, {"total": position + 1})
        assert (operation.state is S.DONE) == all(done)
        if operation.id not in self.confirmed:
            assert operation.state in {S.PLANNED, S.LAPSED, S.CANCELLED} or (
                # The answer to an accepted confirmation was lost.
                operation.confirmed_by == ANNA.name
            )
        elif operation.id not in self.cancelled:
            assert operation.state is S.DONE, "an operation was lost"
        else:
            assert operation.state in {S.DONE, S.PARTLY, S.CANCELLED}


class ReviewedMachine(Machine):
    """Stories in some of which nothing is carried out before a second person has approved it."""

    @initialize(step_count=st.integers(1, 3), second_person=st.sampled_from(SECOND_PERSONS))
    def begin(self, step_count, second_person):
        self.world.demand(second_person)
        super().begin(step_count)

    @precondition(lambda self: self.world.context.second_person is not SecondPerson.NONE)
    @rule(which=AWAY_FROM_THE_END, crash_at=POINTS)
    def approve(self, which, crash_at):
        operation_id = self.pick(which)

        async def own():
            """Who has confirmed it can't let it go on."""
            with suppress(DomainError):
                await self._approve(operation_id, ANNA)
                raise AssertionError("it was approved by whoever has confirmed it")

        self.do(own())
        self.do(self._approved(operation_id), crash_at)

    async def _approve(self, operation_id, author):
        return await approvals.approve_operation(
            operation_id,
            "seen",
            author,
            self.world.context,
            key=f"approve {operation_id}",
            kinds=self.world.kinds,
        )

    async def _approved(self, operation_id):
        with suppress(DomainError):
            await self._approve(operation_id, BELA)

    def _settle(self):
        for operation_id in self.ids:
            self.do(self._approved(operation_id))
        super()._settle()
