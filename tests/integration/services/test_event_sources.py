"""What is told of brokers and groups, with the change itself and only when there is one."""

import pytest

from backend.clients.clock import SystemClock
from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.domain.errors import DomainError
from backend.domain.event import EventFilter
from backend.services.events import list_events, number_events
from backend.services.registrations import (
    MarkBrokerOffline,
    RegisterBroker,
    mark_broker_offline,
    register_broker,
)


@pytest.fixture
def told(database):
    """List all events so far."""

    async def read():
        await number_events(database=database)
        page = await list_events(after=0, size=500, chosen=EventFilter(), database=database)
        return page.events

    return read


@pytest.fixture
def register(database):
    async def register_at(address, broker_id=0):
        registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion())
        command = RegisterBroker("c", "g", registration)
        await register_broker(command, database=database, clock=SystemClock())

    return register_at


async def test_a_broker_that_comes_moves_and_goes_is_told_once_each(database, register, told):
    gone = MarkBrokerOffline("c", "g", 0)
    for _ in range(2):
        await register("a:10911")
    await register("b:10911")
    for _ in range(2):
        await mark_broker_offline(gone, database=database, clock=SystemClock())
    await register("b:10911")

    assert [(e.kind, e.subject, e.details.get("address")) for e in await told()] == [
        ("broker.registered", "g/0", "a:10911"),
        ("broker.registered", "g/0", "b:10911"),
        ("broker.lost", "g/0", None),
        ("broker.registered", "g/0", "b:10911"),
    ]


async def test_every_change_of_a_group_is_told_as_its_history_has_it(controller, told):
    await controller.make_f3()
    with pytest.raises(DomainError):
        await controller.elect(9)
    await controller.alter({1, 2}, epoch=2)
    controller.hear(2)
    await controller.replace_lost()

    events = await told()
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
