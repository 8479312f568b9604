"""Take orders for groups under a controller: elect, forget, adopt."""

from typing import Annotated

import strawberry

from backend.api.context import operator_cause, require_change
from backend.api.graphql.context import Info
from backend.api.graphql.replica_groups import ReplicaGroup
from backend.api.graphql.scalars import Int64
from backend.domain.adoption import AdoptionOrder
from backend.domain.election import Ballot
from backend.domain.names import check_cluster_name, check_group_name
from backend.services.adoptions import AdoptReplicas, adopt
from backend.services.elections import ElectMaster, elect
from backend.services.group_changes import GroupName
from backend.services.replica_groups import ForgetReplicas, forget
from backend.services.replica_views import view_group

Ids = Annotated[list[Int64], strawberry.argument(description="None means the whole group.")]


@strawberry.type
class ElectedMaster:
    """Present what became of an order: `elected`, or `unchanged` when the master stays."""

    outcome: str
    group: ReplicaGroup


@strawberry.type
class ForgottenReplicas:
    """Present the group without those that were forgotten; null when it is gone."""

    group: ReplicaGroup | None


async def elect_master(
    info: Info,
    cluster_name: str,
    group_name: str,
    expected_master_epoch: int,
    broker_id: Int64 | None = None,
) -> ElectedMaster:
    """Have a master elected, if the group is still in the epoch that the caller saw."""
    session = require_change(info.context.session)
    controller = info.context.api.name_server.controller
    command = ElectMaster(
        _named(cluster_name, group_name),
        Ballot(broker_id, is_designated=broker_id is not None),
        cause=operator_cause(session),
        expected_epoch=expected_master_epoch,
    )
    view = await elect(command, controller)
    return ElectedMaster(
        outcome="unchanged" if view.change is None else "elected",
        group=ReplicaGroup.of(view_group(view, controller)),
    )


async def forget_replicas(
    info: Info,
    cluster_name: str,
    group_name: str,
    expected_master_epoch: int,
    broker_ids: Ids,
    includes_living: bool = False,  # noqa: FBT001, FBT002 - an argument in the graph
) -> ForgottenReplicas:
    """Forget dead replicas, or the whole group; their ids are never given away again."""
    session = require_change(info.context.session)
    controller = info.context.api.name_server.controller
    order = ForgetReplicas(
        _named(cluster_name, group_name),
        frozenset(broker_ids),
        expected_epoch=expected_master_epoch,
        cause=operator_cause(session),
        includes_living=includes_living,
    )
    view = await forget(order, controller)
    found = None if view is None else ReplicaGroup.of(view_group(view, controller))
    return ForgottenReplicas(group=found)


async def adopt_replicas(
    info: Info,
    cluster_name: str,
    group_name: str,
    broker_ids: list[Int64],
    expected_master_epoch: int = 0,
    master_id: Int64 | None = None,
    least_epoch: int | None = None,
    accepts_loss: bool = False,  # noqa: FBT001, FBT002 - an argument in the graph
) -> ReplicaGroup:
    """Take brokers in; a group that was lost begins again and has its master elected then."""
    session = require_change(info.context.session)
    controller = info.context.api.name_server.controller
    command = AdoptReplicas(
        _named(cluster_name, group_name),
        AdoptionOrder(
            frozenset(broker_ids),
            master_id=master_id,
            least_epoch=least_epoch,
            accepts_loss=accepts_loss,
        ),
        cause=operator_cause(session),
        expected_epoch=expected_master_epoch,
    )
    return ReplicaGroup.of(view_group(await adopt(command, controller), controller))


def _named(cluster_name: str, group_name: str) -> GroupName:
    return GroupName(check_group_name(group_name), check_cluster_name(cluster_name))
