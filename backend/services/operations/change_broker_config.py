"""Change what a broker is set to: checked, shown as a difference, read back, taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from backend.domain.broker_property import (
    BrokerProperty,
    PropertyEffect,
    PropertyRefused,
    check_value,
    find_property,
)
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import InvalidParameters, NotUndoable
from backend.domain.orders.broker import ChangeBrokerConfig, PropertyChange
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
)
from backend.domain.topic import Permission
from backend.services.broker_configs import BrokerConfig, ask_properties, describe_config
from backend.services.operations import (
    broker_steps,
    config_reductions,
    groups,
    masters,
    writers,
)
from backend.services.operations.kind import (
    Effect,
    Kind,
    OperationContext,
    StepRun,
    StepWork,
)

PERMISSION: Final = "brokerPermission"


async def plan(order: ChangeBrokerConfig, context: OperationContext) -> Plan:
    """Check the values, and say what counts at once and what after a restart.

    Raises:
        InvalidParameters: a property is unknown, read-only or can't have the value.
        BrokerUnknown: the records hold no such broker.
        BrokerSilent: it does not tell what it is set to.
    """
    found = await _describe(order, context)
    broker, known = found.broker, {one.name: one for one in found.properties}
    wished = _check(order, known)
    changed = {
        name: value
        for name, value in wished.items()
        if _meant(known[name], value) != known[name].configured
    }
    effects = {name: known[name].effect for name in changed}
    return Plan(
        summary=f"{len(changed)} properties of broker {order.target} ({broker.address}) change",
        risk=Risk.SERVICE,
        steps=(PlannedStep("set", f"Set {masters.shortened(sorted(changed)) or 'nothing'}"),),
        preconditions=(
            Precondition("address", broker.address),
            *(Precondition(name, known[name].configured) for name in sorted(wished)),
        ),
        changes=tuple(
            Difference(_titled(known[name]), known[name].configured, _meant(known[name], value))
            for name, value in sorted(changed.items())
        ),
        impact=_impact(effects),
        checks=(
            _check_effect(changed),
            *_check_restart(effects),
            *await _check_writer(order, broker.address, changed, context),
            *(await config_reductions.check(broker.address, known, changed, context)),
            await masters.check_fencing(
                [masters.Master(order.group_name, broker.address)], context
            ),
        ),
        way_back="Set the former values, which the journal keeps",
        facts={
            "address": broker.address,
            "changes": [
                {
                    "name": name,
                    "value": value,
                    "intended": _meant(known[name], value),
                    "type": known[name].type,
                    "effect": known[name].effect,
                    "range": known[name].range_text,
                }
                for name, value in sorted(changed.items())
            ],
        },
    )


def steps(
    _order: ChangeBrokerConfig, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Set all of them at once."""
    address = operation.plan.facts["address"]
    changes = {one["name"]: one["value"] for one in operation.plan.facts["changes"]}

    async def read() -> Value:
        known = await _read(address, context)
        return {name: known[name].configured for name in changes if name in known}

    async def change(run: StepRun) -> Value | Effect:
        fence = broker_steps.fence_of(run)
        told = await context.brokers.change_properties(address, changes, fence)
        return await read() if told is None else Effect(told.before, told.after)

    return [StepWork(read, change)]


