"""A master that returns takes what its replica committed meanwhile (control-plane.md 5.7)."""

import pytest

from workers.broker.tables.consumer_offsets import ConsumerOffsets, decode_offset_file

NOW_MS = 1_758_000_000_000


def table(*, leads, **offsets):
    found = ConsumerOffsets()
    found.lead()
    for group, offset in offsets.items():
        found.commit(group, "orders", queue_id=0, offset=offset)
    if not leads:
        found.follow()
    return found


def file_of(offsets):
    found, left_out = decode_offset_file(offsets.as_body())
    assert left_out == []
    return found


@pytest.fixture
def master():
    return table(leads=True, g=10, h=20)


@pytest.fixture
def acting():
    found = table(leads=False, g=8, h=15)
    found.act(1)
    return found


def test_what_was_committed_meanwhile_is_taken(master, acting):  # S113
    acting.commit("g", "orders", queue_id=0, offset=30)
    acting.commit("new", "orders", queue_id=3, offset=4)

    assert master.take_over(file_of(acting)) == 2

    assert master.find("g", "orders", 0) == 30
    assert master.find("new", "orders", 3) == 4
    assert master.data_version.state_version == 1
    changes = master.take_changes().offsets
    assert changes["orders@g"] == {0: 30}


def test_what_the_replica_did_not_take_goes_back_nowhere(master, acting):
    master.take_over(file_of(acting))

    assert (master.find("g", "orders", 0), master.find("h", "orders", 0)) == (10, 20)


def test_a_consumer_that_went_back_meanwhile_stays_there(master, acting):
    acting.commit("g", "orders", queue_id=0, offset=2)

    master.take_over(file_of(acting))

    assert master.find("g", "orders", 0) == 2


def test_an_older_version_is_not_taken(master):
    """S114; versions are ordered by who acted (D14)."""
    former = table(leads=False, g=90)
    master.stamp(NOW_MS)

    assert master.take_over(file_of(former)) == 0

    assert master.find("g", "orders", 0) == 10


def test_the_next_acting_master_has_a_newer_version_than_the_master(master, acting):
    acting.commit("g", "orders", queue_id=0, offset=30)
    master.take_over(file_of(acting))

    again = table(leads=False, g=30)
    again.act(master.data_version.state_version + 1)
    again.commit("g", "orders", queue_id=0, offset=40)

    assert master.take_over(file_of(again)) == 1
    assert master.find("g", "orders", 0) == 40


def test_a_restarted_replica_still_knows_what_it_took(acting):
    acting.commit("g", "orders", queue_id=0, offset=30)

    stored, _ = decode_offset_file(acting.as_file())
    restarted = ConsumerOffsets(stored)

    assert not restarted.is_log_newer
    assert restarted.acted == {"orders@g": {0: 30}}
    restarted.forget_acted()
    assert restarted.acted == {}


def test_a_replica_keeps_the_version_of_its_master(acting):
    version = acting.data_version
    acting.follow()

    acting.stamp(NOW_MS)

    assert acting.data_version == version


def test_what_another_replica_took_counts_as_taken_here(master, acting):  # S107, I9
    acting.commit("g", "orders", queue_id=0, offset=30)
    second = table(leads=False, g=8)

    assert second.take_over(file_of(acting)) == 2
    assert second.acted == {"orders@g": {0: 30}}
    assert b"isInLog" not in second.as_file()
    second.act(1 + second.data_version.state_version)
    second.commit("g", "orders", queue_id=0, offset=31)

    master.take_over(file_of(second))
    assert (master.find("g", "orders", 0), master.data_version.state_version) == (31, 2)


def test_of_two_replicas_that_acted_apart_the_higher_offset_stays(master, acting):  # I9
    other = table(leads=False, g=8)
    other.act(1)
    acting.commit("g", "orders", queue_id=0, offset=30)
    other.commit("g", "orders", queue_id=0, offset=20)

    for one in (acting, other):
        for _ in range(3):
            one.stamp(NOW_MS)
        master.take_over(file_of(one))

    assert master.find("g", "orders", 0) == 30


def test_a_replica_knows_the_version_of_its_master_after_a_restart():  # I9
    replica = table(leads=False, g=10)

    replica.note_version(7)
    replica.note_version(3)
    file, _ = decode_offset_file(replica.as_file())

    assert ConsumerOffsets(file).data_version.state_version == 7
