"""Empty a broker for a stop: producers leave, the mastership moves, consumers finish."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.db import brokers as broker_rows
from backend.db import logical_queues
from backend.domain.broker import MASTER_ID
from backend.domain.orders.broker import DrainBroker
from backend.domain.orders.replica_group import ElectMaster
from backend.domain.orders.static_topic import EvacuateBrokerGroup
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.domain.unread_messages import UnreadMessages
from backend.operations.actions.brokers import UNREAD, AwaitReaders, AwaitRoutes, SetPermission
from backend.operations.actions.replica_groups import AwaitFollowers, Elect
from backend.operations.actions.share_leases import HandOverLeases
from backend.operations.actions.static_topics import count_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext, OperationRequest
from backend.operations.engine.steps import planned_steps
from backend.operations.kinds import (
    cordon_broker,
    elect_master,
    evacuate_broker_group,
    hand_over_share_queues,
)
from backend.operations.kinds.elect_master import Judged
from backend.operations.planning import broker_permissions as permissions
from backend.operations.planning import groups, masters, writers
from backend.services.consumer_group.unread_messages import FindUnreadMessages
from backend.services.controller.group_changes import GroupView, find_group


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker, its group if under a controller, and the election of a successor if any.

    `led` counts the logical queues that the group leads, by static topic, and `moves` are those
    that move them away, if that is wanted.
    """

    found: permissions.Present
    view: GroupView | None
    order: ElectMaster | None
    election: Facts[Judged] | None
    led: Mapping[str, int]
    moves: Facts[evacuate_broker_group.Present] | None
    leases: HandOverLeases | None
    """The hand-over of the share queues that the broker owns by lease, if it owns any."""

    @property
    def heir_id(self) -> int | None:
        """Name the next master instead."""
        return None if self.election is None else self.election.seen.winner_id

    @property
    def is_read_elsewhere(self) -> bool:
        """Return whether another broker serves what this one holds."""
        if self.election is not None:
            return True
        if self.view is None:
            return not self.found.broker.is_master
        master = self.view.group.master
        return master is None or master.address != self.found.broker.address


async def read_facts(order: DrainBroker, context: OperationContext) -> Facts[Present]:
    """Read the permission of the broker, and the possible successor.

    Raises:
        BrokerUnknown: the records of the cluster hold no such broker. QueueChangeRefused: the
        logical queues of a static topic can't move away.
    """
    found = await permissions.read_present(order, context)
    view = await find_group(
        groups.checked(order.cluster_name, order.broker_group_name), context.controller
    )
    async with context.database.connect() as connection:
        led = await logical_queues.count_led_by(
            connection, order.cluster_name, order.broker_group_name
        )
    moves = None
    if order.move_queues:
        undo = _undo_of_moves(order, found)
        moves = await evacuate_broker_group.read_facts(_evacuation(order), context, undo=undo)
    heir_id = _find_heir(view, found.broker.address)
    elect, election = None, None
    if heir_id is not None:
        elect = ElectMaster(order.cluster_name, order.broker_group_name, heir_id)
        election = await elect_master.read_facts(elect, context)
    leases = await find_leases(order, found, view, heir_id, context)
    parts = [one for one in (moves, election) if one is not None]
    return Facts(
        Present(found, view, elect, election, led, moves, leases),
        (*found.preconditions, *(fact for one in parts for fact in one.preconditions)),
        (found.check, *(check for one in parts for check in one.checks)),
    )


async def preview(order: DrainBroker, facts: Facts[Present], context: OperationContext) -> Plan:
    """Name the successor, and the messages that are not read yet."""
    present = facts.seen
    found, is_read_elsewhere = present.found, present.is_read_elsewhere
    address, after = found.broker.address, found.without_write
    election = None
    if present.order is not None and present.election is not None:
        election = await elect_master.preview(present.order, present.election, context)
    moves = None if present.moves is None else present.moves.seen
    part = evacuate_broker_group.part_of(_evacuation(order), moves)
    left = None if is_read_elsewhere else await context.brokers.find(address, FindUnreadMessages())
    return Plan(
        summary=f"Broker {order.target} ({address}) is drained: {_summary(present)}",
        risk=Risk.SERVICE,
        steps=(*part.steps, *planned_steps(_actions(order, present))),
        changes=(
            *part.changes,
            found.difference(after),
            *(() if election is None else election.changes),
        ),
        impact=(
            *part.impact,
            *await cordon_broker.describe_impact(order, found, context),
            *(() if election is None else election.impact),
        ),
        checks=(
            found.check,
            await permissions.check_fencing(found, context),
            await writers.check_cordon(
                order.cluster_name,
                order.broker_group_name,
                address,
                database=context.database,
                heir_id=present.heir_id,
            ),
            *(() if election is None else election.checks),
            await permissions.check_other_queues(order, context),
            *await _check_logical_queues(order, present, context),
            *(
                await _check_elsewhere(order, present, context)
                if is_read_elsewhere
                else _check_unread_messages(order, left)
            ),
        ),
        way_back=_undo_text(moves),
        facts={
            **({} if election is None else election.facts),
            "address": address,
            "permission": after,
            "heir_id": present.heir_id,
            "leftovers": None if left is None else left.as_value(),
        },
    )


KIND: Final = Kind(
    "drain_broker",
    DrainBroker,
    read_facts,
    preview,
    (
        SetPermission,
        Elect,
        AwaitFollowers,
        AwaitRoutes,
        AwaitReaders,
        HandOverLeases,
        *evacuate_broker_group.KIND.actions,
    ),
    settle=permissions.settle,
)


