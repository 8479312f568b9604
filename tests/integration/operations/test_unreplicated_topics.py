"""A topic that is not replicated: what its plans say and refuse."""

from backend.brokers.requests.properties import IsStock
from backend.db import topics as topic_rows
from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.operation import OperationState as S
from backend.domain.plan import CheckVerdict
from backend.rules.attributes import REPLICATE
from tests.integration.operations.test_broker_plans import checks
from tests.waiting import eventually

LOSS, KNOWN = "messages survive a change of the master", "brokers know replicate"
NEW = {"topic_name": "scores", "is_replicated": False}


async def test_a_topic_is_created_with_a_warning_of_what_is_lost(agents):
    planned = await agents.plan("create_topic", **NEW)

    found = checks(planned)
    assert found[LOSS][0] == CheckVerdict.WARN
    assert "all messages of the topic in that broker group are lost" in found[LOSS][1]
    assert found[KNOWN][0] == CheckVerdict.PASS
    assert "replicate=false" in planned.plan.changes[0].after
    made = await agents.order("create_topic", **NEW)
    assert made.state is S.DONE, made.outcome
    assert agents.agent().topics.find("scores").attributes == {REPLICATE: "false"}

    async def are_shown():
        async with agents.database.connect() as connection:
            [topic] = await topic_rows.list_of_name(connection, "scores", within=EVERYWHERE) or [
                None
            ]
            held = topic and (await topic_rows.list_placements(connection, [topic.id]))[topic.id]
        return [one.settings.is_replicated for one in held or ()] == [False, False]

    await eventually(are_shown)


async def test_a_replicated_topic_has_no_attribute_and_no_check(agents):
    made = await agents.order("create_topic", topic_name="orders")

    assert agents.agent().topics.find("orders").attributes == {}
    assert {LOSS, KNOWN}.isdisjoint(checks(made))


async def test_members_can_not_share_it_and_it_takes_no_message_for_a_time(agents):
    shared = await agents.plan("create_topic", **NEW, share_mode="SHARED")
    late = await agents.plan("create_topic", **NEW, message_type="DELAY")

    assert checks(shared)["owners of its share queues"][0] == CheckVerdict.BLOCK
    assert late.plan.block.name == "type of its messages"


async def test_it_stays_as_it_is_and_does_not_become_static(agents):
    await agents.order("create_topic", **NEW)

    shared = await agents.plan("change_topic", topic_name="scores", share_mode="SHARED")
    static = await agents.plan("convert_topic", topic_name="scores")
    grown = await agents.order("change_topic", topic_name="scores", write_queue_count=9)

    assert checks(shared)["owners of its share queues"][0] == CheckVerdict.BLOCK
    assert static.plan.block.name == "replication of its messages"
    assert (grown.state, agents.agent().topics.find("scores").attributes) == (
        S.DONE,
        {REPLICATE: "false"},
    )


async def test_a_broker_of_rocketmq_can_not_have_it(agents, monkeypatch):
    monkeypatch.setattr(IsStock, "read", lambda _self, _response: True)

    planned = await agents.plan("create_topic", **NEW)

    verdict, why = checks(planned)[KNOWN]
    assert verdict == CheckVerdict.BLOCK
    assert "broker-a-0, broker-b-0 are of RocketMQ" in why
