"""The graph: what it shows, what it costs, and how it refuses."""

from uuid import UUID

import pytest

from backend.db import capacity_reports
from backend.db.capacity_reports import CapacityReportRow
from backend.domain.route import GroupMembers, RouteEntry, TopicRoute
from backend.domain.topic import QueueSettings
from backend.services.controller.heartbeats import BrokerIdentity, record_heartbeats
from tests.integration.api.statements import own_statements

TOPOLOGY = """
query ($clusters: Int! = 50) {
  clusters(first: $clusters) {
    totalCount
    nodes {
      name
      brokerGroups { totalCount nodes {
        name
        master { address }
        brokers { brokerId role state lastHeartbeatAt latestSample { messagesInPerSecond } }
      } }
      topics(first: 10) { nodes {
        name kind messagesInPerSecond
        placements { brokerGroupName writable } queues { queueId maxOffset }
        route { brokerGroupName }
      } }
    }
  }
}
"""


async def test_the_viewer_is_who_signed_in(ask):
    data = await ask("{ viewer { name role expiresAt } }")

    assert (data["viewer"]["name"], data["viewer"]["role"]) == ("admin", "admin")


async def test_the_overview_counts_brokers_and_knows_of_no_disk_before_a_report(ask, register):
    await register(topics=["a", "b"])
    await register(broker_id=1)

    data = await ask(
        "{ overview { clusterCount brokerGroupCount brokerCount onlineBrokerCount topicCount"
        " soonestFullDisk { note } } }"
    )

    assert list(data["overview"].values()) == [1, 1, 2, 2, 2, None]


async def test_the_name_server_of_the_process_is_shown(ask):
    data = await ask("{ nameServers { address routeVersion topicCount connectionCount } }")

    assert data["nameServers"] == [
        {"address": "127.0.0.1:9876", "routeVersion": "7", "topicCount": 3, "connectionCount": 4}
    ]


async def test_a_topology_shows_groups_masters_heartbeats_and_rates(ask, register, redis, sample):
    address = await register(topics=["orders"])
    await register(broker_id=1)
    await record_heartbeats(redis, {BrokerIdentity("main", "broker-a", 0): 1_700_000_000_000})
    await sample(topic="orders", max_offset=9, rate=12.5)

    cluster = (await ask(TOPOLOGY))["clusters"]["nodes"][0]

    group = cluster["brokerGroups"]["nodes"][0]
    assert group["master"] == {"address": address}
    assert [broker["role"] for broker in group["brokers"]] == ["MASTER", "REPLICA"]
    assert group["brokers"][0]["lastHeartbeatAt"] == "2023-11-14T22:13:20+00:00"
    assert group["brokers"][0]["latestSample"] == {"messagesInPerSecond": 12.5}
    assert group["brokers"][1] == {
        "brokerId": "1",
        "role": "REPLICA",
        "state": "ONLINE",
        "lastHeartbeatAt": None,
        "latestSample": None,
    }
    topic = cluster["topics"]["nodes"][0]
    assert (topic["messagesInPerSecond"], topic["queues"][0]["maxOffset"]) == (12.5, "9")


async def test_many_clusters_cost_as_many_statements_as_one(ask, register, database):
    for number in range(5):
        for group in ("broker-a", "broker-b"):
            await register(cluster=f"c{number}", group=group, topics=["a", "b", "c"])
    await ask(TOPOLOGY, clusters=1)

    with own_statements(database) as for_one:
        await ask(TOPOLOGY, clusters=1)
    with own_statements(database) as for_five:
        data = await ask(TOPOLOGY, clusters=5)

    assert len(data["clusters"]["nodes"]) == 5
    assert len(for_five) == len(for_one) > 0


async def test_topics_are_paged_by_key(ask, register):
    names = [f"t{number:02}" for number in range(7)]
    await register(topics=names)
    query = (
        'query ($after: String) { cluster(name: "main") { topics(first: 3, after: $after) {'
        " totalCount nodes { name } pageInfo { hasNextPage endCursor } } } }"
    )
    found, after = [], None

    while True:
        page = (await ask(query, after=after))["cluster"]["topics"]
        found.extend(node["name"] for node in page["nodes"])
        assert page["totalCount"] == 7
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]

    assert found == names


async def test_topics_are_chosen_by_kind(ask, register):
    await register(topics=["orders", "%RETRY%billing", "TBW102"])
    question = (
        'query ($kind: TopicKind) { cluster(name: "main") { topics(kind: $kind)'
        " { totalCount nodes { name kind } } } }"
    )

    literal = await ask('{ cluster(name: "main") { topics(kind: RETRY) { nodes { name kind } } } }')
    variable = await ask(question, kind="SYSTEM")

    assert literal["cluster"]["topics"]["nodes"] == [{"name": "%RETRY%billing", "kind": "RETRY"}]
    assert variable["cluster"]["topics"]["totalCount"] == 1
    assert variable["cluster"]["topics"]["nodes"] == [{"name": "TBW102", "kind": "SYSTEM"}]


