"""The rules of registration, leaving and routes, each row of control-plane.md 4 by itself."""

import pytest

from backend.domain.broker import DataVersion
from backend.domain.errors import RegistrationRefused, RouteNotFound
from backend.domain.topic import QueueSettings
from backend.nameserver.members import Departure
from backend.nameserver.route_table import RouteTable
from tests.unit.nameserver.registering import (
    FIRST,
    ORDERS,
    SECOND,
    Clock,
    addresses,
    leave,
    permissions,
    presence_table,
    register,
)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def presence(clock):
    return presence_table(clock)


@pytest.fixture
def table(presence):
    return RouteTable(presence)


def test_a_master_with_two_topics_is_taken_in_without_master_data(table):  # S80
    outcome = register(table)

    assert outcome.is_accepted
    assert outcome.master is None
    assert addresses(table) == {0: "10.0.0.1:10911"}


def test_a_replica_learns_its_master(table):  # S81
    register(table)

    outcome = register(table, 1)

    assert outcome.master.report.address == "10.0.0.1:10911"
    assert outcome.master.report.ha_address == "10.0.0.1:10912"
    assert addresses(table) == {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}


def test_a_broker_that_is_not_known_may_not_begin_with_one_topic(table):  # S93
    with pytest.raises(RegistrationRefused, match="register broker failed"):
        register(table, topics={"orders": QueueSettings(4, 4, 6)})

    assert table.list_groups() == []
    assert table.version == 0


def test_a_known_broker_may_add_one_topic(table):
    register(table)

    outcome = register(
        table, topics={"bills": QueueSettings(1, 1, 6)}, data_version=DataVersion(0, 2_000, 2)
    )

    assert list(outcome.changed_topics) == ["bills"]
    assert table.list_topics() == ["TBW102", "bills", "orders"]


def test_topics_missing_in_a_later_registration_stay(table):
    """S99; and S98, for no switch makes absence a deletion here."""
    register(table)

    register(table, topics={}, data_version=DataVersion(0, 2_000, 2))

    assert table.list_topics() == ["TBW102", "orders"]


def test_an_address_has_one_id_in_its_group(table):  # S92
    register(table, 1, "10.0.0.9:10911")

    register(table, 0, "10.0.0.9:10911")

    assert addresses(table) == {0: "10.0.0.9:10911"}


def test_a_new_address_takes_an_id_over(table):  # S91
    register(table, address="10.0.0.1:10911", data_version=DataVersion(1, 0, 0))

    register(table, address="10.0.0.2:10911", data_version=DataVersion(2, 0, 0))

    assert addresses(table) == {0: "10.0.0.2:10911"}


def test_groups_without_a_controller_let_the_later_registration_win(table):
    register(table, address="10.0.0.1:10911")

    register(table, address="10.0.0.2:10911")

    assert addresses(table) == {0: "10.0.0.2:10911"}


def test_a_master_of_an_older_epoch_is_ignored_and_not_heard_any_more(table, presence):  # S90
    register(table, address="10.0.0.1:10911", data_version=DataVersion(2, 0, 0))

    outcome = register(table, address="10.0.0.9:10911", data_version=DataVersion(1, 0, 0))

    assert not outcome.is_accepted
    assert addresses(table) == {0: "10.0.0.1:10911"}
    assert presence.hear_registered(("main", "10.0.0.9:10911")) is None


def test_an_id_whose_holder_is_no_longer_heard_is_free_whatever_the_epoch(table):
    register(table, address="10.0.0.1:10911", data_version=DataVersion(2, 0, 0))
    register(table, 1, data_version=DataVersion(2, 0, 0))
    leave(table, 0, "10.0.0.1:10911")

    outcome = register(table, address="10.0.0.9:10911", data_version=DataVersion(1, 0, 0))

    assert outcome.is_accepted


def test_settings_change_only_with_the_data_version(table):
    register(table)
    changed = {"orders": QueueSettings(9, 9, 6), "TBW102": QueueSettings(8, 8, 7)}

    same = register(table, topics=changed)
    newer = register(table, topics=changed, data_version=DataVersion(0, 2_000, 2))

    assert same.changed_topics == {}
    assert list(newer.changed_topics) == ["orders"]


def test_a_topic_that_was_not_known_is_added_whatever_the_version(table):
    register(table)

    outcome = register(table, topics=ORDERS | {"bills": QueueSettings(1, 1, 6)})

    assert list(outcome.changed_topics) == ["bills"]


