"""Which brokers are notified that the least id of a group has changed (control-plane.md 4.4)."""

import asyncio

import pytest

from backend.brokers.errors import BrokerUnreachable
from backend.nameserver.least_id_notices import WAITING_COUNT_MAX, LeastIdChange, LeastIdNotices
from backend.nameserver.members import Departure
from backend.remoting.request_code import RequestCode
from tests.unit.nameserver.registering import leave, register, route_table

MASTER, FIRST, SECOND = "10.0.0.1:10911", "10.0.0.2:10911", "10.0.0.3:10911"


@pytest.fixture
def changes():
    return []


@pytest.fixture
def table(changes):
    table = route_table()
    table.on_least_id(changes.append)
    return table


def register_group(table, *, acting_master_enabled=True):
    for broker_id in (0, 1, 2):
        register(table, broker_id, acting_master_enabled=acting_master_enabled)


def test_the_replicas_are_notified_that_their_master_left(table, changes):  # S103
    register_group(table)

    leave(table)

    [change] = changes
    assert (change.broker_id, change.address) == (1, FIRST)
    assert change.receivers == (FIRST, SECOND)
    assert (change.offline_address, change.ha_address) == (MASTER, "10.0.0.1:10912")


def test_the_replicas_are_notified_that_their_master_returned(table, changes):  # S104
    register_group(table)
    leave(table)
    changes.clear()

    register(table, acting_master_enabled=True)

    [change] = changes
    assert (change.broker_id, change.address) == (0, MASTER)
    assert change.receivers == (FIRST, SECOND)
    assert (change.offline_address, change.ha_address) == (None, "10.0.0.1:10912")


def test_the_last_member_is_notified_that_it_is_alone(table, changes):
    register_group(table)
    leave(table)
    changes.clear()

    leave(table, 1)

    [change] = changes
    assert (change.broker_id, change.receivers, change.offline_address) == (2, (SECOND,), FIRST)


@pytest.mark.parametrize("left", [[(0, MASTER), (1, FIRST)], [(1, FIRST), (0, MASTER)]])
def test_a_batch_of_departures_is_one_change_which_names_the_master(table, changes, left):
    """A replica compares the address with that of its master, which it may still hear."""
    register_group(table)

    table.remove([Departure("main", "broker-a", *one) for one in left])

    [change] = changes
    assert (change.broker_id, change.receivers, change.offline_address) == (2, (SECOND,), MASTER)


def test_a_replica_with_a_larger_id_is_no_news(table, changes):
    register_group(table)

    leave(table, 2)
    register(table, 2, acting_master_enabled=True)

    assert changes == []


def test_groups_without_acting_masters_have_no_news(table, changes):
    register_group(table, acting_master_enabled=False)

    leave(table)
    register(table, acting_master_enabled=False)

    assert changes == []


class Brokers:
    """The door to brokers; the first of them can't be reached."""

    def __init__(self):
        self.told = []
        self.is_told = asyncio.Event()

    async def notify(self, address, code, *, ext, body):
        assert (code, body) == (RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, b"")
        if address == MASTER:
            raise BrokerUnreachable(address, "gone")
        self.told.append((address, ext))
        self.is_told.set()


async def test_each_receiver_is_notified_and_one_that_is_gone_holds_up_no_other():
    brokers = Brokers()
    notices = LeastIdNotices(brokers)
    notices.add(LeastIdChange("broker-a", 1, FIRST, (MASTER, SECOND), MASTER, "10.0.0.2:10912"))

    pushing = asyncio.create_task(notices.push())
    await brokers.is_told.wait()
    pushing.cancel()

    [(address, ext)] = brokers.told
    assert address == SECOND
    assert ext == {
        "minBrokerId": "1",
        "brokerName": "broker-a",
        "minBrokerAddr": FIRST,
        "offlineBrokerAddr": MASTER,
        "haBrokerAddr": "10.0.0.2:10912",
    }


def test_too_many_changes_are_left_to_the_polls():
    notices = LeastIdNotices(Brokers())

    for _ in range(WAITING_COUNT_MAX + 2):
        notices.add(LeastIdChange("broker-a", 1, FIRST, (SECOND,)))
