"""End expired plans."""

from backend.db import operations
from backend.domain import operation as domain
from backend.domain.operation import Author, Operation, OperationState
from backend.operations.engine import journal
from backend.operations.engine.kind import OperationContext
from backend.operations.engine.orders import DELIVERED_MAX


async def lapse_expired(context: OperationContext) -> int:
    """End plans that were not confirmed or approved in time; return their number."""
    now = context.clock.now()
    async with context.database.connect() as connection:
        expired = await operations.list_expired(connection, at=now, limit=DELIVERED_MAX)

    def become(held: Operation) -> Operation:
        # A user may have confirmed or cancelled it since it was listed.
        if held.state not in domain.UNCHANGED_PLANS:
            return held
        did = "confirmed" if held.state is OperationState.PLANNED else "approved"
        return domain.lapse(held, f"it was not {did} in time", at=now)

    author = Author(context.process_name, "worker")
    for operation_id in expired:
        await journal.change(
            operation_id, become, author, database=context.database, clock=context.clock
        )
    return len(expired)
