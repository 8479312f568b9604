"""The checker finds planted errors of share queues, and no others."""

import dataclasses

import pytest

from tests.chaos.checker import check
from tests.chaos.evidence import Breach
from tests.chaos.journal import Act, Delivery, Effect, Settlement
from tests.chaos.run import NotJudged, check_is_judged, count_pops
from tests.chaos.test_checker import evidence as evidence_of_sends

INVISIBLE_MS = 1_000
FAILOVER_S = 10.0


def delivered(number, at_s, **changes):
    """Message `number` as broker 1 handed it out in epoch 1, or broker 2 in epoch 2."""
    is_first = at_s < FAILOVER_S
    entry = Delivery(
        number=number,
        consumer="one",
        agent=1 if is_first else 2,
        queue=number % 2,
        offset=number // 2,
        tag=1 if is_first else 2,
        pop_time_ms=round(at_s * 1000),
        invisible_ms=INVISIBLE_MS,
        asked_at_s=at_s,
        answered_at_s=at_s + 0.1,
    )
    return dataclasses.replace(entry, **changes)


def settled(delivery, act=Act.FINISH, *, after_s=0.2, **changes):
    """What the consumer of a delivery asked for, and got."""
    asked_at_s = delivery.asked_at_s + after_s
    entry = Settlement(
        act=act,
        agent=delivery.agent,
        queue=delivery.queue,
        offset=delivery.offset,
        tag=delivery.tag,
        pop_time_ms=delivery.pop_time_ms,
        asked_at_s=asked_at_s,
        answered_at_s=asked_at_s + 0.1,
        effect=Effect.DONE,
    )
    return dataclasses.replace(entry, **changes)


FIRST = tuple(delivered(number, 5.0 + number) for number in range(8))
"""Eight deliveries, the first five in epoch 1: one of each message."""

FINISHED = tuple(settled(one) for one in FIRST)


def breaches(deliveries=(), settlements=FINISHED, **changes):
    found = evidence_of_sends(
        deliveries=[*FIRST, *deliveries], settlements=list(settlements), **changes
    )
    return {violation.breach for violation in check(found)}


