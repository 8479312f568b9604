"""Who becomes master, by the numbers of control-plane.md 9.4, and what is said of the others."""

from dataclasses import fields, replace

import pytest

from backend.domain.election import (
    Ballot,
    Liveness,
    ReplicaReport,
    Resignation,
    Verdict,
    elect_master,
    judge,
)
from backend.domain.errors import (
    BrokerNotRegistered,
    ElectionFailed,
    MasterLeaseLive,
    MasterNotAvailable,
)
from backend.domain.replica_group import (
    ConfirmedEnd,
    LeasePolicy,
    Replica,
    ReplicaGroup,
    SyncStateSet,
    lose_master,
)

CONTROLLER = Ballot()
ALL = (1, 2, 3)


def f3(*, members=ALL, **changes):
    values = {
        "replicas": {i: Replica(i, f"a{i}", f"a{i};t") for i in ALL},
        "master_id": 1,
        "master_epoch": 1,
        "sync_state_set": SyncStateSet(frozenset(members), 2),
    }
    return ReplicaGroup("c", "g", **(values | changes))


def asked_by(broker_id):
    return Ballot(broker_id)


def designate(broker_id, *, unclean=False):
    return Ballot(broker_id, is_designated=True, allows_unclean=unclean)


def alive(*ids, lease_left_ms=0, **reported):
    reports = {i: ReplicaReport(0, 10_000, epoch=1, max_offset=10) for i in ids}
    reports |= {int(key[1:]): replace(reports[int(key[1:])], **v) for key, v in reported.items()}
    return Liveness(reports, lease_left_ms)


def elect(group, liveness, ballot=CONTROLLER):
    change = elect_master(group, liveness, ballot)
    return None if change is None else change.after


def verdicts(group, liveness, ballot=CONTROLLER):
    return {c.broker_id: c.verdict for c in judge(group, liveness, ballot).candidates}


def never_elected():
    return f3(members=(), master_id=None, master_epoch=0)


def test_an_older_report_differs_in_nothing_but_its_age():
    report = ReplicaReport(*range(1, 1 + len(fields(ReplicaReport))))

    assert report.aged(99) == replace(report, age_ms=99)


def test_the_first_to_ask_in_a_new_group_becomes_master():  # S46
    group = elect(replace(never_elected(), sync_state_set=SyncStateSet()), alive(), asked_by(1))

    assert (group.master_id, group.master_epoch) == (1, 1)
    assert group.sync_state_set == SyncStateSet(frozenset({1}), 1)


def test_the_second_to_ask_learns_who_is_master():  # S47
    group = f3(members={1})

    assert elect(group, alive(1, 2), asked_by(2)) is None


def test_a_replica_without_an_id_never_becomes_the_first_master():
    """Stock elects any number that asks first, against its own V5."""
    with pytest.raises(BrokerNotRegistered):
        elect(never_elected(), alive(9), asked_by(9))


def test_the_longest_log_of_one_epoch_wins():  # S48
    group = elect(f3(), alive(2, 3, b2={"max_offset": 2}, b3={"max_offset": 3}))

    assert (group.master_id, group.master_epoch) == (3, 2)
    assert group.sync_state_set == SyncStateSet(frozenset({3}), 3)


def test_the_higher_epoch_wins_before_the_longer_log():  # S49
    liveness = alive(2, 3, b2={"max_offset": 2}, b3={"epoch": 0, "max_offset": 3})

    assert elect(f3(), liveness).master_id == 2


def test_the_lower_priority_number_decides_between_equal_logs():  # S50
    assert elect(f3(), alive(2, 3, b2={"priority": 2}, b3={"priority": 1})).master_id == 3


def test_the_preferred_of_equal_logs_wins_before_any_priority():
    liveness = alive(2, 3, b2={"priority": 1}, b3={"priority": 9})
    group = f3(preferred_id=3)

    assert elect(group, liveness).master_id == 3
    assert verdicts(group, liveness)[2] is Verdict.NOT_PREFERRED
    assert elect(f3(), liveness).master_id == 2


