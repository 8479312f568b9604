"""Held pulls are run again as if they had just come: what changed meanwhile counts."""

import asyncio

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import HELD_MS, bodies
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.broker.test_pulling import SUBSCRIPTION, SUSPEND, holding
from tests.waiting import PATIENCE_S
from workers.broker.session import BrokerSession

HOLDING = {"queueOffset": 1, "sysFlag": SUSPEND | SUBSCRIPTION}
PUSHING = {"queueOffset": 1, "sysFlag": SUSPEND, "subscription": None, "subVersion": 1}


async def forbid_the_group(client):
    body = java_json.encode({"groupName": "g", "consumeEnable": False})
    return await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)


async def delete_the_group(client):
    body = b"autoCreateSubscriptionGroup=false\n"
    await client.call(RequestCode.UPDATE_BROKER_CONFIG, body=body)
    return await client.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"})


async def make_the_topic_unreadable(client):
    fields = create_fields("T", perm=2)
    return await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)


async def read_fewer_queues(client):
    fields = create_fields("T", readQueueNums=3)
    return await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)


async def make_the_broker_unreadable(client):
    return await client.call(RequestCode.UPDATE_BROKER_CONFIG, body=b"brokerPermission=2\n")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (forbid_the_group, 16),
        (delete_the_group, 26),
        (make_the_topic_unreadable, 16),
        (read_fewer_queues, 29),
        (make_the_broker_unreadable, 16),
    ],
)
async def test_a_held_pull_that_may_no_longer_read_is_refused_as_a_new_one(
    client, broker, change, code
):
    await client.send("T", b"before", queue_id=3)
    pull = client.start_pull("T", queueId=3, **HOLDING)
    await holding(broker, 1)
    assert (await change(client)).code == 0

    await client.send("T", b"after", queue_id=3)

    woken = await asyncio.wait_for(pull, PATIENCE_S / 2)
    fresh = await client.pull("T", queueId=3, queueOffset=1)
    assert (woken.code, woken.body) == (fresh.code, fresh.body) == (code, b"")
    assert woken.remark == fresh.remark


async def test_a_held_pull_of_a_topic_that_is_deleted_hears_that_it_is_unknown(client, broker):
    await client.send("T", b"x")
    pull = client.start_pull("T", **HOLDING)
    await holding(broker, 1)

    broker.broker.remove_topic("T")

    assert (await pull).code == 17


async def test_a_held_pull_whose_group_may_not_read_is_refused_when_its_time_is_over(
    client, broker
):
    await client.send("T", b"x")
    pull = client.start_pull("T", **HOLDING)
    await holding(broker, 1)

    await forbid_the_group(client)
    # Its time is over now, however long that took.
    assert broker.broker.hot.expire_pulls(broker.broker.elapsed_ms() + 2 * HELD_MS)
    broker.broker.polling.take_turns()

    assert (await pull).code == 16


@pytest.mark.parametrize("is_granted", [False, True])
@pytest.mark.parametrize("change", ["none", "another message", "another topic"])
async def test_a_pull_that_waited_is_answered_as_one_that_did_not(
    client, broker, is_granted, change
):
    await client.send("T", b"first")
    if is_granted:
        await client.pull("T", sysFlag=SUSPEND | SUBSCRIPTION)
    pull = client.start_pull("T", suspendTimeoutMillis=300, **HOLDING)
    await holding(broker, 1)
    if change == "another message":
        await client.send("T", b"second", properties={"TAGS": "A"})
    elif change == "another topic":
        # That changes what the grant rests on.
        await client.send("U", b"elsewhere")

    waited = await pull
    fresh = await client.pull("T", **HOLDING | {"sysFlag": SUBSCRIPTION})

    facts = [(one.code, one.remark, one.ext, one.body) for one in (waited, fresh)]
    assert facts[0] == facts[1]
    assert waited.code == (0 if change == "another message" else 19)


async def test_a_pull_that_finds_no_room_to_wait_hears_that_the_broker_is_busy(client, monkeypatch):
    await client.send("T", b"x")
    monkeypatch.setattr(BrokerSession, "park", lambda *_, **__: False)

    refused = await client.pull("T", **HOLDING)

    assert (refused.code, "OVERLOAD" in refused.remark) == (2, True)


async def test_a_consumer_that_subscribes_to_more_misses_no_message_by_its_held_pull(
    subscribed, broker
):
    pull = subscribed.start_pull("T", **PUSHING)
    await holding(broker, 1)

    await subscribe(subscribed, "A || B", version=2)

    released = await asyncio.wait_for(pull, PATIENCE_S / 2)
    assert (released.code, released.ext["nextBeginOffset"]) == (19, "1")
    await subscribed.send("T", b"b", properties={"TAGS": "B"})
    assert bodies(await subscribed.pull("T", **PUSHING | {"subVersion": 2})) == [b"b"]


async def test_the_held_pulls_of_every_member_go_by_what_one_subscribes_to(
    subscribed, broker, connect
):
    pulls = [subscribed.start_pull("T", queueId=3, **PUSHING | {"queueOffset": 0})]
    pulls.append(subscribed.start_pull("T", **HOLDING))
    await holding(broker, 2)

    other = await connect(broker)
    await subscribe(other, "B", version=2, client_id="c2")

    answers = await asyncio.wait_for(asyncio.gather(*pulls), PATIENCE_S / 2)
    assert [one.code for one in answers] == [19, 19]


async def test_a_heartbeat_that_changes_nothing_leaves_pulls_held_and_so_do_other_groups(
    subscribed, broker
):
    subscribed.start_pull("T", **PUSHING)
    await holding(broker, 1)

    await subscribe(subscribed, "A", version=1)
    await subscribe(subscribed, "B", version=9, group="h")
    await subscribe(subscribed, "B", version=9, topic="U")

    assert len(broker.broker.polling) == 1


async def test_a_message_that_only_the_new_subscription_wants_is_never_passed_by(
    subscribed, broker, monkeypatch
):
    pull = subscribed.start_pull("T", **PUSHING)
    await holding(broker, 1)
    # As when the pull is held again just then, since its client is slow to read.
    monkeypatch.setattr(broker.broker.polling, "release_group", lambda *_: None)
    await subscribe(subscribed, "A || B", version=2)
    assert not pull.done()

    await subscribed.send("T", b"b", properties={"TAGS": "B"})

    woken = await pull
    assert (woken.code, woken.ext["nextBeginOffset"], woken.body) == (19, "1", b"")


async def test_a_held_pull_of_a_group_that_has_left_wants_a_heartbeat_first(subscribed, broker):
    pull = subscribed.start_pull("T", **PUSHING)
    await holding(broker, 1)
    fields = {"clientID": "c1", "consumerGroup": "g"}
    await subscribed.call(RequestCode.UNREGISTER_CLIENT, fields)

    await subscribed.send("T", b"a", properties={"TAGS": "A"})

    assert (await pull).code == 24


@pytest.fixture
async def subscribed(client):
    """A client that is to have what has tag A; the first message is there."""
    await client.send("T", b"first", properties={"TAGS": "A"})
    await subscribe(client, "A", version=1)
    return client


async def subscribe(client, expression, *, version, group="g", topic="T", client_id="c1"):
    wanted = {"expression": expression, "version": version}
    await client.heartbeat(group, topic, client_id=client_id, sub=wanted)
