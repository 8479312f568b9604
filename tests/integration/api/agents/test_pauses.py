"""Why a queue is paused, in a sentence, over both doors, from the reports of a living agent."""

import pytest

from tests.integration.api.agents.conftest import CLUSTER, GROUP, until

PAUSES = f"/clusters/{CLUSTER}/topics/orders/pauses"


@pytest.fixture
def why(get):
    async def ask(queue_id=0, group="billing"):
        found = await get(PAUSES, consumer_group_name=group, queue_id=queue_id)
        [one] = found["queues"]
        return one

    return ask


async def test_without_a_member_no_queue_is_read(broker, why, ask):
    assert broker is not None
    found = await why()
    query = f"""{{ queueExplanations(clusterName: "{CLUSTER}", topicName: "orders",
      consumerGroupName: "billing", queueId: 0) {{ cause isPaused sentence evidence }} }}"""
    [graph] = (await ask(query))["queueExplanations"]

    assert (found["cause"], found["is_paused"], found["lag"]) == ("no_member", True, 1)
    assert found["sentence"] == (
        f"orders/0 on {GROUP} is not read: billing has no member there; 1 messages wait."
    )
    assert "members: none" in found["evidence"]
    assert (graph["cause"], graph["sentence"]) == ("NO_MEMBER", found["sentence"])


async def test_a_lock_of_a_gone_client_is_the_reason(broker, why):
    await broker.member("waits")
    holder = await broker.member("dead")
    await broker.lock(holder, "dead", 0)
    await holder.close()

    async def is_gone():
        return (await why())["cause"] == "holder_gone"

    await until(is_gone, "the holder is not missed")
    found = await why()
    assert "is locked by dead for billing, which is not connected any more" in found["sentence"]
    other = await why(1)
    assert (other["cause"], other["is_paused"]) == ("nothing_to_do", False)


async def test_who_advances_is_not_paused_and_who_has_read_all_has_nothing_to_do(broker, why):
    await broker.send(3)
    reader = await broker.member("c1")
    await reader.pull("orders", consumerGroup="billing")
    await broker.commit(1)
    await broker.commit(2)

    reading = await why()
    await broker.commit(4)
    done = await why()

    assert (reading["cause"], reading["is_paused"], reading["lag"]) == ("being_read", False, 2)
    assert (done["cause"], done["is_paused"], done["lag"]) == ("nothing_to_do", False, 0)


async def test_permissions_and_subscriptions_are_causes_of_a_pause(broker, why):
    await broker.member("c1", "other")
    elsewhere = await why()
    await broker.client.call(25, body=b"brokerPermission=2\n")
    closed = await why()
    beyond = await why(9)

    assert elsewhere["cause"] == "not_subscribed"
    assert "subscribe to other, not to orders" in elsewhere["sentence"]
    assert closed["cause"] == "not_readable"
    assert "brokerPermission=2" in closed["sentence"]
    assert beyond["cause"] == "not_readable"


async def test_a_broker_that_is_gone_is_named(broker, why):
    broker.agent.kill()

    async def is_missed():
        return (await why())["cause"] == "no_master"

    await until(is_missed, "the broker is not missed")


async def test_a_silent_broker_is_not_taken_for_an_idle_one(broker, get, register):
    assert broker is not None
    await register(CLUSTER, "mute", 0, topics=["orders"], address="127.0.0.1:1")

    found = await get(PAUSES, consumer_group_name="billing", queue_id=0)
    only = await get(PAUSES, consumer_group_name="billing", queue_id=0, broker_group_name="mute")

    assert [one["cause"] for one in found["queues"]] == ["no_member", "broker_silent"]
    assert [one["is_paused"] for one in only["queues"]] == [True]
    assert "does not answer" in only["queues"][0]["sentence"]


async def test_unknown_topics_are_not_found(broker, get):
    assert broker is not None

    told = await get(
        f"/clusters/{CLUSTER}/topics/nothing/pauses", status=404, consumer_group_name="billing"
    )

    assert told["code"] == "topic_not_found"
