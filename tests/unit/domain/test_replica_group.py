"""Ids, sets and cleaning, by the numbers of control-plane.md 9 (S1-S38, S73-S79)."""

from dataclasses import replace

import pytest

from backend.domain.errors import (
    AlterSyncStateSetRefused,
    BrokerGroupNotControlled,
    BrokerIdRefused,
    BrokerNotAlive,
    BrokerNotRegistered,
    CleanRefused,
    MasterEpochFenced,
    NotTheMaster,
    SyncStateSetEpochFenced,
    UnknownReplica,
)
from backend.domain.replica_group import (
    ChangeKind,
    Replica,
    ReplicaGroup,
    SyncStateSet,
    SyncStateSetProposal,
    alter_sync_state_set,
    apply_broker_id,
    clean_replicas,
    lose_master,
    next_broker_id,
    prefer_master,
    register_replica,
)

EMPTY = ReplicaGroup("c", "g")
ALL = frozenset({1, 2, 3})


def replicas(*ids):
    return {i: Replica(i, f"a{i}", f"a{i};t{i}") for i in ids}


def f3(**changes):
    values = {
        "replicas": replicas(1, 2, 3),
        "master_id": 1,
        "master_epoch": 1,
        "sync_state_set": SyncStateSet(ALL, 2),
    }
    return ReplicaGroup("c", "g", **(values | changes))


def apply(group, broker_id, code="a1;t1"):
    change = apply_broker_id(group, EMPTY, Replica(broker_id, code.split(";")[0], code))
    return group if change is None else change.after


def alter(group, members, *, master=1, master_epoch=1, epoch=2, alive=ALL, fence=False):
    proposal = SyncStateSetProposal(master, master_epoch, frozenset(members), epoch, is_fence=fence)
    return alter_sync_state_set(group, proposal, broker_group_name="g", alive_ids=alive)


def clean(group, *ids, living=False, alive=()):
    change = clean_replicas(
        group,
        broker_group_name="g",
        broker_ids=frozenset(ids),
        cleans_living=living,
        alive_ids=alive,
    )
    return group if change is None else change.after


def test_the_first_id_of_an_unknown_group_is_1():  # S1
    assert next_broker_id(None) == 1


def test_the_first_application_makes_the_group():  # S2
    group = apply(None, 1)

    assert group.replicas == {1: Replica(1, "a1", "a1;t1")}
    assert next_broker_id(group) == 2
    assert (group.master_id, group.master_epoch, group.sync_state_set) == (None, 0, SyncStateSet())


def test_a_group_begins_with_no_other_id_than_1():  # S3
    with pytest.raises(BrokerIdRefused) as caught:
        apply(None, 2)

    assert caught.value.next_broker_id == 1


def test_applying_again_with_the_same_code_changes_nothing():  # S4, S20, S21
    group = apply(None, 1)

    assert apply_broker_id(group, EMPTY, Replica(1, "a1", "a1;t1")) is None
    assert next_broker_id(group) == 2


def test_an_id_is_refused_to_who_has_another_code_and_the_next_one_is_named():  # S5, S6
    group = apply(None, 1)

    with pytest.raises(BrokerIdRefused) as caught:
        apply(group, 1, "a9;t9")

    assert caught.value.next_broker_id == 2
    assert sorted(apply(group, 2, "a9;t9").replicas) == [1, 2]


def test_brokers_get_1_2_3_in_the_order_they_come_and_none_is_in_sync():  # S7
    group = None
    for code in ("a1;t", "a2;t", "a3;t"):
        group = apply(group, next_broker_id(group), code)

    assert {i: r.address for i, r in group.replicas.items()} == {1: "a1", 2: "a2", 3: "a3"}
    assert group.sync_state_set == SyncStateSet()


def test_an_id_out_of_order_is_given_and_can_never_jam_the_count():
    """S8, by D5: stock numbers additions and later offers 7 to every broker without end."""
    group = apply(apply(None, 1), 7, "a7;t7")

    assert next_broker_id(group) == 2
    for expected in (2, 3, 4, 5, 6, 8):
        assert next_broker_id(group) == expected
        group = apply(group, expected, f"a{expected};t")


@pytest.mark.parametrize("broker_id", [0, -1])
def test_what_is_no_id_is_never_given(broker_id):
    with pytest.raises(BrokerIdRefused):
        apply(apply(None, 1), broker_id, "a9;t9")


def test_registering_moves_the_address_and_keeps_code_and_membership():  # S9, S25
    change = register_replica(f3(), broker_group_name="g", broker_id=2, address="b2")

    assert change.kind is ChangeKind.ADDRESS_CHANGED
    assert change.after.replicas[2] == Replica(2, "b2", "a2;t2")
    assert change.after.sync_state_set == f3().sync_state_set


def test_registering_at_the_same_address_changes_nothing():
    assert register_replica(f3(), broker_group_name="g", broker_id=2, address="a2") is None


@pytest.mark.parametrize("group", [f3(), None])
def test_who_never_applied_can_not_register(group):  # S10, S11
    with pytest.raises(BrokerNotRegistered):
        register_replica(group, broker_group_name="g", broker_id=9, address="a9")


def test_a_master_shrinks_its_set():  # S29
    change = alter(f3(), {1, 2})

    assert change.after.sync_state_set == SyncStateSet(frozenset({1, 2}), 3)
    assert (change.after.master_id, change.after.master_epoch) == (1, 1)


