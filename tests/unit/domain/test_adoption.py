"""How a lost group comes back: only with everything that was acknowledged, or as accepted (D6)."""

from dataclasses import replace

import pytest

from backend.domain.adoption import (
    EPOCHS_SKIPPED,
    SET_EPOCHS_AN_EPOCH,
    SILENCE_MAX_MS,
    AdoptionOrder,
    Candidate,
    adopt_replicas,
)
from backend.domain.election import Ballot, Liveness, ReplicaReport, elect_master
from backend.domain.errors import AdoptionRefused, ElectionFailed
from backend.domain.replica_group import (
    ChangeKind,
    Replica,
    ReplicaGroup,
    SyncStateSet,
    register_replica,
)

EMPTY = ReplicaGroup("c", "g")


def candidate(broker_id, **facts):
    values = {"silent_ms": 100, "epoch": 5, "max_offset": 900, "master_id": 0, "is_verified": True}
    address, code = f"10.0.0.{broker_id}:1", f"code {broker_id}"
    return Candidate(broker_id, address, code, **(values | facts))


def adopt(*candidates, ids=None, group=None, **order):
    wanted = frozenset(ids or [c.broker_id for c in candidates])
    return adopt_replicas(
        group,
        EMPTY,
        {c.broker_id: c for c in candidates},
        AdoptionOrder(wanted, **order),
        spare_codes={c.broker_id: f"spare {c.broker_id}" for c in candidates},
    )


def future_master(*candidates, **order):
    [master_id] = adopt(*candidates, **order).after.sync_state_set.members
    return master_id


def refusal(*candidates, **order):
    with pytest.raises(AdoptionRefused) as caught:
        adopt(*candidates, **order)
    return caught.value.reason


def test_a_group_comes_back_with_its_ids_and_codes_and_without_a_master():
    change = adopt(candidate(1), candidate(2))

    assert change.kind is ChangeKind.REPLICAS_ADOPTED
    assert change.after.replicas == {
        1: Replica(1, "10.0.0.1:1", "code 1"),
        2: Replica(2, "10.0.0.2:1", "code 2"),
    }
    assert change.after.master_id is None


def test_a_group_comes_back_with_the_version_of_its_lowest_member():  # Q78
    v1, v2 = {"protocol_version": 1}, {"protocol_version": 2}
    mixed = adopt(candidate(1, **v1), candidate(2, **v1)).after

    # Broker 1 does not read the later records, though it has not registered again.
    upgraded = register_replica(
        mixed, broker_group_name="g", broker_id=2, address="10.0.0.2:1", protocol_version=2
    ).after
    newer = adopt(candidate(1, **v2), candidate(2, **v2)).after

    assert (mixed.protocol_version, upgraded.protocol_version) == (1, 1)
    assert newer.protocol_version == 2
    assert {one.protocol_version for one in newer.replicas.values()} == {2}


def test_a_broker_that_is_older_than_a_known_group_is_not_adopted():  # O45, Q77
    group = adopt(candidate(1, protocol_version=2)).after

    reason = refusal(candidate(2, protocol_version=1), group=group)

    assert "of protocol version 1, and the group of 2" in reason


def test_the_next_epoch_is_beyond_what_any_broker_reported_even_one_that_is_left_out():
    change = adopt(candidate(1), candidate(2, epoch=9), ids=[1], accepts_loss=True)

    assert change.after.master_epoch == 9 + EPOCHS_SKIPPED
    assert change.after.sync_state_set.epoch == (9 + EPOCHS_SKIPPED) * SET_EPOCHS_AN_EPOCH


def test_a_group_that_is_lost_twice_begins_beyond_the_sets_of_its_first_life():
    first = adopt(candidate(1)).after
    held = first.sync_state_set.epoch + SET_EPOCHS_AN_EPOCH - 1

    second = adopt(candidate(1, epoch=first.master_epoch + 1)).after

    assert second.sync_state_set.epoch > held


def test_the_longest_log_of_the_newest_epoch_becomes_master():
    long_but_old = candidate(1, epoch=4, max_offset=5_000)
    short, longest = candidate(2, max_offset=100), candidate(3, max_offset=200)

    assert future_master(long_but_old, short, longest) == 3


def test_who_serves_as_master_becomes_it_whatever_the_others_reported_later():
    serving = candidate(1, max_offset=100, master_id=1)
    reported_later = candidate(2, max_offset=150, master_id=1)

    assert future_master(serving, reported_later) == 1


