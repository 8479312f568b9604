"""A living agent is cordoned, drained and forgotten: what routes, consumers and records show."""

import asyncio

import pytest
from sqlalchemy import update

from backend.db import protections, topic_notices
from backend.db.operation_tables import operations
from backend.domain.logical_queue.route import StaticCount
from backend.domain.protection import Protection, broker_resource
from backend.services.topic.static_counts import list_counts, record_counts
from tests.integration.api.agents.conftest import CLUSTER, GROUP, until
from tests.integration.api.ordering import OPS
from tests.waiting import PATIENCE_S

BROKER = {"cluster_name": CLUSTER, "broker_group_name": GROUP}
NAME = {"typed_name": f"{GROUP}-0", "reason": "disk to be replaced"}


@pytest.fixture
def is_writable(get):
    async def look(topic="orders"):
        found = await get(f"/clusters/{CLUSTER}/topics/{topic}")
        return [one["writable"] for one in found["placements"]] == [True]

    return look


@pytest.fixture
def finish(go_on):
    """Look at an operation until it waits no more."""

    async def wait(operation):
        ended = operation

        async def has_ended():
            nonlocal ended
            ended = await go_on(operation)
            return ended["state"] not in {"queued", "running"}

        await until(has_ended, lambda: ended)
        return ended

    return wait


async def test_a_cordoned_broker_takes_no_producers_and_is_given_them_back(
    broker, order, finish, act, is_writable, go_on
):
    begun = await order("cordon_broker", NAME, **BROKER)
    ended = await finish(begun)

    assert ended["state"] == "done", ended["outcome"]
    assert not await is_writable()
    step = ended["steps"][0]
    assert (step["before"], step["after"]) == ({"permission": 6}, {"permission": 4})
    assert (await broker.client.pull("orders")).code == 0
    only = next(c for c in ended["plan"]["checks"] if c["name"] == "queues to write elsewhere")
    assert (only["verdict"], "orders" in only["why"]) == ("warn", True)

    back = await act(ended, "undo", status=201)
    assert (back["kind"], back["parameters"]["address"]) == ("uncordon_broker", broker.address)
    await act(back, "confirm", {})
    assert (await go_on(back))["state"] == "done"
    await until(is_writable, "routes do not send producers back")
    assert (await go_on(ended))["state"] == "undone"


async def test_what_moved_voids_a_plan_and_one_key_has_one_effect(broker, plan, act):
    planned = await plan("cordon_broker", key="k", **BROKER)
    again = await plan("cordon_broker", key="k", **BROKER)
    other = await plan("uncordon_broker", 422, key="k", **BROKER)
    await broker.client.call(25, body=b"brokerPermission=4\n")

    told = await act(planned, "confirm", NAME, status=412)

    assert again["id"] == planned["id"]
    assert other["code"] == "idempotency_key_reused"
    assert told["facts"] == {
        "precondition": "permission",
        "expected": "6 (read and write)",
        "found": "4 (read)",
    }


async def test_a_broker_that_does_not_answer_is_not_cordoned(plan, act, register):
    await register(CLUSTER, "mute", 0, address="127.0.0.1:1")
    planned = await plan("cordon_broker", **{**BROKER, "broker_group_name": "mute"})

    given = {"typed_name": "mute-0", "reason": "why"}
    told = await act(planned, "confirm", given, status=409)

    assert planned["plan"]["changes"][0]["before"] == "unknown"
    assert told["code"] == "plan_blocked"


@pytest.mark.parametrize(
    ("kind", "parameters", "code"),
    [
        ("cordon_broker", {"broker_group_name": "nothing"}, "broker_unknown"),
        ("drain_broker", {"broker_id": 7}, "broker_unknown"),
        ("forget_broker", {"address": "127.0.0.1:2"}, "broker_unknown"),
        ("cordon_broker", {"address": "no address"}, "invalid_address"),
        ("cordon_broker", {"broker_group_name": "a/b"}, "invalid_name"),
        ("drain_broker", {"waived_groups": [""]}, "invalid_parameters"),
        ("drain_broker", {"waived_groups": "g"}, "invalid_parameters"),
        ("cordon_broker", {"waived_groups": []}, "invalid_parameters"),
    ],
)
async def test_what_is_not_there_or_malformed_is_refused(register, plan, kind, parameters, code):
    await register(CLUSTER, GROUP, 0)
    status = 404 if code == "broker_unknown" else 400

    told = await plan(kind, status, **{**BROKER, **parameters})

    assert told["code"] == code


async def test_a_drain_waits_for_consumers_shows_how_far_they_are_and_can_be_paused(
    broker, order, go_on, finish, act, get
):
    await broker.member("c1")
    await broker.send(4)
    await broker.commit(2)

    begun = await order("drain_broker", NAME, **BROKER)

    async def waits():
        nonlocal begun
        begun = await go_on(begun)
        return begun["steps"][-1]["state"] == "waiting"

    await until(waits, "it does not wait for its consumers")
    assert begun["steps"][-1]["error"] == "billing has 3 to read"
    assert begun["steps"][-1]["after"]["groups"] == {"billing": 3}
    assert (await act(begun, "pause"))["state"] == "paused"
    await broker.commit(4)
    assert (await act(begun, "resume"))["state"] == "queued"
    nearer = await go_on(begun)
    assert (nearer["state"], nearer["steps"][-1]["after"]["unread_count"]) == ("queued", 1)
    await broker.commit(5)
    ended = await finish(begun)

    assert ended["state"] == "done", ended["outcome"]
    assert ended["steps"][-1]["after"]["unread_count"] == 0
    entries = (await get("/audit", operation_id=ended["id"], limit=100))["items"]
    actions = [entry["action"] for entry in entries]
    assert actions.count("step.waiting") <= 2
    assert actions.count("step.done") == 3
    assert len(actions) < 16


