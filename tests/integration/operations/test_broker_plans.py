"""What plans about topics, groups, settings and offsets say, warn of and refuse (G1, G14)."""

import asyncio

import pytest
from regent_engine import encode_properties

from backend.brokers.requests.offsets import GetProgress
from backend.db import brokers as broker_rows
from backend.db import topics as topic_rows
from backend.domain.errors import (
    BrokerGroupNotFound,
    ClusterNotFound,
    InvalidName,
    TopicNotFound,
)
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import (
    BrokerUnknown,
    ConsumerGroupNotFound,
    InvalidParameters,
    PlanBlocked,
)
from backend.operations.kinds import delete_topic
from tests.integration.broker.client import Client
from tests.integration.operations.agents import CLUSTER
from tests.integration.operations.test_broker_kinds import consumed, put_group, put_topic
from tests.waiting import PATIENCE_S, eventually


def checks(planned):
    return {one.name: (str(one.verdict), one.why) for one in planned.plan.checks}


async def test_a_deletion_says_what_is_in_it_and_who_has_not_read_it(agents):
    await consumed(agents)
    await agents.send("orders", 3, name="broker-b")
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")

    planned = await agents.plan("delete_topic", topic_name="orders")

    assert planned.plan.loss == "13 messages, unread of billing 2"
    assert planned.plan.risk == "R3"
    verdict, why = checks(planned)["no readers"]
    assert (verdict, why) == ("warn", "members connected: billing (1)")
    assert planned.plan.facts["messages"] == {"broker-a": 10, "broker-b": 3}
    await client.close()


async def test_groups_too_many_to_be_asked_are_not_taken_for_none(agents, monkeypatch):
    monkeypatch.setattr(delete_topic, "GROUPS_ASKED_MAX", 0)
    await consumed(agents)
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")

    planned = await agents.plan("delete_topic", topic_name="orders")

    assert planned.plan.loss == "10 messages, unread of billing an unknown number"
    verdict, why = checks(planned)["no readers"]
    assert (verdict, why) == ("warn", "members connected: billing (unknown)")
    await client.close()


async def test_masters_are_asked_side_by_side_how_far_groups_are(agents, monkeypatch):
    await put_topic(agents)
    clients = [await Client.connect(one.port) for one in agents.brokers.values()]
    for client in clients:
        await client.heartbeat("billing", "orders", client_id="one")
    together = asyncio.Barrier(len(clients))

    async def progress(*_asked):
        await asyncio.wait_for(together.wait(), PATIENCE_S)
        return []

    monkeypatch.setattr(GetProgress, "put", progress)
    planned = await agents.plan("delete_topic", topic_name="orders")

    assert planned.plan.facts["lags"] == {"billing": 0}
    for client in clients:
        await client.close()


async def test_a_deletion_of_an_empty_topic_says_that_it_is_empty(agents):
    await put_topic(agents)

    planned = await agents.plan("delete_topic", topic_name="orders")

    assert planned.plan.loss == "the topic itself, which is empty now"
    assert planned.plan.summary == "Topic orders is deleted on 2 broker groups, with 0 messages"


async def test_a_deleted_topic_leaves_routes_and_records(agents):
    await put_topic(agents)
    await eventually(lambda: agents.server.find_route("orders") is not None)

    await agents.order("delete_topic", topic_name="orders")

    async def is_forgotten():
        return await recorded(agents) == []

    await eventually(lambda: agents.server.find_route("orders") is None)
    await eventually(is_forgotten)


async def test_a_topic_is_deleted_in_some_groups_and_stays_in_others(agents):
    await put_topic(agents)
    await eventually(lambda: agents.server.find_route("orders") is not None)

    done = await agents.order("delete_topic", topic_name="orders", broker_groups=["broker-b"])

    assert done.state is S.DONE, done.outcome
    assert agents.agent("broker-a").topics.find("orders") is not None

    def left():
        route = agents.server.find_route("orders")
        return [entry.members.broker_group_name for entry in route.entries]

    await eventually(lambda: left() == ["broker-a"])


async def test_what_has_been_sent_since_keeps_a_creation_from_being_taken_back(agents):
    made = await agents.order("create_topic", topic_name="orders")
    await agents.send("orders", 1)

    with pytest.raises(PlanBlocked, match="1 message"):
        await agents.undo(made)

    assert agents.agent().topics.find("orders") is not None


