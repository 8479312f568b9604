"""Send requests for steps of operations, so that a replaced attempt is refused."""

from backend.operations.engine.kind import StepRun


def fence_of(run: StepRun) -> dict[str, str]:
    """Return the fields that identify an attempt at a step (D20); stock ignores them."""
    return {
        "regentOperation": str(run.operation.id),
        "regentStep": run.key,
        "regentFence": str(run.fence),
    }
