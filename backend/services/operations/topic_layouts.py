"""Read and change how masters hold a topic: what the kinds about topics share."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from backend.clients.broker_changes import QueueEnds, told_layout
from backend.domain.operation import Operation, Step, Value
from backend.domain.plan import Difference, Precondition, ReadBack
from backend.domain.topic_layout import TopicLayout
from backend.services.operations import broker_steps, groups
from backend.services.operations.kind import Effect, OperationContext, StepRun, StepWork
from backend.services.operations.masters import Master, Silence, ask_each

Layouts = Mapping[Master, TopicLayout | Silence | None]


async def read_layouts(
    masters: Sequence[Master], topic: str, context: OperationContext
) -> dict[Master, TopicLayout | Silence | None]:
    """Ask masters how they hold a topic."""
    brokers = context.brokers
    return await ask_each(masters, lambda one: brokers.topic_layout(one.address, topic))


async def read_ends(
    masters: Sequence[Master], topic: str, context: OperationContext
) -> dict[Master, dict[int, QueueEnds] | Silence]:
    """Ask masters for the ends of a topic's queues."""
    brokers = context.brokers
    return await ask_each(masters, lambda one: brokers.topic_ends(one.address, topic))


def preconditions(layouts: Layouts) -> tuple[Precondition, ...]:
    """Name how each master holds the topic as a fact."""
    return tuple(
        Precondition(f"topic on {master.group_name}", layout_text(layouts[master]))
        for master in sorted(layouts)
    )


def difference(master: Master, before: TopicLayout | None, after: TopicLayout | None) -> Difference:
    """Say what becomes of the topic on a master."""
    return Difference(
        master.group_name,
        None if before is None else before.text,
        None if after is None else after.text,
    )


def layout_text(layout: TopicLayout | Silence | None) -> str:
    """Write how a master holds a topic."""
    match layout:
        case None:
            return "none"
        case Silence(reason=reason):
            return f"not told: {reason}"
        case _:
            return layout.text


def value_of(layout: TopicLayout | None) -> Value:
    """Return what the journal keeps of a layout."""
    return None if layout is None else dataclasses.asdict(layout)


def layout_from(value: Mapping[str, Any] | None) -> TopicLayout | None:
    """Return the layout that the journal keeps."""
    return None if value is None else TopicLayout(**value)


def put_facts(places: Sequence[tuple[Master, TopicLayout]]) -> dict[str, Any]:
    """Keep in a plan what is to be put where, in the order of its steps."""
    return {
        "brokers": [
            {
                "group_name": master.group_name,
                "address": master.address,
                "after": dataclasses.asdict(layout),
            }
            for master, layout in places
        ]
    }


def masters_of(operation: Operation) -> list[Master]:
    """Return the masters that a plan names, in the order of its steps."""
    told = operation.plan.facts["brokers"]
    return [Master(one["group_name"], one["address"]) for one in told]


def put_works(topic: str, operation: Operation, context: OperationContext) -> list[StepWork]:
    """Put the layouts that a plan names, one step a master."""
    told = operation.plan.facts["brokers"]
    return [
        _put_work(master, topic, TopicLayout(**one["after"]), context)
        for master, one in zip(masters_of(operation), told, strict=True)
    ]


def _put_work(
    master: Master, topic: str, layout: TopicLayout, context: OperationContext
) -> StepWork:
    brokers = context.brokers

    async def read() -> Value:
        return value_of(await brokers.topic_layout(master.address, topic))

    async def put(run: StepRun) -> Value | Effect:
        present = await brokers.topic_layout(master.address, topic)
        fence = broker_steps.fence_of(run)
        told = await brokers.put_topic(master.address, topic, layout, present, fence)
        if told is None:
            return await read()
        return Effect(value_of(told_layout(told.before)), value_of(told_layout(told.after)))

    return StepWork(read, put)


async def read_back(topic: str, operation: Operation, context: OperationContext) -> list[ReadBack]:
    """Read back how the masters of a plan hold the topic."""
    told = operation.plan.facts["brokers"]
    intended = [TopicLayout(**one["after"]) for one in told]
    masters = masters_of(operation)
    layouts = await read_layouts(masters, topic, context)
    return [
        groups.compare(
            f"topic on {master.group_name}",
            layout.text,
            None if isinstance(layouts[master], Silence) else layout_text(layouts[master]),
        )
        for master, layout in zip(masters, intended, strict=True)
    ]


def former_of(step: Step, operation: Operation) -> tuple[str, TopicLayout | None]:
    """Return the group of a step, and the layout before it."""
    told = operation.plan.facts["brokers"][step.position]
    return told["group_name"], layout_from(step.before)
