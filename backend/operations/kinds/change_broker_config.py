"""Change properties of a broker: checked, shown as a difference, read back, undoable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.domain.broker import Broker
from backend.domain.broker_property import (
    BrokerProperty,
    PropertyEffect,
    PropertyRefused,
    check_value,
    find_property,
)
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.broker import ChangeBrokerConfig
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
)
from backend.domain.topic import Permission
from backend.operations.actions.brokers import PropertySetting, SetProperties
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import config_reductions, masters, writers
from backend.operations.planning.broker_permissions import settle
from backend.services.cluster.broker_configs import BrokerConfig, describe_config

PERMISSION: Final = "brokerPermission"


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker's properties, and the new values that differ."""

    broker: Broker
    known: Mapping[str, BrokerProperty]
    changed: Mapping[str, str]

    @property
    def effects(self) -> dict[str, PropertyEffect]:
        """Say when each change takes effect."""
        return {name: self.known[name].effect for name in self.changed}

    @property
    def settings(self) -> tuple[PropertySetting, ...]:
        """Return the new values, by name."""
        return tuple(
            PropertySetting(name, value, _meant(self.known[name], value), self.known[name].effect)
            for name, value in sorted(self.changed.items())
        )


async def read_facts(order: ChangeBrokerConfig, context: OperationContext) -> Facts[Present]:
    """Check the values, and read the broker's properties.

    Raises:
        InvalidParameters: a property is unknown, read-only or can't have the value.
        BrokerUnknown: the records hold no such broker.
        BrokerSilent: the broker does not report its properties.
    """
    found = await _describe(order, context)
    known = {one.name: one for one in found.properties}
    wished = _check(order, known)
    changed = {
        name: value
        for name, value in wished.items()
        if _meant(known[name], value) != known[name].configured
    }
    return Facts(
        Present(found.broker, known, changed),
        (
            Precondition("address", found.broker.address),
            *(Precondition(name, known[name].configured) for name in sorted(wished)),
        ),
        (_check_effect(changed),),
    )


async def preview(
    order: ChangeBrokerConfig, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Say what takes effect immediately and what after a restart."""
    present = facts.seen
    known, changed, effects = present.known, present.changed, present.effects
    address = present.broker.address
    action = SetProperties(
        order.cluster_name, order.broker_group_name, order.broker_id, address, present.settings
    )
    return Plan(
        summary=f"{len(changed)} properties of broker {order.target} ({address}) change",
        risk=Risk.SERVICE,
        steps=planned_steps([action]),
        changes=tuple(
            Difference(_titled(known[one.name]), known[one.name].configured, one.intended)
            for one in present.settings
        ),
        impact=_impact(effects),
        checks=(
            *facts.checks,
            *_check_restart(effects),
            *await _check_writer(order, address, changed, context),
            *(await config_reductions.check(address, known, changed, context)),
            await masters.check_fencing(
                [masters.Master(order.broker_group_name, address)], context
            ),
        ),
        way_back="Set the former values, which the journal keeps",
        facts={
            "address": address,
            "changes": [
                {
                    "name": one.name,
                    "value": one.value,
                    "intended": one.intended,
                    "type": known[one.name].type,
                    "effect": one.effect,
                    "range": known[one.name].range_text,
                }
                for one in present.settings
            ],
        },
    )


async def version(order: ChangeBrokerConfig, context: OperationContext) -> str:
    """Read the version of the broker's properties."""
    return (await _describe(order, context)).version


KIND: Final = Kind(
    "change_broker_config",
    ChangeBrokerConfig,
    read_facts,
    preview,
    (SetProperties,),
    version,
    settle=settle,
)


async def _describe(order: ChangeBrokerConfig, context: OperationContext) -> BrokerConfig:
    return await describe_config(
        order.cluster_name,
        order.broker_group_name,
        order.broker_id,
        address=order.address,
        database=context.database,
        brokers=context.brokers,
    )


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
    """Return the effective value: an empty value means the default."""
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
    lines = []
    if live:
        lines.append(f"In force at once: {masters.shortened(sorted(live))}")
    if later:
        lines.append(
            f"In force when the broker is started next: {masters.shortened(sorted(later))}"
        )
    return tuple(lines)


async def _check_writer(
    order: ChangeBrokerConfig, address: str, changed: Mapping[str, str], context: OperationContext
) -> tuple[Check, ...]:
    """Warn if the write permission is removed, as by a cordon."""
    permission = changed.get(PERMISSION)
    if permission is None or not permission.isdecimal() or int(permission) & Permission.WRITE:
        return ()
    return (
        await writers.check_cordon(
            order.cluster_name, order.broker_group_name, address, database=context.database
        ),
    )


def _check_effect(changed: Mapping[str, str]) -> Check:
    name = "something changes"
    if changed:
        return Check(name, CheckVerdict.PASS, f"{len(changed)} values differ")
    return Check(name, CheckVerdict.BLOCK, "the broker has these values already")


def _check_restart(effects: Mapping[str, PropertyEffect]) -> list[Check]:
    name = "in force without a restart"
    later = [one for one, effect in effects.items() if effect is PropertyEffect.RESTART]
    unknown = [one for one, effect in effects.items() if effect is PropertyEffect.UNKNOWN]
    checks = []
    if later:
        why = f"{masters.shortened(sorted(later))} are kept, and count after the next start"
        checks.append(Check(name, CheckVerdict.WARN, why))
    if unknown:
        why = (
            f"a RocketMQ broker does not report whether {masters.shortened(sorted(unknown))} apply"
        )
        checks.append(Check(name, CheckVerdict.WARN, f"{why} before the next start"))
    return checks or [Check(name, CheckVerdict.PASS, "all values take effect immediately")]
