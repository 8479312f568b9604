"""Who speaks for a group without its master, and what its route shows (control-plane.md 4.5)."""

import pytest

from backend.domain.broker import DataVersion
from backend.domain.topic import QueueSettings
from tests.unit.nameserver.registering import (
    ORDERS,
    addresses,
    leave,
    permissions,
    register,
    route_table,
)


@pytest.fixture
def table():
    return route_table()


def test_a_replica_does_not_speak_for_its_group_while_a_master_does(table):
    register(table)

    outcome = register(table, 1, topics={"other": QueueSettings(1, 1, 6)} | ORDERS)

    assert outcome.changed_topics == {}
    assert table.list_topics() == ["TBW102", "orders"]


def test_an_old_replica_never_speaks_for_its_group(table):  # S137
    register(table, 1)

    assert table.list_topics() == []


def test_the_smallest_replica_speaks_without_the_write_bit(table):  # S86
    register(table, 2, acting_master_enabled=True)
    register(table, 3, acting_master_enabled=True, topics={"late": QueueSettings(1, 1, 6)} | ORDERS)

    assert table.list_topics() == ["TBW102", "orders"]
    assert addresses(table) == {0: "10.0.0.3:10911", 3: "10.0.0.4:10911"}
    assert permissions(table) == 4
    assert permissions(table, "TBW102") == 5


def test_a_replica_speaks_with_the_write_bit_when_its_group_has_no_acting_master(table):
    register(table, 2, acting_master_enabled=False)

    assert permissions(table) == 6


def test_a_replica_acts_as_master_after_the_master_left(table):  # S83
    register(table, acting_master_enabled=True)
    register(table, 1, acting_master_enabled=True)

    leave(table)

    assert addresses(table) == {0: "10.0.0.2:10911"}
    assert permissions(table) == 4
    assert table.find_group("main", "broker-a").addresses == {1: "10.0.0.2:10911"}


def test_without_acting_masters_a_lone_replica_keeps_its_id_and_the_permissions(table):  # S84, S137
    register(table)
    register(table, 1)

    leave(table)

    assert addresses(table) == {1: "10.0.0.2:10911"}
    assert permissions(table) == 6


def test_a_master_that_returns_takes_writes_again(table):  # S85
    register(table, acting_master_enabled=True)
    register(table, 1, acting_master_enabled=True)
    leave(table)

    register(table, acting_master_enabled=True)

    assert addresses(table) == {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}
    assert permissions(table) == 6


def test_a_replica_that_becomes_master_and_a_master_that_becomes_replica_are_routed(table):  # S82
    register(table, 0, "10.0.0.1:10911", data_version=DataVersion(1, 0, 0))
    register(table, 1, "10.0.0.2:10911", data_version=DataVersion(1, 0, 0))
    seen = []

    leave(table, 0, "10.0.0.1:10911")
    seen.append((addresses(table), permissions(table)))
    register(table, 0, "10.0.0.2:10911", data_version=DataVersion(2, 0, 0))
    seen.append((addresses(table), permissions(table)))
    register(table, 1, "10.0.0.1:10911", data_version=DataVersion(2, 0, 0))
    seen.append((addresses(table), permissions(table)))

    assert seen == [
        ({1: "10.0.0.2:10911"}, 6),
        ({0: "10.0.0.2:10911"}, 6),
        ({0: "10.0.0.2:10911", 1: "10.0.0.1:10911"}, 6),
    ]


def test_acting_moves_on_to_the_next_replica(table):  # S87
    for broker_id in (0, 1, 2):
        register(table, broker_id, acting_master_enabled=True)

    leave(table, 0)
    leave(table, 1)

    assert addresses(table) == {0: "10.0.0.3:10911"}


def test_the_members_topic_shows_real_ids(table):  # S88
    name = "rmq_sys_SYNC_BROKER_MEMBER_broker-a"
    topics = ORDERS | {name: QueueSettings(1, 1, 1)}
    register(table, topics=topics, acting_master_enabled=True)
    register(table, 1, acting_master_enabled=True)

    leave(table)

    assert addresses(table, name) == {1: "10.0.0.2:10911"}
