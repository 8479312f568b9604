"""Static topics over a real socket: registrations of mappings, and routes of clients (103, 105)."""

import json
import re
import zlib

import pytest
from structlog.testing import capture_logs

from backend.clients.clock import SystemClock
from backend.db import findings
from backend.domain.cluster_scope import EVERYWHERE
from backend.services.topic.static_counts import list_counts
from backend.services.topic.topics import forget_placements, list_holding_clusters
from tests.integration.nameserver.static_broker import TOPICS, body_of, mapping

GROUPS = {"b1": "10.0.0.1:10911", "b2": "10.0.0.2:10911"}
NEW, OLD, OLDEST = 513, 412, 399
LQV = {"lqv": "1"}


def with_bare_keys(body):
    """Write integer keys as Java brokers do."""
    return re.sub(rb'"(\d+)":', rb"\1:", body)


def compressed(body):
    """Write a body in the compressed form of brokers from 5.0.0 on (logical-queues.md 2.5)."""
    wrapper = json.loads(body)["topicConfigSerializeWrapper"]
    topics = [
        f"{name} {one['readQueueNums']} {one['writeQueueNums']} {one['perm']} SINGLE_TAG {{}}"
        for name, one in wrapper["topicConfigTable"].items()
    ]
    infos = [
        with_bare_keys(json.dumps(one).encode())
        for one in wrapper["topicQueueMappingInfoMap"].values()
    ]
    version = json.dumps(wrapper["dataVersion"]).encode()

    def section(data):
        return len(data).to_bytes(4, "big") + data

    parts = [section(version), len(topics).to_bytes(4, "big")]
    parts += [section(one.encode()) for one in topics]
    parts += [section(b"[]"), len(infos).to_bytes(4, "big"), *map(section, infos)]
    return zlib.compress(b"".join(parts), 9)


async def announce(client, name, *mappings, **more):
    changes = {key: more.pop(key) for key in ("brokerId", "compressed") if key in more}
    body = more.pop("body", None) or body_of(*mappings, **more)
    return await client.register(body=body, brokerName=name, brokerAddr=GROUPS[name], **changes)


async def announce_both(client, epoch=5, **more):
    await announce(client, "b1", mapping("b1", epoch, 4, 0, 1), **more)
    await announce(client, "b2", mapping("b2", epoch, 4, 2, 3), **more)


async def ask_route(client, topic="T", *, version=NEW, language="JAVA", **ext):
    return await client.ask(105, {"topic": topic} | ext, version=version, language=language)


async def leaders(client):
    """Return the broker group of each queue as a Java client merges the answer."""
    answer = await ask_route(client)
    if answer.code != 0:
        return answer.code
    infos = json.loads(answer.body)["topicQueueMappingByBroker"].values()
    count = max(one["totalQueues"] for one in infos)
    found = {}
    for one in sorted(infos, key=lambda info: info["epoch"]):
        found |= dict.fromkeys(map(int, one["currIdMap"]), one["bname"])
    assert set(found) <= set(range(count))
    return [found.get(global_id) for global_id in range(count)]


async def test_a_route_shows_the_mapping_of_each_broker_group(client):  # L4 L64
    await announce_both(client)

    answer = await ask_route(client)

    route = json.loads(answer.body)
    assert route["topicQueueMappingByBroker"] == {
        "b1": mapping("b1", 5, 4, 0, 1),
        "b2": mapping("b2", 5, 4, 2, 3),
    }
    assert [one["brokerName"] for one in route["queueDatas"]] == ["b1", "b2"]


async def test_an_ordinary_topic_has_the_answer_of_before(client):  # L56
    await client.register(
        brokerName="b1", brokerAddr=GROUPS["b1"], topics={"U": (1, 1, 6), **TOPICS}
    )
    before = [await ask_route(client, "TBW102", version=version) for version in (NEW, OLDEST)]

    await announce(client, "b1", mapping("b1", 5, 1, 0), counter=2)

    after = [await ask_route(client, "TBW102", version=version) for version in (NEW, OLDEST)]
    assert [one.body for one in after] == [one.body for one in before]
    assert b"Mapping" not in after[0].body


@pytest.mark.parametrize("write", [bytes, with_bare_keys])
async def test_integer_keys_are_read_with_and_without_quotes(client, write):  # L64
    body = write(body_of(mapping("b1", 5, 2, 0, 1)))

    answer = await announce(client, "b1", body=body)

    assert answer.code == 0
    assert await leaders(client) == ["b1", "b1"]


async def test_a_compressed_registration_has_mappings_too(client):  # L64
    body = compressed(body_of(mapping("b1", 5, 2, 0, 1)))

    answer = await announce(client, "b1", body=body, compressed="true")

    assert answer.code == 0
    assert await leaders(client) == ["b1", "b1"]


