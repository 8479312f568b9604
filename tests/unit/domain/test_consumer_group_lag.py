"""What is not known of a lag is never added as zero (D21)."""

from dataclasses import replace

from backend.domain.consumer_group_lag import (
    Coverage,
    GroupState,
    LagTotal,
    QueueKind,
    QueueLag,
    add_up,
    state_of,
)

QUEUE = QueueLag(
    broker_group_name="broker-a",
    topic="orders",
    queue_id=0,
    kind=QueueKind.NORMAL,
    committed=10,
    end=15,
    waiting_ms=400,
    consumed_at_ms=1,
)
UNKNOWN_LAG = LagTotal(None, None, is_complete=False, expired_count=None)
READ = replace(QUEUE, committed=15, waiting_ms=0)
NEVER = replace(QUEUE, committed=None, waiting_ms=None)


def test_messages_are_summed_and_the_oldest_is_taken():
    older = replace(QUEUE, queue_id=1, waiting_ms=900)

    assert add_up([QUEUE, older, READ], is_complete=True) == LagTotal(10, 900, is_complete=True)


def test_a_queue_without_a_commit_makes_the_total_incomplete():
    assert NEVER.lag is None
    assert add_up([QUEUE, NEVER], is_complete=True) == LagTotal(5, 400, is_complete=False)
    assert add_up([NEVER], is_complete=True) == UNKNOWN_LAG


def test_an_empty_queue_is_behind_in_nothing_without_a_commit():
    empty = replace(NEVER, end=0)

    assert empty.lag == 0
    assert add_up([empty], is_complete=True) == LagTotal(0, 0, is_complete=True)


def test_silent_brokers_make_nothing_zero():
    assert add_up([], is_complete=True) == LagTotal(0, 0, is_complete=True)
    assert add_up([], is_complete=False) == UNKNOWN_LAG
    assert add_up([READ], is_complete=False) == LagTotal(0, 0, is_complete=False)


def test_an_age_that_is_unknown_leaves_the_others():
    unknown = replace(QUEUE, queue_id=1, waiting_ms=None)

    assert add_up([QUEUE, unknown], is_complete=True) == LagTotal(10, 400, is_complete=False)
    assert add_up([unknown], is_complete=True) == LagTotal(5, None, is_complete=False)


def test_an_offset_beyond_the_end_is_no_lag():
    assert replace(QUEUE, committed=99).lag == 0


def test_what_expired_unread_is_said_beside_the_lag_and_is_no_part_of_it():
    # Case B4.
    expired = replace(QUEUE, committed=10, begin=300, end=301)

    assert (expired.lag, expired.expired_count, expired.ahead_count) == (1, 290, 0)
    assert add_up([QUEUE, expired], is_complete=True) == LagTotal(
        6, 400, is_complete=True, expired_count=290
    )
    assert replace(QUEUE, begin=None).lag is None


def test_a_group_is_what_the_brokers_know_that_answered_and_unknown_when_none_did():
    # Case B10.
    assert state_of(1, Coverage(3, 4)) is GroupState.ACTIVE
    assert state_of(0, Coverage(4, 4)) is GroupState.INACTIVE
    assert state_of(0, Coverage(3, 4)) is GroupState.INACTIVE
    assert state_of(0, Coverage(0, 4)) is GroupState.UNKNOWN
    assert state_of(0, Coverage(0, 0)) is GroupState.INACTIVE
