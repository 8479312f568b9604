"""Operations that an earlier version planned and wrote are shown, carried on and undone.

`earlier_plans.json` holds rows of the version before plans kept their actions. `{broker-a}` stands
for the address of that agent.
"""

import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from backend.db import operations
from backend.domain.operation import Confirmation, StepState, new_operation
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import Plan
from backend.operations.engine import following, journal, orders
from backend.operations.engine.earlier_plans import facts_of
from backend.operations.engine.engine import run_operation
from backend.operations.engine.known_kinds import KINDS
from backend.operations.engine.steps import read_actions
from backend.remoting.bodies import TopicConfig
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.integration.operations.crashing import NOON
from tests.integration.operations.test_broker_kinds import consumed, some_kinds
from tests.integration.operations.test_lock_kinds import CORDON
from tests.integration.services.controller_driver import ControllerDriver

ROWS = json.loads(Path(__file__).with_name("earlier_plans.json").read_text())


def written(name, addresses):
    """The operation of a row, with the addresses of the agents that run now."""
    text = json.dumps(ROWS[name])
    for agent, address in addresses.items():
        text = text.replace(f"{{{agent}}}", address)
    row = json.loads(text)
    plan = row.pop("plan")
    assert all("action" not in step for step in plan["steps"])
    return row, msgspec.convert(plan, Plan)


async def insert(agents, name, context=None):
    """Write an operation as the earlier version has, and confirm it."""
    context = context or agents.context
    ports = {one: broker.port for one, broker in agents.brokers.items()}
    row, plan = written(name, {one: f"127.0.0.1:{port}" for one, port in ports.items()})
    planned = new_operation(
        uuid4(),
        row["kind"],
        plan,
        cluster_name=CLUSTER,
        target=row["target"],
        parameters=row["parameters"],
        requested_by="anna",
        at=agents.world.clock.now(),
    )
    async with agents.database.begin() as connection:
        await operations.add(connection, planned)
        await journal.enter_plan(connection, planned, ANNA, clock=agents.world.clock)
    given = Confirmation(planned.target, "why", accepts_loss=True)
    return await orders.confirm_operation(planned.id, given, ANNA, context)


@some_kinds
async def test_it_is_listed_resumed_where_its_worker_died_and_undone(agents, case):
    await case.prepare(agents)
    confirmed = await insert(agents, case.name)
    assert confirmed.state is S.QUEUED
    assert not await agents.run(confirmed.id, ("after the effect", 0))
    assert (await agents.look(confirmed.id)).steps[0].state is StepState.RUNNING

    done = await agents.end(confirmed.id)

    assert (done.state, done.outcome) == (S.DONE, "read back as intended"), done
    assert case.look(agents) == case.after
    if not case.is_undoable:
        with pytest.raises(NotUndoable):
            await agents.undo(done)
        return
    back = await agents.undo(done)
    assert back.state is S.DONE, back.outcome
    assert case.look(agents) == case.before


async def test_brokers_are_cordoned_and_drained_and_have_their_right_again(agents):
    await consumed(agents)
    agent = agents.agent()
    for name in ("cordon_broker", "drain_broker"):
        agent.offsets.commit("billing", "orders", queue_id=0, offset=10)
        confirmed = await insert(agents, name)
        done = await agents.finish(confirmed.id)
        assert (done.state, agent.settings.permissions) == (S.DONE, 4), done
        back = await following.undo_operation(done.id, ANNA, agents.context)
        assert back.parameters | CORDON == back.parameters
        await agents.confirm(back)
        assert (await agents.end(back.id)).state is S.DONE
        assert agent.settings.permissions == 6


async def test_a_protection_is_set_and_lifted(agents):
    confirmed = await insert(agents, "change_protection")

    done = await agents.end(confirmed.id)

    assert done.state is S.DONE, done
    assert (await agents.undo(done)).parameters["is_protected"] is False


async def test_a_group_goes_with_what_is_kept_for_it(agents):
    await consumed(agents)
    for name in agents.brokers:
        letters = TopicConfig(name="%DLQ%billing", read_queue_count=1, write_queue_count=1)
        agents.agent(name).put_topic(letters)
    confirmed = await insert(agents, "delete_consumer_group-cleans_up")

    done = await agents.end(confirmed.id)

    assert (done.state, len(done.steps)) == (S.DONE, len(done.plan.steps)), done
    assert agents.agent().topics.find("%DLQ%billing") is None
    assert (await agents.undo(done)).kind == "create_consumer_group"


async def test_an_election_is_held_and_taken_back(agents, monkeypatch):
    monkeypatch.setattr("backend.operations.actions.replica_groups.FOLLOW_PATIENCE_S", 0)
    driver = ControllerDriver(agents.database)
    for broker_id in (1, 2, 3):
        await driver.apply(broker_id)
    driver.hear(1, 2, 3, epoch=1, max_offset=900)
    await driver.elect(1)
    await driver.alter({1, 2, 3}, epoch=1)
    context = replace(agents.context, controller=driver.controller)
    confirmed = await insert(agents, "elect_master", context)
    driver.hear(1, 2, 3, epoch=2, max_offset=900)

    await run_operation(confirmed.id, context)

    done = await agents.look(confirmed.id)
    assert (done.state, (await driver.group()).master_id) == (S.DONE, 2), done
    back = await following.undo_operation(done.id, ANNA, context)
    assert (back.kind, back.parameters["broker_id"]) == ("elect_master", 1)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_its_actions_have_the_names_and_titles_of_its_steps(name):
    addresses = {one: f"{{{one}}}" for one in ("broker-a", "broker-b")}
    row, plan = written(name, addresses)
    operation = new_operation(
        uuid4(),
        row["kind"],
        plan,
        cluster_name=CLUSTER,
        target=row["target"],
        parameters=row["parameters"],
        requested_by="anna",
        at=NOON,
    )

    actions = read_actions(operation, KINDS[row["kind"]])

    assert [one.step for one in actions] == [*plan.steps]


@pytest.mark.parametrize(
    ("name", "written_as", "read_as"),
    [
        ("prefer_master", ("preferred master", "nobody"), ("preferred master", "none")),
        ("reset_offsets", ("consumers are told", "no"), ("consumers are notified", "no")),
    ],
)
def test_a_fact_is_read_under_its_present_name(name, written_as, read_as):
    row, plan = written(name, {})
    operation = new_operation(
        uuid4(),
        row["kind"],
        plan,
        cluster_name=CLUSTER,
        target=row["target"],
        parameters=row["parameters"],
        requested_by="anna",
        at=NOON,
    )

    facts = {(one.name, one.value) for one in facts_of(operation)}

    assert written_as in {(one.name, one.value) for one in plan.preconditions}
    assert (read_as in facts, written_as in facts) == (True, False)