def test_a_cordoned_replica_becomes_master_only_where_no_other_can():
    cordoned = {"max_offset": 99, "priority": 1, "is_cordoned": True}
    liveness = alive(2, 3, b2=cordoned)

    assert elect(f3(preferred_id=2), liveness).master_id == 3
    assert verdicts(f3(preferred_id=2), liveness)[2] is Verdict.CORDONED
    assert elect(f3(), liveness, designate(2)).master_id == 2
    # Not where another one lacks acknowledged messages, is not verified, or is cordoned itself.
    assert elect(f3(members={1, 2}), liveness).master_id == 2
    assert elect(f3(), alive(2, 3, b2=cordoned, b3={"is_verified": False})).master_id == 2
    assert elect(f3(), alive(2, 3, b2=cordoned, b3={"is_cordoned": True})).master_id == 2


def test_under_a_strict_lease_a_cordoned_replica_gives_way_only_to_a_log_as_good():
    """Some members may hold what was acknowledged, and others not."""
    group = f3(lease_policy=LeasePolicy.STRICT, preferred_id=2)
    cordoned = {"is_cordoned": True, "priority": 1}

    longer = alive(2, 3, b2=cordoned | {"max_offset": 11})
    assert verdicts(group, longer) == {
        1: Verdict.NOT_ALIVE,
        2: Verdict.WINS,
        3: Verdict.LOWER_OFFSET,
    }
    newer = alive(2, 3, b2=cordoned, b3={"epoch": 0})
    assert verdicts(group, newer)[3] is Verdict.LOWER_EPOCH
    equal = alive(2, 3, b2=cordoned)
    assert elect(group, equal).master_id == 3
    assert verdicts(group, equal)[2] is Verdict.CORDONED


def test_a_cordoned_master_stays_while_it_is_alive():
    assert elect(f3(), alive(1, 2, 3, b1={"is_cordoned": True})) is None


def test_outside_the_set_the_log_decides_even_with_a_cordoned_replica():
    reported = {"b2": {"max_offset": 20, "is_cordoned": True}, "b3": {"max_offset": 19}}
    group, ballot = f3(members={1}), Ballot(allows_unclean=True)

    assert elect(group, alive(2, 3, **reported), ballot).master_id == 2
    assert verdicts(group, alive(2, 3, **reported), ballot)[3] is Verdict.LOWER_OFFSET


@pytest.mark.parametrize(
    ("members", "reported"),
    [
        (ALL, {"b3": {"max_offset": 9}}),
        (ALL, {"b3": {"epoch": 0, "max_offset": 99}}),
        (ALL, {"b3": {"is_verified": False}}),
        ({1, 2}, {}),
    ],
)
def test_who_lacks_anything_never_wins_by_being_preferred(members, reported):
    assert elect(f3(members=members, preferred_id=3), alive(2, 3, **reported)).master_id == 2


def test_a_preference_takes_no_office_from_a_living_master():
    assert elect(f3(preferred_id=2), alive(1, 2, 3)) is None
    assert elect(f3(preferred_id=2), alive(1, 2, 3), designate(3)).master_id == 3


def test_equal_replicas_are_decided_by_id():
    assert elect(f3(), alive(2, 3)).master_id == 2


def test_offsets_are_compared_in_full_width():
    """Stock narrows the difference to 32 bits (targets 6, row 10)."""
    liveness = alive(2, 3, b2={"max_offset": 1}, b3={"max_offset": 1 + 2**32})

    assert elect(f3(), liveness).master_id == 3


def test_who_is_outside_the_set_never_wins_whatever_it_holds():  # S51
    assert elect(f3(members={1, 2}), alive(2, 3, b3={"max_offset": 99})).master_id == 2


def test_a_failed_election_changes_nothing_and_says_why():
    """S52, by D4: stock clears the master and raises its epoch."""
    with pytest.raises(MasterNotAvailable, match="1 is not alive; 2 is outside the SyncStateSet"):
        elect(f3(members={1}), alive(2, 3))


def test_a_replica_outside_the_set_asks_in_vain():  # S53
    with pytest.raises(ElectionFailed):
        elect(f3(members={1}), alive(2, 3), asked_by(2))


def test_a_lost_master_comes_back_in_a_new_epoch():  # S54
    lost = lose_master(f3(members={1})).after

    group = elect(lost, alive(1, 2, 3), asked_by(1))

    assert (group.master_id, group.master_epoch, group.is_master_lost) == (1, 2, False)


def test_an_unclean_election_takes_the_best_of_the_rest():  # S55
    group = elect(f3(members={1}), alive(2, 3), Ballot(allows_unclean=True))

    assert group.sync_state_set.members == {group.master_id} == {2}


