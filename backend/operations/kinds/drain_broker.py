"""Empty a broker for a stop: producers leave, the mastership moves, consumers finish."""

from dataclasses import dataclass
from typing import Final

from backend.db import brokers as broker_rows
from backend.domain.broker import MASTER_ID
from backend.domain.orders.broker import DrainBroker
from backend.domain.orders.replica_group import ElectMaster
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.domain.unread_messages import UnreadMessages
from backend.operations.actions.brokers import UNREAD, AwaitReaders, AwaitRoutes, SetPermission
from backend.operations.actions.replica_groups import AwaitFollowers, Elect
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.kinds import cordon_broker, elect_master
from backend.operations.kinds.elect_master import Judged
from backend.operations.planning import broker_permissions as permissions
from backend.operations.planning import groups, writers
from backend.services.consumer_group.unread_messages import FindUnreadMessages
from backend.services.controller.group_changes import GroupView, find_group


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker, its group if under a controller, and the election of a successor if any."""

    found: permissions.Present
    view: GroupView | None
    order: ElectMaster | None
    election: Facts[Judged] | None

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
        BrokerUnknown: the records of the cluster hold no such broker.
    """
    found = await permissions.read_present(order, context)
    view = await find_group(
        groups.checked(order.cluster_name, order.broker_group_name), context.controller
    )
    heir_id = _find_heir(view, found.broker.address)
    if heir_id is None:
        present = Present(found, view, None, None)
        return Facts(present, found.preconditions, (found.check,))
    elect = ElectMaster(order.cluster_name, order.broker_group_name, heir_id)
    election = await elect_master.read_facts(elect, context)
    return Facts(
        Present(found, view, elect, election),
        (*found.preconditions, *election.preconditions),
        (found.check, *election.checks),
    )


async def preview(order: DrainBroker, facts: Facts[Present], context: OperationContext) -> Plan:
    """Name the successor, and the messages that are not read yet."""
    present = facts.seen
    found, is_read_elsewhere = present.found, present.is_read_elsewhere
    address, after = found.broker.address, found.without_write
    election = None
    if present.order is not None and present.election is not None:
        election = await elect_master.preview(present.order, present.election, context)
    left = None if is_read_elsewhere else await context.brokers.find(address, FindUnreadMessages())
    return Plan(
        summary=f"Broker {order.target} ({address}) is drained: {_summary(present)}",
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(order, present)),
        changes=(
            found.difference(after),
            *(() if election is None else election.changes),
        ),
        impact=(
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
            *(
                await _check_elsewhere(order, present, context)
                if is_read_elsewhere
                else _check_unread_messages(order, left)
            ),
        ),
        way_back="Uncordon it at any time; then elect it to make it master again",
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
    (SetPermission, Elect, AwaitFollowers, AwaitRoutes, AwaitReaders),
    settle=permissions.settle,
)


def _actions(order: DrainBroker, present: Present) -> list[Action]:
    """Remove the write permission, hand over, and wait for the remaining clients."""
    address = present.found.broker.address
    actions: list[Action] = [cordon_broker.take_write(order, present.found)]
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


def _find_heir(view: GroupView | None, address: str) -> int | None:
    """Find the successor in the set; None if the broker is not master, or none is suitable."""
    if view is None or view.group.master is None or view.group.master.address != address:
        return None
    heirs = view.liveness.alive_ids & view.group.sync_state_set.members - {view.group.master_id}
    if not heirs:
        return None
    reports = view.liveness.reports

    def rank(broker_id: int) -> tuple[bool, bool, int, int]:
        # Prefer a writable replica with a verified log; among those, the longest log has the least
        # to copy before it serves.
        report = reports[broker_id]
        return (report.is_verified, not report.is_cordoned, report.max_offset, -broker_id)

    return max(heirs, key=rank)


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
