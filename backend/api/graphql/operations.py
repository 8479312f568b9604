"""Load whether the facts of a plan have changed."""

from backend.api.graphql.context import Info
from backend.api.graphql.questions import relation
from backend.operations.engine.following import find_moved_fact
from backend.views.operations import MovedFactOut, OperationOut


@relation(OperationOut)
async def moved_fact(operation: OperationOut, info: Info) -> MovedFactOut | None:
    """Show the first fact of the plan that changed, or null."""
    context = info.context
    async with context.loaders.turns:
        moved = await find_moved_fact(operation.id, context.api.operations, within=context.within)
    return None if moved is None else MovedFactOut.of(moved)