async def test_a_topic_shows_the_route_of_its_cluster(ask, register, name_server):
    await register(topics=["orders"])
    entries = tuple(
        RouteEntry(GroupMembers(cluster, "broker-a", {0: "a:1"}), QueueSettings(4, 4, 6))
        for cluster in ("main", "other")
    )
    name_server.routes["orders"] = TopicRoute("orders", entries)

    data = await ask(
        '{ cluster(name: "main") { topic(name: "orders") {'
        " route { brokerGroupName permissions brokers { brokerId address } } } } }"
    )

    assert data["cluster"]["topic"]["route"] == [
        {
            "brokerGroupName": "broker-a",
            "permissions": 6,
            "brokers": [{"brokerId": "0", "address": "a:1"}],
        }
    ]


async def test_what_is_not_there_is_null(ask, register):
    await register()

    data = await ask(
        '{ none: cluster(name: "none") { id } cluster(name: "main") { topic(name: "none") { id } }'
        ' capacityReport(id: "00000000-0000-0000-0000-000000000000") { id } }'
    )

    assert data == {"none": None, "cluster": {"topic": None}, "capacityReport": None}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ('{ cluster(name: "a/b") { id } }', "invalid_input"),
        ('{ cluster(name: "..") { id } }', "invalid_input"),
        ('{ cluster(name: "a\\u0000b") { id } }', "invalid_input"),
        ('{ cluster(name: "%s") { id } }' % ("x" * 256), "invalid_input"),
        ('{ clusters(after: "made-up") { totalCount } }', "invalid_input"),
        ("{ clusters(first: 0) { totalCount } }", "invalid_input"),
        ("{ clusters(first: 100000) { totalCount } }", "invalid_input"),
        ('{ capacityReport(id: "x") { id } }', "invalid_input"),
        ("{ nonsense }", "invalid_input"),
        ("{", "invalid_input"),
        ("{ " + "a: viewer { name } " * 200 + "}", "invalid_input"),
        ("{ " + " ".join(f"a{n}: viewer {{ name }}" for n in range(40)) + "}", "invalid_input"),
        ("{ " + "viewer " * 3_000 + "}", "invalid_input"),
        (
            "{ ...f } fragment f on Query { ...g } fragment g on Query { ...f }",
            "invalid_input",
        ),
        ("{ viewer { name " + "@include(if: true) " * 1_000 + "} }", "invalid_input"),
    ],
)
async def test_a_refusal_has_a_code(ask, query, code):
    answer = await ask(query, errors=True)

    assert answer["errors"]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {code}


async def test_a_fault_of_ours_is_masked(ask, name_server):
    def fail():
        raise RuntimeError("secret inside")

    name_server.describe = fail

    answer = await ask("{ nameServers { address } }", errors=True)

    assert answer["errors"][0]["extensions"] == {"code": "internal"}
    assert "secret" not in str(answer)


async def test_questions_are_not_taken_by_get_nor_in_batches(client):
    by_get = await client.get("/graphql", params={"query": "{ viewer { name } }"})
    batch = await client.post("/graphql", json=[{"query": "{ viewer { name } }"}] * 2)

    assert by_get.status_code in {400, 404, 405}
    assert batch.status_code == 400


async def test_a_report_is_requested_once_and_shown(ask, context):
    first = await ask("mutation { requestCapacityReport { id status requestedBy rows { note } } }")
    second = await ask("mutation { requestCapacityReport { id } }")

    report = first["requestCapacityReport"]
    assert (report["status"], report["requestedBy"], report["rows"]) == ("planned", "admin", [])
    assert second["requestCapacityReport"]["id"] == report["id"]
    data = await ask("{ capacityReports { totalCount nodes { id rows(kind: DISK) { note } } } }")
    assert data["capacityReports"]["totalCount"] == 1
    assert len(context.task_queue.sent) == 1


async def test_the_rows_of_a_report_are_chosen_by_kind(ask, context, database):
    requested = await ask("mutation { requestCapacityReport { id } }")
    report_id = UUID(requested["requestCapacityReport"]["id"])
    async with database.begin() as connection:
        await capacity_reports.finish(
            connection,
            report_id,
            at=context.clock.now(),
            result_path="report",
            coverage={},
            rows=[
                CapacityReportRow("disk", "main", "broker-a", 0, note="too little history"),
                CapacityReportRow("topic_day", "main", "broker-a", 0, topic_name="orders", bytes=5),
            ],
        )

    data = await ask(
        "query ($id: ID!) { capacityReport(id: $id) { status rows { kind }"
        " disks: rows(kind: DISK) { kind note bytesPerDay } } }",
        id=str(report_id),
    )

    assert data["capacityReport"] == {
        "status": "done",
        "rows": [{"kind": "DISK"}, {"kind": "TOPIC_DAY"}],
        "disks": [{"kind": "DISK", "note": "too little history", "bytesPerDay": None}],
    }


async def test_a_broker_group_is_found_by_its_name_and_another_is_none(ask, register):
    address = await register()
    query = 'query ($name: String!) { cluster(name: "main") { brokerGroup(name: $name) {'
    query += " name mode master { address } brokers { brokerId } } } }"

    found = await ask(query, name="broker-a")
    missing = await ask(query, name="broker-c")

    assert found["cluster"]["brokerGroup"] == {
        "name": "broker-a",
        "mode": "STATIC",
        "master": {"address": address},
        "brokers": [{"brokerId": "0"}],
    }
    assert missing["cluster"]["brokerGroup"] is None
