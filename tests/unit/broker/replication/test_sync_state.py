"""The sync-state set on a master: what it confirms, who joins, who leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.broker.replication.sync_state import SyncState, SyncStateSet

MASTER, SECOND, THIRD = 1, 2, 3


def state_of(*members, confirmed=0, term_start=0):
    return SyncState(
        own_id=MASTER,
        current=SyncStateSet(frozenset(members), epoch=5),
        term_start=term_start,
        confirmed_position=confirmed,
        lag_ms_max=15_000,
    )


def test_a_master_alone_confirms_its_whole_log():
    state = state_of(MASTER)

    assert state.advance(700) == 700


def test_only_what_every_member_holds_is_confirmed():
    state = state_of(MASTER, SECOND, THIRD)
    for broker_id in (SECOND, THIRD, 4):
        state.connected(broker_id, is_learner=False)
    state.held(SECOND, 500, 700, 0)
    state.held(THIRD, 300, 700, 0)
    state.held(4, 100, 700, 0)

    assert state.advance(700) == 300


def test_who_is_no_certain_member_is_not_counted_among_so_many():
    state = state_of(MASTER, SECOND, THIRD)
    for broker_id, position in ((SECOND, 500), (THIRD, 600), (4, 700)):
        state.connected(broker_id, is_learner=False)
        state.held(broker_id, position, 700, 0)
    state.advance(700)

    of_all = state.held_by(2)
    state.propose({MASTER, SECOND, 4})
    while_changing = state.held_by(2)
    state.disconnected(SECOND)

    assert (of_all, while_changing, state.held_by(2), state.held_by(1)) == (600, 500, 0, 700)


def test_the_confirmed_position_never_goes_back_when_a_member_returns_with_less_i6():
    state = state_of(MASTER, SECOND)
    state.connected(SECOND, is_learner=False)
    state.held(SECOND, 500, 700, 0)
    state.advance(700)

    state.disconnected(SECOND)
    while_gone = state.advance(900)
    state.connected(SECOND, is_learner=False)
    state.held(SECOND, 200, 900, 0)

    assert (while_gone, state.advance(900)) == (500, 500)


def test_a_member_that_never_connected_holds_the_confirmed_position():
    state = state_of(MASTER, SECOND, confirmed=40)

    assert state.advance(900) == 40


def test_while_a_change_is_requested_old_and_new_members_are_all_required_d8_i15():
    state = state_of(MASTER, SECOND, confirmed=100)
    state.connected(SECOND, is_learner=False)
    state.connected(THIRD, is_learner=False)
    state.held(SECOND, 900, 900, 0)
    state.held(THIRD, 400, 900, 0)

    state.propose(frozenset({MASTER, THIRD}))
    during = state.advance(900)
    state.install(SyncStateSet(frozenset({MASTER, THIRD}), epoch=6))
    state.held(SECOND, 100, 900, 0)
    state.held(THIRD, 800, 900, 0)

    assert (during, state.advance(900)) == (400, 800)


def test_a_lost_answer_leaves_the_union_in_force_until_a_newer_epoch_arrives():
    state = state_of(MASTER, SECOND)
    state.propose(frozenset({MASTER, SECOND, THIRD}))

    same = state.install(SyncStateSet(frozenset({MASTER, SECOND}), epoch=5))

    assert (same, state.counted, state.size) == (False, frozenset({1, 2, 3}), 3)
    assert state.install(SyncStateSet(frozenset({MASTER}), epoch=6))
    assert (state.counted, state.size) == (frozenset({MASTER}), 1)


def test_a_replica_joins_when_it_holds_what_is_confirmed_the_terms_start_and_what_was_sent():
    state = state_of(MASTER, confirmed=300, term_start=350)
    state.connected(SECOND, is_learner=False)
    positions = {}
    for position in (299, 300, 349, 350, 399, 400):
        state.sent(SECOND, 400 if position >= 399 else 350, 0)
        state.held(SECOND, position, 900, 0)
        positions[position] = state.joining(SECOND)

    assert [at for at, joins in positions.items() if joins] == [350, 400]


@pytest.mark.parametrize("kind", ["learner", "member", "proposed", "gone", "unknown"])
def test_who_never_joins(kind):  # S43
    state = state_of(MASTER, *([SECOND] if kind == "member" else []))
    if kind != "unknown":
        state.connected(SECOND, is_learner=kind == "learner")
        state.held(SECOND, 900, 900, 0)
    if kind == "proposed":
        state.propose(frozenset({SECOND}))
    if kind == "gone":
        state.disconnected(SECOND)

    assert not state.joining(SECOND)


def test_a_member_behind_for_too_long_leaves_and_one_that_keeps_up_stays():
    state = state_of(MASTER, SECOND, THIRD)
    state.connected(SECOND, is_learner=False)
    state.connected(THIRD, is_learner=False)
    state.held(SECOND, 900, 900, 1_000)
    state.held(THIRD, 900, 900, 1_000)
    state.sent(THIRD, 1_200, 14_000)
    state.held(THIRD, 1_200, 9_999, 16_100)

    assert state.leaving(16_000, term_started_at_ms=0) == frozenset()
    assert state.leaving(16_001, term_started_at_ms=0) == frozenset({SECOND})


def test_a_member_whose_connection_broke_leaves_at_once_and_a_missing_one_after_its_time():
    state = state_of(MASTER, SECOND, THIRD)
    state.connected(SECOND, is_learner=False)
    state.disconnected(SECOND)

    assert state.leaving(10, term_started_at_ms=0) == frozenset({SECOND})
    assert state.leaving(15_001, term_started_at_ms=0) == frozenset({SECOND, THIRD})


def test_a_member_that_comes_back_as_a_learner_leaves():  # OI-9
    # No controller answered while it was away, so it is in the set still.
    state = state_of(MASTER, SECOND)
    state.connected(SECOND, is_learner=False)
    state.held(SECOND, 900, 900, 1_000)
    state.disconnected(SECOND)

    state.connected(SECOND, is_learner=True)
    state.held(SECOND, 900, 900, 1_500)

    assert state.leaving(1_500, term_started_at_ms=0) == frozenset({SECOND})
    assert not state.joining(SECOND)


members = st.frozensets(st.sampled_from([SECOND, THIRD, 4]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("connect"), st.sampled_from([SECOND, THIRD, 4])),
        st.tuples(st.just("drop"), st.sampled_from([SECOND, THIRD, 4])),
        st.tuples(st.just("hold"), st.sampled_from([SECOND, THIRD, 4]), st.integers(0, 1_000)),
        st.tuples(st.just("append"), st.integers(1, 300)),
        st.tuples(st.just("propose"), members),
        st.tuples(st.just("commit"), members),
    ),
    max_size=40,
)


@given(steps)
def test_nothing_is_confirmed_that_a_counted_member_lacks(actions):
    state, end, epoch = state_of(MASTER), 0, 5
    connected = set()
    for action, *values in actions:
        before, confirmed_before = state.counted, state.confirmed_position
        match action, values:
            case "connect", [broker_id]:
                state.connected(broker_id, is_learner=False)
                connected.add(broker_id)
            case "drop", [broker_id]:
                state.disconnected(broker_id)
                connected.discard(broker_id)
            case "hold", [broker_id, position] if broker_id in connected:
                state.held(broker_id, min(position, end), end, 0)
            case "append", [size]:
                end += size
            case "propose", [broker_ids]:
                state.propose(broker_ids | {MASTER})
                assert before <= state.counted
            case "commit", [broker_ids]:
                epoch += 1
                state.install(SyncStateSet(broker_ids | {MASTER}, epoch))
        confirmed = state.advance(end)
        assert confirmed_before <= confirmed <= end
        if confirmed > confirmed_before:
            others = state.counted - {MASTER}
            assert others <= connected
            assert all((state.held_position(one) or 0) >= confirmed for one in others)