def _actions(order: DrainBroker, present: Present) -> list[Action]:
    """Remove the write permission, hand over, and wait for the remaining clients."""
    address = present.found.broker.address
    actions: list[Action] = [cordon_broker.take_write(order, present.found)]
    if present.leases is not None:
        actions.append(present.leases)
    if present.order is not None and present.election is not None:
        actions += elect_master.actions(present.order, present.election.seen, leaves=address)
    actions.append(cordon_broker.await_routes(order, present.found))
    if not present.is_read_elsewhere:
        readers = AwaitReaders(
            order.cluster_name,
            order.broker_group_name,
            order.broker_id,
            address,
            order.waived_groups,
        )
        actions.append(readers)
    return actions


async def find_leases(
    order: DrainBroker,
    found: permissions.Present,
    view: GroupView | None,
    heir_id: int | None,
    context: OperationContext,
) -> HandOverLeases | None:
    """Return the hand-over of the broker's share queues to the next master, or to the present one.

    None if the broker owns none, or if no other member may own them (O30).
    """
    if view is None:
        return None
    own_id = found.broker.own_id
    successor_id = heir_id or hand_over_share_queues.find_successor(view, own_id)
    leases = await hand_over_share_queues.read_leases(
        order.cluster_name, order.broker_group_name, context
    )
    names = tuple(
        name
        for name, lease in sorted(leases.items())
        if lease.owner is not None and lease.owner.broker_id == own_id
    )
    if not names or successor_id is None:
        return None
    return HandOverLeases(order.cluster_name, order.broker_group_name, own_id, successor_id, names)


def _evacuation(order: DrainBroker) -> EvacuateBrokerGroup:
    return EvacuateBrokerGroup(order.cluster_name, order.broker_group_name)


def _undo_of_moves(order: DrainBroker, found: permissions.Present) -> OperationRequest | None:
    """Return what takes the drain back: the write permission is part of it if it is taken."""
    if found.permission is None or found.permission == found.without_write:
        return None
    broker = {
        "cluster_name": order.cluster_name,
        "broker_group_name": order.broker_group_name,
        "broker_id": order.broker_id,
        "address": found.broker.address,
    }
    return OperationRequest("uncordon_broker", broker)


def _undo_text(moves: evacuate_broker_group.Present | None) -> str:
    if moves is not None and moves.moved_count:
        return (
            "Undo it: the broker is uncordoned, and the logical queues move back;"
            " then elect it to make it master again"
        )
    return "Uncordon it at any time; then elect it to make it master again"


async def _check_logical_queues(
    order: DrainBroker, present: Present, context: OperationContext
) -> tuple[Check, ...]:
    """Say which static topics have queues on the group, and check where these go."""
    name = "logical queues"
    count = count_queues(sum(present.led.values()))
    if not present.led:
        return (Check(name, CheckVerdict.PASS, "the broker group leads none"),)
    topics = masters.shortened(f"{topic} ({led})" for topic, led in present.led.items())
    if present.moves is not None:
        why = f"{count} move away, of {topics}"
        takers = await evacuate_broker_group.check_takers(
            order.cluster_name, present.moves.seen, context
        )
        return (Check(name, CheckVerdict.PASS, why), *takers)
    if present.is_read_elsewhere:
        why = f"{count} stay with the broker group, of {topics}"
        return (Check(name, CheckVerdict.PASS, why),)
    why = f"the broker group leads {count}, of {topics}: no other takes their messages"
    return (Check(name, CheckVerdict.WARN, f"{why}, unless the drain moves the queues"),)


def _find_heir(view: GroupView | None, address: str) -> int | None:
    """Find the successor in the set; None if the broker is not master, or none is suitable."""
    if view is None or view.group.master is None or view.group.master.address != address:
        return None
    return groups.find_heir(view, among=view.group.replicas)


def _summary(present: Present) -> str:
    if present.election is not None:
        return f"producers leave it, and broker {present.heir_id} becomes master"
    if present.is_read_elsewhere:
        return "it is a replica, which clients do not read or write"
    return "producers leave it, and consumers read it to the end"


async def _check_elsewhere(
    order: DrainBroker, present: Present, context: OperationContext
) -> tuple[Check, ...]:
    """Check whether another broker serves the messages of this broker."""
    if present.election is not None or await _has_master(order, present.view, context):
        why = "another broker of the group holds them and serves them as master"
        return (Check(UNREAD, CheckVerdict.PASS, why),)
    why = "no master of the group is there to serve them: only its replicas may hold them"
    return (Check(UNREAD, CheckVerdict.WARN, why),)


async def _has_master(
    order: DrainBroker, view: GroupView | None, context: OperationContext
) -> bool:
    if view is not None:
        return view.group.master_id in view.liveness.alive_ids and not view.group.is_master_lost
    async with context.database.connect() as connection:
        master = await broker_rows.find(
            connection, order.cluster_name, order.broker_group_name, broker_id=MASTER_ID
        )
    return master is not None and master.is_online


def _check_unread_messages(order: DrainBroker, left: UnreadMessages | None) -> tuple[Check, ...]:
    if left is None:
        return (
            Check(
                UNREAD, CheckVerdict.WARN, "the broker does not report the offsets of its groups"
            ),
        )
    checks = []
    waiting = left.without(order.waived_groups)
    if waiting.count:
        checks.append(Check(UNREAD, CheckVerdict.WARN, f"{waiting.sentence}: that is waited for"))
    else:
        checks.append(Check(UNREAD, CheckVerdict.PASS, "all groups have read to the end"))
    absent = sorted(g for g in waiting.lags if waiting.lags[g] and g not in waiting.online)
    if absent:
        why = f"no consumer reads for {', '.join(absent)}: start a consumer, or waive the group"
        checks.append(Check("consumers", CheckVerdict.WARN, why))
    return tuple(checks)
