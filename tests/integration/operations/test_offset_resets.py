"""Resets of offsets: positions, clients, refusals after a part, clones and undos."""

import asyncio

import pytest

from backend.brokers.requests.offsets import UpdateConsumerOffset
from backend.domain.operation import ATTEMPTS_MAX
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import ChangeRefused, InvalidParameters, NotUndoable
from tests.integration.broker.client import Client, bodies
from tests.integration.operations.test_broker_kinds import consumed, put_group, put_topic
from tests.integration.operations.test_broker_plans import checks
from tests.waiting import PATIENCE_S, eventually


async def test_a_connected_consumer_learns_where_to_go_on(agents):
    await consumed(agents)
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")
    place = {"consumerGroup": "billing", "commitOffset": 10, "sysFlag": 7}
    waiting = client.start_pull("orders", queueOffset=10, **place)
    await eventually(lambda: len(agents.agent().polling))

    done = await agents.order(
        "reset_offsets",
        consumer_group_name="billing",
        topic_name="orders",
        position="offset",
        offset=3,
        queue_ids=[0],
        broker_groups=["broker-a"],
    )
    first = await asyncio.wait_for(waiting, PATIENCE_S)
    told = await client.pull("orders", queueOffset=10, **place) if first.code != 21 else first
    read = await client.pull("orders", queueOffset=3, **(place | {"commitOffset": 3}))

    assert done.state is S.DONE, done.outcome
    assert (done.plan.facts["mode"], done.plan.facts["members"]) == ("online", ["one"])
    [queue] = done.plan.facts["brokers"][0]["queues"]
    assert (queue["from"], queue["to"], queue["skipped"], queue["repeated"]) == (
        "10",
        "3",
        "0",
        "7",
    )
    assert (told.code, told.ext["nextBeginOffset"]) == (21, "3")
    assert bodies(read)[0] == b"3"
    await client.close()


async def test_a_reset_by_time_and_to_the_ends_finds_each_queue_its_place(agents):
    await consumed(agents)
    target = {
        "consumer_group_name": "billing",
        "topic_name": "orders",
        "broker_groups": ["broker-a"],
    }

    earliest = await agents.plan("reset_offsets", **target, position="earliest")
    latest = await agents.plan("reset_offsets", **target, position="latest")
    long_ago = await agents.plan("reset_offsets", **target, position="time", timestamp_ms=1)

    def of_first(planned):
        queue = planned.plan.facts["brokers"][0]["queues"][0]
        return queue["to"], queue["skipped"], queue["repeated"]

    assert of_first(earliest) == of_first(long_ago) == ("0", "0", "8")
    assert of_first(latest) == ("10", "2", "0")
    assert "2 messages skipped, 0 read again" in latest.plan.summary


async def test_an_offset_outside_and_a_mode_that_is_wrong_are_blocked(agents):
    await consumed(agents)
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")
    target = {
        "consumer_group_name": "billing",
        "topic_name": "orders",
        "broker_groups": ["broker-a"],
    }

    outside = await agents.plan(
        "reset_offsets", **target, position="offset", offset=11, queue_ids=[0]
    )
    offline = await agents.plan("reset_offsets", **target, position="latest", mode="offline")

    assert checks(outside)["the queues hold the offsets"] == (
        "block",
        "outside: broker-a queue 0 holds 0 to 10",
    )
    assert checks(offline)["consumers"][0] == "block"
    await client.close()


async def test_what_is_refused_between_two_offsets_is_unknown_and_taken_back(agents, monkeypatch):
    await consumed(agents)
    offsets = agents.agent().offsets
    offsets.commit("billing", "orders", queue_id=1, offset=0)
    target = {
        "consumer_group_name": "billing",
        "topic_name": "orders",
        "broker_groups": ["broker-a"],
    }
    planned = await agents.plan("reset_offsets", **target, position="earliest", queue_ids=[0, 1])
    await agents.confirm(planned)
    commit_offset = UpdateConsumerOffset.put

    async def refuse_the_second(request, brokers, address):
        if request.queue_id:
            raise ChangeRefused(address, "it is a replica")
        return await commit_offset(request, brokers, address)

    with monkeypatch.context() as deposing:
        deposing.setattr(UpdateConsumerOffset, "put", refuse_the_second)
        waiting = await agents.end(planned.id)
        for _ in range(ATTEMPTS_MAX):
            ended = await agents.end(planned.id)
    undone = await agents.undo(ended)

    assert (waiting.state, ended.state) == (S.QUEUED, S.UNKNOWN)
    assert "1 of 2 offsets are set" in ended.outcome
    assert undone.state is S.DONE, undone.outcome
    assert offsets.of_topic("billing", "orders") == {0: 8, 1: 0}


async def test_where_nothing_was_before_a_reset_is_not_undone(agents):
    await put_topic(agents)
    await put_group(agents)
    done = await agents.order(
        "reset_offsets", consumer_group_name="billing", topic_name="orders", position="latest"
    )

    assert done.state is S.DONE, done.outcome
    with pytest.raises(NotUndoable, match="no offset"):
        await agents.undo(done)


async def test_offsets_are_cloned_where_the_other_group_committed_and_taken_back(agents):
    await consumed(agents)
    clone = {"consumer_group_name": "audit", "topic_name": "orders", "broker_groups": ["broker-a"]}
    clone |= {"position": "group", "source_group": "billing"}
    offsets = agents.agent().offsets
    await agents.order("create_consumer_group", consumer_group_name="audit")

    done = await agents.order("reset_offsets", **clone)
    cloned = dict(offsets.of_topic("audit", "orders"))
    with pytest.raises(InvalidParameters) as nowhere:
        await agents.plan("reset_offsets", **(clone | {"source_group": "nobody"}))
    with pytest.raises(InvalidParameters) as itself:
        await agents.plan("reset_offsets", **(clone | {"source_group": "audit"}))
    offsets.commit("billing", "orders", queue_id=0, offset=3)
    again = await agents.order("reset_offsets", **clone)
    undone = await agents.undo(again)

    assert (done.state, again.state, undone.state) == (S.DONE, S.DONE, S.DONE)
    assert cloned == {0: 8}
    assert offsets.of_topic("audit", "orders") == {0: 8}
    assert "Consumer group audit goes on in orders where billing is" in done.plan.summary
    assert "nobody has committed no offset in orders" in str(nowhere.value)
    assert "copy its own offsets" in str(itself.value)
