"""The logical queues of a static topic as both doors show them."""

from dataclasses import replace
from uuid import uuid4

import pytest

from backend.db import logical_queues
from backend.domain.logical_queue.change import with_prepared, with_sealed
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.services.logical_queue.changes import advance_change, begin_change
from tests.unit.domain.logical_queue.builders import NOW, groups, segment, topic

LIST = "/api/v1/clusters/main/static-topics"
LIST_GRAPH = """query($group: String) { staticTopics(
  clusterName: "main", first: 10, brokerGroupName: $group) { totalCount nodes {
    name queueCount changeId shares { brokerGroupName ledCount segmentCount } } } }"""
PATH = "/api/v1/clusters/main/topics/T/logical-queues"
GRAPH = """query($topic: String!) { logicalQueues(clusterName: "main", topicName: $topic) {
  epoch queueCount writableCount offsetMode
  queues { globalId leaderName sealed minOffset maxOffset
    segments { generation brokerGroupName queueId status logicalStart logicalEnd physicalEnd
      firstStoredAt } }
  change { kind state moves { globalId step finalOffset } } } }"""
MAPPING = topic(
    [
        segment(0, "broker-a:q0", end=101, first_stored_ms=1_000, last_stored_ms=2_000),
        segment(1, "broker-b:q0", logical=101),
    ],
    [segment(0, "broker-b:q1")],
)


@pytest.fixture
async def stores(database, context):
    async with database.begin() as connection:
        await logical_queues.add(connection, "main", MAPPING, at=context.clock.now())
    return {"database": database, "clock": context.clock}


@pytest.fixture
def move(stores):
    """Begin to move queue 1 to broker-a, and take it to its seal."""

    async def begin():
        change_id = uuid4()

        def plan(mapping):
            moves = [Relocation(1, "broker-b", "broker-a")]
            return plan_moves(mapping, moves, groups=groups("broker-a", "broker-b"), now_ms=NOW)

        await begin_change(change_id, "main", "T", plan, **stores)
        for step in (
            lambda change: with_prepared(change, 1, Prepared(1)),
            lambda change: with_sealed(change, 1, Seal(7)),
        ):
            await advance_change(change_id, "main", "T", step, **stores)
        return change_id

    return begin


@pytest.mark.usefixtures("stores")
async def test_segments_are_shown_with_their_logical_and_physical_offsets(client, sample):
    await sample(topic="T", max_offset=101)

    found = (await client.get(PATH)).json()

    first, second = found["queues"]
    assert (found["epoch"], found["queue_count"], found["change"]) == (NOW, 2, None)
    assert (first["leader_name"], first["sealed"], second["global_id"]) == ("broker-b", False, 1)
    assert first["segments"][0] == {
        "generation": 0,
        "broker_group_name": "broker-a",
        "queue_id": 0,
        "status": "read_only",
        "logical_start": 0,
        "logical_end": 101,
        "physical_start": 0,
        "physical_end": 101,
        "first_stored_at": "1970-01-01T00:00:01Z",
        "last_stored_at": "1970-01-01T00:00:02Z",
    }
    last = first["segments"][1]
    assert (last["status"], last["logical_start"], last["logical_end"]) == ("normal", 101, None)
    assert (last["physical_end"], last["first_stored_at"]) == (None, None)


@pytest.mark.usefixtures("stores")
async def test_offsets_are_unknown_until_a_sample_shows_them(client, sample):
    before = (await client.get(PATH)).json()["queues"]
    await sample(topic="T", max_offset=101)
    after = (await client.get(PATH)).json()["queues"]

    ends = [
        [(one["min_offset"], one["max_offset"]) for one in queues] for queues in (before, after)
    ]
    # broker-b, which leads, was not sampled.
    assert ends == [[(None, None), (None, None)], [(0, None), (None, None)]]


@pytest.mark.usefixtures("stores")
async def test_a_segment_without_messages_is_expired(client, sample):
    await sample(topic="T", max_offset=0)

    queue = (await client.get(PATH)).json()["queues"][0]

    assert [one["status"] for one in queue["segments"]] == ["expired", "normal"]


async def test_the_unfinished_change_is_shown_with_its_moves(client, move):
    change_id = await move()

    found = (await client.get(PATH)).json()

    assert [one["sealed"] for one in found["queues"]] == [False, True]
    change = found["change"]
    assert (change["id"], change["kind"], change["state"]) == (str(change_id), "migrate", "moving")
    assert change["moves"] == [
        {
            "global_id": 1,
            "source_name": "broker-b",
            "destination_name": "broker-a",
            "step": "sealed",
            "queue_id": 1,
            "final_offset": 7,
        }
    ]
    assert found["epoch"] > NOW


async def test_the_graph_shows_the_same(ask, move):
    await move()

    found = (await ask(GRAPH, topic="T"))["logicalQueues"]
    absent = await ask(GRAPH, topic="U")

    assert (found["queueCount"], found["writableCount"], found["offsetMode"]) == (
        2,
        2,
        "CONTIGUOUS",
    )
    assert found["queues"][0]["segments"][0]["logicalEnd"] == "101"
    assert found["queues"][0]["segments"][0]["status"] == "READ_ONLY"
    assert found["change"]["moves"] == [{"globalId": 1, "step": "SEALED", "finalOffset": "7"}]
    assert absent == {"logicalQueues": None}


async def test_an_ordinary_topic_has_no_logical_queues(client, register):
    await register(topics=["T"])

    answer = await client.get(PATH)

    assert (answer.status_code, answer.json()["code"]) == (404, "static_topic_not_found")


async def test_static_topics_are_listed_with_the_shares_of_broker_groups(
    client, ask, database, context, move, register
):
    await register(topics=["T"])
    await add_topic(database, context, "U", segment(0, "broker-c:q0"))
    change_id = await move()

    found = (await client.get(LIST)).json()["items"]
    on_c = (await ask(LIST_GRAPH, group="broker-c"))["staticTopics"]

    assert [(one["name"], one["queue_count"], one["change_id"]) for one in found] == [
        ("T", 2, str(change_id)),
        ("U", 1, None),
    ]
    # A queue that is sealed is led until it has moved; a reserved place is no segment.
    assert found[0]["shares"] == [
        {"broker_group_name": "broker-a", "led_count": 0, "segment_count": 1},
        {"broker_group_name": "broker-b", "led_count": 2, "segment_count": 2},
    ]
    share = {"brokerGroupName": "broker-c", "ledCount": 1, "segmentCount": 1}
    assert on_c == {
        "totalCount": 1,
        "nodes": [{"name": "U", "queueCount": 1, "changeId": None, "shares": [share]}],
    }


async def test_static_topics_come_in_pages(client, register, database, context):
    await register(topics=["T"])
    for name in ("T1", "T2", "V"):
        await add_topic(database, context, name, segment(0, "broker-a:q0"))

    first = (await client.get(LIST, params={"search": "t", "limit": "1"})).json()
    rest = (await client.get(LIST, params={"search": "t", "after": first["next"]})).json()

    assert first["total_count"] == 2
    assert [one["name"] for page in (first, rest) for one in page["items"]] == ["T1", "T2"]
    assert (await client.get(LIST.replace("main", "none"))).status_code == 404


async def add_topic(database, context, name, *segments):
    mapping = replace(topic(list(segments)), topic_name=name)
    async with database.begin() as connection:
        await logical_queues.add(connection, "main", mapping, at=context.clock.now())