@pytest.mark.parametrize(
    ("proposal", "error"),
    [
        ({"members": {1, 2, 3}}, AlterSyncStateSetRefused),  # S30
        ({"members": {1, 2, 3}, "master": 2, "epoch": 0}, AlterSyncStateSetRefused),
        ({"members": {1, 2}, "master": 2}, NotTheMaster),  # S31
        ({"members": {1, 2}, "master_epoch": 0}, MasterEpochFenced),  # S32
        ({"members": {1, 2}, "master_epoch": 2}, MasterEpochFenced),  # S32
        ({"members": {1, 2}, "epoch": 1}, SyncStateSetEpochFenced),  # S33
        ({"members": {1, 9}}, UnknownReplica),  # S34
        ({"members": {1, 2}, "fence": True}, AlterSyncStateSetRefused),
        ({"members": {1, 2, 3}, "fence": True, "epoch": 1}, SyncStateSetEpochFenced),
        ({"members": {2, 3}}, AlterSyncStateSetRefused),  # S36
        ({"members": set()}, AlterSyncStateSetRefused),
    ],
)
def test_the_first_check_that_fails_decides_about_a_set(proposal, error):
    with pytest.raises(error):
        alter(f3(), **proposal)


def test_a_dead_replica_does_not_enter_the_set():  # S35
    group = f3(sync_state_set=SyncStateSet(frozenset({1, 2}), 3))

    with pytest.raises(BrokerNotAlive):
        alter(group, ALL, epoch=3, alive={1, 2})


def test_a_member_that_only_the_controller_does_not_hear_keeps_no_other_in_the_set():
    assert alter(f3(), {1, 2}, alive={1}).after.sync_state_set.members == {1, 2}


def test_a_fence_has_all_that_was_asked_for_before_refused():  # D8
    fenced = alter(f3(), {1, 2, 3}, fence=True, alive={1}).after

    assert fenced.sync_state_set == SyncStateSet(frozenset({1, 2, 3}), 3)
    with pytest.raises(SyncStateSetEpochFenced):
        alter(fenced, {1, 2})


def test_a_set_of_an_unknown_group_can_not_be_altered():  # S37
    with pytest.raises(AlterSyncStateSetRefused):
        alter(None, {1})


def test_the_master_before_a_failover_alters_nothing():  # S38
    group = f3(master_id=2, master_epoch=2, sync_state_set=SyncStateSet(frozenset({2}), 3))

    with pytest.raises(NotTheMaster):
        alter(group, {1, 2})


def test_a_lost_master_stays_recorded_in_its_epoch():
    """S52, by D4: stock clears the master and raises its epoch with every failed attempt."""
    group = f3(sync_state_set=SyncStateSet(frozenset({1}), 3))

    lost = lose_master(group).after

    assert (lost.master_id, lost.master_epoch, lost.sync_state_set) == (1, 1, group.sync_state_set)
    assert lost.is_master_lost
    assert lose_master(lost) is None


def test_a_preference_changes_nothing_else_and_is_taken_back():
    preferred = prefer_master(f3(), broker_group_name="g", broker_id=3).after

    assert preferred == replace(f3(), preferred_id=3)
    assert prefer_master(preferred, broker_group_name="g", broker_id=3) is None
    assert prefer_master(preferred, broker_group_name="g", broker_id=None).after == f3()


def test_only_a_replica_of_a_known_group_is_preferred():
    with pytest.raises(UnknownReplica):
        prefer_master(f3(), broker_group_name="g", broker_id=9)
    with pytest.raises(BrokerGroupNotControlled):
        prefer_master(None, broker_group_name="g", broker_id=1)


def test_a_forgotten_replica_is_no_longer_preferred():
    assert clean(f3(preferred_id=3), 3).preferred_id is None
    assert clean(f3(preferred_id=2), 3).preferred_id == 2


def test_a_living_replica_is_not_cleaned():  # S73
    with pytest.raises(CleanRefused):
        clean(f3(), 1, alive=ALL)


def test_a_group_with_a_master_is_not_cleaned_as_a_whole():  # S74
    with pytest.raises(CleanRefused):
        clean(f3())


def test_a_dead_replica_is_forgotten_and_leaves_the_set():
    """S75; the set's epoch rises with the set (targets 6, row 8), which stock leaves as it was."""
    group = clean(f3(), 1, alive={2, 3})

    assert sorted(group.replicas) == [2, 3]
    assert group.sync_state_set == SyncStateSet(frozenset({2, 3}), 3)
    assert (group.master_id, group.master_epoch) == (None, 1)
    with pytest.raises(BrokerIdRefused):
        apply(group, 1)
    assert next_broker_id(group) == 4


def test_a_group_without_replicas_is_gone():  # S76
    assert clean(f3(), 1, 2, 3) is None
    assert next_broker_id(None) == 1


def test_a_unknown_group_is_not_cleaned():  # S77
    with pytest.raises(CleanRefused):
        clean(None, living=True)


def test_cleaning_the_living_takes_the_whole_group_whatever_ids_are_named():  # S78
    assert clean(f3(), 1, living=True, alive=ALL) is None


def test_cleaning_the_last_member_of_the_set_keeps_the_other_ids():  # S79
    group = f3(master_id=None, sync_state_set=SyncStateSet(frozenset({1}), 3))

    left = clean(group, 1)

    assert sorted(left.replicas) == [2, 3]
    assert left.sync_state_set.members == frozenset()
    assert next_broker_id(left) == 4


def test_cleaning_ids_that_are_not_there_changes_nothing():
    group = f3()

    assert clean(group, 8, 9) is group
