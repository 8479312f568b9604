"""Show groups under a controller, the election as it would be now, and what happened."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.db.replica_groups import PastChange
from backend.domain.broker_group import GroupMode
from backend.domain.election import Candidate, Verdict
from backend.domain.replica_group import ChangeKind, LeasePolicy
from backend.services.controller.group_changes import GroupView
from backend.services.controller.replica_views import ElectionView, ReplicaGroupView, ReplicaView
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Id, Int64, NotShown, Pairs, RestText, in_graph
from backend.views.health import GroupHealthOut

in_graph("ElectionVerdict")(Verdict)
in_graph("GroupChangeKind")(ChangeKind)


@dataclass(frozen=True, slots=True)
class ReplicaOut(Copied[ReplicaView]):
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


@in_graph("ElectionCandidate")
@dataclass(frozen=True, slots=True)
class CandidateOut(Copied[Candidate]):
    """What an election would make of one replica, as a code and in words."""

    broker_id: Int64
    verdict: Verdict
    reason: str


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


@dataclass(frozen=True, slots=True)
class ReplicaGroupOut:
    """A group under a controller; `master_id` is the recorded master, alive or not."""

    model: NotShown[GroupView]
    cluster_name: str
    name: str
    mode: RestText[GroupMode]
    lease_policy: LeasePolicy
    lease_left_ms: Int64
    master_id: Int64 | None
    master_epoch: int
    is_master_alive: bool
    preferred_id: Int64 | None
    confirmed_epoch: int | None
    confirmed_position: Int64 | None
    sync_state_set: list[Int64]
    sync_state_set_epoch: int
    retired_ids: list[Int64]
    replicas: list[ReplicaOut]

    @classmethod
    def of(cls, found: ReplicaGroupView) -> Self:
        """Show a group."""
        group = found.group
        return copied(
            cls,
            group,
            model=found.view,
            mode=GroupMode.CONTROLLER,
            lease_left_ms=found.view.liveness.lease_left_ms,
            is_master_alive=found.is_master_alive,
            confirmed_epoch=found.confirmed_epoch,
            confirmed_position=found.confirmed_position,
            sync_state_set=sorted(group.sync_state_set.members),
            sync_state_set_epoch=group.sync_state_set.epoch,
            retired_ids=sorted(group.retired_ids),
            replicas=[ReplicaOut.of(replica) for replica in found.replicas],
        )


@dataclass(frozen=True, slots=True)
class ReplicaGroupDetailOut(ReplicaGroupOut):
    """A group with the election as it would be now, and how well it can do its work."""

    election: ElectionOut
    health: GroupHealthOut | None


@dataclass(frozen=True, slots=True)
class GroupChangeOut:
    """One change of a group, what it brought about, and the group as it was after it."""

    id: Id[int]
    kind: ChangeKind
    cause: str
    changed_at: datetime
    master_id: Int64 | None
    master_epoch: int
    sync_state_set: list[Int64]
    sync_state_set_epoch: int
    replica_addresses: Annotated[dict[Int64, str], Pairs("ReplicaAddress", "broker_id", "address")]
    warning: str | None

    @classmethod
    def of(cls, change: PastChange) -> Self:
        """Show a change."""
        return copied(
            cls,
            change,
            sync_state_set=sorted(change.sync_state_set.members),
            sync_state_set_epoch=change.sync_state_set.epoch,
            replica_addresses=dict(sorted(change.replica_addresses.items())),
        )