async def test_a_drain_that_is_cancelled_can_be_taken_back(broker, order, go_on, act, is_writable):
    await broker.member("c1")
    await broker.commit(0)
    begun = await order("drain_broker", NAME, **BROKER)

    async def waits():
        nonlocal begun
        begun = await go_on(begun)
        return begun["steps"][-1]["state"] == "waiting"

    await until(waits, "it does not wait for its consumers")
    cancelled = await act(begun, "cancel")
    back = await act(cancelled, "undo", status=201)
    await act(back, "confirm", {})
    await go_on(back)

    assert (cancelled["state"], cancelled["outcome"]) == ("partly", "cancelled after 2 of 3 steps")
    await until(is_writable, "routes do not send producers back")
    assert (await go_on(cancelled))["state"] == "undone"


async def test_groups_that_are_waived_are_not_waited_for(broker, order, finish, plan):
    reader = await broker.member("c1")
    await broker.commit(0)
    await reader.close()
    planned = await plan("drain_broker", **BROKER)

    ended = await finish(await order("drain_broker", NAME, waived_groups=["billing"], **BROKER))

    why = {check["name"]: check["why"] for check in planned["plan"]["checks"]}
    assert "no consumer reads for billing" in why["consumers"]
    assert ended["state"] == "done", ended["outcome"]
    assert ended["read_back"][-1] == {
        "what": "messages that are still to be read",
        "intended": "0",
        "observed": "0",
        "agreement": "agrees",
    }


async def test_a_dead_broker_is_forgotten_and_comes_back_by_registering(
    broker, plan, act, go_on, get, database, context, client
):
    alive = await plan("forget_broker", **BROKER)
    loss = {**NAME, "accepts_loss": True}
    blocked = await act(alive, "confirm", loss, status=409)
    path = f"/clusters/{CLUSTER}/brokers"
    broker.agent.kill()

    async def is_missed():
        return [one["state"] for one in (await get(path))["items"]] == ["offline"]

    await until(is_missed, "the broker is not missed")
    planned = await plan("forget_broker", **BROKER)
    await act(planned, "confirm", NAME, status=422)
    await act(planned, "confirm", loss)
    async with database.begin() as connection:
        await connection.execute(update(operations).values(not_before=context.clock.now()))
    # A static topic: name servers keep the mapping of a group that is only down (L61).
    await record_counts([StaticCount("orders", "__global__", 5, 1)], database=database)
    async with topic_notices.listen(database) as notices, asyncio.timeout(PATIENCE_S):
        ended = await go_on(planned)
        notice = await anext(notices)

    assert blocked["code"] == "plan_blocked"
    assert planned["plan"]["risk"] == "R3"
    assert ended["state"] == "done", ended["outcome"]
    assert notice == topic_notices.TopicNotice(CLUSTER, "orders", [GROUP])
    assert await list_counts(database=database) == []
    assert (await get(path))["items"] == []
    assert (await get(f"/clusters/{CLUSTER}/topics", search="orders"))["items"] == []
    assert (await act(ended, "undo", status=409))["code"] == "not_undoable"
    await broker.agent.start()

    async def is_back():
        found = await client.get(f"/api/v1/clusters/{CLUSTER}/topics/orders")
        return found.status_code == 200 and found.json()["placements"]

    await until(is_back, "the broker did not come back")
    assert [one["state"] for one in (await get(path))["items"]] == ["online"]


async def test_a_protected_broker_is_not_forgotten_by_id_or_address(
    broker, plan, database, context
):
    resource = broker_resource(CLUSTER, GROUP, broker.address)
    async with database.begin() as connection:
        await protections.add(connection, Protection(resource, "anna", context.clock.now(), None))

    for meant in ({}, {"address": broker.address}):
        planned = await plan("forget_broker", **BROKER, **meant)
        told = {one["name"]: one["verdict"] for one in planned["plan"]["checks"]}
        assert told["no protection"] == "block"


async def test_a_broker_that_came_back_meanwhile_is_not_forgotten(
    broker, plan, act, go_on, get, client
):
    broker.agent.kill()

    async def is_missed():
        items = (await get(f"/clusters/{CLUSTER}/brokers"))["items"]
        return [one["state"] for one in items] == ["offline"]

    await until(is_missed, "the broker is not missed")
    planned = await plan("forget_broker", **BROKER)
    await act(planned, "confirm", {**NAME, "accepts_loss": True})
    again = await broker.agent.start()
    again.writer.close()

    async def is_back():
        items = (await get(f"/clusters/{CLUSTER}/brokers"))["items"]
        return [one["state"] for one in items] == ["online"]

    await until(is_back, "the broker did not come back")
    ended = await go_on(planned)

    assert ended["state"] == "failed"
    assert (await client.get(f"{OPS}/{planned['id']}")).json()["steps"][0]["state"] == "pending"
