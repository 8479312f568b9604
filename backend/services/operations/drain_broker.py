"""Empty a broker so that it can be stopped: producers leave, mastership moves, consumers finish."""

from collections.abc import Sequence
from typing import Final

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.db import brokers as broker_rows
from backend.domain.broker import MASTER_ID
from backend.domain.operation import Operation, Value
from backend.domain.orders.broker import DrainBroker
from backend.domain.orders.replica_group import ElectMaster
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.group_changes import GroupView, find_group
from backend.services.leftovers import Leftovers, find_leftovers
from backend.services.operations import broker_permissions as permissions
from backend.services.operations import cordon_broker, elect_master, groups, writers
from backend.services.operations.broker_permissions import Present
from backend.services.operations.cordon_broker import CORDON
from backend.services.operations.kind import (
    Kind,
    OperationContext,
    StepRun,
    StepWork,
    Waiting,
)

ROUTES, ELECT, FOLLOW, READ = "routes", "elect", "follow", "read"
UNREAD: Final = "messages that are still to be read"


async def plan(order: DrainBroker, context: OperationContext) -> Plan:
    """Say who takes over, and what is still to be read.

    Raises:
        BrokerUnknown: the cluster's records hold no such broker.
    """
    present = await permissions.read_present(order, context)
    address = present.broker.address
    after = None if present.permission is None else permissions.without_write(present.permission)
    view = await find_group(
        groups.checked(order.cluster_name, order.group_name), context.controller
    )
    election = await _plan_election(order, view, address, context)
    is_read_elsewhere = election is not None or not _is_master(present, view)
    left = None if is_read_elsewhere else await _leftovers(address, context)
    told = _summary(election, is_read_elsewhere)
    return Plan(
        summary=f"Broker {order.target} ({address}) is drained: {told}",
        risk=Risk.SERVICE,
        steps=(
            PlannedStep(CORDON, f"Take the right to write from {address}"),
            *(() if election is None else election.steps),
            PlannedStep(ROUTES, "Wait until routes send no producer there"),
            *(() if is_read_elsewhere else (PlannedStep(READ, _read_title(order)),)),
        ),
        preconditions=(
            *present.preconditions,
            *(() if election is None else election.preconditions),
        ),
        changes=(
            present.difference(after),
            *(() if election is None else election.changes),
        ),
        impact=(
            *await cordon_broker.describe_impact(order, present, context),
            *(() if election is None else election.impact),
        ),
        checks=(
            present.check,
            await permissions.check_fencing(present, context),
            await writers.check_cordon(
                order.cluster_name,
                order.group_name,
                address,
                database=context.database,
                heir_id=None if election is None else election.facts["winner_id"],
            ),
            *(() if election is None else election.checks),
            await permissions.check_other_queues(order, context),
            *(
                await _check_elsewhere(order, view, election, context)
                if is_read_elsewhere
                else _check_leftovers(order, left)
            ),
        ),
        way_back="Uncordon it, at any time; then elect it if it shall be master again",
        facts={
            **({} if election is None else election.facts),
            "address": address,
            "permission": after,
            "heir_id": None if election is None else election.facts["winner_id"],
            "leftovers": None if left is None else left.as_value(),
        },
    )


