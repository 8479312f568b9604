"""Resources over REST: what they show, page by page, and how they refuse."""

from unittest import mock

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from backend.domain.route import GroupMembers, RouteEntry, TopicRoute
from backend.domain.topic import QueueSettings
from backend.services.controller.heartbeats import BrokerIdentity, record_heartbeats

V1 = "/api/v1"


async def get(client, path, **params):
    answer = await client.get(V1 + path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def walk(client, path, **params):
    items, after = [], None
    while True:
        page = await get(client, path, **params, **({"after": after} if after else {}))
        items.extend(page["items"])
        after = page["next"]
        if after is None:
            return items, page["total_count"]


async def test_clusters_are_listed_page_by_page(client, register):
    for name in ("c3", "c1", "c2"):
        await register(cluster=name)

    clusters, total = await walk(client, "/clusters", limit=2)

    assert ([cluster["name"] for cluster in clusters], total) == (["c1", "c2", "c3"], 3)


async def test_a_cluster_shows_the_version_of_its_routes(client, register):
    await register()
    before = (await get(client, "/clusters/main"))["route_version"]

    await register(broker_id=1)

    assert (await get(client, "/clusters/main"))["route_version"] == before + 1


async def test_a_group_names_its_master(client, register):
    address = await register()
    await register(broker_id=1)
    await register(group="broker-b", broker_id=2)

    groups, _ = await walk(client, "/clusters/main/broker-groups", limit=1)

    assert [(group["name"], group["broker_count"], group["master"]) for group in groups] == [
        ("broker-a", 2, address),
        ("broker-b", 1, None),
    ]


async def test_a_group_is_shown_by_its_name_and_missed_by_another(client, register):
    address = await register()
    await register(group="broker-b", broker_id=2)
    groups, _ = await walk(client, "/clusters/main/broker-groups", limit=10)

    shown = await get(client, "/clusters/main/broker-groups/broker-a")
    missing = await client.get(f"{V1}/clusters/main/broker-groups/broker-c")

    assert (shown, shown["master"]) == (groups[0], address)
    assert (missing.status_code, missing.json()["code"]) == (404, "broker_group_not_found")


async def test_brokers_are_listed_with_their_last_heartbeat(client, register, redis):
    await register()
    await register(broker_id=1)
    await record_heartbeats(redis, {BrokerIdentity("main", "broker-a", 0): 1_700_000_000_000})

    brokers, _ = await walk(client, "/clusters/main/brokers", limit=1)

    assert [(broker["role"], broker["last_heartbeat_at"]) for broker in brokers] == [
        ("master", "2023-11-14T22:13:20Z"),
        ("replica", None),
    ]


async def test_what_only_redis_knows_is_null_while_redis_is_away(client, register, redis, sample):
    await register(topics=["orders"])
    await sample(topic="orders", max_offset=9, rate=12.5)
    await record_heartbeats(redis, {BrokerIdentity("main", "broker-a", 0): 1_700_000_000_000})

    with mock.patch.object(Redis, "execute_command", side_effect=RedisConnectionError("away")):
        [broker] = (await get(client, "/clusters/main/brokers"))["items"]
        topic = await get(client, "/clusters/main/topics/orders")
        [stats] = (await get(client, "/clusters/main/topic-stats"))["items"]

    assert (broker["state"], broker["last_heartbeat_at"]) == ("online", None)
    assert topic["placements"][0]["writable"]
    assert [queue["max_offset"] for queue in topic["queues"]] == [None] * 4
    assert (topic["messages_in_per_second"], stats["messages_in_per_second"]) == (None, None)


async def test_topics_are_searched_and_chosen_by_kind(client, register):
    await register(topics=["orders", "order%s", "Orders-2", "TBW102", "%RETRY%g", "bills"])

    found, total = await walk(client, "/clusters/main/topics", search="orders", limit=1)
    literal, _ = await walk(client, "/clusters/main/topics", search="%")
    system, _ = await walk(client, "/clusters/main/topics", kind="system")

    assert (sorted(topic["name"] for topic in found), total) == (["Orders-2", "orders"], 2)
    assert {topic["name"] for topic in literal} == {"order%s", "%RETRY%g"}
    assert [topic["name"] for topic in system] == ["TBW102"]


async def test_a_topic_shows_its_attributes_on_each_broker_group(client, register):
    attributes = (("message.type", "FIFO"), ("replicate", "False"))
    await register(topics=["scores"], attributes=attributes)
    shared = (("share.mode", "SHARED"), ("share.timeShare", "true"))
    await register(group="broker-b", topics=["scores"], attributes=shared)

    alone, other = (await get(client, "/clusters/main/topics/scores"))["placements"]

    assert (alone["message_type"], alone["share_mode"]) == ("FIFO", "PRIMARY")
    assert (alone["is_time_shared"], alone["is_replicated"]) == (False, False)
    assert (other["message_type"], other["share_mode"]) == (None, "SHARED")
    assert (other["is_time_shared"], other["is_replicated"]) == (True, True)


async def test_a_topic_shows_its_places_queues_and_route(client, register, name_server, sample):
    address = await register(topics=["orders"])
    members = GroupMembers("main", "broker-a", {0: address})
    name_server.routes["orders"] = TopicRoute(
        "orders", (RouteEntry(members, QueueSettings(4, 4, 6)),)
    )
    await sample(topic="orders", max_offset=9, rate=12.5)

    topic = await get(client, "/clusters/main/topics/orders")

    assert topic["placements"][0]["writable"]
    assert [queue["max_offset"] for queue in topic["queues"]] == [9, None, None, None]
    assert topic["route"][0]["brokers"] == {"0": address}
    assert topic["messages_in_per_second"] == 12.5


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/clusters/none", 404, "cluster_not_found"),
        ("/clusters/none/brokers", 404, "cluster_not_found"),
        ("/clusters/none/topics", 404, "cluster_not_found"),
        ("/clusters/none/broker-groups", 404, "cluster_not_found"),
        ("/clusters/main/topics/none", 404, "topic_not_found"),
        ("/clusters/..%2f", 400, "invalid_name"),
        ("/clusters/a%00b", 400, "invalid_name"),
        ("/clusters/" + "x" * 256, 400, "invalid_name"),
        ("/clusters/main/topics/..%5c", 400, "invalid_name"),
        ("/clusters/main/topics/a%00b", 400, "invalid_name"),
        ("/clusters/main/topics/" + "x" * 256, 400, "invalid_name"),
        ("/clusters/main/topics/a..b", 400, "invalid_name"),
        ("/clusters?after=made-up", 400, "invalid_cursor"),
        ("/clusters?limit=0", 422, "invalid_input"),
        ("/clusters?limit=501", 422, "invalid_input"),
        ("/clusters/main/topics?kind=nonsense", 422, "invalid_input"),
        ("/capacity/reports/not-an-id", 422, "invalid_input"),
        (
            "/capacity/reports/00000000-0000-0000-0000-000000000000",
            404,
            "capacity_report_not_found",
        ),
    ],
)
async def test_a_refusal_has_a_status_and_a_code(client, register, path, status, code):
    await register()

    answer = await client.get(V1 + path)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_search_with_a_nul_finds_nothing_and_fails_nothing(client, register):
    await register(topics=["orders"])

    assert (await walk(client, "/clusters/main/topics", search="a\0b")) == ([], 0)


async def test_a_capacity_report_is_requested_and_described(client, context):
    answer = await client.post(f"{V1}/capacity/reports")
    report_id = answer.json()["id"]

    listed, total = await walk(client, "/capacity/reports", limit=1)
    described = await get(client, f"/capacity/reports/{report_id}")

    assert answer.status_code == 202
    assert context.task_queue.sent == [("capacity.run", report_id)]
    assert ([report["id"] for report in listed], total) == ([report_id], 1)
    assert (described["status"], described["requested_by"], described["rows"]) == (
        "planned",
        "admin",
        [],
    )


async def test_a_body_beyond_the_limit_is_refused(client):
    answer = await client.post("/graphql", content=b"x" * ((1 << 20) + 1))

    assert answer.status_code == 413


async def test_an_internal_error_is_answered_without_details(client, name_server, register):
    await register(topics=["orders"])
    name_server.find_route = None

    answer = await client.get(f"{V1}/clusters/main/topics/orders")

    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "detail": "the control plane failed",
        "code": "internal",
        "facts": None,
    }
