"""The checks of special messages find each planted violation, and nothing in a good journal."""

import dataclasses

import pytest

from tests.chaos.evidence import Breach
from tests.chaos.journal import NONE_COMMITTED, Acknowledgement, Commit, LockEvent, Look
from tests.chaos.special.checks import Observations, check_special
from tests.chaos.special.traffic import GROUPS, Traffic

INTENDED = (
    "intended\t0\tdelayed\t1000\t3000",
    "intended\t1\ttimer\t1000\t1500",
    "intended\t2\ttransaction\t1000\t1000",
    "intended\t3\ttransaction\t1000\t1000",
    "intended\t4\ttransaction\t1000\t1000",
    "intended\t5\ttimer\t1000\t1500",
)
OUTCOMES = (
    *(f"acknowledged\t{number}\t1100" for number in range(5)),
    "decided\t2\tcommit\tsender\t1101",
    "decided\t3\trollback\tsender\t1101",
    "decided\t4\tcommit\tasked\t3101",
)
"""0 and 1 wait, 2 is committed, 3 is rolled back, 4 is committed when the broker asks; 5 has no
answer."""


def received(number, group, *, at_ms, offset=None, consumer=None, took_ms=5, key=None):
    topic = "timed" if number < 2 else "transactions"
    offset = number if offset is None else offset
    parts = (group, consumer or f"{group}-0", number, topic, 0, offset, at_ms, at_ms + took_ms)
    return "\t".join(map(str, ("received", *parts, key or f"K{number}")))


def arrived(*, without=None):
    times = {0: 3000, 1: 1500, 2: 1101, 4: 3102}
    return [
        received(number, group, at_ms=at_ms)
        for number, at_ms in times.items()
        for group in GROUPS
        if (number, group) != without
    ]


def traffic(*more, without=None):
    read = Traffic()
    read.read([*INTENDED, *OUTCOMES, *arrived(without=without), *more])
    return read


def acknowledged(number, sent_at_s, *, agent=1):
    return Acknowledgement(number, agent, sent_at_s, sent_at_s + 0.1, 0, number, number * 100)


def observations(*more, without=None, **changes):
    """Offset 5 was committed at the master, 7 at a replica that acts, 8 at the master again."""
    given = {
        "acknowledgements": [acknowledged(one, at_s) for one, at_s in enumerate((0.5, 2, 10, 12))],
        "commits": [
            Commit(1, 0, 5, 1.0, 1.1, is_taken=True),
            Commit(2, 0, 7, 5.0, 5.1, is_taken=True),
            Commit(1, 0, 8, 11.0, 11.1, is_taken=True),
        ],
        "looks": [Look(1, 0, 5, 3, 3.1), Look(2, 0, 7, 6, 6.1), Look(1, 0, 8, 13, 13.1)],
        "locks": [
            LockEvent(1, "a", 1, 1.1, is_given=True),
            LockEvent(1, "b", 2, 2.1),
            LockEvent(2, "a", 3, 3.1, is_given=True),
            LockEvent(2, "a", 4, 4, is_release=True),
            LockEvent(2, "b", 5, 5.1, is_given=True),
        ],
        "is_acting": True,
    }
    return Observations(traffic(*more, without=without), **given | changes)


def breaches(*more, without=None, **changes):
    found = check_special(observations(*more, without=without, **changes))
    return {violation.breach for violation in found}


def test_a_run_in_which_all_is_well_has_no_violation():
    assert check_special(observations()) == []


@pytest.mark.parametrize("number", [0, 1])
def test_an_early_message_is_found(number):
    early = received(number, "concurrent", at_ms=1499)

    assert breaches(early) == {Breach.EARLY}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("number", [0, 1])
def test_a_message_that_a_group_never_received_is_found(number, group):
    assert breaches(without=(number, group)) == {Breach.UNDELIVERED}


def test_a_copy_has_the_same_key():
    assert breaches(received(1, "concurrent", at_ms=1600, offset=9)) == set()
    other = received(1, "concurrent", at_ms=1600, offset=9, key="X")
    assert breaches(other) == {Breach.ANOTHER_KEY}


def test_a_message_without_an_answer_may_arrive_but_not_early():
    assert breaches(received(5, "concurrent", at_ms=1500)) == set()
    assert breaches(received(5, "concurrent", at_ms=1400)) == {Breach.EARLY}


