"""Mappings of static topics in the route table: each row of logical-queues.md 17 by itself."""

import pytest

from backend.domain.broker import DataVersion
from backend.domain.errors import RouteNotFound
from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import (
    Acceptance,
    LegacyMode,
    StaticCount,
    client_endpoints,
)
from backend.domain.route import without_static
from backend.domain.topic import QueueSettings
from backend.nameserver.static_topics import RegisteredMapping
from tests.unit.nameserver.registering import leave, register, registration, route_table

T = {"T": QueueSettings(4, 4, 6), "TBW102": QueueSettings(8, 8, 7)}
PLACES = {"b1": "10.0.0.1:1", "b2": "10.0.0.2:1", "b3": "10.0.0.3:1"}


def info(name, epoch, count, *led, **others):
    places = {global_id: at for at, global_id in enumerate(led)}
    return MappingInfo("T", name, epoch, count, led=places, **others)


def announce(table, told, *, legacy=LegacyMode.HIDE, version=1, broker_id=0, topics=None):
    """Register a broker of a group with its mapping."""
    name = told.broker_group_name
    return table.register(
        registration(
            broker_id,
            PLACES[name],
            broker_group_name=name,
            data_version=DataVersion(0, 1_000, version),
        ),
        T if topics is None else topics,
        connection=object(),
        mappings={"T": RegisteredMapping(told, legacy)},
    )


def leaders(table):
    """Return the leaders of T as a client of RocketMQ 5 merges them."""
    static = table.route("T").static
    return list(client_endpoints(static.mappings).values())


def is_hidden(table):
    try:
        table.route("T")
    except RouteNotFound:
        return True
    return False


@pytest.fixture
def table():
    return route_table()


@pytest.fixture
def shown(table):
    """Give a table that shows T: b1 leads 0 and 1, b2 leads 2 and 3, since epoch 5."""
    announce(table, info("b1", 5, 4, 0, 1))
    announce(table, info("b2", 5, 4, 2, 3))
    return table


def test_an_ordinary_topic_has_no_mapping(shown):  # L56
    assert shown.route("TBW102").static is None


def test_a_topic_is_visible_once_the_leaders_of_all_queues_have_registered(table):  # L4
    announce(table, info("b1", 5, 3, 0))
    first = announce(table, info("b2", 5, 3, 1))

    assert is_hidden(table)
    last = announce(table, info("b3", 5, 3, 2))
    assert leaders(table) == ["b1", "b2", "b3"]
    assert (first.counts, last.counts) == ((), (StaticCount("T", "__global__", 5, 3),))


def test_more_queues_are_visible_once_the_leaders_of_all_have_registered(shown):  # L6
    part = announce(shown, info("b1", 6, 6, 0, 1, 4))

    assert leaders(shown) == ["b1", "b1", "b2", "b2"]
    whole = announce(shown, info("b2", 6, 6, 2, 3, 5))
    assert leaders(shown) == ["b1", "b1", "b2", "b2", "b1", "b2"]
    assert (part.counts, whole.counts) == ((), (StaticCount("T", "__global__", 6, 6),))


def test_fewer_queues_are_visible_once_the_leaders_of_all_have_registered(shown):  # L8
    announce(shown, info("b1", 6, 2, 0))
    announce(shown, info("b2", 6, 2, 1))

    assert leaders(shown) == ["b1", "b2"]


def test_a_move_is_visible_when_its_destination_has_registered(shown):
    version = shown.version

    moved = announce(shown, info("b2", 6, 4, 0, 2, 3))

    assert leaders(shown) == ["b2", "b1", "b2", "b2"]
    assert shown.version > version
    assert moved.counts == ()


def test_a_repeated_registration_changes_nothing(shown):
    version = shown.version

    announce(shown, info("b2", 5, 4, 2, 3))

    assert shown.version == version


def test_a_lower_epoch_is_outdated(shown):  # L50
    announce(shown, info("b1", 7, 4, 0))
    announce(shown, info("b2", 7, 4, 1, 2, 3))

    verdict = shown.judge(("main", "b1"), info("b1", 5, 4, 0, 1))

    assert (verdict.acceptance, verdict.newest_epoch) == (Acceptance.OUTDATED, 7)