def test_a_broker_moved_to_another_group_leaves_the_first(table):
    register(table, address="10.0.0.1:10911")

    outcome = register(table, address="10.0.0.1:10911", broker_group_name="broker-b")

    assert outcome.moved_from.broker_group_name == "broker-a"
    assert [group.broker_group_name for group in table.list_groups()] == ["broker-b"]


def test_two_clusters_may_use_one_group_name(table):
    register(table)
    register(table, address="10.1.0.1:10911", cluster_name="other")

    leave(table, address="10.1.0.1:10911", cluster="other")

    assert [entry.members.cluster_name for entry in table.route("orders").entries] == ["main"]


def test_a_good_bye_of_another_group_changes_nothing(table, presence):
    register(table)

    leave(table, group="broker-b")

    assert presence.hear_registered(("main", "10.0.0.1:10911")) is not None


def test_the_last_broker_takes_the_topics_of_its_group_along(table):
    register(table)

    leave(table)

    with pytest.raises(RouteNotFound):
        table.route("orders")
    assert table.list_topics() == []


def test_groups_that_leave_together_leave_nothing(table):  # S96
    register(table)
    register(table, address="10.1.0.1:10911", broker_group_name="broker-b")

    table.remove(
        [
            Departure("main", "broker-a", 0, "10.0.0.1:10911"),
            Departure("main", "broker-b", 0, "10.1.0.1:10911"),
        ]
    )

    assert (table.list_topics(), table.list_groups()) == ([], [])


def test_silence_longer_than_asked_for_is_found(table, presence, clock):  # S94
    register(table)
    register(table, 1, timeout_ms=60_000)

    clock.now_ms += 10_000
    assert presence.list_silent_registered() == []
    clock.now_ms += 1
    assert [broker.report.broker_id for broker in presence.list_silent_registered()] == [0]


def test_a_heartbeat_ends_silence(table, presence, clock):
    register(table)

    clock.now_ms += 8_000
    presence.hear_registered(("main", "10.0.0.1:10911"))
    clock.now_ms += 8_000

    assert presence.list_silent_registered() == []


def test_all_brokers_of_a_connection_are_found(table, presence):
    register(table, connection=FIRST)
    register(table, 1, connection=FIRST)
    register(table, 2, connection=SECOND)

    ids = [broker.report.broker_id for broker in presence.list_registered_over(FIRST)]

    assert ids == [0, 1]


def test_a_broker_that_came_back_is_not_of_its_old_connection(table, presence):
    register(table, connection=FIRST)

    register(table, connection=SECOND)

    assert presence.list_registered_over(FIRST) == []
    assert [row.connection for row in presence.list_registered_over(SECOND)] == [SECOND]


def test_wiped_permission_survives_the_same_version_and_not_a_new_one(table):  # S97
    register(table)

    count = table.wipe_write("broker-a")
    register(table)
    after_same = permissions(table)
    register(table, data_version=DataVersion(0, 2_000, 2))

    assert (count, after_same, permissions(table)) == (2, 4, 6)


def test_added_permission_is_exactly_read_and_write(table):
    register(table)
    table.wipe_write("broker-a")

    count = table.add_write("broker-a")

    assert (count, permissions(table), permissions(table, "TBW102")) == (2, 6, 6)


def test_deleting_a_topic_in_one_cluster_leaves_the_other(table):  # S101
    register(table)
    register(table, address="10.1.0.1:10911", cluster_name="other")

    table.remove_topic("orders", cluster_name="main")

    assert [entry.members.cluster_name for entry in table.route("orders").entries] == ["other"]


def test_deleting_a_topic_everywhere_forgets_it(table):
    register(table)

    assert table.remove_topic("orders")
    assert not table.remove_topic("orders")
    assert table.list_topics() == ["TBW102"]


def test_a_topic_is_added_only_to_groups_that_are_known(table):  # S100
    register(table)
    settings = QueueSettings(2, 2, 6)

    refused = table.add_topic("late", {"broker-a": settings, "broker-x": settings})
    added = table.add_topic("late", {"broker-a": settings})

    assert (refused, added) == (False, True)
    assert table.route("late").entries[0].settings == settings


def test_topics_of_a_cluster_are_those_of_its_groups(table):
    register(table)
    register(
        table,
        address="10.1.0.1:10911",
        cluster_name="other",
        topics={"x": QueueSettings(1, 1, 6), "y": QueueSettings(1, 1, 6)},
    )

    assert table.list_topics(cluster_name="other") == ["x", "y"]


def test_the_version_rises_with_changes_only(table, clock):
    register(table)
    after_first = table.version

    register(table)
    clock.now_ms += 5
    register(table)
    unchanged = table.version
    leave(table)

    assert (after_first, unchanged, table.version) == (1, 1, 2)