def test_a_message_that_was_never_sent_is_found():
    assert breaches(received(77, "concurrent", at_ms=9000)) == {Breach.INVENTED}


def test_a_message_that_was_rolled_back_is_never_received():
    assert breaches(received(3, "orderly", at_ms=9000)) == {Breach.UNCOMMITTED}


def test_a_message_is_not_received_before_its_producer_commits():
    assert breaches(received(4, "concurrent", at_ms=2000)) == {Breach.UNCOMMITTED}


@pytest.mark.parametrize("number", [2, 4])
def test_a_committed_message_that_is_never_received_is_found(number):
    assert breaches(without=(number, "concurrent")) == {Breach.NEVER_VISIBLE}


def test_a_transaction_that_is_never_decided_is_found():
    undecided = ("intended\t6\ttransaction\t1000\t1000", "acknowledged\t6\t1100")

    assert breaches(*undecided) == {Breach.NEVER_VISIBLE}


def test_a_committed_message_may_be_received_again_but_not_at_another_place():
    assert breaches(received(2, "concurrent", at_ms=2000)) == set()
    again = received(2, "concurrent", at_ms=2000, offset=9)
    assert breaches(again) == {Breach.COMMITTED_TWICE}


def test_two_consumers_that_handle_one_queue_at_a_time_are_found():
    also = received(0, "orderly", at_ms=3004, consumer="orderly-1")

    assert breaches(also) == {Breach.TWO_HOLDERS}
    assert breaches(received(0, "orderly", at_ms=3005, consumer="orderly-1")) == set()
    assert breaches(received(0, "concurrent", at_ms=3004, consumer="concurrent-1")) == set()


def test_a_lock_that_is_given_to_a_second_client_is_found():
    locks = list(observations().locks)
    locks[1] = dataclasses.replace(locks[1], is_given=True)

    assert breaches(locks=locks) == {Breach.TWO_HOLDERS}


def test_a_lock_is_free_after_its_release_only():
    locks = [one for one in observations().locks if not one.is_release]

    assert breaches(locks=locks) == {Breach.TWO_HOLDERS}


@pytest.mark.parametrize(("answered_at_s", "expected"), [(62.9, {Breach.TWO_HOLDERS}), (63, set())])
def test_a_lock_is_free_60_s_after_it_was_last_given(answered_at_s, expected):
    first, second, renewed, _, other = observations().locks
    later = dataclasses.replace(other, asked_at_s=62.8, answered_at_s=answered_at_s)

    assert breaches(locks=[first, second, renewed, later]) == expected


@pytest.mark.parametrize("told", [4, NONE_COMMITTED])
def test_a_committed_offset_that_goes_back_is_found(told):
    assert breaches(looks=[Look(1, 0, told, 3, 3.1)]) == {Breach.OFFSET_BACK}


def test_an_offset_that_the_acting_replica_took_stays_at_the_master():
    assert breaches(looks=[Look(1, 0, 5, 12.5, 12.6)]) == {Breach.OFFSET_BACK}


def test_an_offset_without_a_later_acknowledgement_may_be_lost():
    assert breaches(looks=[Look(1, 0, 7, 12, 12.05)]) == set()
    assert breaches(looks=[Look(1, 0, NONE_COMMITTED, 2.05, 2.06)]) == set()


def test_an_offset_that_only_a_killed_master_has_may_be_lost():
    """Messages of the next master do not show that a replica had the commit of the former one."""
    looks, acknowledgements = [Look(2, 0, 4, 3, 3.1)], [acknowledged(1, 0.5)]
    facts = {"looks": looks, "is_acting": False}

    by_the_next = [*acknowledgements, acknowledged(2, 2, agent=2)]
    assert breaches(acknowledgements=by_the_next, **facts) == set()
    by_the_same = [*acknowledgements, acknowledged(2, 2)]
    assert breaches(acknowledgements=by_the_same, **facts) == {Breach.OFFSET_BACK}


def test_a_commit_without_an_answer_may_take_effect_late():
    late = Commit(1, 0, 4, 0.9, None, is_taken=False)
    commits = [late, *observations().commits]

    assert breaches(commits=commits, looks=[Look(1, 0, 4, 3, 3.1)]) == set()


def test_a_line_that_is_none_of_the_journal_is_refused():
    with pytest.raises(ValueError, match="no event"):
        Traffic().read(["nonsense\t1"])
