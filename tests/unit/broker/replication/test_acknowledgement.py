"""Answers that wait for the sync-state set."""

import pytest
from structlog.testing import capture_logs

from workers.broker.replication.acknowledgement import Acknowledgements, LeasePolicy, Outcome
from workers.broker.replication.sync_state import SyncState, SyncStateSet


def state_of(*members, confirmed):
    return SyncState(
        own_id=1,
        current=SyncStateSet(frozenset(members), epoch=1),
        term_start=0,
        confirmed_position=confirmed,
        lag_ms_max=15_000,
    )


def waiting(policy=LeasePolicy.QUORUM, **changes):
    acknowledgements, reported = Acknowledgements(policy=policy, timeout_ms=3_000, **changes), []
    for position, now_ms in ((100, 0), (200, 10), (300, 20)):
        acknowledgements.wait(
            position,
            now_ms,
            lambda outcome, position=position: reported.append((position, outcome)),
        )
    return acknowledgements, reported


def test_those_whose_position_is_confirmed_are_released_in_order():
    acknowledgements, reported = waiting()

    acknowledgements.advance(state_of(1, 2, confirmed=250), has_lease=True)

    assert reported == [(100, Outcome.CONFIRMED), (200, Outcome.CONFIRMED)]
    assert acknowledgements.count == 1


def test_a_send_that_waits_too_long_has_an_unknown_outcome():
    acknowledgements, reported = waiting()

    acknowledgements.expire(3_009)

    assert reported == [(100, Outcome.LATE)]


def test_a_deposed_master_answers_every_producer_at_once():
    acknowledgements, reported = waiting()

    acknowledgements.depose()

    assert reported == [(at, Outcome.DEPOSED) for at in (100, 200, 300)]
    assert acknowledgements.count == 0


def test_without_a_lease_only_a_set_of_two_may_go_on_and_only_by_quorum_d9():
    cases = {
        (policy, members): Acknowledgements(policy=policy, timeout_ms=1).may_acknowledge(
            state_of(*members, confirmed=0), has_lease=False
        )
        for policy in LeasePolicy
        for members in ((1,), (1, 2))
    }

    assert [case for case, may in cases.items() if may] == [(LeasePolicy.QUORUM, (1, 2))]
    alone, _ = waiting(LeasePolicy.STRICT)
    assert alone.may_acknowledge(state_of(1, confirmed=0), has_lease=True)


def three_members_with_one_behind():
    state = state_of(1, 2, 3, confirmed=0)
    for broker_id, position in ((2, 200), (3, 100)):
        state.connected(broker_id, is_learner=False)
        state.held(broker_id, position, 300, 0)
    state.advance(300)
    return state


def test_as_many_as_an_operator_finds_enough_are_enough_under_a_strict_lease():  # 9.6
    released = {}
    for count in (1, 2, 3, 4):
        acknowledgements, reported = waiting(LeasePolicy.STRICT, sufficient_count=count)
        acknowledgements.advance(three_members_with_one_behind(), has_lease=True)
        released[count] = [position for position, _ in reported]

    # More than there are members can't hold anything; what all of them hold is safe anyway.
    assert released == {1: [100, 200, 300], 2: [100, 200], 3: [100], 4: [100]}


def test_fewer_than_all_are_not_enough_without_a_lease_or_where_one_may_replace_the_master_d9():
    without_lease, informed_none = waiting(LeasePolicy.STRICT, sufficient_count=1)
    quorum, reported_by_all = waiting(LeasePolicy.QUORUM, sufficient_count=1)

    without_lease.advance(three_members_with_one_behind(), has_lease=False)
    quorum.advance(three_members_with_one_behind(), has_lease=True)

    assert informed_none == []
    assert [position for position, _ in reported_by_all] == [100]


def test_confirmed_answers_wait_while_the_lease_is_over():
    acknowledgements, reported = waiting(LeasePolicy.STRICT)
    state = state_of(1, 2, confirmed=300)

    acknowledgements.advance(state, has_lease=False)
    before = list(reported)
    acknowledgements.advance(state, has_lease=True)

    assert (before, len(reported)) == ([], 3)


def test_a_set_that_shrank_below_the_least_count_answers_no_producer_with_success():  # targets 5.6
    acknowledgements, reported = waiting(member_count_min=2)

    acknowledgements.advance(state_of(1, confirmed=300), has_lease=True)
    alone = list(reported)
    acknowledgements.advance(state_of(1, 2, confirmed=200), has_lease=True)
    acknowledgements.expire(60_000)

    assert alone == []
    assert [outcome for _, outcome in reported] == [
        Outcome.CONFIRMED,
        Outcome.CONFIRMED,
        Outcome.LATE,
    ]


@pytest.mark.parametrize(
    ("release_all", "outcome"),
    [
        (lambda a: a.advance(state_of(1, 2, confirmed=100), has_lease=True), Outcome.CONFIRMED),
        (lambda a: a.expire(60_000), Outcome.LATE),
        (lambda a: a.depose(), Outcome.DEPOSED),
    ],
)
def test_an_answer_that_fails_delays_none_behind_it(release_all, outcome):
    acknowledgements, reported = Acknowledgements(policy=LeasePolicy.QUORUM, timeout_ms=1), []

    def fail(_outcome):
        raise ValueError("no answer can be made")

    for release in (fail, reported.append, fail, reported.append):
        acknowledgements.wait(100, 0, release)

    with capture_logs() as logs:
        release_all(acknowledgements)

    assert reported == [outcome] * 2
    assert [entry["event"] for entry in logs] == ["answer_not_given"] * 2
    assert acknowledgements.count == 0
