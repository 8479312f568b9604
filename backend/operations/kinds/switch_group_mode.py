"""Switch a broker group between controller mode and acting-master mode (D16)."""

from typing import Final

from backend.domain.orders.group_mode import SwitchGroupMode
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.operations.actions.group_modes import (
    NO_FORMER_MODE,
    AwaitPlace,
    LeaveController,
    SwitchBroker,
    mode_text,
)
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups, mode_switches
from backend.operations.planning.mode_switches import Member, Present
from backend.rules.group_mode import GroupMode

_IMPACT: Final = {
    GroupMode.CONTROLLER: (
        "Producers get refusals while the master starts again; a replica acts, and reads go on",
        "Until a replica is in the SyncStateSet, only the master has new messages",
        "From then on a message is acknowledged once each member of the SyncStateSet has it",
    ),
    GroupMode.ACTING_MASTER: (
        "Producers get refusals while the master starts again; reads go on within seconds",
        "While replicas wait for the master, only the master has new messages",
        "From then on the master acknowledges as its brokerRole and inSyncReplicas say",
        "An ASYNC_MASTER acknowledges alone: a lost disk loses messages that no replica has",
    ),
}


async def read_facts(order: SwitchGroupMode, context: OperationContext) -> Facts[Present]:
    """Read the mode of each broker, and whether it can switch.

    Raises:
        BrokerGroupNotFound: the cluster has no such group.
    """
    present = await mode_switches.read_present(order, context)
    checks = (
        *mode_switches.check_members(present),
        await mode_switches.check_static_topics(order, context),
    )
    return Facts(present, tuple(_facts(present)), checks)


async def preview(order: SwitchGroupMode, facts: Facts[Present], context: OperationContext) -> Plan:
    """Say in which order the brokers start again, and what clients notice."""
    present, mode = facts.seen, GroupMode(order.mode.value)
    actions = _actions(order, present)
    wanted = mode_text(mode)
    return Plan(
        summary=f"Broker group {order.target} is switched to {wanted} mode",
        risk=Risk.SERVICE,
        steps=planned_steps(actions),
        changes=(
            Difference("recorded mode", mode_text(present.group.mode), wanted),
            *(
                Difference(f"mode of {one.name}", mode_text(one.report.mode), wanted)
                for one in present.ordered
                if one.report is not None
            ),
        ),
        impact=_IMPACT[mode],
        checks=(
            _check_effect(actions),
            *facts.checks,
            await mode_switches.check_operations(order, context),
        ),
        way_back=_undo_text(present),
        facts={
            "mode": mode,
            "brokers": [
                {"name": one.name, "address": one.broker.address} for one in present.ordered
            ],
        },
    )


KIND: Final = Kind(
    "switch_group_mode",
    SwitchGroupMode,
    read_facts,
    preview,
    (SwitchBroker, AwaitPlace, LeaveController),
)


def _undo_text(present: Present) -> str:
    modes = {one.report.mode for one in present.ordered if one.report is not None}
    if GroupMode.STATIC in modes:
        return no_undo(NO_FORMER_MODE)
    return "Undo it: the group is switched back in the same way"


def _actions(order: SwitchGroupMode, present: Present) -> list[Action]:
    named = order.cluster_name, order.broker_group_name
    actions: list[Action] = []
    for one in present.ordered:
        place = (*named, one.name, one.broker.address, one.place)
        actions += [SwitchBroker(*place), AwaitPlace(*place)]
    if order.mode == GroupMode.ACTING_MASTER.value and present.view is not None:
        actions.append(LeaveController(*named))
    return actions


def _facts(present: Present) -> list[Precondition]:
    return [
        *groups.epochs_of(None if present.view is None else present.view.group)[:1],
        *(Precondition(f"broker {one.name}", _mode_of(one)) for one in present.members),
    ]


def _mode_of(member: Member) -> str:
    mode = "no answer" if member.report is None else mode_text(member.report.mode)
    return f"{member.broker.address}, {mode}"


def _check_effect(actions: list[Action]) -> Check:
    name = "something changes"
    if actions:
        return Check(name, CheckVerdict.PASS, f"{len(actions)} steps")
    return Check(name, CheckVerdict.BLOCK, "every broker of the group is in this mode already")