async def test_a_message_that_comes_after_the_last_look_keeps_the_topic(agents):
    made = await agents.order("create_topic", topic_name="orders", broker_groups=["broker-a"])
    steps = agents.client.request

    async def send_first(address, code, **rest):
        if code == 215:
            await agents.send("orders", 1)
        return await steps(address, code, **rest)

    agents.client.request = send_first
    ended = await agents.undo(made)

    assert (ended.state, "not empty any more" in ended.outcome) == (S.FAILED, True)
    assert agents.agent().topics.find("orders") is not None


async def test_fewer_queues_warn_of_messages_that_no_consumer_would_read(agents):
    await put_topic(agents)
    await agents.send("orders", 5, queue_id=3)

    planned = await agents.plan("change_topic", topic_name="orders", read_queue_count=2)
    grown = await agents.plan("change_topic", topic_name="orders", write_queue_count=9)

    verdict, why = checks(planned)["no message stays unread in a removed queue"]
    assert (verdict, why.split()[0], planned.plan.risk) == ("warn", "5", "R2")
    assert grown.plan.risk == "R1"


async def recorded(agents):
    """Name the groups that hold the topic by the records, which are written a moment later."""
    async with agents.database.connect() as connection:
        return await topic_rows.list_groups_of(connection, CLUSTER, "orders")


async def test_a_master_that_is_away_is_named(agents):
    await put_topic(agents)

    async def are_recorded():
        return await recorded(agents) == ["broker-a", "broker-b"]

    await eventually(are_recorded)
    await agents.brokers["broker-b"].close()
    await eventually(
        lambda: (
            [e.members.broker_group_name for e in agents.server.find_route("orders").entries]
            == ["broker-a"]
        )
    )

    async def is_written():
        planned = await agents.plan("change_topic", topic_name="orders", write_queue_count=8)
        return checks(planned)["every group has a master"][0] == "warn"

    await eventually(is_written)
    doomed = await agents.plan("delete_topic", topic_name="orders")

    assert checks(doomed)["it goes everywhere"][0] == "block"
    with pytest.raises(PlanBlocked, match="broker-b"):
        await agents.confirm(doomed)


async def test_a_group_without_a_master_is_nowhere_to_send_what_a_cordoned_one_took(agents):
    await put_topic(agents)

    async def are_recorded():
        return await recorded(agents) == ["broker-a", "broker-b"]

    await eventually(are_recorded)
    both = await agents.plan("cordon_broker", broker_group_name="broker-a")
    await agents.brokers["broker-b"].close()

    await eventually(is_away(agents, "broker-b"))
    alone = await agents.plan("cordon_broker", broker_group_name="broker-a")

    assert checks(both)["queues to write elsewhere"][0] == "pass"
    told = checks(alone)["queues to write elsewhere"]
    assert told == ("warn", "no other group takes sends to orders")


def is_away(agents, name):
    async def look():
        async with agents.database.connect() as connection:
            known = await broker_rows.list_masters(connection, CLUSTER)
        return not next(one for one in known if one.broker_group_name == name).is_online

    return look


REFUSED_PLANS = [
    ("create_topic", {"topic_name": "a/b"}, InvalidName, "a/b"),
    ("create_topic", {"topic_name": "x" * 128}, InvalidName, "longer than 127"),
    ("create_topic", {"topic_name": "TBW102"}, InvalidName, "belongs to the brokers"),
    (
        "create_topic",
        {"topic_name": "a", "read_queue_count": 70_000},
        InvalidParameters,
        "65535",
    ),
    ("create_topic", {"topic_name": "a", "broker_groups": ["z"]}, BrokerGroupNotFound, "z"),
    ("create_topic", {"topic_name": "a", "cluster_name": "d"}, ClusterNotFound, "d"),
    ("change_topic", {"topic_name": "a", "is_ordered": True}, TopicNotFound, "a"),
    ("change_topic", {"topic_name": "a"}, InvalidParameters, "value to change"),
    ("delete_topic", {"topic_name": "a"}, TopicNotFound, "a"),
    (
        "create_consumer_group",
        {"consumer_group_name": "TOOLS_CONSUMER"},
        InvalidName,
        "belongs",
    ),
    ("create_consumer_group", {"consumer_group_name": "g g"}, InvalidName, "illegal"),
    (
        "change_consumer_group",
        {"consumer_group_name": "g", "retry_count_max": 1},
        ConsumerGroupNotFound,
        "'g'",
    ),
    ("delete_consumer_group", {"consumer_group_name": "g"}, ConsumerGroupNotFound, "'g'"),
    (
        "reset_offsets",
        {"consumer_group_name": "g", "topic_name": "a", "position": "latest"},
        TopicNotFound,
        "a",
    ),
    (
        "reset_offsets",
        {"consumer_group_name": "g", "topic_name": "a", "position": "time"},
        InvalidParameters,
        "needs timestamp_ms",
    ),
    (
        "reset_offsets",
        {"consumer_group_name": "g", "topic_name": "a", "position": "latest", "offset": 1},
        InvalidParameters,
        "takes no offset",
    ),
    (
        "change_broker_config",
        {
            "broker_group_name": "broker-a",
            "broker_id": 7,
            "changes": [{"name": "a", "value": "b"}],
        },
        BrokerUnknown,
        "no broker 7",
    ),
]