async def test_an_answer_has_quoted_keys_unless_an_older_client_asks(client):  # L64
    await announce(client, "b1", mapping("b1", 5, 2, 0, 1))

    bare = await ask_route(client, version=OLDEST, **LQV)
    quoted = await ask_route(client, version=OLDEST, acceptStandardJsonOnly="true", **LQV)
    newer = await ask_route(client)

    assert b'"currIdMap":{0:0,1:1}' in bare.body
    assert b'"brokerAddrs":{0:' in bare.body
    assert bare.body == with_bare_keys(quoted.body)
    assert newer.body == quoted.body
    json.loads(newer.body)


async def test_no_part_of_the_queues_of_a_new_topic_is_shown(client):  # L4
    await announce(client, "b1", mapping("b1", 5, 4, 0, 1))

    assert await leaders(client) == 17
    await announce(client, "b2", mapping("b2", 5, 4, 2, 3))
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]


async def test_an_expansion_is_shown_when_all_its_leaders_have_registered(client):  # L6
    await announce_both(client)

    await announce(client, "b1", mapping("b1", 6, 6, 0, 1, 4), counter=2)
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]
    await announce(client, "b2", mapping("b2", 6, 6, 2, 3, 5), counter=2)

    assert await leaders(client) == ["b1", "b1", "b2", "b2", "b1", "b2"]


async def test_every_process_shows_what_one_has_shown(  # L49
    start_server, connect, database, eventually
):
    """The second process starts while one broker is down, and hears one broker of the two."""
    first = await connect(await start_server())
    await announce_both(first)
    await eventually(lambda: list_counts(database=database))
    second = await connect(await start_server())

    await announce(second, "b2", mapping("b2", 5, 4, 2, 3))

    # It has read the counts before its first answer.
    assert await leaders(second) == [None, None, "b2", "b2"]
    await announce(first, "b1", mapping("b1", 6, 6, 0, 1, 4), counter=2)
    await announce(first, "b2", mapping("b2", 6, 6, 2, 3, 5), counter=2)

    async def has_more():
        return await leaders(second) == [None, None, "b2", "b2", None, None]

    await eventually(has_more)
    await announce(second, "b1", mapping("b1", 6, 6, 0, 1, 4), counter=2)
    await announce(second, "b2", mapping("b2", 6, 6, 2, 3, 5), counter=2)
    assert await leaders(second) == await leaders(first)


async def test_a_broker_with_an_outdated_mapping_gets_the_newer_epoch(client):  # L50
    await announce_both(client, epoch=7)

    answer = await announce(client, "b1", mapping("b1", 6, 4, 0, 1, 2), counter=2)

    assert (answer.code, json.loads(answer.ext["lqHint"])) == (0, {"T": 7})
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]
    again = await announce(client, "b1", mapping("b1", 7, 4, 0, 1), counter=3)
    assert "lqHint" not in again.ext


async def test_epochs_that_are_far_apart_are_compared_in_full(client):  # L67
    await announce_both(client)

    await announce(client, "b2", mapping("b2", 5 + 2**33, 4, 0, 1, 2, 3), counter=2)

    assert await leaders(client) == ["b2"] * 4


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (mapping("b2", 9, 2, 0, 1), "broker group 'b2' (INV-2)"),  # L10
        (mapping("b1", 9, 2, 0, 1, dirty=True), "dirty (INV-3)"),
        (mapping("b1", 9, 2, 0, 1, topic="gone"), "no such topic (INV-36)"),
        (mapping("b1", 5, 3, 0, 1), "another number of queues (INV-7)"),
        (mapping("b1", 4, 2, 0, 1), "lower than before (INV-25)"),
        (mapping("b1", 9, -1), "number of queues is -1"),
        (mapping("b1", "new", 2, 0, 1), "$.epoch: an integer is expected"),
    ],
)
async def test_a_wrong_mapping_changes_nothing_and_is_named(client, name_server, bad, reason):
    await announce(client, "b1", mapping("b1", 5, 2, 0, 1))

    answer = await announce(client, "b1", mapping("b1", 5, 2, 0, 1), bad, counter=2)

    assert answer.code == 0
    left_out = name_server._table.find_live(("main", "b1"), 0).report.left_out
    assert [one.kind for one in left_out.first] == ["queue mapping"]
    assert reason in left_out.first[0].reason
    assert await leaders(client) == ["b1", "b1"]


async def test_a_newer_generation_leads_in_one_epoch_and_nothing_is_logged(client, name_server):
    await announce_both(client)
    await announce(client, "b1", mapping("b1", 6, 4, 0, 1, currGenMap={"0": 0, "1": 0}), counter=2)

    with capture_logs() as logs:
        told = mapping("b2", 6, 4, 0, 2, 3, currGenMap={"0": 1, "2": 0, "3": 0})
        await announce(client, "b2", told, counter=2)

    assert [one for one in logs if one["log_level"] == "warning"] == []
    assert name_server._table.find_live(("main", "b2"), 0).report.left_out.count == 0
    assert await leaders(client) == ["b2", "b1", "b2", "b2"]


async def test_a_refused_mapping_is_no_second_topic(client):  # S93
    """A broker that is not known may not begin with one topic."""
    bad = mapping("b2", 5, 1, 0)

    answer = await announce(client, "b1", bad, topics={"T": (4, 4, 6)})

    assert answer.code == 1


