"""Show groups under a controller, the election as it would be now, and what happened."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.election import Candidate, Verdict
from backend.domain.replica_group import ChangeKind
from backend.services.replica_views import ElectionView, ReplicaView
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph

in_graph("ElectionVerdict")(Verdict)
in_graph("GroupChangeKind")(ChangeKind)


@dataclass(frozen=True, slots=True)
class ReplicaOut:
    """A replica with its last heartbeat; null is a value that the heartbeat lacked."""

    broker_id: Int64
    address: str
    is_master: bool
    is_in_sync: bool
    is_alive: bool
    last_heartbeat_at: datetime | None
    epoch: int | None
    max_offset: Int64 | None
    confirm_offset: Int64 | None
    is_verified: bool | None
    is_cordoned: bool | None

    @classmethod
    def of(cls, replica: ReplicaView) -> Self:
        """Show a replica."""
        return copied(cls, replica)


@in_graph("ElectionCandidate")
@dataclass(frozen=True, slots=True)
class CandidateOut:
    """What an election would make of one replica, as a code and in words."""

    broker_id: Int64
    verdict: Verdict
    reason: str

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        """Show a candidate."""
        return copied(cls, candidate)


@dataclass(frozen=True, slots=True)
class ElectionOut:
    """The next master now; null is none.

    `warning` says that the group has no writer with that master; null where it has one.
    """

    winner_id: Int64 | None
    is_unchanged: bool
    awaits_lease_ms: Int64
    candidates: list[CandidateOut]
    warning: str | None

    @classmethod
    def of(cls, election: ElectionView) -> Self:
        """Show an election."""
        candidates = [CandidateOut.of(one) for one in election.candidates]
        return copied(cls, election, candidates=candidates)
