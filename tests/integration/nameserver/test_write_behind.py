"""What the name server learns reaches Postgres and Redis, and refused things do not."""

import asyncio
import json

import pytest
from sqlalchemy import func, select, text

from backend.clients.clock import SystemClock
from backend.db import findings
from backend.db.tables import brokers, clusters, topic_placements, topics
from backend.nameserver.server import NameServer
from backend.services.controller.heartbeats import BrokerIdentity, list_heartbeats

KEY = BrokerIdentity("main", "broker-a", 0)


async def scalar(database, statement):
    async with database.connect() as connection:
        return await connection.scalar(statement)


async def count(database, table):
    return await scalar(database, select(func.count()).select_from(table))


async def state(database):
    return await scalar(database, select(brokers.c.state))


async def test_a_registration_is_written(client, database, eventually):
    await client.register()

    async def is_written():
        return await count(database, topic_placements) == 2

    await eventually(is_written)
    assert await state(database) == "online"
    assert await scalar(database, select(clusters.c.name)) == "main"


async def test_a_heartbeat_is_written_with_our_clock(client, redis, eventually):
    before_ms = SystemClock().now_ms()
    await client.register()

    async def heard():
        return (await list_heartbeats(redis, [KEY])).get(KEY)

    heard_at_ms = await eventually(heard)
    assert before_ms <= heard_at_ms <= SystemClock().now_ms()


async def test_rows_are_written_while_redis_hangs(client, database, eventually, monkeypatch):
    async def hang(*_given, **_more):
        await asyncio.Event().wait()

    monkeypatch.setattr("backend.nameserver.write_behind.topology.announce", hang)
    monkeypatch.setattr("backend.nameserver.write_behind.REDIS_TIMEOUT_S", 0.05)
    await client.register()
    await client.register(brokerName="broker-b", brokerAddr="10.0.0.2:10911")

    async def are_written():
        return await count(database, brokers) == 2

    await eventually(are_written)


async def test_a_broker_that_left_is_offline_and_its_last_heartbeat_kept(
    client, name_server, database, redis, eventually
):
    await client.register()

    async def is_state(wanted):
        return await state(database) == wanted

    await eventually(lambda: is_state("online"))
    await client.close()
    await eventually(lambda: is_state("offline"))

    await name_server._write_behind.drain()

    assert KEY in await list_heartbeats(redis, [KEY])
    assert await count(database, topics) == 2


async def test_a_deleted_topic_is_removed(client, database, eventually):
    await client.register()

    async def topics_are(wanted):
        return await count(database, topics) == wanted

    await eventually(lambda: topics_are(2))
    await client.ask(216, {"topic": "orders"})

    await eventually(lambda: topics_are(1))


@pytest.mark.parametrize(
    "changes",
    [
        {"clusterName": "a/b"},
        {"clusterName": ".."},
        {"brokerName": "a\0b"},
        {"brokerName": "x" * 256},
        {"brokerAddr": "no-port"},
    ],
)
async def test_a_bad_name_is_refused_and_writes_nothing(client, name_server, database, changes):
    answer = await client.register(**changes)
    await name_server._write_behind.drain()

    assert answer.code == 29
    assert await count(database, clusters) == 0
    assert name_server.describe().broker_count == 0
    assert name_server.describe().topic_count == 0


ODD_TOPICS = {
    "a/b": (1, 1, 6),
    "..": (1, 1, 6),
    "../../../../tmp/out": (1, 1, 6),
    "%RETRY%" + "t" * 249: (1, 1, 6),
    "a b": (1, 1, 6),
    "a\0b": (1, 1, 6),
    "half\ud800": (1, 1, 6),
    "x" * 256: (1, 1, 6),
    "few": (-1, 1, 6),
    "many": (70_000, 1, 6),
    "perm": (1, 1, 22),
    "text": ("one", 1, 6),
}


@pytest.mark.parametrize("name", ODD_TOPICS)
async def test_an_odd_topic_of_a_registration_takes_no_other_along(
    client, name_server, database, redis, connect, eventually, name
):
    # Cases A3 and A4: also a lone good topic is no registration of one, which is refused.
    topics = {"orders": (4, 4, 6), name: ODD_TOPICS[name]}

    answer = await client.register(topics=topics)
    await name_server._write_behind.drain()
    async with NameServer.serve(
        "127.0.0.1", 0, database=database, redis=redis, clock=SystemClock()
    ) as restarted:
        again = await connect(restarted)
        await again.register(topics=topics)
        route = await again.ask(105, {"topic": "orders"})

    assert (answer.code, route.code) == (0, 0)
    async with database.connect() as connection:
        (row,) = (await connection.execute(select(brokers))).mappings()
        (found,) = await findings.list_invalid_items(connection)
    assert row["state"] == "online"
    assert (found.broker_group_name, found.broker_id, found.count) == ("broker-a", 0, 1)
    shown = name.replace("\0", "\\u0000").replace("\ud800", "\\ud800")[:255]
    assert found.items[0].startswith(f"topic {shown}: ")

    await client.register(topics={"orders": (4, 4, 6), "other": (4, 4, 6)})

    async def is_mended():
        async with database.connect() as connection:
            return await findings.list_invalid_items(connection) == []

    await eventually(is_mended)


async def test_a_registration_of_one_topic_mends_no_other_odd_topic(client, name_server):
    # Cases A4 and A11: stock and agents announce one changed topic alone.
    def list_odd():
        live = name_server._table.find_live(("main", "broker-a"), 0)
        return [one.name for one in live.report.left_out.first]

    await client.register(topics={"orders": (4, 4, 6), "odd": (70_000, 4, 6)})

    await client.register(topics={"orders": (8, 8, 6)})
    assert list_odd() == ["odd"]

    await client.register(topics={"odd": (4, 4, 6)})
    assert list_odd() == []


async def test_what_a_broker_left_out_itself_is_noted_with_it(client, database, eventually):
    # Case A5.
    told = {"count": 2, "items": [{"kind": "consumer group", "name": "g g", "reason": "blank"}]}

    await client.register(regentLeftOut=json.dumps(told))

    async def found():
        async with database.connect() as connection:
            return await findings.list_invalid_items(connection)

    (noted,) = await eventually(found)
    assert (noted.count, noted.items) == (2, ("consumer group g g: blank",))


async def test_what_was_learned_while_postgres_was_away_is_written_when_it_is_back(
    client, database, eventually
):
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE brokers RENAME TO brokers_away"))
    await client.register()
    await client.register(topics={"late": (1, 1, 6)}, haServerAddr="10.0.0.1:20912")
    assert (await client.ask(105, {"topic": "orders"})).code == 0

    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE brokers_away RENAME TO brokers"))

    async def is_written():
        return await count(database, topic_placements) == 3

    await eventually(is_written)
    assert await scalar(database, select(brokers.c.ha_address)) == "10.0.0.1:20912"


async def test_a_server_that_stops_writes_what_waits_and_leaves_brokers_online(
    database, redis, connect
):
    async with NameServer.serve(
        "127.0.0.1", 0, database=database, redis=redis, clock=SystemClock()
    ) as server:
        client = await connect(server)
        await client.register()

    assert await client.is_closed_by_peer()
    assert await state(database) == "online"
    assert await count(database, topics) == 2
