"""What is shown of a static topic on real agents is in terms of its logical queues (L41)."""

import pytest

from backend.clients.clock import SystemClock
from backend.db import topics
from backend.domain.message import DeliveryState
from backend.domain.operation import OperationState as S
from backend.domain.queue_lock import LockFilter
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.consumer_group.consumer_group_details import describe_consumer_group
from backend.services.consumer_group.queue_allocations import compare_allocations
from backend.services.consumer_group.queue_locks import list_locks
from backend.services.consumer_group.queue_pauses import QueuesAsked, explain_queues
from backend.services.consumer_group.recorded_lags import list_lags, measure_lags
from backend.services.message.message_browsing import Browsing, browse_messages
from backend.services.message.message_deliveries import describe_deliveries
from backend.services.message.messages import get_message
from backend.services.topic.topic_offsets import list_offsets
from tests.integration.operations.agents import CLUSTER
from tests.integration.operations.test_static_topics import A, B, Topic
from tests.waiting import eventually

GROUP = {"consumerGroup": "g", "topic": "orders", "queueId": 0}


@pytest.fixture
async def moved(agents):
    """Queue 0 with 5 messages on broker-a and 2 on broker-b; group g has read 3."""
    topic = Topic(agents)
    await topic.create(2, broker_groups=[A])
    await topic.send(A, *[b"%d" % one for one in range(5)])
    for name in (A, B):
        await topic.call(name, lambda client: client.heartbeat("g", "orders"))
    commit = GROUP | {"commitOffset": 3}
    answer = await topic.call(
        A, lambda client: client.call(RequestCode.UPDATE_CONSUMER_OFFSET, commit)
    )
    assert answer.code == 0, answer.remark
    moved = await topic.move(0)
    assert moved.state is S.DONE, moved.outcome
    await topic.send(B, b"5", b"6")

    async def is_registered():
        async with agents.database.connect() as connection:
            holders = await topics.list_holders(connection, CLUSTER, ["orders"])
        return holders["orders"] == {A, B}

    await eventually(is_registered)
    return topic


@pytest.fixture
def stores(agents):
    return {
        "database": agents.database,
        "brokers": agents.context.brokers,
        "clock": SystemClock(),
    }


@pytest.mark.usefixtures("moved")
async def test_a_group_is_shown_by_logical_queues_l41(stores):
    snapshots = ClientSnapshots(**stores, kept_for_s=0)

    async def is_known():
        return "g" in (await snapshots.groups(CLUSTER, is_fresh=True)).serving

    await eventually(is_known)
    found = await describe_consumer_group(
        CLUSTER,
        "g",
        client_snapshots=snapshots,
        brokers=stores["brokers"],
        clock=stores["clock"],
    )
    await snapshots.aclose()

    shown = {
        one.queue_id: (one.broker_group_name, one.committed, one.begin, one.end, one.lag)
        for one in found.queues
        if one.topic == "orders"
    }
    assert shown == {0: (B, 3, 0, 7, 4), 1: (A, None, 0, 0, 0)}
    assert (found.observation.lag.message_count, found.unknown) == (4, ())


async def test_the_recorded_lag_is_that_of_logical_queues_l41(moved, stores):
    await measure_lags(**stores)

    page = await list_lags(CLUSTER, size=9, after=None, database=stores["database"])

    assert [
        (one.topic_name, one.queue_count, one.topic_queue_count, one.lag)
        for one in page.items
        if one.consumer_group_name == "g"
    ] == [("orders", 1, 2, 4)]
    await moved.send(B, b"7")
    await measure_lags(**stores)
    page = await list_lags(CLUSTER, size=9, after=None, database=stores["database"])
    assert [one.lag for one in page.items if one.topic_name == "orders"] == [5]


@pytest.mark.usefixtures("moved")
async def test_the_offsets_of_a_topic_are_logical(stores):
    found = await list_offsets(CLUSTER, "orders", **stores)

    assert {key: (one.low, one.high) for key, one in found.queues.items()} == {
        (A, 1): (0, 0),
        (B, 0): (0, 7),
    }
    assert (found.message_count, found.is_complete) == (7, True)


async def read_all(stores):
    """Read page by page; a page ends with a segment at the latest."""
    found, after, has_more = [], None, True
    while has_more:
        page = await browse_messages(Browsing(CLUSTER, "orders"), size=4, after=after, **stores)
        found += page.messages
        after, has_more = page.next_key, page.has_more
    return found


