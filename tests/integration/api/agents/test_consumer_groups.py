"""Consumer groups of a living agent: members, lag in messages and seconds, over both doors."""

import asyncio
import time
from typing import ClassVar

from backend.brokers.asking import Brokers
from backend.brokers.requests.offsets import GetProgress
from backend.remoting import java_json
from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from backend.services.consumer_group.contradictions import find_and_keep
from backend.services.upkeep.findings import scan_findings
from tests.integration.api.agents.conftest import CLUSTER, GROUP, until
from tests.integration.api.statements import own_statements
from tests.integration.broker.client import messages, subscription
from tests.integration.broker.name_server import FakeStockBroker, RecordingNameServer
from tests.integration.tasks.conftest import SetClock

GROUPS = f"/clusters/{CLUSTER}/consumer-groups"
LIST = """query ($first: Int!, $after: String, $search: String) {
  consumerGroups(clusterName: "c", first: $first, after: $after, search: $search) {
    nodes { name isSystem brokerGroupNames state memberCount
      lag { messageCount waitingMs isComplete } retryLag { messageCount } }
    pageInfo { hasNextPage endCursor } totalCount unknown { brokerGroupName name address why }
  }
}"""
STATES = """{ consumerGroups(clusterName: "c") {
  nodes { name state memberCount brokerCountTold brokerCountAsked } } }"""
MEMBERS = """{ consumerGroup(clusterName: "c", name: "billing") {
  members { clientId subscriptions } } }"""
ONE = """query ($name: String!) {
  consumerGroup(clusterName: "c", name: $name) {
    name isSystem state models lag { messageCount waitingMs isComplete }
    retryLag { messageCount waitingMs isComplete } deadLetterCount
    settings { brokerGroupName retryCountMax consumeEnabled }
    members { clientId address language version versionName brokerGroupNames }
    subscriptions { topic expressions }
    queues { brokerGroupName topic queueId kind committed end lag waitingMs consumedAt owner }
    unknown { brokerGroupName why }
  }
}"""


async def heartbeat(
    client, client_id, *subscriptions, message_model="CLUSTERING", group="billing", **more
):
    """Join a group as a separate client of its kind."""
    consumer = {
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "consumeType": "CONSUME_PASSIVELY",
        "groupName": group,
        "messageModel": message_model,
        "subscriptionDataSet": list(subscriptions) or [subscription("orders")],
        "unitMode": False,
    }
    body = {"clientID": client_id, "consumerDataSet": [consumer | more], "producerDataSet": []}
    answer = await client.call(RequestCode.HEART_BEAT, body=java_json.encode(body))
    assert answer.code == 0, answer.remark


def queue(found, queue_id, topic="orders"):
    return next(
        one for one in found["queues"] if (one["topic"], one["queue_id"]) == (topic, queue_id)
    )


async def test_the_lag_of_a_group_is_right_to_the_message_and_by_the_age_of_the_oldest(
    broker, get, ask
):
    member = await broker.member("c1")
    await broker.send(4)
    await broker.send(2, queue_id=3)
    await broker.commit(3)
    await broker.commit(0, queue_id=3)
    await member.pull("orders", consumerGroup="billing", queueOffset=3)
    began = time.monotonic()
    await asyncio.sleep(0.05)

    found = await get(f"{GROUPS}/billing")
    graph = (await ask(ONE, name="billing"))["consumerGroup"]
    waited_ms = (time.monotonic() - began) * 1000 + 20_000

    # Five lie in queue 0 and three of them are consumed, two in queue 3, none of these.
    assert found["lag"]["message_count"] == 4
    assert 50 <= found["lag"]["waiting_ms"] <= waited_ms
    first, empty, last = queue(found, 0), queue(found, 1), queue(found, 3)
    assert [first[name] for name in ("committed", "end", "lag")] == [3, 5, 2]
    assert [last[name] for name in ("committed", "end", "lag", "consumed_at")] == [0, 2, 2, None]
    assert [empty[name] for name in ("end", "lag", "waiting_ms")] == [0, 0, 0]
    assert first["owner"] == "c1"
    assert first["consumed_at"] is not None
    assert found["lag"]["is_complete"]
    assert (found["state"], found["models"], found["dead_letter_count"]) == (
        "active",
        ["clustering"],
        0,
    )
    (seen,) = found["members"]
    assert (seen["client_id"], seen["broker_group_names"]) == ("c1", [GROUP])
    assert {one["topic"]: one["expressions"] for one in found["subscriptions"]} == {"orders": ["*"]}
    assert found["unknown"] == []

    assert graph["lag"]["messageCount"] == "4"
    assert graph["members"][0]["clientId"] == "c1"
    told = [
        (one["topic"], one["queueId"], one["committed"], one["end"], one["lag"], one["owner"])
        for one in graph["queues"]
    ]
    told_by_rest = [
        (
            one["topic"],
            one["queue_id"],
            *(None if one[n] is None else str(one[n]) for n in ("committed", "end", "lag")),
            one["owner"],
        )
        for one in found["queues"]
    ]
    assert told == told_by_rest


