"""Elect masters: as a broker or an operator asks, or because a master is gone.

An election is one change of one group. Who loses a race to another process finds the new master
there and leaves it.
"""

from dataclasses import dataclass, replace

from backend.db import replica_sightings
from backend.db.replica_sightings import MasterlessGroup
from backend.domain.election import Ballot, Election, Liveness, elect_master, judge
from backend.domain.errors import (
    BrokerGroupNotControlled,
    BrokerNotRegistered,
    MasterNotAvailable,
)
from backend.domain.replica_group import Change, ReplicaGroup, lose_master
from backend.services.group_changes import (
    Controller,
    GroupName,
    GroupView,
    change_group,
    find_group,
)

MASTERLESS_GROUPS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class ElectMaster:
    """Ask for a master: a broker for itself, an operator for a broker, or nobody for anybody."""

    name: GroupName
    ballot: Ballot
    cause: str


async def elect(command: ElectMaster, controller: Controller) -> GroupView:
    """Elect a master; the view holds a change unless the present master stays.

    Raises:
        BrokerNotRegistered: the group or the broker is not known.
        MasterNotAvailable: the controller asked, and nobody may become master.
        ElectionFailed: a broker or an operator asked, and nobody may become master.
        MasterLeaseLive: the present master may still acknowledge.
        BrokerGroupAmbiguous: several clusters hold a group of that name.
    """
    ballot = replace(command.ballot, allows_unclean=controller.allows_unclean)
    group_name = command.name.group_name

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        if group is None:
            raise BrokerNotRegistered(group_name)
        return elect_master(group, liveness, ballot)

    view = await change_group(command.name, decide, controller, cause=command.cause)
    if view is None:
        raise BrokerNotRegistered(group_name)
    return view


async def replace_lost_master(
    name: GroupName, controller: Controller, *, cause: str
) -> GroupView | None:
    """Find a new master where the present one is dead, or note that there is none to be had.

    Nothing happens in a group that never had a master, or has a living one.

    Raises:
        MasterLeaseLive: the present master may still acknowledge; try again when it may not.
        BrokerGroupAmbiguous: several clusters hold a group of that name.
    """
    ballot = Ballot(allows_unclean=controller.allows_unclean)

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        if group is None or not group.master_epoch:
            return None
        try:
            return elect_master(group, liveness, ballot)
        except MasterNotAvailable:
            return lose_master(group)

    return await change_group(name, decide, controller, cause=cause)


async def explain_election(name: GroupName, ballot: Ballot, controller: Controller) -> Election:
    """Say who would become master now, and why each other replica would not.

    Raises:
        BrokerGroupNotControlled: the group is not known.
        BrokerNotRegistered: the one who asks, or is asked for, is no replica of it.
        BrokerGroupAmbiguous: several clusters hold a group of that name.
    """
    view = await find_group(name, controller)
    if view is None:
        raise BrokerGroupNotControlled(name.group_name)
    return judge(
        view.group, view.liveness, replace(ballot, allows_unclean=controller.allows_unclean)
    )


async def list_masterless(controller: Controller, *, listened_ms: int) -> list[MasterlessGroup]:
    """List groups whose master nobody hears while somebody in them could be elected."""
    async with controller.database.connect() as connection:
        return await replica_sightings.list_masterless(
            connection,
            listened_ms=listened_ms,
            takes_unclean=controller.allows_unclean,
            limit=MASTERLESS_GROUPS_MAX,
        )