def test_a_master_of_an_older_epoch_is_none():
    stale = candidate(1, epoch=4, max_offset=9_000, master_id=1)

    assert future_master(stale, candidate(2)) == 2


def test_only_the_chosen_one_wins_the_election_that_follows():
    group = adopt(candidate(1, max_offset=1), candidate(2)).after
    alive = Liveness({i: ReplicaReport(0, 1_000, epoch=5, max_offset=9_000 // i) for i in (1, 2)})

    elected = elect_master(group, alive, Ballot(broker_id=1)).after

    assert (elected.master_id, elected.master_epoch) == (2, group.master_epoch + 1)
    with pytest.raises(ElectionFailed):
        elect_master(group, Liveness({1: alive.reports[1]}), Ballot(broker_id=1))


@pytest.mark.parametrize(
    ("candidates", "order", "doubt"),
    [
        (lambda: [candidate(1), candidate(3)], {}, "broker 2 is not adopted"),
        (lambda: [candidate(1), candidate(2)], {"ids": [1]}, "broker 2 is not adopted"),
        (
            lambda: [candidate(1, master_id=4), candidate(2, master_id=4)],
            {},
            "broker 1 follows 4, which is not adopted",
        ),
        (
            lambda: [candidate(1), candidate(2, max_offset=1)],
            {"master_id": 2},
            "the log of broker 1 is newer or longer than 2's",
        ),
        (
            lambda: [candidate(1, master_id=1), candidate(2)],
            {"master_id": 2},
            "broker 1 serves as master, not 2",
        ),
        (
            lambda: [candidate(1, master_id=None)],
            {},
            "whether broker 1 still serves as master is not known",
        ),
        (
            lambda: [candidate(1, epoch=None)],
            {"least_epoch": 7, "master_id": 1},
            "how long the log of broker 1 is, is not known",
        ),
    ],
)
def test_a_doubt_must_be_accepted(candidates, order, doubt):
    assert doubt in refusal(*candidates(), **order)
    assert adopt(*candidates(), **order, accepts_loss=True).after.master_id is None


@pytest.mark.parametrize(
    ("candidates", "order", "reason"),
    [
        (lambda: [candidate(1)], {"ids": [1, 2]}, "no broker 2 waits for adoption"),
        (
            lambda: [candidate(1, silent_ms=SILENCE_MAX_MS + 1)],
            {},
            "broker 1 has been silent for 30 s: start it, or leave it out",
        ),
        (lambda: [candidate(1, epoch=None)], {}, "did not report the newest epoch of its log"),
        (lambda: [candidate(1, epoch=None)], {"least_epoch": 3}, "names a master: name one"),
        (lambda: [candidate(1)], {"master_id": 2}, "broker 2 is not among those adopted"),
        (lambda: [candidate(1)], {"least_epoch": 2**31 - 5}, "no epoch is left"),
    ],
)
def test_what_can_not_be_is_refused_even_when_loss_is_accepted(candidates, order, reason):
    assert reason in refusal(*candidates(), **order, accepts_loss=True)


def test_equal_logs_leave_the_choice_to_the_operator():
    assert future_master(candidate(1), candidate(2)) == 1
    assert future_master(candidate(1), candidate(2), master_id=2) == 2


def test_a_broker_without_a_code_gets_an_unknown_code():
    change = adopt(replace(candidate(1), register_code=None))

    assert change.after.replicas[1].register_code == "spare 1"


def test_a_latecomer_joins_and_changes_nothing_else():
    group = replace(
        adopt(candidate(1)).after,
        master_id=1,
        master_epoch=2_000,
        sync_state_set=SyncStateSet(frozenset({1}), 7),
    )

    after = adopt(candidate(2), group=group).after

    assert sorted(after.replicas) == [1, 2]
    assert replace(after, replicas=group.replicas) == group


@pytest.mark.parametrize(
    ("latecomer", "order", "reason"),
    [
        (candidate(2, epoch=9), {}, "the log of broker 2 is of epoch 9"),
        (candidate(2, epoch=None), {"least_epoch": 9}, "the log of broker 2 is of epoch 9"),
        (candidate(1), {}, "id 1 was used already"),
        (candidate(4), {}, "id 4 was used already"),
        (candidate(2), {"master_id": 2}, "has its master elected"),
    ],
)
def test_a_latecomer_with_another_history_stays_out(latecomer, order, reason):
    group = ReplicaGroup(
        "c", "g", {1: Replica(1, "a:1", "x")}, retired_ids=frozenset({4}), master_epoch=5
    )

    assert reason in refusal(latecomer, group=group, **order, accepts_loss=True)