async def test_what_cannot_be_is_refused(agents):
    for kind, parameters, error, words in REFUSED_PLANS:
        with pytest.raises(error, match=words):
            await agents.plan(kind, **parameters)


REFUSED_SETTINGS = [
    ("fileReserveTime", "48", "did you mean fileReservedTime"),
    ("nonsense", "1", "there is no property 'nonsense'$"),
    ("fileReservedTime", "-1", "a whole number from 0 to 1000000"),
    ("longPollingEnable", "yes", "true or false"),
    ("flushDiskType", "SLOW", "ASYNC_FLUSH or SYNC_FLUSH"),
    ("maxMessageSize", "1TiB", "bytes from 10 to"),
    ("storePathRootDir", "/tmp/x", "read-only"),
    ("brokerName", "other", "read-only"),
]


async def test_a_setting_that_cannot_be_is_refused_with_what_could(agents):
    for name, value, words in REFUSED_SETTINGS:
        changes = [{"name": name, "value": value}]
        with pytest.raises(InvalidParameters, match=words):
            await agents.plan("change_broker_config", broker_group_name="broker-a", changes=changes)


async def test_a_setting_that_needs_a_restart_is_kept_and_marked(agents):
    changes = [{"name": "maxMessageSize", "value": "8MiB"}]
    done = await agents.order("change_broker_config", broker_group_name="broker-a", changes=changes)

    [change] = done.plan.changes
    assert (change.what, change.before, change.after) == (
        "maxMessageSize (needs a restart)",
        str(4 << 20),
        str(8 << 20),
    )
    assert checks(done)["in force without a restart"][0] == "warn"
    assert done.state is S.DONE, done.outcome
    assert "maxMessageSize=8388608" in (agents.root / "broker-a" / "broker.conf").read_text()
    assert agents.agent().settings.message_size_max_bytes == 4 << 20


async def test_a_change_that_is_none_is_not_carried_out(agents):
    await put_topic(agents)
    await put_group(agents)
    orders = [
        ("change_topic", {"topic_name": "orders", "write_queue_count": 4}),
        ("change_consumer_group", {"consumer_group_name": "billing", "retry_count_max": 16}),
        (
            "change_broker_config",
            {
                "broker_group_name": "broker-a",
                "changes": [{"name": "fileReservedTime", "value": "72"}],
            },
        ),
    ]
    for kind, parameters in orders:
        planned = await agents.plan(kind, **parameters)
        with pytest.raises(PlanBlocked, match="something changes"):
            await agents.confirm(planned)


@pytest.mark.parametrize(
    ("kind", "parameters", "check"),
    [
        ("create_topic", {"topic_name": "orders"}, "the topic is new"),
        ("create_consumer_group", {"consumer_group_name": "billing"}, "the group is new"),
    ],
)
async def test_what_is_there_already_is_not_created(agents, kind, parameters, check):
    await put_topic(agents)
    await put_group(agents)

    planned = await agents.plan(kind, **parameters)

    why = "it is there already on broker-a, broker-b: change it, or leave them out"
    assert checks(planned)[check] == ("block", why)
    with pytest.raises(PlanBlocked) as refused:
        await agents.confirm(planned)
    assert str(refused.value) == f"the plan is blocked by its check {check!r}: {why}"


async def test_a_group_in_use_is_not_deleted(agents):
    await consumed(agents)
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")

    planned = await agents.plan(
        "delete_consumer_group", consumer_group_name="billing", cleans_up=True
    )

    assert planned.plan.loss == "the group's place in every topic; unread are orders 2 messages"
    with pytest.raises(PlanBlocked, match="connected: one"):
        await agents.confirm(planned)
    await client.close()


