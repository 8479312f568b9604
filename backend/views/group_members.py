"""Show what each broker of a group does, and who acts for an absent master."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.broker import BrokerState
from backend.domain.group_member import GroupMember, MemberPhase
from backend.rules.group_mode import GroupMode
from backend.services.cluster.group_members import ObservedMembers
from backend.views.copying import copied
from backend.views.field_texts import (
    ACTING_BROKER,
    ACTING_SINCE,
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    CLUSTER_NAME,
    GROUP_MODE,
    LAST_HEARTBEAT_AT,
    REPLICA_ID,
    REPLY_ERROR,
)
from backend.views.graph_forms import Int64, RestText, Text, in_graph
from backend.views.instants import reported_instant

in_graph("BrokerGroupMemberPhase")(MemberPhase)


@in_graph("BrokerGroupMember")
@dataclass(frozen=True, slots=True)
class GroupMemberOut:
    """What a broker does in its group; null is a value that the broker does not report."""

    name: Annotated[str, BROKER_NAME]
    own_id: Annotated[Int64, REPLICA_ID]
    address: Annotated[str, BROKER_ADDRESS]
    state: Annotated[RestText[BrokerState], Text("Whether the broker is online.")]
    phase: Annotated[MemberPhase, Text("What the broker does in its group.")]
    explanation: Annotated[str, Text("The phase in words, with what the broker waits for.")]
    next_step: Annotated[str | None, Text("What an operator can do. Null if there is nothing.")]
    last_heartbeat_at: Annotated[datetime | None, LAST_HEARTBEAT_AT]
    alive_count: Annotated[
        int | None, Text("Number of living members, as a name server answers this broker.")
    ]
    in_sync_count: Annotated[int | None, Text("Number of brokers in sync, by the master.")]
    acts_since: Annotated[
        datetime | None, Text("Since when the broker itself reports that it acts.")
    ]
    offset_version: Annotated[Int64 | None, Text("Version of the committed offsets of the broker.")]
    lock_count: Annotated[int | None, Text("Number of queue locks that the broker holds.")]
    acted_offset_count: Annotated[
        int | None, Text("Number of offsets that the broker took while it acted.")
    ]
    kept_decision_count: Annotated[
        int | None, Text("Number of ends of transactions that wait for the master.")
    ]
    error: Annotated[str | None, REPLY_ERROR]

    @classmethod
    def of(cls, member: GroupMember) -> Self:
        """Show a member."""
        report = member.report
        return copied(
            cls,
            member,
            name=str(member.broker.name),
            own_id=member.broker.own_id,
            address=member.broker.address,
            state=member.broker.state,
            last_heartbeat_at=member.last_heard_at,
            alive_count=report.alive_count,
            in_sync_count=report.in_sync_count,
            acts_since=reported_instant(report.acting_since_ms),
            offset_version=report.offset_version,
            lock_count=report.lock_count,
            acted_offset_count=report.acted_offset_count,
            kept_decision_count=report.kept_decision_count,
        )


@in_graph("BrokerGroupMembers")
@dataclass(frozen=True, slots=True)
class GroupMembersOut:
    """The brokers of a group, and the replica that acts for an absent master."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    mode: Annotated[RestText[GroupMode], GROUP_MODE]
    acting_broker: Annotated[str | None, ACTING_BROKER]
    acting_since: Annotated[datetime | None, ACTING_SINCE]
    acting_reason: Annotated[str | None, Text("Why a replica acts. Null if none does.")]
    members: Annotated[list[GroupMemberOut], Text("Brokers of the group, by id.")]
    observed_at: Annotated[datetime, Text("Time when the brokers were asked.")]

    @classmethod
    def of(cls, observed: ObservedMembers) -> Self:
        """Show a group."""
        found = observed.found
        acting = found.group.acting_name
        return cls(
            cluster_name=found.group.cluster_name,
            broker_group_name=found.group.name,
            mode=found.group.mode,
            acting_broker=None if acting is None else str(acting),
            acting_since=found.group.acting_since,
            acting_reason=found.acting_reason,
            members=[GroupMemberOut.of(one) for one in found.members],
            observed_at=observed.observed_at,
        )
