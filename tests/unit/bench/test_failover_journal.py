"""What the failover benchmark reads from a probe's journal."""

import math

from tests.bench.failover.journal import Journal, Send


def acknowledged(number, at, *, sent_at=None, master="a", code=0):
    sent_at = at - 0.001 if sent_at is None else sent_at
    return Send(number, "a", sent_at, at, code, master_address=master)


def test_the_longest_gap_is_between_acknowledgements_and_says_when_it_began():
    journal = Journal([acknowledged(n, at) for n, at in enumerate((0.9, 1.0, 1.1, 1.6, 1.7))])

    gap, began_at = journal.longest_gap(1.05, 2.0)

    assert (round(gap, 6), began_at) == (0.5, 1.1)


def test_a_gap_that_a_fault_fell_into_is_included_whole():
    journal = Journal([acknowledged(1, 1.0), acknowledged(2, 1.4)])

    assert round(journal.longest_gap(1.2, 1.3)[0], 6) == 0.4


def test_gaps_before_and_after_the_window_do_not_count():
    journal = Journal([acknowledged(n, at) for n, at in enumerate((0.0, 1.0, 1.01, 1.02, 5.0))])

    assert round(journal.longest_gap(1.0, 1.015)[0], 6) == 0.01


def test_without_acknowledgements_the_gap_has_no_end():
    assert math.isinf(Journal([Send(1, "a", 1.0)]).longest_gap(0.0, 2.0)[0])


def test_a_refusal_ends_no_gap():
    sends = [acknowledged(1, 1.0), acknowledged(2, 1.2, code=14), acknowledged(3, 1.5)]
    journal = Journal(sends)

    assert round(journal.longest_gap(0.5, 2.0)[0], 6) == 0.5
    assert journal.refused_count(0.0) == 1


def test_what_was_acknowledged_and_is_not_read_back_is_lost_also_when_the_answer_came_late():
    late = acknowledged(2, 9.0, sent_at=1.0)
    unanswered = Send(3, "a", 1.0)
    journal = Journal([acknowledged(1, 1.0), late, unanswered, acknowledged(4, 1.2, code=14)])

    assert journal.lost({1}) == [late]
    assert late.is_late
    assert journal.unanswered_count(0.0) == 1


def test_another_master_has_taken_over_once_it_acknowledges_what_came_after_the_fault():
    journal = Journal([acknowledged(1, 2.1, sent_at=0.9, master="b"), acknowledged(2, 2.2)])
    assert not journal.has_acknowledgement_since(1.0, from_other_than="a")

    journal.sends.append(acknowledged(3, 2.3, master="b"))

    assert journal.has_acknowledgement_since(1.0, from_other_than="a")
