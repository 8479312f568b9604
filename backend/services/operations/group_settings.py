"""Read and change how masters serve a consumer group: what the kinds about groups share."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from backend.clients.broker_changes import settings_of
from backend.domain.consumer_group import GroupSettings, GroupWish, describe
from backend.domain.operation import Operation, Step, Value
from backend.domain.plan import Difference, Precondition, ReadBack
from backend.domain.version import version_by_group
from backend.services.operations import broker_steps, groups
from backend.services.operations.kind import Effect, OperationContext, StepRun, StepWork
from backend.services.operations.masters import Master, Silence, ask_each, find_masters
from backend.services.operations.topic_layouts import masters_of

Settings = Mapping[Master, GroupSettings | Silence | None]


async def read_settings(
    masters: Sequence[Master], group: str, context: OperationContext
) -> dict[Master, GroupSettings | Silence | None]:
    """Ask masters how they serve a consumer group."""
    brokers = context.brokers
    return await ask_each(masters, lambda one: brokers.group_settings(one.address, group))


async def read_version(cluster_name: str, group: str, context: OperationContext) -> str:
    """Read the version of how all masters of a cluster that tell serve a consumer group."""
    meant = await find_masters(cluster_name, (), context)
    told = await read_settings(meant.found, group, context)
    return version_by_group(
        {one.group_name: held for one, held in told.items() if isinstance(held, GroupSettings)}
    )


def preconditions(settings: Settings) -> tuple[Precondition, ...]:
    """Name how each master serves the group as a fact."""
    return tuple(
        Precondition(f"group on {master.group_name}", settings_text(settings[master]))
        for master in sorted(settings)
    )


def differences(
    master: Master, before: GroupSettings | None, after: GroupSettings | None
) -> list[Difference]:
    """Say what becomes of each setting on a master."""
    old = {} if before is None else describe(before)
    new = {} if after is None else describe(after)
    return [
        Difference(f"{master.group_name}: {name}", old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def settings_text(settings: GroupSettings | Silence | None) -> str:
    """Write how a master serves a group."""
    match settings:
        case None:
            return "none"
        case Silence(reason=reason):
            return f"not told: {reason}"
        case _:
            return settings.text


def put_facts(places: Sequence[tuple[Master, GroupSettings]]) -> dict[str, Any]:
    """Keep in a plan what is to be put where, in the order of its steps."""
    return {
        "brokers": [
            {
                "group_name": master.group_name,
                "address": master.address,
                "after": dataclasses.asdict(settings),
            }
            for master, settings in places
        ]
    }


def value_of(settings: GroupSettings | None) -> Value:
    """Return what the journal keeps of a group."""
    return None if settings is None else dataclasses.asdict(settings)


def put_works(group: str, operation: Operation, context: OperationContext) -> list[StepWork]:
    """Put the settings that a plan names, one step a master."""
    told = operation.plan.facts["brokers"]
    return [
        _put_work(master, group, GroupSettings(**one["after"]), context)
        for master, one in zip(masters_of(operation), told, strict=True)
    ]


def _put_work(
    master: Master, group: str, settings: GroupSettings, context: OperationContext
) -> StepWork:
    brokers = context.brokers

    async def read() -> Value:
        return value_of(await brokers.group_settings(master.address, group))

    async def put(run: StepRun) -> Value | Effect:
        fence = broker_steps.fence_of(run)
        told = await brokers.put_group(master.address, group, settings, fence)
        return await read() if told is None else told_effect(told.before, told.after)

    return StepWork(read, put)


def told_effect(before: Any, after: Any) -> Effect:
    """Turn the values that an agent told around a change into those of the journal."""
    return Effect(*(None if one is None else value_of(settings_of(one)) for one in (before, after)))


async def read_back(group: str, operation: Operation, context: OperationContext) -> list[ReadBack]:
    """Read back how the masters of a plan serve the group."""
    masters = masters_of(operation)
    settings = await read_settings(masters, group, context)
    told = operation.plan.facts["brokers"]
    return [
        _compare(master, GroupSettings(**one["after"]), settings[master])
        for master, one in zip(masters, told, strict=True)
    ]


def _compare(
    master: Master, intended: GroupSettings, found: GroupSettings | Silence | None
) -> ReadBack:
    if isinstance(found, GroupSettings):
        # What was not asked for has the broker's defaults.
        asked = {name: value for name, value in found.others.items() if name in intended.others}
        found = dataclasses.replace(found, others=asked)
    observed = None if isinstance(found, Silence) else settings_text(found)
    return groups.compare(f"group on {master.group_name}", intended.text, observed)


def former_of(step: Step, operation: Operation) -> tuple[str, GroupSettings | None]:
    """Return the broker group of a step, and the settings before it."""
    told = operation.plan.facts["brokers"][step.position]
    return told["group_name"], None if step.before is None else GroupSettings(**step.before)


def wish_of(order: Any) -> GroupWish:
    """Read from an order what is wished for; the fields are called alike."""
    return GroupWish(
        **{one.name: getattr(order, one.name) for one in dataclasses.fields(GroupWish)}
    )
