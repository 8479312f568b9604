"""Take a topic off masters and out of the routes: what the kinds share that delete topics."""

from collections.abc import Sequence

from backend.clients.broker_changes import told_layout
from backend.db import topics as topic_rows
from backend.domain.operation import Value
from backend.domain.plan import ReadBack
from backend.services import topics
from backend.services.operations import broker_steps, groups, topic_layouts
from backend.services.operations.kind import Effect, OperationContext, StepRun, StepWork
from backend.services.operations.masters import Master, Silence


def delete_work(
    master: Master, topic: str, context: OperationContext, *, only_empty: bool = False
) -> StepWork:
    """Delete it on one master; where it is not there any more, there is nothing to do."""
    brokers = context.brokers

    async def read() -> Value:
        return topic_layouts.value_of(await brokers.topic_layout(master.address, topic))

    async def delete(run: StepRun) -> Value | Effect:
        fence = broker_steps.fence_of(run)
        told = await brokers.delete_topic(master.address, topic, fence, only_empty=only_empty)
        if told is None:
            return await read()
        return Effect(
            topic_layouts.value_of(told_layout(told.before)),
            topic_layouts.value_of(told_layout(told.after)),
        )

    return StepWork(read, delete)


def routes_work(
    cluster_name: str, topic: str, group_names: Sequence[str], context: OperationContext
) -> StepWork:
    """Have name servers forget that these broker groups hold it."""

    async def read() -> Value:
        return {"groups": await routed(cluster_name, topic, group_names, context)}

    async def forget(run: StepRun) -> Value:
        # A worker that was overtaken would take out what has been created anew under the name.
        await topics.forget_placements(
            cluster_name,
            topic,
            group_names,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return await read()

    return StepWork(read, forget)


async def routed(
    cluster_name: str, topic: str, group_names: Sequence[str], context: OperationContext
) -> str:
    """Name those of the broker groups that hold it by the records."""
    async with context.database.connect() as connection:
        placed = await topic_rows.list_groups_of(connection, cluster_name, topic)
    return ", ".join(one for one in placed if one in group_names) or "none"


async def read_back(
    cluster_name: str,
    topic: str,
    holders: Sequence[Master],
    context: OperationContext,
    *,
    name: str = "topic",
    routes: str = "the routes",
) -> list[ReadBack]:
    """Read back that no master holds it, and that the records don't either."""
    layouts = await topic_layouts.read_layouts(holders, topic, context)
    names = [one.group_name for one in holders]
    return [
        *(
            groups.compare(
                f"{name} on {one.group_name}",
                "none",
                None if isinstance(told, Silence) else topic_layouts.layout_text(told),
            )
            for one, told in layouts.items()
        ),
        groups.compare(
            f"groups in {routes}", "none", await routed(cluster_name, topic, names, context)
        ),
    ]
