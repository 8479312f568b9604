"""Carry out operations, and send lost messages to workers again (D20)."""

from datetime import timedelta
from uuid import UUID

from backend.operations.engine.engine import RunOutcome, run_operation
from backend.operations.engine.expiry import lapse_expired
from backend.operations.engine.orders import DeliveryOutcome, deliver
from workers.runtime import Clients
from workers.tasks.base import run_at_once, task


@task("operation.run")
def run(operation_id: str) -> None:
    """Continue one operation, unless another worker holds it."""

    async def carry_on(clients: Clients) -> RunOutcome | None:
        return await run_operation(UUID(operation_id), clients.operations)

    run_at_once(
        "operation.run", carry_on, deadline=timedelta(seconds=50), operation_id=operation_id
    )


@task("operations.reconcile")
def reconcile() -> None:
    """Send the due messages to workers, and expire plans.

    A message is due if a message or a worker was lost, or when a delay has ended.
    """
    run_at_once("operations.reconcile", _reconcile, deadline=timedelta(seconds=10))


async def _reconcile(clients: Clients) -> DeliveryOutcome:
    outcome = await deliver(clients.operations)
    await lapse_expired(clients.operations)
    return outcome