def test_an_unclean_election_prefers_the_set():
    liveness = alive(2, 3, b3={"max_offset": 99})

    assert elect(f3(members={1, 2}), liveness, Ballot(allows_unclean=True)).master_id == 2


@pytest.mark.parametrize("is_verified", [True, False])
def test_a_member_that_lacks_older_segments_wins_only_where_no_other_can(is_verified):  # O40
    # Its log ends with the last confirmed message, and the other one's a little before.
    group = f3(members={1}, confirmed=ConfirmedEnd(1, 12))
    joining = {"is_learner": True, "is_verified": False, "max_offset": 12}
    liveness = alive(2, 3, b2={"is_verified": is_verified}, b3=joining)
    ballot = Ballot(accepts_loss=True)

    assert elect(group, liveness, ballot).master_id == 2
    assert verdicts(group, liveness, ballot)[3] is Verdict.UNVERIFIED
    assert elect(group, alive(3, b3=joining), ballot).master_id == 3
    named = replace(designate(3), accepts_loss=True)
    assert elect(group, liveness, named).master_id == 3


def test_a_learner_that_is_alone_in_the_set_comes_back_after_a_power_cut():  # D11
    learner = {"is_learner": True, "is_verified": False}
    group = f3(members={1}, is_master_lost=True)

    assert elect(group, alive(1, 2, b1=learner)).master_id == 1


def test_a_living_master_stays():  # S56
    assert elect(f3(), alive(1, 2, 3, b3={"max_offset": 99})) is None


def test_an_operator_may_replace_a_living_master():  # S57
    assert elect(f3(), alive(1, 2, 3), designate(2)).master_id == 2


def test_an_operator_who_names_the_master_changes_nothing():  # S58
    assert elect(f3(), alive(1, 2, 3), designate(1)) is None


def test_an_operator_can_not_have_a_dead_replica():  # S59
    with pytest.raises(ElectionFailed):
        elect(f3(), alive(1, 3), designate(2))


def test_an_operator_has_a_replica_outside_the_set_only_uncleanly():  # S60
    group = f3(members={1, 3})

    with pytest.raises(ElectionFailed):
        elect(group, alive(1, 2, 3), designate(2))
    assert elect(group, alive(1, 2, 3), designate(2, unclean=True)).master_id == 2


def test_a_replica_that_stopped_uncleanly_waits_until_it_is_verified():  # D11
    liveness = alive(2, 3, b2={"is_verified": False})

    assert elect(f3(), liveness).master_id == 3
    assert verdicts(f3(), liveness)[2] is Verdict.UNVERIFIED


def test_a_master_that_stopped_uncleanly_is_replaced():  # D11, the case of KIP-966
    assert elect(f3(), alive(1, 2, b1={"is_verified": False}), asked_by(1)).master_id == 2


UNSURE = {"is_verified": False}


@pytest.mark.parametrize("ballot", [CONTROLLER, asked_by(2), designate(3)])
def test_after_a_power_cut_of_all_the_best_log_is_master(ballot):  # D11
    liveness = alive(*ALL, b1=UNSURE, b2=UNSURE | {"max_offset": 9}, b3=UNSURE | {"max_offset": 11})
    lost = lose_master(f3()).after

    assert elect(lost, liveness, ballot).master_id == 3
    assert verdicts(lost, liveness) == {
        1: Verdict.LOWER_OFFSET,
        2: Verdict.LOWER_OFFSET,
        3: Verdict.WINS,
    }


def test_the_epoch_of_a_log_comes_before_its_length_after_a_power_cut_too():  # D11
    liveness = alive(1, 2, b1=UNSURE | {"max_offset": 99}, b2=UNSURE | {"epoch": 2})

    assert elect(f3(members=(1, 2)), liveness).master_id == 2


def test_no_member_that_may_hold_more_is_passed_over_after_a_power_cut():  # D11
    lost, unsure = lose_master(f3()).after, alive(1, 2, b1=UNSURE, b2=UNSURE)

    with pytest.raises(MasterNotAvailable):
        elect(lost, unsure)
    assert elect(lost, unsure, Ballot(allows_unclean=True)).master_id == 1
    # A verified replica comes before longer logs that are not verified.
    better = alive(*ALL, b1=UNSURE | {"max_offset": 99}, b2=UNSURE | {"max_offset": 99})
    assert elect(lost, better).master_id == 3