async def test_a_deletion_with_its_offsets_is_undone_without_them(agents):
    await consumed(agents)

    done = await agents.order(
        "delete_consumer_group", consumer_group_name="billing", cleans_up=True
    )
    back = await agents.undo(done)

    assert (done.plan.risk, back.state) == ("R3", S.DONE)
    assert [step.name for step in done.steps] == ["delete-broker-a", "delete-broker-b"]
    assert agents.agent().offsets.of_topic("billing", "orders") == {}
    assert agents.agent().groups.find("billing") is not None


async def test_a_plan_that_leaves_a_group_without_a_writer_warns_first(agents):
    # Case A16: a group without a controller has no successor.
    for kind in ("cordon_broker", "drain_broker"):
        planned = await agents.plan(kind, broker_group_name="broker-a", broker_id=0)

        verdict, why = checks(planned)["a writer stays"]
        assert verdict == "warn"
        assert why.startswith("broker-a has no writer then: its master broker-a-0 is cordoned")


async def test_a_setting_that_takes_the_right_to_write_warns_like_a_cordon(agents):
    # Case A16, by another way.
    async def plan(value):
        changes = [{"name": "brokerPermission", "value": value}]
        return checks(
            await agents.plan(
                "change_broker_config", broker_group_name="broker-a", broker_id=0, changes=changes
            )
        )

    taken, given = await plan("4"), await plan("6")

    assert taken["a writer stays"][0] == "warn"
    assert "a writer stays" not in given


async def test_fewer_delay_levels_warn_of_what_waits_in_those_that_go(agents):
    # Case A8.
    await put_topic(agents)
    store = agents.agent().store
    for level, count in ((1, 1), (2, 3), (3, 4)):
        properties = encode_properties(
            {"DELAY": str(level), "REAL_TOPIC": "orders", "REAL_QID": "0"}
        )
        for _ in range(count):
            store.append("SCHEDULE_TOPIC_XXXX", level - 1, b"later", properties)

    async def plan(levels):
        changes = [{"name": "messageDelayLevel", "value": levels}]
        planned = await agents.plan(
            "change_broker_config", broker_group_name="broker-a", changes=changes
        )
        return checks(planned)["no delayed message waits in a level that changes"]

    former = agents.agent().settings.delay_levels_ms
    same = [f"{delay_ms // 1000}s" for delay_ms in former]
    verdict, why = await plan(same[0])
    longer = await plan(" ".join([same[0], "2d", *same[2:]]))
    emptied = await plan(" ".join(same[:3]))

    assert verdict == "warn"
    assert why.startswith("7 messages wait there: 3 in level 2, 4 in level 3.")
    assert longer[1].startswith("3 messages wait there: 3 in level 2.")
    assert emptied == ("pass", "these levels are empty")


async def test_smaller_limits_warn_of_what_is_stored(agents):
    # Case A8.
    await put_topic(agents)
    await agents.send("orders", 3)
    properties = encode_properties({"DELAY": "9", "REAL_TOPIC": "orders", "REAL_QID": "0"})
    agents.agent().store.append("SCHEDULE_TOPIC_XXXX", 8, b"later", properties)

    async def plan(name, value):
        changes = [{"name": name, "value": value}]
        return checks(
            await agents.plan("change_broker_config", broker_group_name="broker-a", changes=changes)
        )

    size = (await plan("maxMessageSize", "1KiB"))["no waiting delayed message is too long"]
    hours = (await plan("fileReservedTime", "1"))["nothing that is kept now is deleted"]
    longer = await plan("fileReservedTime", "100")

    assert size[0] == "warn"
    assert size[1].startswith("1 delayed messages wait.")
    assert (hours[0], "older than 1 hours" in hours[1]) == ("warn", True)
    assert "nothing that is kept now is deleted" not in longer


async def test_a_topic_that_may_not_be_read_any_more_warns_of_what_is_in_it(agents):
    # Case A8.
    await put_topic(agents)
    await agents.send("orders", 3)

    planned = await agents.plan("change_topic", topic_name="orders", is_readable=False)

    verdict, why = checks(planned)["no message stays unread in a removed queue"]
    assert verdict == "warn"
    assert why.startswith("3 messages stand in queues that consumers would read no more")
