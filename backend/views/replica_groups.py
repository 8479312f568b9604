"""Show broker groups under a controller, their next election and their changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.db.replica_groups import PastChange
from backend.domain.election import Candidate, Verdict
from backend.domain.replica_group import ChangeKind, LeasePolicy
from backend.rules.group_mode import GroupMode
from backend.services.controller.group_changes import GroupView
from backend.services.controller.replica_views import ElectionView, ReplicaGroupView, ReplicaView
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    GROUP_MODE,
    IS_IN_SYNC,
    IS_MASTER,
    IS_MASTER_ALIVE,
    LAST_HEARTBEAT_AT,
    LEASE_POLICY,
    MASTER_EPOCH,
    MASTER_ID,
    REPLICA_ID,
    SYNC_STATE_SET,
    SYNC_STATE_SET_EPOCH,
)
from backend.views.graph_forms import Id, Int64, NotShown, Pairs, RestText, Text, in_graph
from backend.views.health import GroupHealthOut

in_graph("ElectionVerdict")(Verdict)
in_graph("GroupChangeKind")(ChangeKind)


@dataclass(frozen=True, slots=True)
class ReplicaOut(Copied[ReplicaView]):
    """A replica with its last heartbeat; null is a value that the heartbeat lacked."""

    broker_id: Annotated[Int64, Text("Id of the replica in its group.")]
    address: Annotated[str, BROKER_ADDRESS]
    is_master: Annotated[bool, IS_MASTER]
    is_in_sync: Annotated[bool, IS_IN_SYNC]
    is_alive: Annotated[bool, Text("Whether the control plane receives heartbeats of the replica.")]
    last_heartbeat_at: Annotated[datetime | None, LAST_HEARTBEAT_AT]
    epoch: Annotated[
        int | None, Text("Newest epoch in the log of the replica, by its last heartbeat.")
    ]
    max_offset: Annotated[
        Int64 | None, Text("End of the log of the replica in bytes, by its last heartbeat.")
    ]
    confirm_offset: Annotated[
        Int64 | None, Text("Confirmed position of the replica in bytes, by its last heartbeat.")
    ]
    is_verified: Annotated[
        bool | None,
        Text("False from an unclean stop until the replica has checked its log. Null if unknown."),
    ]
    is_cordoned: Annotated[
        bool | None, Text("Whether the replica is cordoned. Null if it did not report that.")
    ]
    protocol_version: Annotated[
        int | None,
        Text(
            "Newest version of the records of share queues that the replica reads. Null for a"
            " broker of RocketMQ."
        ),
    ]


@in_graph("ElectionCandidate")
@dataclass(frozen=True, slots=True)
class CandidateOut(Copied[Candidate]):
    """What an election would decide about one replica, as a code and in words."""

    broker_id: Annotated[Int64, Text("Id of the replica.")]
    verdict: Annotated[Verdict, Text("What an election would decide about the replica.")]
    reason: Annotated[str, Text("The verdict in words.")]


@dataclass(frozen=True, slots=True)
class ElectionOut:
    """Result of an election if it happened now.

    `warning` says why the group would take no writes under that master, or is null.
    """

    winner_id: Annotated[
        Int64 | None, Text("Id of the replica that would become master. Null if none would.")
    ]
    is_unchanged: Annotated[bool, Text("Whether the present master would stay master.")]
    awaits_lease_ms: Annotated[
        Int64,
        Text("Milliseconds until the lease of the present master ends. The election waits for it."),
    ]
    candidates: Annotated[list[CandidateOut], Text("Verdict about each replica of the group.")]
    warning: Annotated[
        str | None, Text("Why the group would take no writes under that master. Null if it would.")
    ]

    @classmethod
    def of(cls, election: ElectionView) -> Self:
        """Show an election."""
        candidates = [CandidateOut.of(one) for one in election.candidates]
        return copied(cls, election, candidates=candidates)


@dataclass(frozen=True, slots=True)
class ReplicaGroupOut:
    """A group under a controller; `master_id` is the recorded master, alive or not."""

    model: NotShown[GroupView]
    cluster_name: Annotated[str, CLUSTER_NAME]
    name: Annotated[str, BROKER_GROUP_NAME]
    mode: Annotated[RestText[GroupMode], GROUP_MODE]
    lease_policy: Annotated[LeasePolicy, LEASE_POLICY]
    lease_left_ms: Annotated[
        Int64, Text("Milliseconds until the lease of the master ends. 0 if no lease runs.")
    ]
    master_id: Annotated[Int64 | None, MASTER_ID]
    master_epoch: Annotated[int, MASTER_EPOCH]
    is_master_alive: Annotated[bool, IS_MASTER_ALIVE]
    preferred_id: Annotated[
        Int64 | None,
        Text("Id of the replica that wins the next election among equal logs. Null if none."),
    ]
    confirmed_epoch: Annotated[
        int | None, Text("Epoch of the confirmed position. Null if it is unknown.")
    ]
    confirmed_position: Annotated[
        Int64 | None,
        Text("Log position in bytes that every member of the SyncStateSet holds. Null if unknown."),
    ]
    protocol_version: Annotated[
        int,
        Text("Version of the records of share queues that each replica of the group must read."),
    ]
    version_limit: Annotated[
        int | None,
        Text("Version to which the protocol version may rise. Null if nothing limits it."),
    ]
    sync_state_set: Annotated[list[Int64], SYNC_STATE_SET]
    sync_state_set_epoch: Annotated[int, SYNC_STATE_SET_EPOCH]
    retired_ids: Annotated[
        list[Int64], Text("Ids of replicas that were forgotten. No broker receives them again.")
    ]
    replicas: Annotated[list[ReplicaOut], Text("Replicas of the group, by id.")]

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
    """A group with its next election and its health."""

    election: Annotated[ElectionOut, Text("Result of an election if it happened now.")]
    health: Annotated[
        GroupHealthOut | None,
        Text("How well the group can do its work. Null if it holds no broker."),
    ]


@dataclass(frozen=True, slots=True)
class GroupChangeOut:
    """One change of a group, its cause, and the group after the change."""

    id: Annotated[Id[int], Text("Number of the change.")]
    kind: Annotated[ChangeKind, Text("Kind of the change.")]
    cause: Annotated[str, Text("Why the change happened.")]
    changed_at: Annotated[datetime, Text("Time of the change.")]
    master_id: Annotated[
        Int64 | None, Text("Id of the master after the change. Null if there was none.")
    ]
    master_epoch: Annotated[int, Text("Epoch of the master after the change.")]
    sync_state_set: Annotated[
        list[Int64], Text("Ids of the replicas in the SyncStateSet after the change.")
    ]
    sync_state_set_epoch: Annotated[int, Text("Version of the SyncStateSet after the change.")]
    replica_addresses: Annotated[
        dict[Annotated[Int64, REPLICA_ID], Annotated[str, BROKER_ADDRESS]],
        Pairs("ReplicaAddress", "broker_id", "address"),
        Text("Addresses of the replicas after the change, by id."),
    ]
    warning: Annotated[
        str | None,
        Text("What operators must know about the change, such as a lost writer. Null if nothing."),
    ]

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