def test_an_epoch_below_that_of_another_broker_is_taken_and_named(table):  # L50
    """A name server that has just started does not know the former epoch of the broker."""
    announce(table, info("b2", 7, 4, 1, 2, 3))

    verdict = table.judge(("main", "b1"), info("b1", 5, 4, 0, 1))
    announce(table, info("b1", 5, 4, 0, 1))

    assert (verdict.acceptance, verdict.newest_epoch) == (Acceptance.STORED, 7)
    assert leaders(table) == ["b1", "b2", "b2", "b2"]


def test_two_leaders_in_one_epoch_change_nothing_and_are_named(shown):
    announce(shown, info("b1", 6, 4, 0, 1))

    verdict = shown.judge(("main", "b2"), info("b2", 6, 4, 0, 2, 3))
    announce(shown, info("b2", 6, 4, 0, 2, 3))

    assert verdict.conflicts == {0: ("b1", "b2")}
    assert leaders(shown) == ["b1", "b1", "b2", "b2"]


def test_a_source_that_has_not_heard_of_a_move_yet_is_in_no_conflict(shown):
    announce(shown, info("b1", 6, 4, 1, generations={1: 0}))
    announce(shown, info("b2", 6, 4, 0, 2, 3, generations={0: 1, 2: 0, 3: 0}))
    moved = info("b2", 6, 4, 0, 1, 2, 3, generations={0: 1, 1: 1, 2: 0, 3: 0})

    verdict = shown.judge(("main", "b2"), moved)
    announce(shown, moved)

    assert verdict.conflicts == {}
    assert leaders(shown) == ["b2"] * 4


def test_name_servers_that_hear_in_another_order_show_the_same():  # L49
    heard = [info("b1", 5, 4, 0, 1), info("b2", 5, 4, 2, 3), info("b2", 6, 4, 0, 2, 3)]
    first, second = route_table(), route_table()

    for one in heard:
        announce(first, one)
    for one in (heard[2], heard[0]):
        announce(second, one)

    assert leaders(first) == leaders(second) == ["b2", "b1", "b2", "b2"]


def test_epochs_that_are_60_days_apart_are_compared_in_full(shown):  # L67
    announce(shown, info("b2", 5 + 60 * 86_400_000, 4, 0, 1, 2, 3))

    assert leaders(shown) == ["b2"] * 4


def test_the_leader_that_is_lost_stays_the_leader(shown):
    leave(shown, address=PLACES["b1"], group="b1")

    assert leaders(shown) == ["b1", "b1", "b2", "b2"]
    assert len(shown.route("T").entries) == 1


def test_a_count_of_another_process_shows_a_topic_with_one_broker_down(table):
    table.note_count(StaticCount("T", "__global__", 5, 4))

    announce(table, info("b2", 5, 4, 2, 3))

    assert leaders(table) == ["__syslo__none__", "__syslo__none__", "b2", "b2"]


def test_a_count_of_another_process_replaces_an_older_one(shown):
    announce(shown, info("b1", 6, 6, 0, 1, 4))
    version = shown.version

    shown.note_count(StaticCount("T", "__global__", 6, 6))
    assert len(leaders(shown)) == 6
    assert shown.version > version
    shown.note_count(StaticCount("T", "__global__", 5, 4))
    assert len(leaders(shown)) == 6


def test_a_count_alone_makes_no_topic_static(table):  # L61
    table.note_count(StaticCount("T", "__global__", 5, 4))

    register(table, topics=T)

    assert table.route("T").static is None


def test_a_deletion_forgets_a_count_without_mappings(table):  # L61
    table.note_count(StaticCount("T", "__global__", 5, 4))
    table.remove_topic("T")

    announce(table, info("b1", 6, 4, 0, 1))

    assert is_hidden(table)


def test_a_deleted_topic_comes_back_as_an_ordinary_one(shown):  # L61
    assert shown.remove_topic("T")
    assert is_hidden(shown)

    register(shown, topics=T, data_version=DataVersion(0, 2_000, 9))

    assert shown.route("T").static is None


