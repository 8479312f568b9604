"""Who is heard, over which connection, and for how long."""

import pytest

from backend.domain.election import ReplicaReport
from backend.nameserver import presence
from tests.unit.nameserver.registering import Clock, presence_table, registration

KEY, OTHER = ("c", "g", 1), ("c", "g", 2)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def table(clock):
    return presence_table(clock)


def hear(table, key=KEY, connection="one", *, timeout_ms=100, takes_notices=False, **reported):
    report = ReplicaReport(0, timeout_ms, **reported)
    return table.hear(key, report, connection=connection, takes_notices=takes_notices)


def test_a_report_ages_by_the_monotonic_clock(table, clock):  # D3
    hear(table)

    clock.now_ms += 100
    assert table.reports_of("c", "g")[1].is_alive
    assert table.list_silent_replicas() == []

    clock.now_ms += 1
    assert not table.reports_of("c", "g")[1].is_alive
    assert [entry.key for entry in table.list_silent_replicas()] == [KEY]


def test_positions_only_rise_while_a_connection_lasts(table):  # S67
    hear(table, epoch=2, max_offset=50, confirm_offset=40)
    hear(table, epoch=1, max_offset=99, confirm_offset=99)

    assert table.find_replica(KEY).report.epoch == 2
    assert (
        table.find_replica(KEY).report.max_offset,
        table.find_replica(KEY).report.confirm_offset,
    ) == (50, 40)
    hear(table, epoch=2, max_offset=51)
    assert table.find_replica(KEY).report.max_offset == 51


def test_a_new_connection_replaces_what_is_known(table):
    """Stock keeps the larger offset until the entry expires (control-plane.md 1.16)."""
    hear(table, epoch=2, max_offset=50)
    hear(table, connection="two", epoch=2, max_offset=10)

    assert table.find_replica(KEY).report.max_offset == 10


def test_an_old_connection_takes_no_broker_along(table):
    hear(table, connection="one")
    hear(table, connection="two")

    assert table.remove_replicas_over("one") == []
    assert table.remove_replicas_over("two") == [KEY]
    assert table.reports_of("c", "g") == {}
    assert table.list_groups() == []


def test_a_connection_takes_all_its_replicas_along(table):  # S134
    hear(table, KEY)
    hear(table, OTHER)

    assert sorted(table.remove_replicas_over("one")) == [KEY, OTHER]
    assert table.list_replicas_over("one") == []


def test_what_was_heard_is_handed_over_once(table, clock):
    hear(table)
    clock.now_ms += 30

    taken = table.take_unwritten()

    assert {key: report.age_ms for key, report in taken.items()} == {KEY: 30}
    assert table.take_unwritten() == {}
    table.put_back(taken)
    assert table.take_unwritten().keys() == {KEY}


def test_who_is_gone_is_not_handed_over(table):
    hear(table)
    table.remove_replica(KEY)
    table.remove_replica(KEY)

    assert table.take_unwritten() == {}


def test_a_pause_of_this_process_is_granted_to_every_broker(table, clock):  # D28
    hear(table)
    table.register(registration(timeout_ms=100), connection="one")

    clock.now_ms += 60_000
    table.postpone(60_000)

    assert (table.list_silent_replicas(), table.list_silent_registered()) == ([], [])


def test_after_a_pause_every_broker_is_waited_for_again(table, clock):  # D28
    hear(table)
    table.register(registration(timeout_ms=100), connection="one")

    clock.now_ms += 60_000
    table.wait_again()

    assert (table.list_silent_replicas(), table.list_silent_registered()) == ([], [])


def test_a_registration_and_a_heartbeat_do_not_extend_each_other(table, clock):  # D9
    hear(table, takes_notices=True)
    table.register(registration(timeout_ms=100), connection="one")

    clock.now_ms += 60
    table.hear_registered(registration().live_key)
    assert table.promise_lease(KEY) == 40
    clock.now_ms += 60
    hear(table, OTHER)

    assert [row.key for row in table.list_silent_replicas()] == [KEY]
    assert table.list_silent_registered() == []


def test_a_closed_connection_drops_replicas_and_leaves_registrations_to_the_routes(table):
    hear(table)
    table.register(registration(), connection="one")

    assert table.remove_replicas_over("one") == [KEY]

    assert [row.report for row in table.list_registered_over("one")] == [registration()]
    table.unregister(registration().live_key)
    table.unregister(registration().live_key)
    assert table.list_registered_over("one") == []


def test_a_connection_gives_the_cluster_of_its_group(table):  # D2
    hear(table)

    assert table.find_cluster("one", "g") == "c"
    assert table.find_cluster("one", "h") is None
    assert table.find_cluster("two", "g") is None


def test_there_is_an_end_to_how_many_are_heard(table, monkeypatch):
    monkeypatch.setattr(presence, "REPLICA_COUNT_MAX", 1)

    assert hear(table, KEY)
    assert not hear(table, OTHER)
    assert hear(table, KEY)
    table.remove_replica(KEY)
    assert hear(table, OTHER)


def test_a_lease_is_promised_from_the_last_heartbeat_on(table, clock):  # D9
    hear(table, takes_notices=True)
    hear(table, OTHER)

    clock.now_ms += 30
    assert (table.promise_lease(KEY), table.promise_lease(OTHER)) == (70, 0)

    # It ends when it was to end, whatever is heard while Postgres writes it.
    clock.now_ms += 20
    hear(table, takes_notices=True)
    held = table.find_replica(KEY)
    assert held.lease_ends_at_ms - held.heard_at_ms == 50


def test_no_lease_is_promised_to_who_was_silent_for_too_long_or_never_heard(table, clock):
    hear(table, takes_notices=True)

    clock.now_ms += 101

    assert (table.promise_lease(KEY), table.promise_lease(OTHER)) == (0, 0)