async def verify(
    _order: ChangeBrokerConfig, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back what is in force, or of what needs a restart what the file says."""
    facts = operation.plan.facts
    known = await _read(facts["address"], context)
    return [_compare(one, known.get(one["name"])) for one in facts["changes"]]


def undo(order: ChangeBrokerConfig, operation: Operation) -> ChangeBrokerConfig:
    """Set the former values of the broker that was changed, whatever its id is by now.

    Raises:
        NotUndoable: nothing was set, or the former values are not known.
    """
    done = masters.done_steps(operation)
    former = done[0].before if done else None
    if not former:
        raise NotUndoable("no property was set")
    changes = tuple(PropertyChange(name, str(value)) for name, value in sorted(former.items()))
    return replace(order, address=operation.plan.facts["address"], changes=changes)


async def version(order: ChangeBrokerConfig, context: OperationContext) -> str:
    """Read the version of what the broker is set to."""
    return (await _describe(order, context)).version


KIND: Final = Kind("change_broker_config", ChangeBrokerConfig, plan, steps, verify, undo, version)


async def _describe(order: ChangeBrokerConfig, context: OperationContext) -> BrokerConfig:
    return await describe_config(
        order.cluster_name,
        order.group_name,
        order.broker_id,
        address=order.address,
        database=context.database,
        brokers=context.brokers,
    )


async def _read(address: str, context: OperationContext) -> dict[str, BrokerProperty]:
    told = await ask_properties(address, context.brokers)
    return {one.name: one for one in told}


def _check(order: ChangeBrokerConfig, known: Mapping[str, BrokerProperty]) -> dict[str, str]:
    wished: dict[str, str] = {}
    for change in order.changes:
        if change.name in wished:
            raise InvalidParameters(KIND.name, f"{change.name} is given twice")
        try:
            target = find_property(known.values(), change.name)
            wished[change.name] = check_value(target, change.value)
        except PropertyRefused as error:
            raise InvalidParameters(KIND.name, str(error)) from error
    return wished


def _meant(target: BrokerProperty, value: str) -> str:
    """Return the value that counts: an empty one stands for the default."""
    return value if value or target.default is None else target.default


def _titled(target: BrokerProperty) -> str:
    note = {
        PropertyEffect.RESTART: " (needs a restart)",
        PropertyEffect.UNKNOWN: " (may need a restart)",
    }.get(target.effect, "")
    return f"{target.name}{note}"


def _impact(effects: Mapping[str, PropertyEffect]) -> tuple[str, ...]:
    live = [name for name, effect in effects.items() if effect is PropertyEffect.LIVE]
    later = [name for name, effect in effects.items() if effect is PropertyEffect.RESTART]
    told = []
    if live:
        told.append(f"In force at once: {masters.shortened(sorted(live))}")
    if later:
        told.append(f"In force when the broker is started next: {masters.shortened(sorted(later))}")
    return tuple(told)


async def _check_writer(
    order: ChangeBrokerConfig, address: str, changed: Mapping[str, str], context: OperationContext
) -> tuple[Check, ...]:
    """Warn where the right to write is taken, as by a cordon."""
    permission = changed.get(PERMISSION)
    if permission is None or not permission.isdecimal() or int(permission) & Permission.WRITE:
        return ()
    return (
        await writers.check_cordon(
            order.cluster_name, order.group_name, address, database=context.database
        ),
    )


def _check_effect(changed: Mapping[str, str]) -> Check:
    name = "something changes"
    if changed:
        return Check(name, CheckVerdict.PASS, f"{len(changed)} values differ")
    return Check(name, CheckVerdict.BLOCK, "the broker is set so already")


def _check_restart(effects: Mapping[str, PropertyEffect]) -> list[Check]:
    name = "in force without a restart"
    later = [one for one, effect in effects.items() if effect is PropertyEffect.RESTART]
    unknown = [one for one, effect in effects.items() if effect is PropertyEffect.UNKNOWN]
    checks = []
    if later:
        why = f"{masters.shortened(sorted(later))} are kept, and count after the next start"
        checks.append(Check(name, CheckVerdict.WARN, why))
    if unknown:
        why = f"a stock broker does not tell whether {masters.shortened(sorted(unknown))} count"
        checks.append(Check(name, CheckVerdict.WARN, f"{why} before the next start"))
    return checks or [Check(name, CheckVerdict.PASS, "all of it counts at once")]


def _compare(change: Mapping[str, str], found: BrokerProperty | None) -> ReadBack:
    name, intended = change["name"], change["intended"]
    if found is None:
        return groups.compare(name, intended, None)
    if change["effect"] == PropertyEffect.LIVE:
        return groups.compare(f"{name} in force", intended, found.value)
    return groups.compare(f"{name} as configured", intended, found.configured)