def test_a_deleted_topic_may_come_back_with_fewer_queues_and_any_epoch(shown):  # L61
    shown.remove_topic("T")

    announce(shown, info("b1", 1, 2, 0), version=2)
    assert is_hidden(shown)
    announce(shown, info("b2", 1, 2, 1), version=2)

    assert leaders(shown) == ["b1", "b2"]


def test_the_mapping_of_a_removed_broker_group_is_forgotten(shown):  # L61
    leave(shown, address=PLACES["b1"], group="b1")

    shown.remove_topic("T", cluster_name="main", broker_group_names=["b1"])

    assert list(shown.route("T").static.mappings) == ["b2"]


def test_a_topic_that_comes_without_its_mapping_is_ordinary(table):  # L61
    """Its deletion was missed, and it was created again."""
    announce(table, info("b1", 5, 1, 0))

    register(
        table, 0, PLACES["b1"], broker_group_name="b1", topics=T, data_version=DataVersion(0, 2, 2)
    )

    assert table.route("T").static is None


def test_a_registration_of_another_topic_keeps_the_mapping(shown):
    register(
        shown,
        0,
        PLACES["b1"],
        broker_group_name="b1",
        topics={"U": QueueSettings(1, 1, 6)},
        data_version=DataVersion(0, 2, 2),
    )

    assert leaders(shown) == ["b1", "b1", "b2", "b2"]


def test_a_mapping_that_was_refused_keeps_the_former_one(shown):
    shown.register(
        registration(0, PLACES["b1"], broker_group_name="b1"),
        T,
        connection=object(),
        mappings={"T": None},
    )

    assert leaders(shown) == ["b1", "b1", "b2", "b2"]


def test_a_replica_registers_no_mapping(shown):
    announce(shown, info("b1", 9, 4, 0, 1, 2, 3), broker_id=1, version=2)

    assert leaders(shown) == ["b1", "b1", "b2", "b2"]


def test_a_mapping_without_a_topic_is_not_kept(table):
    announce(table, info("b1", 5, 1, 0), topics={"U": T["T"], "V": T["T"]})

    assert table.remove_topic("T") is False


def test_an_old_client_does_not_see_a_static_topic(shown):  # L57
    with pytest.raises(RouteNotFound):
        without_static(shown.route("T"))


def test_an_old_client_sees_all_queues_on_one_living_leader(table):  # L58
    for one in (info("b1", 5, 4, 0, 1), info("b2", 5, 4, 2, 3), info("b3", 5, 4)):
        announce(table, one, legacy=LegacyMode.PROXY)

    (front,) = without_static(table.route("T")).entries
    name = front.members.broker_group_name
    leave(table, address=PLACES[name], group=name)
    (other,) = without_static(table.route("T")).entries

    assert {name, other.members.broker_group_name} == {"b1", "b2"}
    assert other.settings == QueueSettings(4, 4, 6)


def test_a_leader_without_a_master_is_no_front(table):  # L58
    for one in (info("b1", 5, 2, 0), info("b2", 5, 2, 1)):
        announce(table, one, legacy=LegacyMode.PROXY)
    (front,) = without_static(table.route("T")).entries
    name = front.members.broker_group_name

    register(table, 1, "10.0.0.9:1", broker_group_name=name, topics={})
    leave(table, address=PLACES[name], group=name)

    (other,) = without_static(table.route("T")).entries
    assert {name, other.members.broker_group_name} == {"b1", "b2"}
    assert len(table.route("T").entries) == 2


def test_a_topic_is_served_to_old_clients_only_if_all_its_brokers_say_so(table):  # L58
    announce(table, info("b1", 5, 2, 0), legacy=LegacyMode.PROXY)
    announce(table, info("b2", 5, 2, 1))

    with pytest.raises(RouteNotFound):
        without_static(table.route("T"))
    announce(table, info("b2", 5, 2, 1), legacy=LegacyMode.PROXY)
    assert without_static(table.route("T")).static is None
