"""Events about brokers and groups come with the change itself, and only with a change."""

import pytest

from backend.clients.clock import SystemClock
from backend.db import broker_groups
from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.domain.errors import DomainError
from backend.domain.event import EventFilter
from backend.domain.topic import QueueSettings
from backend.rules.group_mode import GroupMode
from backend.services.controller.registrations import (
    MarkBrokerOffline,
    RegisterBroker,
    mark_broker_offline,
    register_broker,
)
from backend.services.topic.topics import forget_placements, remove_topic
from backend.services.upkeep.events import list_events, number_events


@pytest.fixture
def reported(database):
    """List all events so far."""

    async def read():
        await number_events(database=database)
        page = await list_events(after=0, size=500, chosen=EventFilter(), database=database)
        return page.events

    return read


@pytest.fixture
def register(database):
    async def register_at(
        address="a:10911", broker_id=0, *, group="g", topics=None, mode=GroupMode.STATIC
    ):
        registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion())
        command = RegisterBroker("c", group, registration, mode, topics=topics or {})
        await register_broker(command, database=database, clock=SystemClock())

    return register_at


async def test_a_broker_that_comes_moves_and_goes_has_one_event_each(database, register, reported):
    gone = MarkBrokerOffline("c", "g", 0)
    for _ in range(2):
        await register("a:10911")
    await register("b:10911")
    for _ in range(2):
        await mark_broker_offline(gone, database=database, clock=SystemClock())
    await register("b:10911")

    assert [(e.kind, e.subject, e.details.get("address")) for e in await reported()] == [
        ("broker.registered", "g-0", "a:10911"),
        ("broker.registered", "g-0", "b:10911"),
        ("broker.lost", "g-0", None),
        ("broker.registered", "g-0", "b:10911"),
    ]


async def test_a_replica_that_acts_has_an_event_at_its_begin_and_at_its_end(
    database, register, reported
):
    """S83, S87."""

    async def leave(broker_id):
        gone = MarkBrokerOffline("c", "g", broker_id)
        await mark_broker_offline(gone, database=database, clock=SystemClock())

    async def found():
        async with database.connect() as connection:
            return await broker_groups.get(connection, "c", "g")

    for broker_id in (0, 1, 2):
        await register(f"a:{broker_id + 1}", broker_id, mode=GroupMode.ACTING_MASTER)
    await leave(0)
    acting = await found()
    await leave(1)
    await register("a:2", 1, mode=GroupMode.ACTING_MASTER)
    await register("a:1", 0, mode=GroupMode.ACTING_MASTER)

    assert (str(acting.acting_name), acting.acting_since is None) == ("g-1", False)
    after = await found()
    assert (after.acting_id, after.acting_since) == (None, None)
    events = [one for one in await reported() if one.kind.startswith("group.")]
    assert [(one.kind.partition(".")[2], one.details["broker"]) for one in events] == [
        ("acting_began", "g-1"),
        ("acting_ended", "g-1"),
        ("acting_began", "g-2"),
        ("acting_ended", "g-2"),
        ("acting_began", "g-1"),
        ("acting_ended", "g-1"),
    ]
    assert events[1].details["since"] == events[0].details["since"]


async def test_in_a_group_without_the_mode_no_replica_acts(database, register, reported):  # S84
    for broker_id in (0, 1):
        await register(f"a:{broker_id + 1}", broker_id)

    gone = MarkBrokerOffline("c", "g", 0)
    await mark_broker_offline(gone, database=database, clock=SystemClock())

    assert [one for one in await reported() if one.kind.startswith("group.")] == []


async def test_topics_that_brokers_register_have_one_event_each(database, register, reported):
    two, three = QueueSettings(2, 2, 6), QueueSettings(3, 3, 6)
    for _ in range(2):
        await register(topics={"orders": two, "bills": two})
    await register("h:10911", group="h", topics={"orders": two})
    # What is not named has not gone.
    await register(topics={"orders": three})
    clock = SystemClock()
    await forget_placements("c", "orders", ["h", "i"], database=database, clock=clock)
    await remove_topic("bills", cluster_name=None, database=database, clock=clock)

    events = [one for one in await reported() if one.kind.startswith("topic.")]
    assert [(one.kind, one.subject, one.details["topics"]) for one in events] == [
        ("topic.placed", "g", ["bills", "orders"]),
        ("topic.placed", "h", ["orders"]),
        ("topic.changed", "g", ["orders"]),
        ("topic.removed", "h", ["orders"]),
        ("topic.removed", "g", ["bills"]),
    ]
    assert {one.cluster_name for one in events} == {"c"}


async def test_thousands_of_topics_are_one_event_that_says_how_many(register, reported):
    await register(topics={f"topic-{i:04}": QueueSettings(1, 1, 6) for i in range(1_200)})

    [event] = [one for one in await reported() if one.kind == "topic.placed"]
    assert event.details["topic_count"] == 1_200
    assert event.details["topics"] == [f"topic-{i:04}" for i in range(100)]


async def test_every_change_of_a_group_has_an_event_as_its_history_has_it(controller, reported):
    await controller.make_f3()
    with pytest.raises(DomainError):
        await controller.elect(9)
    await controller.alter({1, 2}, epoch=2)
    controller.hear(2)
    await controller.replace_lost()

    events = await reported()
    assert [event.kind for event in events] == [
        *["group.broker_id_applied"] * 3,
        "group.master_elected",
        *["group.sync_state_set_altered"] * 2,
        "group.master_elected",
    ]
    assert {(event.cluster_name, event.subject) for event in events} == {("c", "g")}
    assert events[-1].details == {
        "master_id": 2,
        "master_epoch": 2,
        "sync_state_set": [2],
        "sync_state_set_epoch": 4,
        "cause": "test",
    }
    assert events[0].details["master_id"] is None