async def test_a_group_that_never_committed_in_a_queue_has_no_known_lag_there(broker, get):
    await broker.member("c1")
    await broker.send(2, queue_id=1)
    await broker.commit(1, queue_id=1)

    found = await get(f"{GROUPS}/billing")

    # One message lies in queue 0, where billing might begin at its end as well.
    assert [queue(found, 0)[name] for name in ("committed", "end", "lag")] == [None, 1, None]
    assert found["lag"] == {
        "message_count": 1,
        "waiting_ms": found["lag"]["waiting_ms"],
        "is_complete": False,
        "expired_count": 0,
        "is_applicable": True,
    }
    assert found["lag"]["waiting_ms"] >= 0


async def test_retries_and_dead_letters_are_counted_apart(broker, get):
    member = await broker.member("c1", "orders", "%RETRY%billing")
    await broker.commit(1)
    (sent,) = messages(await broker.client.pull("orders"))
    back = {
        "group": "billing",
        "offset": sent.log_position,
        "originTopic": "orders",
        "maxReconsumeTimes": 16,
    }
    # A delay level below zero gives it up at once; level 1 brings it back after a second.
    for level in (-1, 1):
        sent = await member.call(RequestCode.CONSUMER_SEND_MSG_BACK, back | {"delayLevel": level})
        assert sent.code == 0, sent.remark
    await member.close()

    async def came_back():
        # No consumer has begun to read the retries, so the number of unread ones is unknown.
        told = (await get(f"{GROUPS}/billing"))["retry_lag"]
        return (told["message_count"], told["waiting_ms"], told["is_complete"]) == (
            None,
            None,
            False,
        )

    await until(came_back, "the message does not come back")
    await broker.commit(0, topic="%RETRY%billing")
    found = await get(f"{GROUPS}/billing")

    assert found["retry_lag"]["message_count"] == 1

    assert found["dead_letter_count"] == 1
    assert found["lag"]["message_count"] == 0
    assert queue(found, 0, "%RETRY%billing")["kind"] == "retry"


async def test_groups_are_listed_page_by_page_alike_over_both_doors(broker, get, ask):
    for name in ("billing", "audit", "closed"):
        member = await broker.member(f"{name}-1", group=name)
        if name == "closed":
            await broker.commit(0, group=name)
            await member.close()

    async def is_missed():
        return (await get(GROUPS, search="closed"))["items"][0]["state"] == "inactive"

    await until(is_missed, "nobody misses the group")
    first = await get(GROUPS, limit=2)
    rest = await get(GROUPS, limit=2, after=first["next"])
    graph = (await ask(LIST, first=2))["consumerGroups"]
    after = (await ask(LIST, first=2, after=first["next"]))["consumerGroups"]
    every = await get(GROUPS, includes_system="true", limit=100)

    assert [one["name"] for one in first["items"] + rest["items"]] == ["audit", "billing", "closed"]
    assert (first["total_count"], rest["next"]) == (3, None)
    assert rest["items"][0]["lag"]["message_count"] == 1
    assert [one["state"] for one in first["items"]] == ["active", "active"]
    # The cursor of one door goes on at the other.
    assert graph["pageInfo"] == {"hasNextPage": True, "endCursor": first["next"]}
    assert [one["name"] for one in after["nodes"]] == ["closed"]
    assert after["nodes"][0]["state"] == "INACTIVE"
    assert after["nodes"][0]["lag"]["messageCount"] == "1"
    assert graph["nodes"][0]["brokerGroupNames"] == [GROUP]
    assert "TOOLS_CONSUMER" in {one["name"] for one in every["items"] if one["is_system"]}
    refused = await get(GROUPS, 422, limit=101)
    assert refused["code"] == "invalid_input"


