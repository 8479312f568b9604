"""What registrations leave in Postgres."""

import asyncio

import pytest
from sqlalchemy import func, select

from backend.clients.clock import SystemClock
from backend.db import topics as topics_db
from backend.db.brokers import BrokerRegistration
from backend.db.tables import brokers, clusters, topic_placements, topics
from backend.domain.broker import DataVersion
from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.errors import ClusterNotFound, InvalidName, TopicNotFound
from backend.domain.topic import QueueSettings, TopicKind, topic_kind
from backend.services.cluster.brokers import list_brokers
from backend.services.cluster.clusters import count_clusters, describe_cluster
from backend.services.controller.registrations import (
    MarkBrokerOffline,
    RegisterBroker,
    mark_broker_offline,
    register_broker,
)
from backend.services.topic.topics import describe_topic, remove_topic

CLOCK = SystemClock()
SETTINGS = QueueSettings(4, 4, 6)


def command(broker_id=0, *, cluster="main", group="broker-a", address="a:1", **topic_settings):
    registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion())
    return RegisterBroker(cluster, group, registration, topics=topic_settings)


async def save(database, *args, **kwargs):
    return await register_broker(command(*args, **kwargs), database=database, clock=CLOCK)


async def count(database, table):
    async with database.connect() as connection:
        return await connection.scalar(select(func.count()).select_from(table))


async def test_the_same_registration_twice_is_no_change(database):
    first = await save(database, orders=SETTINGS)
    second = await save(database, orders=SETTINGS)

    assert (first.route_version, second) == (1, None)
    assert await count(database, topic_placements) == 1


async def test_topics_that_are_not_named_stay(database):
    await save(database, orders=SETTINGS)

    await save(database, bills=SETTINGS)

    assert await count(database, topics) == 2


async def test_changed_settings_are_a_change(database):
    await save(database, orders=SETTINGS)

    change = await save(database, orders=QueueSettings(8, 8, 6))

    assert change.route_version == 2


async def test_one_address_under_a_new_id_is_one_broker(database):
    await save(database, 1, address="a:1")

    await save(database, 0, address="a:1")

    page = await list_brokers("main", size=10, after=None, database=database)
    assert [broker.broker_id for broker in page.items] == [0]


async def test_two_clusters_may_use_one_group_name(database):
    await save(database, cluster="one")
    await save(database, cluster="two")

    census = await count_clusters(within=EVERYWHERE, database=database)
    assert (census.cluster_count, census.broker_group_count, census.broker_count) == (2, 2, 2)


async def test_a_broker_goes_offline_once_and_only_at_its_address(database):
    await save(database)
    gone = MarkBrokerOffline("main", "broker-a", 0, "a:1")
    elsewhere = MarkBrokerOffline("main", "broker-a", 0, "b:1")

    changes = [
        await mark_broker_offline(each, database=database, clock=CLOCK)
        for each in (elsewhere, gone, gone)
    ]

    assert [change is None for change in changes] == [True, False, True]


async def test_a_broker_that_registers_again_is_online(database):
    await save(database)
    gone = MarkBrokerOffline("main", "broker-a", 0)
    await mark_broker_offline(gone, database=database, clock=CLOCK)

    change = await save(database)

    assert change.route_version == 3
    async with database.connect() as connection:
        assert await connection.scalar(select(brokers.c.state)) == "online"


async def test_brokers_that_register_at_once_leave_the_rows_of_all(database):
    names = {f"t{number}": SETTINGS for number in range(50)}

    await asyncio.gather(
        *(save(database, 0, group=f"g{n}", address=f"a:{n + 1}", **names) for n in range(6))
    )

    assert await count(database, clusters) == 1
    assert await count(database, topics) == 50
    assert await count(database, topic_placements) == 300


@pytest.mark.parametrize("name", ["a/b", "..", "a\0b", "x" * 256])
async def test_a_bad_name_writes_nothing(database, name):
    for bad in (
        command(cluster=name),
        command(group=name),
        command(**{name: SETTINGS}),
    ):
        with pytest.raises(InvalidName):
            await register_broker(bad, database=database, clock=CLOCK)

    assert await count(database, clusters) == 0


async def test_a_removed_topic_is_gone_in_its_cluster_only(database):
    await save(database, cluster="one", orders=SETTINGS)
    await save(database, cluster="two", orders=SETTINGS)

    removed = await remove_topic("orders", cluster_name="one", database=database, clock=CLOCK)

    assert removed == 1
    with pytest.raises(TopicNotFound):
        await describe_topic("one", "orders", database=database)
    assert (await describe_topic("two", "orders", database=database)).name == "orders"
    with pytest.raises(ClusterNotFound):
        await describe_cluster("three", database=database)


async def test_sql_and_domain_agree_on_what_a_topic_is_for(database):
    names = [
        *("orders", "%RETRY%g", "%DLQ%g", "TBW102", "rmq_sys_x", "rmqXsysX", "main", "broker-a"),
        *("main_REPLY_TOPIC", "other_REPLY_TOPIC", "broker-b", "%LMQ%x", "SELF_TEST_TOPIC"),
    ]
    await save(database, **dict.fromkeys(names, SETTINGS))
    cluster = await describe_cluster("main", database=database)

    async with database.connect() as connection:
        found = await topics_db.list_of_clusters(
            connection, [cluster.id], search=None, kind=None, after=None, limit=100
        )

    assert {topic.name: topic.kind for topic in found[cluster.id]} == {
        name: topic_kind(name, cluster_name="main", broker_group_names={"broker-a"})
        for name in names
    }
    assert TopicKind.NORMAL in {topic.kind for topic in found[cluster.id]}