def steps(
    order: DrainBroker, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Do what was planned, by the names of its steps."""
    facts = operation.plan.facts
    address = facts["address"]
    works = {
        CORDON: permissions.permission_work(address, facts["permission"], context),
        ROUTES: permissions.routes_work(order, address, context),
        READ: _read_work(order, address, context),
    }
    if facts["heir_id"] is not None:
        election = _election(order, facts["heir_id"])
        elect, follow = elect_master.steps(election, operation, context)
        works |= {ELECT: elect, FOLLOW: follow}
    return [works[step.name] for step in operation.steps]


async def verify(
    order: DrainBroker, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back what it permits, what producers are told, who is master, and what is unread."""
    facts = operation.plan.facts
    address = facts["address"]
    count = await permissions.count_writable(order, address, context)
    found = [
        await permissions.read_back(address, facts["permission"], context),
        groups.compare("topics that producers are sent there for", 0, count),
    ]
    if facts["heir_id"] is not None:
        name = groups.checked(order.cluster_name, order.group_name)
        view = await find_group(name, context.controller)
        master = None if view is None else view.group.master
        told = "nobody" if master is None else "another" if master.address != address else "it"
        found.append(groups.compare("master", "another", told))
    if any(step.name == READ for step in operation.steps):
        left = await _leftovers(address, context)
        unread = None if left is None else left.without(order.waived_groups).count
        found.append(groups.compare(UNREAD, 0, unread))
    return found


KIND: Final = Kind("drain_broker", DrainBroker, plan, steps, verify, cordon_broker.undo)


def _read_work(order: DrainBroker, address: str, context: OperationContext) -> StepWork:
    brokers = context.brokers

    async def read() -> Value:
        return (await find_leftovers(address, brokers)).as_value()

    async def wait(_run: StepRun) -> Value:
        left = (await find_leftovers(address, brokers)).without(order.waived_groups)
        if left.count:
            raise Waiting(left.sentence, left.as_value())
        return left.as_value()

    return StepWork(read, wait)


async def _plan_election(
    order: DrainBroker, view: GroupView | None, address: str, context: OperationContext
) -> Plan | None:
    """Plan that another of the set becomes master; None where the broker is not, or has no heir."""
    if view is None or view.group.master is None or view.group.master.address != address:
        return None
    heirs = view.liveness.alive_ids & view.group.sync_state_set.members - {view.group.master_id}
    if not heirs:
        return None
    sightings = view.liveness.sightings

    def rank(broker_id: int) -> tuple[bool, bool, int, int]:
        # One that may write and has a verified log; among those, the longest log has the least to
        # copy before it serves.
        told = sightings[broker_id]
        return (told.is_verified, not told.is_cordoned, told.max_offset, -broker_id)

    heir_id = max(heirs, key=rank)
    return await elect_master.plan(_election(order, heir_id), context)


def _election(order: DrainBroker, heir_id: int) -> ElectMaster:
    return ElectMaster(order.cluster_name, order.group_name, heir_id)


def _is_master(present: Present, view: GroupView | None) -> bool:
    if view is None:
        return present.broker.is_master
    master = view.group.master
    return master is not None and master.address == present.broker.address


async def _leftovers(address: str, context: OperationContext) -> Leftovers | None:
    try:
        return await find_leftovers(address, context.brokers)
    except (BrokerUnreachable, BrokerRefused):
        return None


def _summary(election: Plan | None, is_read_elsewhere: bool) -> str:  # noqa: FBT001 - one of three
    if election is not None:
        return f"producers leave it, and broker {election.facts['winner_id']} becomes master"
    if is_read_elsewhere:
        return "it is a replica, which nobody reads or writes"
    return "producers leave it, and consumers read it to the end"


def _read_title(order: DrainBroker) -> str:
    waived = f", but not for {', '.join(order.waived_groups)}" if order.waived_groups else ""
    return f"Wait until consumer groups have read to the end{waived}"


async def _check_elsewhere(
    order: DrainBroker, view: GroupView | None, election: Plan | None, context: OperationContext
) -> tuple[Check, ...]:
    """Say whether somebody serves what a replica, or a master that hands over, holds as well."""
    if election is not None or await _has_master(order, view, context):
        why = "another broker of the group holds them, and serves them as master"
        return (Check(UNREAD, CheckVerdict.PASS, why),)
    why = "no master of the group is there to serve them: its replicas may be all that holds them"
    return (Check(UNREAD, CheckVerdict.WARN, why),)


async def _has_master(
    order: DrainBroker, view: GroupView | None, context: OperationContext
) -> bool:
    if view is not None:
        return view.group.master_id in view.liveness.alive_ids and not view.group.is_master_lost
    async with context.database.connect() as connection:
        master = await broker_rows.find(
            connection, order.cluster_name, order.group_name, broker_id=MASTER_ID
        )
    return master is not None and master.is_online


def _check_leftovers(order: DrainBroker, left: Leftovers | None) -> tuple[Check, ...]:
    if left is None:
        return (Check(UNREAD, CheckVerdict.WARN, "the broker does not say how far its groups are"),)
    checks = []
    waiting = left.without(order.waived_groups)
    if waiting.count:
        checks.append(Check(UNREAD, CheckVerdict.WARN, f"{waiting.sentence}: that is waited for"))
    else:
        checks.append(Check(UNREAD, CheckVerdict.PASS, "all groups have read to the end"))
    absent = sorted(g for g in waiting.lags if waiting.lags[g] and g not in waiting.online)
    if absent:
        why = f"nobody reads for {', '.join(absent)}: start a consumer, or waive the group"
        checks.append(Check("consumers", CheckVerdict.WARN, why))
    return tuple(checks)