async def test_brokers_that_do_not_answer_are_named_and_the_rest_is_shown(
    broker, get, ask, register
):
    await broker.member("c1")
    await broker.commit(0)
    stock = FakeStockBroker()
    await stock.start()
    await register(CLUSTER, "dead", 0)
    await register(CLUSTER, "stock", 0, address=f"127.0.0.1:{stock.port}")

    listed = await get(GROUPS)
    found = await get(f"{GROUPS}/billing")
    missing = await get(f"{GROUPS}/nobody", 502)
    graph = (await ask(LIST, first=10))["consumerGroups"]
    await stock.stop()

    assert {one["broker_group_name"] for one in listed["unknown"]} == {"dead", "stock"}
    assert {one["brokerGroupName"] for one in graph["unknown"]} == {"dead", "stock"}
    assert listed["items"][0]["lag"]["message_count"] == 1
    assert not listed["items"][0]["lag"]["is_complete"]
    assert (found["lag"]["message_count"], found["lag"]["is_complete"]) == (1, False)
    # Case B10: what the others know is shown, with what is missing.
    assert (found["dead_letter_count"], found["is_dead_letter_count_complete"]) == (0, False)
    assert (found["broker_count_told"], found["broker_count_asked"]) == (1, 3)
    why = {one["broker_group_name"]: one["why"] for one in found["unknown"]}
    assert why["stock"] == "RocketMQ brokers do not report it"
    # While brokers are silent, it is unknown whether the group exists.
    assert missing["code"] == "broker_silent"


async def test_a_group_that_no_broker_knows_is_not_found(broker, get, ask):
    told = await get(f"{GROUPS}/nobody", 404)

    assert told["code"] == "consumer_group_not_found"
    assert (await ask(ONE, name="nobody"))["consumerGroup"] is None
    assert broker is not None


async def test_a_page_asks_as_much_of_brokers_in_a_long_list_as_in_a_short_one(
    broker, get, monkeypatch
):
    asked = []
    ask = Brokers.ask

    async def count(brokers, address, inquiry):
        asked.append(inquiry)
        return await ask(brokers, address, inquiry)

    monkeypatch.setattr(Brokers, "ask", count)
    for number in range(3):
        await broker.client.heartbeat(f"g{number}", "orders", client_id="c1")
    await get(GROUPS, limit=2)
    few = len(asked)
    for number in range(3, 30):
        await broker.client.heartbeat(f"g{number}", "orders", client_id="c1")
    asked.clear()

    page = await get(GROUPS, limit=2)

    assert (page["total_count"], len(page["items"])) == (30, 2)
    assert len(asked) == few


async def test_many_groups_cost_as_many_statements_as_one(broker, ask, database):
    for number in range(12):
        await broker.client.heartbeat(f"g{number}", "orders", client_id="c1")
    await ask(LIST, first=1)

    with own_statements(database) as for_one:
        await ask(LIST, first=1)
    with own_statements(database) as for_twelve:
        found = await ask(LIST, first=12)

    assert len(found["consumerGroups"]["nodes"]) == 12
    assert len(for_twelve) == len(for_one) > 0


async def test_one_silent_broker_does_not_make_every_state_unknown(broker, get, ask, register):
    # Case B10.
    await broker.member("c1")
    await broker.commit(0)
    gone = await broker.member("c2", group="audit")
    await broker.commit(0, group="audit")
    await gone.close()
    await register(CLUSTER, "dead", 0)

    listed = {one["name"]: one for one in (await get(GROUPS))["items"]}
    graph = (await ask(STATES))["consumerGroups"]["nodes"]
    offsets = await get(f"/clusters/{CLUSTER}/topics/orders/offsets")

    states = {name: one["state"] for name, one in listed.items() if name in {"audit", "billing"}}
    assert states == {"audit": "inactive", "billing": "active"}
    assert {(one["broker_count_told"], one["broker_count_asked"]) for one in listed.values()} == {
        (1, 2)
    }
    assert listed["billing"]["member_count"] == 1
    told = {one["name"]: one for one in graph}
    assert told["audit"]["state"] == "INACTIVE"
    assert (told["audit"]["brokerCountTold"], told["audit"]["brokerCountAsked"]) == (1, 2)
    assert (offsets["message_count"], offsets["is_complete"]) == (1, True)


async def test_a_group_that_broadcasts_has_no_lag_whatever_offsets_are_left(broker, get, ask):
    # Case B5.
    await broker.send(3)
    client = await broker.connect()
    await heartbeat(client, "c1")
    await broker.commit(1)
    await heartbeat(client, "c1", message_model="BROADCASTING")

    found = await get(f"{GROUPS}/billing")
    listed = next(one for one in (await get(GROUPS))["items"] if one["name"] == "billing")
    stats = await get(f"/clusters/{CLUSTER}/broker-groups/{GROUP}/brokers/0/consume-stats")
    why = await get(f"/clusters/{CLUSTER}/topics/orders/pauses", consumer_group_name="billing")

    assert found["models"] == ["broadcasting"]
    for lag in (found["lag"], listed["lag"], found["retry_lag"]):
        assert (lag["message_count"], lag["waiting_ms"], lag["is_applicable"]) == (
            None,
            None,
            False,
        )
    first = queue(found, 0)
    assert [first[name] for name in ("committed", "end", "lag", "waiting_ms")] == [
        *(None, 4, None, None),
    ]
    [told] = [one for one in stats["items"] if one["consumer_group_name"] == "billing"]
    assert (told["is_broadcasting"], told["lag"]) == (True, None)
    assert {one["lag"] for one in why["queues"]} == {None}
    assert "broadcasting" in why["queues"][0]["sentence"]
    assert (await ask(ONE, name="billing"))["consumerGroup"]["lag"]["messageCount"] is None


