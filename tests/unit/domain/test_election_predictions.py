"""What an election is said to come to is what it comes to, whatever the group's state."""

from collections import Counter

from backend.domain.election import Verdict, elect_master, judge
from backend.domain.errors import DomainError
from backend.services.stock_codes import stock_code_of
from tests.unit.domain.generated_elections import (
    DONE,
    NO_WINNER,
    REFUSED,
    STAYS,
    UNKNOWN,
    foretell,
    generate_cases,
)

SEED, COUNT = 20_261, 4_000


def carry_out(case):
    try:
        change = elect_master(case.group, case.liveness, case.ballot)
    except DomainError as error:
        return int(stock_code_of(error)), case.group.master_id
    return (STAYS, case.group.master_id) if change is None else (DONE, change.after.master_id)


def test_what_is_foretold_of_an_election_is_what_it_does():
    seen = Counter()
    for case in generate_cases(SEED, COUNT):
        reported, done = foretell(case), carry_out(case)

        assert reported == done, case
        seen[reported[0]] += 1

    # Each outcome is among what was generated, and none only just.
    assert set(seen) == {DONE, NO_WINNER, STAYS, REFUSED, UNKNOWN}
    assert min(seen.values()) > COUNT / 50


def test_exactly_the_winner_is_said_to_win_and_every_other_has_a_reason():
    for case in generate_cases(SEED + 1, COUNT):
        if case.ballot.broker_id not in {None, *case.group.replicas}:
            continue
        election = judge(case.group, case.liveness, case.ballot)
        winners = [
            one.broker_id
            for one in election.candidates
            if one.verdict in {Verdict.WINS, Verdict.STAYS}
        ]

        assert winners == ([] if election.winner_id is None else [election.winner_id]), case
        assert [one.broker_id for one in election.candidates] == sorted(case.group.replicas)