@pytest.mark.parametrize("generations", [{}, {"currGenMap": {"0": 1}}])
async def test_two_leaders_in_one_epoch_are_named_and_the_former_one_stays(
    client, database, eventually, generations
):
    await announce_both(client)
    await announce(client, "b1", mapping("b1", 6, 4, 0, 1, **generations), counter=2)

    await announce(client, "b2", mapping("b2", 6, 4, 0, 2, 3, **generations), counter=2)

    async def is_written():
        async with database.connect() as connection:
            return await findings.list_invalid_items(connection)

    (found,) = await eventually(is_written)
    assert found.broker_group_name == "b2"
    assert "queue mapping T: b1 and b2 lead logical queue 0 in epoch 6 (INV-15)" in found.items[0]
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]
    await announce(client, "b2", mapping("b2", 7, 4, 0, 2, 3), counter=3)
    assert await leaders(client) == ["b2", "b1", "b2", "b2"]


async def test_a_leader_that_is_lost_stays_the_leader(client, second_client, eventually):
    await announce(client, "b1", mapping("b1", 5, 4, 0, 1))
    await announce(second_client, "b2", mapping("b2", 5, 4, 2, 3))

    await second_client.close()

    async def is_lost():
        route = json.loads((await ask_route(client)).body)
        return len(route["brokerDatas"]) == 1

    await eventually(is_lost)
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]


async def test_a_deleted_topic_comes_back_without_a_mapping(client, database, eventually):
    """Stock keeps the mapping for ever (L61, H-9)."""
    await announce_both(client)
    await eventually(lambda: list_counts(database=database))
    await client.ask(216, {"topic": "T"})

    async def is_forgotten():
        return await list_counts(database=database) == []

    await eventually(is_forgotten)
    assert (await ask_route(client)).code == 17
    await announce(client, "b1", counter=2)
    route = json.loads((await ask_route(client)).body)
    assert "topicQueueMappingByBroker" not in route


async def test_what_an_operation_removes_is_gone_from_every_process(  # L61
    start_server, connect, database, eventually
):
    clients = [await connect(await start_server()) for _ in range(2)]
    for client in clients:
        await announce_both(client)

    async def is_recorded():
        described = await list_holding_clusters("T", within=EVERYWHERE, database=database)
        return described and len(described[0][1]) == 2 and await list_counts(database=database)

    await eventually(is_recorded)
    await forget_placements("main", "T", ["b2"], database=database, clock=SystemClock())

    async def is_removed():
        return [await leaders(client) for client in clients] == [["b1", "b1", None, None]] * 2

    await eventually(is_removed)


async def test_a_client_that_does_not_know_static_topics_does_not_see_one(client):  # L57
    await announce_both(client)

    answers = [
        await ask_route(client, version=OLD),
        await ask_route(client, language="GO"),
        await ask_route(client, version=OLD, acceptStandardJsonOnly="true"),
        await ask_route(client, "TBW102", version=OLD),
        await ask_route(client, language="GO", **LQV),
    ]

    assert [one.code for one in answers] == [17, 17, 17, 0, 0]


async def test_such_a_client_sees_all_queues_on_one_front_if_the_topic_says_so(client):  # L58
    await announce_both(client, attributes={"lq.legacy": "proxy"})

    answer = await ask_route(client, version=OLD)

    route = json.loads(answer.body)
    (front,) = route["queueDatas"]
    assert (front["readQueueNums"], front["writeQueueNums"]) == (4, 4)
    assert [one["brokerName"] for one in route["brokerDatas"]] == [front["brokerName"]]
    assert "topicQueueMappingByBroker" not in route
    assert await leaders(client) == ["b1", "b1", "b2", "b2"]


async def test_another_front_serves_when_the_first_one_is_lost(
    client, second_client, connect, name_server, eventually
):  # L58
    third = await connect(name_server)
    proxied = {"attributes": {"lq.legacy": "proxy"}}
    await announce(client, "b1", mapping("b1", 5, 4, 0, 1), **proxied)
    await announce(second_client, "b2", mapping("b2", 5, 4, 2, 3), **proxied)

    async def front():
        route = json.loads((await ask_route(third, version=OLD)).body)
        return [one["brokerName"] for one in route["brokerDatas"]]

    (first,) = await front()
    await {"b1": client, "b2": second_client}[first].close()

    async def has_moved():
        return await front() == [{"b1": "b2", "b2": "b1"}[first]]

    await eventually(has_moved)


async def test_the_zone_of_a_client_hides_no_leader(client):
    zone = {"__ZONE_MODE": "true", "__ZONE_NAME": "east"}
    await announce_both(client)

    static = await ask_route(client, **zone)
    ordinary = await ask_route(client, "TBW102", **zone)

    assert len(json.loads(static.body)["brokerDatas"]) == 2
    assert json.loads(ordinary.body)["brokerDatas"] == []