def test_an_operator_has_no_worse_log_than_the_best_after_a_power_cut():  # D11
    liveness = alive(*ALL, b1=UNSURE, b2=UNSURE | {"max_offset": 9}, b3=UNSURE)

    with pytest.raises(ElectionFailed):
        elect(f3(), liveness, designate(2))


def test_a_cordoned_replica_with_the_best_log_wins_after_a_power_cut():  # D11
    cordoned = UNSURE | {"max_offset": 11, "is_cordoned": True}
    liveness = alive(*ALL, b1=UNSURE, b2=cordoned, b3=UNSURE)

    assert elect(lose_master(f3()).after, liveness).master_id == 2


def test_silence_beyond_the_timeout_is_death():
    liveness = alive(1, 2, b1={"age_ms": 10_001}, b2={"age_ms": 10_000})

    assert elect(f3(), liveness).master_id == 2


def test_a_strict_lease_is_waited_out():  # D9
    group = f3(lease_policy=LeasePolicy.STRICT)

    with pytest.raises(MasterLeaseLive) as caught:
        elect(group, alive(2, 3, lease_left_ms=400))

    assert caught.value.left_ms == 400
    assert elect(group, alive(2, 3)).master_id == 2


def test_a_quorum_lease_is_waited_out_only_for_a_winner_from_outside_the_set():  # D9
    assert elect(f3(), alive(2, 3, lease_left_ms=400)).master_id == 2
    with pytest.raises(MasterLeaseLive):
        elect(f3(members={1}), alive(2, lease_left_ms=1), Ballot(allows_unclean=True))


@pytest.mark.parametrize("policy", LeasePolicy)
def test_the_lease_of_a_master_that_was_forgotten_is_waited_out(policy):  # D9
    members = {1, 2} if policy is LeasePolicy.STRICT else {1}
    group = replace(f3(members=members, lease_policy=policy), master_id=None)
    ballot = Ballot(allows_unclean=True)

    with pytest.raises(MasterLeaseLive):
        elect(group, alive(2, lease_left_ms=400), ballot)
    assert elect(group, alive(2), ballot).master_id == 2


def test_the_lease_of_a_master_that_has_resigned_binds_no_election():  # D9, R10c
    group = f3(lease_policy=LeasePolicy.STRICT)
    liveness = alive(2, 3, lease_left_ms=400)

    change = elect_master(group, liveness, CONTROLLER, resigned=Resignation(1, 1))

    assert (change.after.master_id, change.awaits_lease) == (2, False)


@pytest.mark.parametrize("resigned", [None, Resignation(2, 1), Resignation(1, 0)])
def test_only_the_master_itself_resigns_and_from_its_present_epoch(resigned):  # D9
    group = f3(lease_policy=LeasePolicy.STRICT)

    with pytest.raises(MasterLeaseLive):
        elect_master(group, alive(2, 3, lease_left_ms=400), CONTROLLER, resigned=resigned)
    change = elect_master(group, alive(2, 3), CONTROLLER, resigned=resigned)

    # A lease that was granted since the group was read would still be waited out.
    assert change.awaits_lease


def test_every_replica_learns_what_an_election_makes_of_it():
    group = f3(members={1, 2, 3})
    liveness = alive(2, 3, b3={"max_offset": 1})

    assert verdicts(group, liveness) == {
        1: Verdict.NOT_ALIVE,
        2: Verdict.WINS,
        3: Verdict.LOWER_OFFSET,
    }
    assert verdicts(group, alive(1, 2)) == {
        1: Verdict.STAYS,
        2: Verdict.MASTER_STAYS,
        3: Verdict.NOT_ALIVE,
    }
    assert verdicts(f3(members={1, 3}), alive(1, 2, 3), designate(3)) == {
        1: Verdict.NOT_DESIGNATED,
        2: Verdict.NOT_IN_SYNC,
        3: Verdict.WINS,
    }
    assert verdicts(never_elected(), alive(), asked_by(2))[1] is Verdict.ASKED_LATER
    ranked = alive(2, 3, b2={"epoch": 0})
    assert verdicts(group, ranked)[2] is Verdict.LOWER_EPOCH
    assert verdicts(group, alive(2, 3))[3] is Verdict.HIGHER_ID
    assert verdicts(group, alive(2, 3, b2={"priority": 5}, b3={"priority": 6}))[3] is (
        Verdict.LOWER_PRIORITY
    )
