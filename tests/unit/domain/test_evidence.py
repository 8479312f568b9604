"""A log that ends below what a master reported as confirmed is elected in no way (D27)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.election import (
    Ballot,
    Liveness,
    ReplicaReport,
    Verdict,
    elect_master,
    judge,
    takes_loss,
)
from backend.domain.errors import ElectionFailed, MasterNotAvailable
from backend.domain.finding import FindingCode, ObservedGroup, observe
from backend.domain.health import RETURNS_WITHIN
from backend.domain.replica_group import (
    ConfirmedEnd,
    LeasePolicy,
    Replica,
    ReplicaGroup,
    SyncStateSet,
    SyncStateSetProposal,
    alter_sync_state_set,
    prefer_master,
)

ALL = (1, 2, 3)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
END = ConfirmedEnd(epoch=1, position=100)
CONTROLLER = Ballot()


def group(*, members=ALL, lives=None, **changes):
    values = {
        "replicas": {i: Replica(i, f"a{i}", f"a{i};t") for i in ALL},
        "master_id": 1,
        "master_epoch": 1,
        "sync_state_set": SyncStateSet(frozenset(members), 2, lives or {}),
        "confirmed": END,
    }
    return ReplicaGroup("c", "g", **(values | changes))


def reported(end, *, epoch=1, **more):
    return ReplicaReport(0, 10_000, epoch=epoch, max_offset=end, **more)


def alive(**logs):
    return Liveness({int(key[1:]): one for key, one in logs.items()})


def winner(held, liveness, ballot=CONTROLLER):
    return judge(held, liveness, ballot).winner_id


def verdict(held, liveness, broker_id, ballot=CONTROLLER):
    found = judge(held, liveness, ballot).candidates
    return next(one.verdict for one in found if one.broker_id == broker_id)


def test_a_member_below_the_confirmed_position_is_not_elected_though_no_other_is_alive():
    # Case A1.
    held, liveness = group(), alive(b2=reported(50))

    with pytest.raises(MasterNotAvailable, match="2 lacks messages that were confirmed"):
        elect_master(held, liveness, CONTROLLER)

    assert verdict(held, liveness, 2) is Verdict.LACKS_CONFIRMED


@pytest.mark.parametrize("ballot", [Ballot(2), Ballot(2, is_designated=True)])
def test_neither_a_broker_nor_an_operator_gets_such_a_member_elected(ballot):
    # Case A1.
    with pytest.raises(ElectionFailed):
        elect_master(group(), alive(b2=reported(50)), ballot)


def test_an_emptied_member_is_not_elected():
    # Case A2.
    emptied = reported(0, epoch=-1, is_verified=False)

    assert winner(group(), alive(b2=emptied)) is None
    assert winner(group(), alive(b1=emptied, b2=emptied, b3=emptied)) is None


def test_where_no_replica_is_verified_the_best_log_must_hold_what_is_confirmed():
    # Cases A1, A2.
    short, whole = reported(50, is_verified=False), reported(100, is_verified=False)

    assert winner(group(), alive(b1=short, b2=short, b3=short)) is None
    assert winner(group(), alive(b1=short, b2=whole, b3=short)) == 2


def test_a_master_that_came_back_with_less_does_not_stay():
    # Case A1.
    assert winner(group(), alive(b1=reported(50))) is None
    assert winner(group(), alive(b1=reported(50), b2=reported(100))) == 2


def test_a_preferred_member_with_less_is_not_elected():
    # Case A1.
    held = prefer_master(group(), broker_group_name="g", broker_id=3).after

    assert winner(held, alive(b2=reported(100), b3=reported(50))) == 2
    assert winner(held, alive(b3=reported(50))) is None


def test_a_longer_log_of_an_older_epoch_lacks_what_the_newer_one_confirmed():
    # Case A1: an old master's store with an end that its successors never had.
    held = group(confirmed=ConfirmedEnd(epoch=3, position=100), master_epoch=3)

    assert winner(held, alive(b2=reported(900, epoch=2))) is None
    assert winner(held, alive(b2=reported(100, epoch=3))) == 2


@pytest.mark.parametrize("lost", [reported(-1, epoch=-1), reported(0, epoch=1)])
def test_a_log_of_unknown_length_proves_nothing(lost):
    assert winner(group(), alive(b2=lost)) is None


@pytest.mark.parametrize("confirmed", [ConfirmedEnd(), ConfirmedEnd(-1, -1)])
def test_without_a_report_elections_are_as_before(confirmed):
    assert winner(group(confirmed=confirmed), alive(b2=reported(0, epoch=-1))) == 2


def test_a_new_group_elects_the_first_to_ask():
    held = group(master_id=None, master_epoch=0, members=(), confirmed=ConfirmedEnd())

    assert winner(held, Liveness(), Ballot(2)) == 2


def test_a_member_in_the_process_in_which_it_joined_lacks_nothing_however_old_its_heartbeat():
    """Its master confirmed nothing without it, and a log only grows while its process lives."""
    held = group(lives={2: 77})

    assert winner(held, alive(b2=reported(50, life=77))) == 2
    assert winner(held, alive(b2=reported(50, life=78))) is None  # it has restarted since
    assert winner(group(), alive(b2=reported(50, life=77))) is None  # no broker vouched for it
    assert winner(group(members={1, 3}, lives={2: 77}), alive(b2=reported(50, life=77))) is None


def test_a_set_keeps_the_process_in_which_each_member_joined():
    held = replace(group(members={1, 2}, lives={1: 11, 2: 22}), confirmed=ConfirmedEnd())
    proposal = SyncStateSetProposal(1, 1, frozenset({1, 2, 3}), 2)

    after = alter_sync_state_set(
        held, proposal, broker_group_name="g", alive_ids={1, 2, 3}, lives={2: 99, 3: 33}
    ).after

    assert after.sync_state_set.lives == {1: 11, 2: 22, 3: 33}
    left = after.sync_state_set.with_members({1, 3})
    assert left.lives == {1: 11, 3: 33}
    # A returning replica joins in its present process.
    assert left.with_members({1, 2, 3}, {2: 99}).lives == {1: 11, 2: 99, 3: 33}


def test_an_election_leaves_only_the_winners_process():
    after = elect_master(
        group(lives={2: 22, 3: 33}),
        alive(b2=reported(100, life=23), b3=reported(90, life=33)),
        CONTROLLER,
    ).after

    assert (after.master_id, after.sync_state_set.lives) == (2, {2: 23})


def test_the_write_checks_the_winners_log_again_unless_the_set_vouches_for_it():
    by_position = elect_master(group(), alive(b2=reported(120)), CONTROLLER)
    by_word = elect_master(group(lives={2: 22}), alive(b2=reported(50, life=22)), CONTROLLER)

    assert (by_position.winner_log, by_word.winner_log) == ((1, 120), None)
    assert not by_position.resets_confirmed


def test_an_operator_who_accepts_the_loss_gets_the_best_log_and_it_becomes_what_is_confirmed():
    # Case A1.
    ballot = Ballot(accepts_loss=True)
    liveness = alive(b2=reported(50), b3=reported(40))

    change = elect_master(group(), liveness, ballot)

    assert (change.after.master_id, change.after.master_epoch) == (2, 2)
    assert change.after.confirmed == ConfirmedEnd(1, 50)
    assert (change.after.loss_epoch, change.resets_confirmed) == (2, True)
    assert change.winner_log is None
    assert takes_loss(2, group(), liveness, ballot)


def test_an_accepted_loss_is_taken_only_where_no_replica_holds_all():
    liveness = alive(b2=reported(50), b3=reported(100))

    change = elect_master(group(), liveness, Ballot(accepts_loss=True))

    assert (change.after.master_id, change.after.loss_epoch) == (3, 0)
    assert change.after.confirmed == END


def test_an_operator_may_name_the_log_that_stays():
    ballot = Ballot(3, is_designated=True, accepts_loss=True)

    change = elect_master(group(members={1}), alive(b3=reported(70, is_verified=False)), ballot)

    assert (change.after.master_id, change.after.confirmed) == (3, ConfirmedEnd(1, 70))


def test_accepting_the_loss_for_the_present_master_begins_an_epoch_in_which_others_may_cut():
    liveness = alive(b1=reported(100), b2=reported(100))
    ballot = Ballot(1, is_designated=True, accepts_loss=True)

    change = elect_master(group(), liveness, ballot)

    assert (change.after.master_id, change.after.master_epoch) == (1, 2)
    assert (change.after.loss_epoch, change.after.confirmed) == (2, END)
    assert elect_master(group(), liveness, Ballot(1, is_designated=True)) is None


def test_the_setting_for_unclean_elections_accepts_losses_and_prefers_whole_logs():
    ballot = Ballot(allows_unclean=True)
    held = group(members={1}, lease_policy=LeasePolicy.QUORUM)

    lost = elect_master(held, alive(b2=reported(50), b3=reported(60)), ballot).after
    whole = elect_master(group(), alive(b2=reported(50), b3=reported(100)), ballot).after

    assert (lost.master_id, lost.confirmed, lost.loss_epoch) == (3, ConfirmedEnd(1, 60), 2)
    assert (whole.master_id, whole.confirmed, whole.loss_epoch) == (3, END, 0)


def observed(reports, **changes):
    values = {
        "cluster_name": "c",
        "broker_group_name": "g",
        "master_id": 1,
        "master_address": "a1",
        "master_epoch": 1,
        "members": frozenset(ALL),
        "is_master_lost": True,
        "epoch_past": 1,
        "served_master": None,
        "replica_ids": frozenset(ALL),
        "reports": reports,
        "confirmed": END,
    }
    return ObservedGroup(**(values | changes))


def suspicions(seen):
    found = observe([seen], [], [], looking_since=NOW - RETURNS_WITHIN, at=NOW).suspicions
    return {(key.code, key.subject): dict(evidence) for key, evidence in found.items()}


def test_the_finding_names_the_emptied_broker_and_what_is_missing():
    # Case A2.
    found = suspicions(observed({2: reported(0, epoch=-1, is_verified=False)}))

    lost = found[FindingCode.REPLICA_LOST_CONFIRMED, "g-2"]
    assert (lost["missing_bytes"], lost["confirmed_position"]) == (100, 100)
    missing = found[FindingCode.CONFIRMED_MISSING, "g"]
    assert (missing["best_id"], missing["missing_bytes"], missing["best_epoch"]) == (2, 100, None)


def test_no_replica_that_holds_all_is_named():
    found = suspicions(observed({2: reported(0, epoch=-1), 3: reported(100)}))

    codes = {(code, subject) for code, subject in found if "confirmed" in code}
    assert codes == {(FindingCode.REPLICA_LOST_CONFIRMED, "g-2")}


def test_an_old_heartbeat_of_a_member_is_no_finding():
    found = suspicions(observed({2: reported(50, life=7)}, lives={2: 7}))

    assert not [code for code, _ in found if "confirmed" in code]


def test_the_finding_about_a_log_that_is_kept_names_both_logs():
    # Case A1.
    kept = reported(90, refused_cut=50, confirm_offset=80)
    seen = observed({1: reported(60, epoch=2), 2: kept}, members=frozenset({1}), master_epoch=2)

    evidence = suspicions(seen)[FindingCode.REPLICA_KEEPS_CONFIRMED, "g-2"]

    assert (evidence["replica_end"], evidence["replica_confirmed"]) == (90, 80)
    assert (evidence["master_id"], evidence["master_end"], evidence["common_end"]) == (1, 60, 50)
