"""Present groups under a controller, the election as it would be now, and what happened."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Int64, int64
from backend.api.graphql.views import shown, shows
from backend.db.replica_groups import PastChange
from backend.domain import replica_group as group_domain
from backend.domain.broker_group import GroupMode
from backend.services.group_changes import GroupName
from backend.services.log_histories import compare_histories
from backend.services.replica_groups import list_changes
from backend.services.replica_lags import measure_group
from backend.services.replica_views import (
    ReplicaGroupView,
    explain_election,
)
from backend.views.health import GroupHealthOut
from backend.views.log_histories import GroupHistoriesOut
from backend.views.replica_groups import ElectionOut, ReplicaOut
from backend.views.replica_lags import GroupLagsOut


@strawberry.type
class ReplicaAddress:
    """Present where a replica was reached."""

    broker_id: Int64
    address: str


@strawberry.type
class GroupChange:
    """Present one change of a group, what it brought about, and the group as it was after it."""

    id: strawberry.ID
    kind: group_domain.ChangeKind = shown(group_domain.ChangeKind)
    cause: str
    changed_at: datetime
    master_id: Int64 | None
    master_epoch: int
    sync_state_set: list[Int64]
    sync_state_set_epoch: int
    replica_addresses: list[ReplicaAddress]
    warning: str | None

    @classmethod
    def of(cls, change: PastChange) -> Self:
        """Present a change."""
        return cls(
            id=strawberry.ID(str(change.id)),
            kind=change.kind,
            cause=change.cause,
            changed_at=change.changed_at,
            master_id=int64(change.master_id),
            master_epoch=change.master_epoch,
            sync_state_set=[Int64(i) for i in sorted(change.sync_state_set.members)],
            sync_state_set_epoch=change.sync_state_set.epoch,
            replica_addresses=[
                ReplicaAddress(broker_id=Int64(i), address=address)
                for i, address in sorted(change.replica_addresses.items())
            ],
            warning=change.warning,
        )


@strawberry.type
class ReplicaGroup:
    """Present a group under a controller; `masterId` is the recorded master, alive or not."""

    model: strawberry.Private[ReplicaGroupView]
    cluster_name: str
    name: str
    mode: GroupMode
    lease_policy: group_domain.LeasePolicy
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
    replicas: list[ReplicaOut] = shown(list[ReplicaOut])

    @shows(GroupHealthOut | None)
    async def health(self, info: Info) -> GroupHealthOut | None:
        """Judge how well the group can do its work; null is a group that holds no broker now."""
        found = await info.context.loaders.health.load((self.cluster_name, self.name))
        return None if found is None else GroupHealthOut.of(found)

    @shows(ElectionOut)
    def election(self, info: Info, broker_id: Int64 | None = None) -> ElectionOut:
        """Say the next master now, of one's choice or by the rules, and why not others."""
        controller = info.context.api.name_server.controller
        return ElectionOut.of(
            explain_election(self.model.view, controller, designated_id=broker_id)
        )

    @strawberry.field
    async def changes(
        self, info: Info, first: int = 20, after: str | None = None
    ) -> Connection[GroupChange]:
        """List what happened to the group, the newest first."""
        async with info.context.loaders.turns:
            page = await list_changes(
                GroupName(self.name, self.cluster_name),
                size=first,
                before=decode_cursor(after, int),
                controller=info.context.api.name_server.controller,
            )
        return connect(page, GroupChange.of)

    @shows(GroupHistoriesOut)
    async def epochs(self, info: Info) -> GroupHistoriesOut:
        """Ask the replicas for the epochs of their logs, and compare them."""
        api = info.context.api
        name = GroupName(self.name, self.cluster_name)
        async with info.context.loaders.turns:
            found = await compare_histories(name, api.name_server.controller, api.brokers)
        return GroupHistoriesOut.of(found)

    @shows(GroupLagsOut)
    async def lag(self, info: Info) -> GroupLagsOut:
        """Ask the brokers where their logs end, and compare them with the master's."""
        api = info.context.api
        name = GroupName(self.name, self.cluster_name)
        async with info.context.loaders.turns:
            found = await measure_group(name, api.name_server.controller, api.brokers)
        return GroupLagsOut.of(found)

    @classmethod
    def of(cls, found: ReplicaGroupView) -> Self:
        """Present a group."""
        group = found.group
        return cls(
            model=found,
            cluster_name=group.cluster_name,
            name=group.name,
            mode=GroupMode.CONTROLLER,
            lease_policy=group.lease_policy,
            lease_left_ms=Int64(found.view.liveness.lease_left_ms),
            master_id=int64(group.master_id),
            master_epoch=group.master_epoch,
            is_master_alive=found.is_master_alive,
            preferred_id=int64(group.preferred_id),
            confirmed_epoch=found.confirmed_epoch,
            confirmed_position=int64(found.confirmed_position),
            sync_state_set=[Int64(i) for i in sorted(group.sync_state_set.members)],
            sync_state_set_epoch=group.sync_state_set.epoch,
            retired_ids=[Int64(i) for i in sorted(group.retired_ids)],
            replicas=[ReplicaOut.of(replica) for replica in found.replicas],
        )