class StockWithOffsets(RecordingNameServer):
    """A stock broker that reports a group's offsets, and elsewhere where queues begin."""

    ends: ClassVar = {"0": (300, 301), "1": (0, 40)}

    def reply(self, writer, command):
        key = '{"brokerName":"stock","queueId":%s,"topic":"orders"}'
        if command.code == RequestCode.GET_CONSUME_STATS:
            told = ",".join(
                f'{key % queue}:{{"brokerOffset":{high},"consumerOffset":10,'
                f'"lastTimestamp":1,"pullOffset":10}}'
                for queue, (_, high) in self.ends.items()
            )
            body = f'{{"consumeTps":0.0,"offsetTable":{{{told}}}}}'
        elif command.code == RequestCode.GET_TOPIC_STATS_INFO and self.ends:
            told = ",".join(
                f'{key % queue}:{{"minOffset":{low},"maxOffset":{high},"lastUpdateTimestamp":1}}'
                for queue, (low, high) in self.ends.items()
                if low
            )
            body = f'{{"offsetTable":{{{told}}}}}'
        else:
            return super().reply(writer, command)
        writer.write(answer(command, body=body.encode()))
        return None


async def test_a_stock_broker_is_asked_where_the_queues_begin_that_a_group_is_behind_in(context):
    # Case B4: 290 of the 291 messages behind the offset have expired.
    stock = StockWithOffsets()
    await stock.start()

    told = await context.brokers.ask(f"127.0.0.1:{stock.port}", GetProgress("billing"))
    await stock.stop()

    first, second = sorted(told, key=lambda one: one.queue_id)
    assert (first.lag, first.expired_count) == (1, 290)
    # Where it does not report the begin, the lag is unknown.
    assert second.lag is None


async def test_members_that_contradict_each_other_are_shown_each_and_become_findings(
    broker, get, ask, context, database
):
    # Case B3.
    clock = SetClock()
    first, second, third = [await broker.connect() for _ in range(3)]
    await heartbeat(first, "c1")
    await heartbeat(second, "c2", subscription("refunds"), message_model="BROADCASTING")
    await heartbeat(third, "c1")

    found = await get(f"{GROUPS}/billing")
    graph = (await ask(MEMBERS))["consumerGroup"]["members"]
    counts = []
    for _ in range(3):
        counts.append(await find_and_keep(database=database, brokers=context.brokers, clock=clock))
        await scan_findings(database=database, clock=clock, looking_since=clock.now())
        clock.advance(seconds=30)
    opened = {one["code"]: one for one in (await get("/findings"))["items"]}
    await second.close()
    await third.close()

    async def agree():
        asked = find_and_keep(database=database, brokers=context.brokers, clock=clock)
        return await asked == 0

    await until(agree, "the members still contradict each other")
    for _ in range(2):
        await scan_findings(database=database, clock=clock, looking_since=clock.now())
        clock.advance(seconds=30)
    left = (await get("/findings"))["items"]

    members = {one["client_id"]: one for one in found["members"]}
    assert members["c1"]["subscriptions"] == ["orders (TAG *)"]
    assert members["c2"]["subscriptions"] == ["refunds (TAG *)"]
    assert (members["c2"]["message_models"], len(members["c1"]["addresses"])) == (
        ["BROADCASTING"],
        2,
    )
    assert found["models"] == ["broadcasting", "clustering"]
    assert {one["clientId"]: one["subscriptions"] for one in graph} == {
        client_id: one["subscriptions"] for client_id, one in members.items()
    }
    assert counts == [2, 2, 2]
    differ, shared = opened["subscriptions_differ"], opened["client_id_shared"]
    assert (differ["subject"], shared["subject"]) == ("billing", "billing")
    assert differ["evidence"]["subscriptions"] == {
        "orders (TAG *)": ["c1"],
        "refunds (TAG *)": ["c2"],
    }
    assert set(shared["evidence"]["client_ids"]) == {"c1"}
    assert "regent group members billing" in differ["advice"]
    assert [one for one in left if one["closed_at"] is None] == []
