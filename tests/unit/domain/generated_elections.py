"""Make groups in every state that matters to an election, and elections asked for in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from backend.domain.election import Ballot, Liveness, ReplicaReport, judge, must_await_lease
from backend.domain.replica_group import LeasePolicy, Replica, ReplicaGroup, SyncStateSet

LEASE_MS = 600_000
TIMEOUT_MS = 600_000
STRANGER = 4
"""An id that no broker applied for."""

DONE, NO_WINNER, STAYS, REFUSED, UNKNOWN = 0, 2004, 2011, 2012, 2010


@dataclass(frozen=True, slots=True)
class Case:
    """One group, who of it is alive, and who asks for what."""

    group: ReplicaGroup
    liveness: Liveness
    ballot: Ballot

    @property
    def is_an_operators(self) -> bool:
        """Whether it can be planned: a broker's wish for itself can't."""
        return self.ballot.is_designated or self.ballot.broker_id is None


def generate_cases(seed: int, count: int) -> Iterator[Case]:
    """Make so many, the same ones for a seed."""
    random = Random(seed)
    for number in range(count):
        yield _case(random, f"g{number}")


def foretell(case: Case) -> tuple[int, int | None]:
    """Say what the explanation foretells: the code of the answer, and who is master then."""
    group, ballot = case.group, case.ballot
    if ballot.broker_id is not None and ballot.broker_id not in group.replicas:
        return UNKNOWN, group.master_id
    election = judge(group, case.liveness, ballot)
    winner_id = election.winner_id
    if winner_id is None:
        return NO_WINNER if ballot.broker_id is None else REFUSED, group.master_id
    if election.is_unchanged:
        return STAYS, group.master_id
    if case.liveness.lease_left_ms and must_await_lease(group, winner_id):
        return REFUSED, group.master_id
    return DONE, winner_id


def _case(random: Random, name: str) -> Case:
    ids = range(1, random.choice([1, 2, 3, 3, 3]) + 1)
    group = _group(random, name, list(ids))
    heard = {i: _report(random, group.master_epoch) for i in ids if random.random() < 0.7}
    has_lease = group.master_epoch > 0 and random.random() < 0.4
    liveness = Liveness(heard, LEASE_MS if has_lease else 0)
    asked_id = random.choice([*ids, *ids, *ids, STRANGER])
    allows_unclean = random.random() < 0.5
    ballot = random.choice(
        [
            Ballot(allows_unclean=allows_unclean),
            Ballot(asked_id, allows_unclean=allows_unclean),
            Ballot(asked_id, is_designated=True, allows_unclean=allows_unclean),
        ]
    )
    return Case(group, liveness, ballot)


def _group(random: Random, name: str, ids: list[int]) -> ReplicaGroup:
    replicas = {i: Replica(i, f"127.0.0.1:{i}", f"{name};{i}") for i in ids}
    policy = random.choice(list(LeasePolicy))
    preferred_id = random.choice([None, *ids])
    if random.random() < 0.15:
        return ReplicaGroup("c", name, replicas, lease_policy=policy, preferred_id=preferred_id)
    members = frozenset(random.sample(ids, random.randint(1, len(ids))))
    # Whose master was forgotten has none.
    master_id = random.choice([None, *sorted(members) * 4])
    return ReplicaGroup(
        "c",
        name,
        replicas,
        master_id=master_id,
        master_epoch=random.randint(1, 4),
        sync_state_set=SyncStateSet(members, random.randint(1, 9)),
        is_master_lost=master_id is not None and random.random() < 0.2,
        lease_policy=policy,
        preferred_id=preferred_id,
    )


def _report(random: Random, epoch: int) -> ReplicaReport:
    return ReplicaReport(
        age_ms=0,
        timeout_ms=TIMEOUT_MS,
        epoch=max(0, epoch - random.choice([0, 0, 1])),
        max_offset=random.choice([10, 10, 20]),
        confirm_offset=10,
        priority=random.choice([1, 2]),
        is_verified=random.random() < 0.85,
        is_cordoned=random.random() < 0.25,
    )
