"""Find the brokers of a group, and their places in another mode (D16)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.group_modes import ModeReport, Place, TrySwitch
from backend.db import broker_groups, logical_queues, operations
from backend.db import brokers as broker_rows
from backend.db.operations import OperationFilter
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.broker_group import BrokerGroup
from backend.domain.operation import OperationState
from backend.domain.orders.group_mode import SwitchGroupMode
from backend.domain.plan import Check, CheckVerdict
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import groups
from backend.operations.planning.masters import shortened
from backend.rules.group_mode import GroupMode
from backend.services.controller.group_changes import GroupView, find_group

LISTED_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Member:
    """Hold a broker, its place in the other mode, and its answer.

    Without an answer, `error` says why: the broker is silent, or knows no such request.
    """

    broker: Broker
    place: Place
    report: ModeReport | None
    error: str | None

    @property
    def name(self) -> str:
        """Return the name of the broker."""
        return str(self.broker.name)

    @property
    def is_switched(self) -> bool:
        """Return whether the broker is in the other mode."""
        return self.report is not None and self.report.mode is self.place.mode


@dataclass(frozen=True, slots=True)
class Present:
    """Hold a group, its members with the master first, and the controller's view of the group."""

    group: BrokerGroup
    members: tuple[Member, ...]
    view: GroupView | None

    @property
    def master(self) -> Member | None:
        """Return the member that is registered as master, also if it is offline."""
        return next((one for one in self.members if one.place.master_address is None), None)

    @property
    def ordered(self) -> tuple[Member, ...]:
        """Return the members that switch, in the order in which they do.

        A controller elects the first broker that comes: it must be the master, which has all
        messages. In the other direction the master goes on serving until the replicas wait for it.
        """
        left = [one for one in self.members if not one.is_switched]
        masters = [one for one in left if one.place.master_address is None]
        replicas = [one for one in left if one.place.master_address is not None]
        to_controller = any(one.place.mode is GroupMode.CONTROLLER for one in left)
        return (*masters, *replicas) if to_controller else (*replicas, *masters)


async def read_present(order: SwitchGroupMode, context: OperationContext) -> Present:
    """Ask every broker of a group whether it can take its place in the other mode.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. BrokerGroupNotFound: the
        cluster has no such group.
    """
    name = groups.checked(order.cluster_name, order.broker_group_name)
    async with context.database.connect() as connection:
        group = await broker_groups.get(connection, order.cluster_name, order.broker_group_name)
        known = (await broker_rows.list_all_of_groups(connection, [group.id]))[group.id]
    view = await find_group(name, context.controller)
    places = _places(order, known, view)
    answers = await context.brokers.ask_all(places, lambda one: TrySwitch(places[one]))
    members = tuple(
        Member(
            one,
            place,
            answers.answers.get(one),
            _why_not(answers.answers, answers.silent, one),
        )
        for one, place in places.items()
    )
    return Present(group, members, view)


def _why_not(
    answers: Mapping[Broker, ModeReport | None], silent: Mapping[Broker, NoAnswer], broker: Broker
) -> str | None:
    if broker in silent:
        return silent[broker].reason
    if answers[broker] is None:
        return "it knows no such request: switch a broker of RocketMQ by hand"
    return None


def _places(
    order: SwitchGroupMode, known: Sequence[Broker], view: GroupView | None
) -> dict[Broker, Place]:
    mode = GroupMode(order.mode.value)
    master = next((one for one in known if one.broker_id == MASTER_ID), None)
    replicas = [one for one in known if one is not master]
    held = set() if view is None else {one.address for one in view.group.replicas.values()}
    addresses = [one.address for one in known]
    return {
        one: Place(
            mode=mode,
            broker_id=MASTER_ID if one is master else one.own_id,
            replica_count=len(known),
            master_address=None if one is master or master is None else master.address,
            others=tuple(address for address in addresses if address != one.address),
            founds=mode is GroupMode.CONTROLLER and one.address not in held,
        )
        for one in (*(() if master is None else (master,)), *replicas)
    }


def check_members(present: Present) -> list[Check]:
    """Check that every broker is there, can switch, and copies the log of the master."""
    master = present.master
    has_begun = master is not None and master.is_switched
    absent = [
        one.name
        for one in present.members
        if not (one.broker.is_online or one.is_switched or (has_begun and one.report is not None))
    ]
    hindered = {
        one.name: one.error or (one.report.obstacle if one.report is not None else None)
        for one in present.members
        if not one.is_switched
    }
    obstacles = [f"{name}: {why}" for name, why in hindered.items() if why is not None]
    return [
        _check("the group has a master", [] if master is not None else ["no broker has the id 0"]),
        _check("every broker is online", absent),
        _check("every broker can switch", obstacles),
        _check("every replica has the log of the master", _find_behind(present)),
    ]


def _find_behind(present: Present) -> list[str]:
    """List the replicas that a controller counts as outside of the SyncStateSet.

    Without a controller each replica compares its log with that of its master itself.
    """
    view = present.view
    if view is None:
        return []
    outside = view.group.replicas.keys() - view.group.sync_state_set.members
    addresses = {view.group.replicas[one].address for one in outside}
    return [
        f"{one.name} is outside of the SyncStateSet"
        for one in present.members
        if one.broker.address in addresses and not one.is_switched
    ]


async def check_static_topics(order: SwitchGroupMode, context: OperationContext) -> Check:
    """Check that no logical queue moves from or to the group."""
    named = order.cluster_name, order.broker_group_name
    async with context.database.connect() as connection:
        names = await logical_queues.list_known_by(connection, *named)
        found = await logical_queues.list_of_names(connection, order.cluster_name, names)
    moving = [one.mapping.topic_name for one in found if one.unfinished is not None]
    return _check("no queues move", [f"the change of {name} is not finished" for name in moving])


async def check_operations(order: SwitchGroupMode, context: OperationContext) -> Check:
    """Check that no other operation is under way at the group or at one of its brokers."""
    name = order.broker_group_name
    found = []
    async with context.database.connect() as connection:
        for state in (OperationState.RUNNING, OperationState.QUEUED, OperationState.PAUSED):
            chosen = OperationFilter(cluster_name=order.cluster_name, state=state, search=name)
            found += await operations.list_newest(
                connection, chosen=chosen, after=None, limit=LISTED_MAX
            )
    busy = [
        f"{one.kind} of {one.target} is {one.state}"
        for one in found
        if one.target == name or one.target.startswith((f"{name}-", f"{name}/"))
    ]
    return _check("no other operation is under way", busy)


def _check(name: str, faults: Sequence[str]) -> Check:
    if faults:
        return Check(name, CheckVerdict.BLOCK, shortened(faults))
    return Check(name, CheckVerdict.PASS, "nothing is in the way")
