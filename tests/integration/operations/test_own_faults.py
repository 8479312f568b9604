"""An internal error in a kind of operation is reported and ends the operation, instead of endless
retries."""

from dataclasses import replace

import pytest

from backend.domain.operation import OperationState, StepState
from tests.integration.operations.crashing import AddOne

S = OperationState


async def fail(*_):
    raise TypeError("a mistake")


def with_fault(kind, part):
    """The kind with a mistake in one of its parts."""
    if part == "facts":
        return replace(kind, facts=fail)
    faulty = type("Faulty", (AddOne,), {part: fail, "__slots__": ()})
    return replace(kind, actions=(faulty,))


@pytest.mark.parametrize(
    ("part", "state", "step_state"),
    [
        ("facts", S.FAILED, StepState.FAILED),
        ("do", S.UNKNOWN, StepState.UNKNOWN),
        ("verify", S.UNKNOWN, StepState.DONE),
    ],
)
async def test_an_internal_error_is_reported_and_retried_a_limited_number_of_times(
    world, order, look, part, state, step_state
):
    operation_id = await order(1)
    world.kinds = {"count": with_fault(world.kinds["count"], part)}

    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].state) == (state, step_state)
    told = ended.read_back[0].observed if part == "verify" else ended.steps[0].error
    assert told == "an internal error, see the log of the worker: TypeError: a mistake"
