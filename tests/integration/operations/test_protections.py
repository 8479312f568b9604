"""Deletion protection blocks what deletes, makes plans void, and is lifted by an operation."""

import itertools

import pytest

from backend.db import protections
from backend.domain.errors import InvalidAddress, InvalidName
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable, PlanBlocked, PreconditionMoved
from backend.domain.plan import CheckVerdict, Risk
from backend.domain.protection import Resource, ResourceKind
from backend.remoting.bodies import SubscriptionGroupConfig, TopicConfig
from tests.integration.operations.agents import CLUSTER

TOPIC = ("topic", "orders", "delete_topic", {"topic_name": "orders"})
GROUP = ("consumer_group", "billing", "delete_consumer_group", {"consumer_group_name": "billing"})
every_resource = pytest.mark.parametrize(
    ("kind", "name", "deletion", "parameters"), [TOPIC, GROUP], ids=["topic", "consumer group"]
)


@pytest.fixture
def held(agents):
    for name in agents.brokers:
        agents.agent(name).put_topic(
            TopicConfig(name="orders", read_queue_count=4, write_queue_count=4)
        )
        agents.agent(name).groups.put(SubscriptionGroupConfig(name="billing"))
    return agents


def protect(kind, name, *, is_protected=True):
    return {"resource_kind": kind, "resource_name": name, "is_protected": is_protected}


async def find(agents, kind, name):
    async with agents.database.connect() as connection:
        return await protections.find(connection, Resource(CLUSTER, ResourceKind(kind), name))


def blocks(planned):
    return [one for one in planned.plan.checks if one.verdict is CheckVerdict.BLOCK]


@every_resource
async def test_a_protected_one_is_not_deleted_until_that_is_lifted(
    held, kind, name, deletion, parameters
):
    done = await held.order("change_protection", **protect(kind, name))
    blocked = await held.plan(deletion, **parameters)

    assert (done.state, done.plan.risk) == (S.DONE, Risk.SMALL)
    found = await find(held, kind, name)
    assert (found.protected_by, found.reason) == ("anna", "why")
    [check] = blocks(blocked)
    assert all(told in check.why for told in (name, "anna", "why", "unprotect"))
    with pytest.raises(PlanBlocked):
        await held.confirm(blocked)

    lifted = await held.order("change_protection", **protect(kind, name, is_protected=False))
    deleted = await held.order(deletion, **parameters)

    assert (lifted.state, lifted.plan.risk) == (S.DONE, Risk.SERVICE)
    assert await find(held, kind, name) is None
    assert deleted.state is S.DONE


@every_resource
async def test_protection_that_is_set_later_makes_a_plan_void(
    held, kind, name, deletion, parameters
):
    planned = await held.plan(deletion, **parameters)
    confirmed = await held.plan(deletion, **parameters)
    await held.confirm(confirmed)
    await held.order("change_protection", **protect(kind, name))

    with pytest.raises(PreconditionMoved) as refused:
        await held.confirm(planned)
    failed = await held.end(confirmed.id)

    assert refused.value.name == "deletion protection"
    assert (await held.look(planned.id)).state is S.LAPSED
    assert (failed.state, "deletion protection" in failed.outcome) == (S.FAILED, True)


@pytest.mark.parametrize("topic", ["%RETRY%billing", "%DLQ%billing"])
async def test_a_group_is_not_deleted_with_a_topic_that_belongs_to_it_and_is_protected(held, topic):
    held.agent().put_topic(TopicConfig(name=topic, read_queue_count=1, write_queue_count=1))
    stale = await held.plan("delete_consumer_group", consumer_group_name="billing", cleans_up=True)
    made = await held.order("change_protection", **protect("topic", topic))

    blocked = await held.plan(
        "delete_consumer_group", consumer_group_name="billing", cleans_up=True
    )
    kept = await held.plan("delete_consumer_group", consumer_group_name="billing")

    assert made.state is S.DONE
    assert any("delete_consumer_group" in told for told in made.plan.impact)
    [check] = blocks(blocked)
    assert f"topic {topic} is protected by anna" in check.why
    with pytest.raises(PlanBlocked):
        await held.confirm(blocked)
    with pytest.raises(PreconditionMoved):
        await held.confirm(stale)
    assert blocks(kept) == []


async def test_it_is_undone_both_ways_and_holds_for_what_is_not_there(agents):
    made = await agents.order("change_protection", **protect("topic", "to-come"))

    [warned] = [one for one in made.plan.checks if one.name == "it is there"]
    assert warned.verdict is CheckVerdict.WARN
    lifted = await agents.undo(made)
    assert (lifted.state, await find(agents, "topic", "to-come")) == (S.DONE, None)
    again = await agents.undo(lifted)
    assert again.state is S.DONE
    assert await find(agents, "topic", "to-come") is not None


async def test_what_changed_nothing_is_not_undone_and_keeps_who_was_first(agents):
    await agents.order("change_protection", **protect("topic", "orders"))
    before = await find(agents, "topic", "orders")

    twice = await agents.order("change_protection", **protect("topic", "orders"))

    assert await find(agents, "topic", "orders") == before
    with pytest.raises(NotUndoable):
        await agents.undo(twice)


async def test_a_worker_may_die_anywhere_and_it_is_set_once(agents):
    for passed in itertools.count():
        planned = await agents.plan("change_protection", **protect("broker", "a/127.0.0.1:1"))
        await agents.confirm(planned)
        lives = await agents.run(planned.id, ("commit", passed))
        done = await agents.end(planned.id)

        assert done.state is S.DONE, (passed, done.outcome)
        assert (done.steps[0].before, done.steps[0].after["protected_by"]) == (None, "anna")
        if lives:
            break
        assert (await agents.undo(done)).state is S.DONE
    assert passed > 3


@pytest.mark.parametrize(
    ("kind", "name", "refusal"),
    [
        ("topic", "TBW102", InvalidName),
        ("consumer_group", "a b", InvalidName),
        ("broker", "broker-a", InvalidAddress),
        ("broker", "/127.0.0.1:1", InvalidName),
    ],
)
async def test_what_can_not_be_called_so_is_refused(agents, kind, name, refusal):
    with pytest.raises(refusal):
        await agents.plan("change_protection", **protect(kind, name))
