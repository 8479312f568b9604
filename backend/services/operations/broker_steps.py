"""Speak to brokers for steps of operations, so that an attempt that was overtaken is refused."""

from backend.clients.brokers import Brokers
from backend.services.operations.kind import OperationContext, StepRun


def brokers_of(context: OperationContext) -> Brokers:
    """Return whom brokers are asked through."""
    brokers = context.controller.brokers
    assert brokers is not None, "processes that plan or carry out operations can reach brokers"
    return brokers


def fence_of(run: StepRun) -> dict[str, str]:
    """Return the fields by which an agent knows an attempt at a step (D20); stock ignores them."""
    return {
        "regentOperation": str(run.operation.id),
        "regentStep": run.key,
        "regentFence": str(run.fence),
    }
