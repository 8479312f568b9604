"""Kinds that change brokers, on real agents: read back, undone, crashed, stale, asked twice."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import select, update

from backend.db import topics as topic_rows
from backend.db.tables import brokers as broker_rows
from backend.domain.operation import OperationState as S
from backend.domain.operation_actions import Action
from backend.domain.operation_errors import NotUndoable, PreconditionMoved
from backend.operations.engine import following
from backend.operations.engine.engine import run_operation
from backend.operations.engine.following import find_following
from backend.remoting.bodies import SubscriptionGroupConfig, TopicConfig
from backend.services.topic import topics
from tests.integration.operations.agents import ANNA, CLUSTER, Agents
from tests.integration.operations.crashing import points
from tests.long_form import few
from tests.waiting import PATIENCE_S, eventually


@dataclass(frozen=True)
class Case:
    """One order of a kind: what stands before, what it makes of it, and what spoils its plan."""

    kind: str
    parameters: dict
    prepare: Callable[[Agents], Awaitable[None]]
    look: Callable[[Agents], object]
    before: object
    after: object
    spoil: Callable[[Agents], Awaitable[None]]
    moved: str
    is_undoable: bool = True

    @property
    def name(self) -> str:
        """Distinguish two orders of one kind."""
        return f"{self.kind}-only_empty" if self.parameters.get("only_empty") else self.kind


def topics_of(agents):
    found = {}
    for name, broker in agents.brokers.items():
        topic = broker.broker.topics.find("orders")
        found[name] = topic and (topic.read_queue_count, topic.write_queue_count, topic.permissions)
    return found


def groups_of(agents):
    found = {}
    for name, broker in agents.brokers.items():
        group = broker.broker.groups.find("billing")
        found[name] = group and (group.retry_count_max, group.consume_enabled)
    return found


def offsets_of(agents):
    return agents.agent().offsets.of_topic("billing", "orders")


def settings_of(agents):
    settings = agents.agent().settings
    return settings.file_reserved_hours, settings.long_polling


async def nothing(_agents):
    """Leave everything as it is."""


async def put_topic(agents, *names, count=4):
    for name in names or agents.brokers:
        topic = TopicConfig(name="orders", read_queue_count=count, write_queue_count=count)
        agents.agent(name).put_topic(topic)


async def put_group(agents, *names, retries=16):
    for name in names or agents.brokers:
        group = SubscriptionGroupConfig(name="billing", retry_count_max=retries)
        agents.agent(name).groups.put(group)


async def consumed(agents):
    await put_topic(agents)
    await put_group(agents)
    await agents.send("orders", 10)
    agents.agent().offsets.commit("billing", "orders", queue_id=0, offset=8)


async def grow(agents):
    await put_topic(agents, "broker-b", count=9)


async def regroup(agents):
    await put_group(agents, "broker-b", retries=1)


async def commit(agents):
    agents.agent().offsets.commit("billing", "orders", queue_id=0, offset=9)


async def reserve(agents):
    body = b"fileReservedTime=24\n"
    await agents.call(25, body=body)


TOPIC = {"topic_name": "orders"}
GROUP = {"consumer_group_name": "billing"}
BOTH = ("broker-a", "broker-b")
CASES = [
    Case(
        "create_topic",
        TOPIC | {"read_queue_count": 6, "write_queue_count": 5},
        nothing,
        topics_of,
        dict.fromkeys(BOTH),
        dict.fromkeys(BOTH, (6, 5, 6)),
        grow,
        "topic on broker-b",
    ),
    Case(
        "change_topic",
        TOPIC | {"write_queue_count": 8, "is_readable": False},
        put_topic,
        topics_of,
        dict.fromkeys(BOTH, (4, 4, 6)),
        dict.fromkeys(BOTH, (4, 8, 2)),
        grow,
        "topic on broker-b",
    ),
    Case(
        "delete_topic",
        TOPIC,
        put_topic,
        topics_of,
        dict.fromkeys(BOTH, (4, 4, 6)),
        dict.fromkeys(BOTH),
        grow,
        "topic on broker-b",
        is_undoable=False,
    ),
    Case(
        "delete_topic",
        TOPIC | {"only_empty": True},
        put_topic,
        topics_of,
        dict.fromkeys(BOTH, (4, 4, 6)),
        dict.fromkeys(BOTH),
        grow,
        "topic on broker-b",
        is_undoable=False,
    ),
    Case(
        "create_consumer_group",
        GROUP | {"retry_count_max": 3},
        nothing,
        groups_of,
        dict.fromkeys(BOTH),
        dict.fromkeys(BOTH, (3, True)),
        regroup,
        "group on broker-b",
    ),
    Case(
        "change_consumer_group",
        GROUP | {"retry_count_max": 3, "consume_enabled": False},
        put_group,
        groups_of,
        dict.fromkeys(BOTH, (16, True)),
        dict.fromkeys(BOTH, (3, False)),
        regroup,
        "group on broker-b",
    ),
    Case(
        "delete_consumer_group",
        GROUP,
        put_group,
        groups_of,
        dict.fromkeys(BOTH, (16, True)),
        dict.fromkeys(BOTH),
        regroup,
        "group on broker-b",
    ),
    Case(
        "change_broker_config",
        {
            "broker_group_name": "broker-a",
            "changes": [
                {"name": "fileReservedTime", "value": "48"},
                {"name": "longPollingEnable", "value": "FALSE"},
            ],
        },
        nothing,
        settings_of,
        (72, True),
        (48, False),
        reserve,
        "fileReservedTime",
    ),
    Case(
        "reset_offsets",
        TOPIC
        | {"consumer_group_name": "billing", "position": "offset", "offset": 3, "queue_ids": [0]}
        | {"broker_groups": ["broker-a"]},
        consumed,
        offsets_of,
        {0: 8},
        {0: 3},
        commit,
        "offset of broker-a queue 0",
    ),
]
every_kind = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
some_kinds = pytest.mark.parametrize("case", few(CASES, 4), ids=lambda case: case.name)
"""For what the engine does alike for each kind; `make soak SOAK=cases` has all of them."""


@every_kind
async def test_it_is_done_read_back_and_undone(agents, case):
    await case.prepare(agents)
    assert case.look(agents) == case.before

    done = await agents.order(case.kind, **case.parameters)

    assert (done.state, done.outcome) == (S.DONE, "read back as intended"), done
    assert case.look(agents) == case.after
    assert {check.verdict for check in done.plan.checks} <= {"pass", "warn"}
    assert all(step.before is not None or step.after is not None for step in done.steps)
    # Case B15: the label of the class follows the undo, and that is what an undo does.
    assert done.plan.is_reversible is case.is_undoable
    assert ("reversible" in done.plan.risk_label) is (case.is_undoable and done.plan.risk != "R3")
    assert (Action.UNDO in find_following(done, agents.context).actions) is case.is_undoable
    if not case.is_undoable:
        with pytest.raises(NotUndoable):
            await agents.undo(done)
        return
    back = await agents.undo(done)
    assert back.state is S.DONE, back.outcome
    assert case.look(agents) == case.before
    assert (await agents.look(done.id)).state is S.UNDONE


@some_kinds
async def test_a_stale_plan_is_refused_and_names_what_moved(agents, case):
    await case.prepare(agents)
    planned = await agents.plan(case.kind, **case.parameters)
    await case.spoil(agents)
    now = case.look(agents)

    with pytest.raises(PreconditionMoved) as refused:
        await agents.confirm(planned)

    assert refused.value.name == case.moved
    assert (await agents.look(planned.id)).state is S.LAPSED
    assert case.look(agents) == now


@some_kinds
async def test_what_moves_after_the_confirmation_stops_it(agents, case):
    await case.prepare(agents)
    planned = await agents.plan(case.kind, **case.parameters)
    await agents.confirm(planned)
    await case.spoil(agents)
    now = case.look(agents)

    failed = await agents.end(planned.id)

    assert (failed.state, case.moved in failed.outcome) == (S.FAILED, True), failed.outcome
    assert case.look(agents) == now


@some_kinds
async def test_one_key_has_one_effect(agents, case):
    await case.prepare(agents)
    first = await agents.plan(case.kind, key="k1", **case.parameters)
    again = await agents.plan(case.kind, key="k1", **case.parameters)
    for _ in range(2):
        await agents.confirm(first, key="k2")
    done = await agents.end(first.id)
    confirmed = await agents.confirm(first, key="k2")

    assert (again.id, confirmed.state) == (first.id, S.DONE)
    assert [step.attempt_count for step in done.steps] == [1] * len(done.steps)
    assert case.look(agents) == case.after


# Some kinds die once; all of them at both points are in `make soak SOAK=cases`.
POINTS = few(itertools.product(CASES, ("before the effect", "after the effect")), 3)
# Every other point is one of the engine, whose stories pass all of them; two kinds stand for all.
POINTS += [
    (case, name)
    for case in CASES
    for name in ("commit", "clock")
    if case.kind in {"change_topic", "reset_offsets"}
]


@pytest.mark.parametrize(("case", "name"), POINTS, ids=[f"{c.kind}-{n}" for c, n in POINTS])
async def test_a_worker_may_die_anywhere_and_it_is_done_once(agents, case, name):
    await case.prepare(agents)
    deaths = 0
    for passed in points(name):
        planned = await agents.plan(case.kind, **case.parameters)
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        if not lives:
            deaths += 1
        done = await agents.end(planned.id)

        assert done.state is S.DONE, (passed, done.outcome)
        assert case.look(agents) == case.after
        _check_values(done)
        if lives:
            break
        if case.is_undoable:
            assert (await agents.undo(done)).state is S.DONE
        else:
            await case.prepare(agents)
        assert case.look(agents) == case.before
    assert deaths > 0


def _check_values(done):
    """The journal has the values of the first attempt, from any answer."""
    for step in done.steps:
        assert step.before != step.after, step


async def test_a_worker_that_was_overtaken_changes_nothing_more(agents):
    planned = await agents.plan("create_topic", topic_name="orders", read_queue_count=2)
    await agents.confirm(planned)
    assert not await agents.run(planned.id, ("before the effect", 0))
    # The next one does all of it; then the first sends what it was about to.
    done = await agents.end(planned.id)
    stale = {
        "regentOperation": str(planned.id),
        "regentStep": f"operation {planned.id}/9",
        "regentFence": str(done.fence - 1),
    }
    fields = {"topic": "orders", "defaultTopic": "TBW102", "readQueueNums": 9}
    fields |= {"writeQueueNums": 9, "perm": 6, "topicFilterType": "SINGLE_TAG", "order": "false"}

    address = f"127.0.0.1:{agents.brokers['broker-a'].port}"
    texts = {name: str(value) for name, value in (fields | stale).items()}
    answer = await agents.client.request(address, 17, ext=texts)

    assert (answer.code, topics_of(agents)["broker-a"]) == (7001, (2, 8, 6))


async def test_a_worker_that_was_overtaken_takes_no_new_topic_out_of_the_routes(
    agents, monkeypatch
):
    forget, stalled, may_go_on = topics.forget_placements, asyncio.Event(), asyncio.Event()

    async def stall_once(*positional, **named):
        if not stalled.is_set():
            stalled.set()
            await may_go_on.wait()
        await forget(*positional, **named)

    async def are_recorded():
        async with agents.database.connect() as connection:
            return await topic_rows.list_groups_of(connection, CLUSTER, "orders") == [*BOTH]

    monkeypatch.setattr(topics, "forget_placements", stall_once)
    await put_topic(agents)
    await eventually(are_recorded)
    planned = await agents.plan("delete_topic", topic_name="orders")
    await agents.confirm(planned)
    agents.world.clock.advance(seconds=11)
    first = asyncio.create_task(run_operation(planned.id, agents.context))
    await asyncio.wait_for(stalled.wait(), PATIENCE_S)
    done = await agents.end(planned.id)
    await put_topic(agents)
    await eventually(are_recorded)

    may_go_on.set()

    assert (done.state, await first) == (S.DONE, None)
    assert await are_recorded()


async def test_an_undo_is_itself_an_operation_of_the_opposite_kind(agents):
    made = await agents.order("create_topic", topic_name="orders")

    back = await following.undo_operation(made.id, ANNA, agents.context)

    assert (back.kind, back.parameters["only_empty"]) == ("delete_topic", True)
    assert back.plan.loss is None


async def test_settings_are_taken_back_where_they_were_changed_even_under_another_master(agents):
    changes = [{"name": "fileReservedTime", "value": "48"}]
    done = await agents.order("change_broker_config", broker_group_name="broker-a", changes=changes)
    changed = done.plan.facts["address"]
    async with agents.database.begin() as connection:
        of_group = select(broker_rows.c.broker_group_id).where(broker_rows.c.address == changed)
        group_id = (await connection.execute(of_group)).scalar_one()
        former, heir = broker_rows.c.address == changed, broker_rows.c.address != changed
        await connection.execute(update(broker_rows).where(former).values(broker_id=1))
        await connection.execute(update(broker_rows).where(heir).values(broker_group_id=group_id))

    back = await agents.undo(done)

    assert (back.state, back.target) == (S.DONE, f"broker-a/{changed}"), back.outcome
    assert settings_of(agents) == (72, True)