@pytest.mark.usefixtures("moved")
async def test_messages_are_listed_by_logical_queue_and_offset(stores):
    read = await read_all(stores)
    from_six = Browsing(CLUSTER, "orders", broker_group_name=B, queue_id=0, offset=6)
    [last] = (await browse_messages(from_six, size=9, after=None, **stores)).messages
    latest = Browsing(CLUSTER, "orders", from_latest=True)
    at_end = await browse_messages(latest, size=9, after=None, **stores)

    assert [(one.queue_id, one.queue_offset, one.body) for one in read] == [
        (0, offset, b"%d" % offset) for offset in range(7)
    ]
    assert (last.queue_offset, last.body) == (6, b"6")
    assert (at_end.messages, at_end.has_more) == ((), False)


@pytest.mark.usefixtures("moved")
async def test_a_found_message_has_its_logical_offset_and_its_deliveries(stores):
    where = {"database": stores["database"], "brokers": stores["brokers"]}
    [fifth] = [one for one in await read_all(stores) if one.body == b"5"]

    found = await get_message(CLUSTER, fifth.message_id, **where)
    deliveries = await describe_deliveries(CLUSTER, found, **where)

    assert (found.queue_id, found.queue_offset) == (0, 5)
    [delivery] = deliveries.deliveries
    assert (delivery.consumer_group_name, delivery.state) == ("g", DeliveryState.PENDING)


@pytest.mark.usefixtures("moved")
async def test_clients_are_dealt_the_logical_queues(stores):
    dealt = await compare_allocations(CLUSTER, "orders", ["c1"], database=stores["database"])

    for allocation in dealt.values():
        queues = [one for found in allocation.values() for one in found]
        assert [(one.broker_group_name, one.queue_id) for one in queues] == [
            ("__syslo__global__", 0),
            ("__syslo__global__", 1),
        ]


@pytest.mark.usefixtures("moved")
async def test_queues_that_stand_still_are_explained_where_they_are_led(stores):
    asked = QueuesAsked(CLUSTER, "orders", "g")

    found = (await explain_queues(asked, **stores)).queues

    facts = sorted((one.facts for one in found), key=lambda one: one.queue_id)
    assert [(one.broker_group_name, one.queue_id, one.refusal) for one in facts] == [
        (B, 0, None),
        (A, 1, None),
    ]
    assert facts[0].max_offset == 7


async def test_offsets_are_reset_in_logical_queues(moved, agents):
    reset = await agents.order(
        "reset_offsets",
        consumer_group_name="g",
        topic_name="orders",
        position="offset",
        offset=6,
        queue_ids=[0],
        mode="offline",
    )

    assert reset.state is S.DONE, reset.outcome
    [change] = reset.plan.changes
    assert (change.before, change.after) == ("3", "6")
    assert change.what.startswith("broker-b queue 0, holding 0 to 7: 3 skipped")
    fields = GROUP | {"setZeroIfNotFound": "false"}
    answer = await moved.call(
        B, lambda client: client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    )
    assert answer.ext["offset"] == "6"
    back = await agents.plan(
        "reset_offsets",
        consumer_group_name="g",
        topic_name="orders",
        position="offset",
        offset=2,
        queue_ids=[0],
        mode="offline",
    )
    assert back.plan.block.name == "segments"


async def test_a_lock_is_shown_at_the_logical_queue_with_its_physical_one(agents, stores):
    topic = Topic(agents)
    await topic.create(4)
    await agents.order("create_topic", topic_name="plain")
    await topic.move(0)
    queues = [
        {"topic": "orders", "brokerName": "__syslo__global__", "queueId": 0},
        {"topic": "orders", "brokerName": "__syslo__global__", "queueId": 1},
        {"topic": "plain", "brokerName": B, "queueId": 0},
    ]
    wish = {"clientId": "c1", "consumerGroup": "g", "mqSet": queues}
    await agents.call(RequestCode.LOCK_BATCH_MQ, body=java_json.encode(wish), name=B)

    found = await list_locks(LockFilter(), size=9, after=None, **stores)

    shown = {
        (one.held.topic, one.held.queue_id): (one.is_logical, one.physical_queue_id)
        for one in found.page.items
    }
    assert shown == {
        ("orders", 0): (True, 2),
        ("orders", 1): (True, 0),
        ("plain", 0): (False, None),
    }
