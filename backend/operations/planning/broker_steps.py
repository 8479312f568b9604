"""Speak to brokers for steps of operations, so that an attempt that was overtaken is refused."""

from backend.operations.engine.kind import StepRun


def fence_of(run: StepRun) -> dict[str, str]:
    """Return the fields by which an agent knows an attempt at a step (D20); stock ignores them."""
    return {
        "regentOperation": str(run.operation.id),
        "regentStep": run.key,
        "regentFence": str(run.fence),
    }