def without(number):
    return [one for one in FINISHED if (one.queue, one.offset) != (number % 2, number // 2)]


def test_messages_that_are_finished_once_are_no_violation():
    assert breaches() == set()


def test_a_message_that_comes_again_after_its_acknowledgement_is_found():
    again = delivered(0, FIRST[0].pop_time_ms / 1000 + 2)

    assert breaches([again]) == {Breach.FINISHED_AGAIN}


def test_a_message_that_the_next_master_hands_out_again_is_found():
    again = delivered(0, FAILOVER_S + 9)

    assert breaches([again]) == {Breach.FINISHED_AGAIN}


def test_a_request_from_before_the_answer_may_still_bring_the_message():
    at_s = FINISHED[0].answered_at_s - 0.01
    again = delivered(0, at_s, pop_time_ms=FIRST[0].pop_time_ms + INVISIBLE_MS)

    assert breaches([again]) == set()


@pytest.mark.parametrize("effect", [Effect.UNKNOWN, Effect.NONE])
def test_a_message_without_a_successful_acknowledgement_may_come_again(effect):
    failed = dataclasses.replace(FINISHED[0], effect=effect)
    again = delivered(0, FAILOVER_S + 9)

    assert breaches([again], [*without(0), failed, settled(again)]) == set()


def test_a_message_that_ends_without_an_act_of_a_consumer_is_found():
    assert breaches(settlements=without(3)) == {Breach.FORGOTTEN}


def test_a_void_acknowledgement_finishes_no_message():
    void = dataclasses.replace(FINISHED[3], effect=Effect.NONE)

    assert breaches(settlements=[*without(3), void]) == {Breach.FORGOTTEN}


def test_an_acknowledgement_without_an_answer_may_have_finished_its_message():
    unknown = dataclasses.replace(FINISHED[3], effect=Effect.UNKNOWN)

    assert breaches(settlements=[*without(3), unknown]) == set()


def test_a_message_that_was_never_handed_out_is_found():
    # Message 7 is in the log, and no consumer received it.
    found = evidence_of_sends(deliveries=FIRST[:7], settlements=FINISHED[:7])

    assert {violation.breach for violation in check(found)} == {Breach.FORGOTTEN}


def early(**changes):
    """Message 0 again, before the time of its first delivery is over."""
    return delivered(0, FIRST[0].asked_at_s + 0.4, consumer="two", **changes)


def test_two_consumers_that_have_a_message_at_a_time_are_found():
    again = early()

    assert breaches([again], [*without(0), settled(again)]) == {Breach.HELD_TWICE}


def test_a_message_may_come_again_when_its_time_is_over():
    again = early(pop_time_ms=FIRST[0].pop_time_ms + INVISIBLE_MS)

    assert breaches([again], [*without(0), settled(again)]) == set()


@pytest.mark.parametrize("effect", [Effect.DONE, Effect.UNKNOWN])
def test_a_message_that_was_given_back_may_come_again(effect):
    again = early()
    back = settled(FIRST[0], Act.GIVE_BACK, effect=effect)

    assert breaches([again], [*without(0), back, settled(again)]) == set()


def test_a_refused_return_changes_nothing():
    again = early()
    refused = settled(FIRST[0], Act.GIVE_BACK, effect=Effect.NONE)

    assert breaches([again], [*without(0), refused, settled(again)]) == {Breach.HELD_TWICE}


def test_a_message_that_a_consumer_keeps_longer_does_not_come_at_its_former_time():
    kept = settled(FIRST[0], Act.KEEP, until_ms=FIRST[0].pop_time_ms + 3 * INVISIBLE_MS)
    again = delivered(0, FIRST[0].asked_at_s + 2)

    assert breaches([again], [*without(0), kept, settled(again)]) == {Breach.HELD_TWICE}
    later = delivered(0, FIRST[0].asked_at_s + 4)
    assert breaches([later], [*without(0), kept, settled(later)]) == set()


def test_the_next_master_need_not_know_who_has_a_message():
    # Acquisitions are in the memory of the master alone.
    first = delivered(4, FAILOVER_S - 0.5)
    again = delivered(4, FAILOVER_S + 0.1)
    others = [one for one in FIRST if one.number != 4]
    found = evidence_of_sends(
        deliveries=[*others, first, again], settlements=[*without(4), settled(again)]
    )

    assert check(found) == []


def test_two_brokers_that_hand_out_messages_in_one_epoch_are_found():
    again = delivered(7, FIRST[7].asked_at_s + 5, agent=3)

    assert breaches([again], [*without(7), settled(again)]) == {Breach.TWO_OWNERS}


def test_a_former_owner_that_hands_out_messages_beside_the_next_one_is_found():
    # Message 7 was not finished, and its former owner does not know the next one.
    again = delivered(7, FIRST[7].asked_at_s + 5, agent=1, tag=1)

    assert breaches([again], [*without(7), settled(again)]) == {Breach.TWO_OWNERS}


def test_a_message_that_is_not_in_the_log_in_the_end_is_found():
    other = dataclasses.replace(FIRST[7], number=70)
    found = evidence_of_sends(deliveries=[*FIRST[:7], other], settlements=list(FINISHED))

    assert {violation.breach for violation in check(found)} == {Breach.UNREAD}


def test_a_run_without_an_acknowledgement_by_pop_is_not_judged():
    check_is_judged(count_pops([*FIRST, early()], [*FINISHED, *_all_acts()]))

    with pytest.raises(NotJudged, match=r"never seen: message finished \(Q9\)"):
        check_is_judged(
            count_pops(
                [*FIRST, early()],
                [one for one in _all_acts() if one.act is not Act.FINISH or one.is_batch],
            )
        )
    unanswered = [dataclasses.replace(one, effect=Effect.UNKNOWN) for one in _all_acts()]
    with pytest.raises(NotJudged, match="message given back"):
        check_is_judged(count_pops([*FIRST, early()], unanswered))


def _all_acts():
    acts = [settled(FIRST[0], act) for act in Act]
    return [*acts, settled(FIRST[1], is_batch=True)]
