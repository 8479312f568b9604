"""Read masters' settings of a consumer group: the common part of the kinds about groups."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from backend.brokers.requests.consumer_groups import GetGroupSettings
from backend.domain.consumer_group import GroupSettings, GroupWish, describe
from backend.domain.plan import Difference
from backend.domain.version import version_by_group
from backend.operations.actions.consumer_groups import PutConsumerGroup
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import placements
from backend.operations.planning.masters import Master
from backend.operations.planning.placements import Placements

GroupPlacements = Placements[GroupSettings]
Places = Sequence[tuple[Master, GroupSettings]]


async def read_settings(
    cluster_name: str, group: str, chosen: Sequence[str], context: OperationContext
) -> GroupPlacements:
    """Ask masters for their settings of a consumer group.

    Raises:
        InvalidName: the name of the cluster is invalid.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
    """
    return await placements.read_placements(
        "group", cluster_name, chosen, GetGroupSettings(group), context
    )


async def read_version(cluster_name: str, group: str, context: OperationContext) -> str:
    """Read the version of a group's settings on all masters that answer."""
    found = await read_settings(cluster_name, group, (), context)
    return version_by_group({one.broker_group_name: held for one, held in found.held.items()})


def differences(
    master: Master, before: GroupSettings | None, after: GroupSettings | None
) -> list[Difference]:
    """Describe the change of each setting on a master."""
    old = {} if before is None else describe(before)
    new = {} if after is None else describe(after)
    return [
        Difference(f"{master.broker_group_name}: {name}", old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def put_actions(
    cluster_name: str, group: str, places: Places, *, is_new: bool
) -> list[PutConsumerGroup]:
    """Create or change a consumer group on one master after another."""
    return [
        PutConsumerGroup(cluster_name, one.broker_group_name, one.address, group, settings, is_new)
        for one, settings in places
    ]


def wish_of(order: Any) -> GroupWish:
    """Read the new settings from an order; the fields have the same names."""
    return GroupWish(
        **{one.name: getattr(order, one.name) for one in dataclasses.fields(GroupWish)}
    )
