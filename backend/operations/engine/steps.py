"""Write the actions of a plan into its steps, and read them again to carry them out."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from backend.domain.operation import Operation, StepState
from backend.domain.operation_errors import InvalidParameters, NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.operations.engine import earlier_plans
from backend.operations.engine.kind import Action, Kind, OperationContext, OperationRequest

READ_AT_ONCE_MAX: Final = 32
_TAG: Final = "action"
_MAY_HAVE_CHANGED: Final = frozenset({StepState.DONE, StepState.UNKNOWN})


def planned_steps(actions: Sequence[Action]) -> tuple[PlannedStep, ...]:
    """Write actions into the steps of a plan, one each, in their order."""
    return tuple(replace(one.step, action=_written(one)) for one in actions)


def read_actions(operation: Operation, kind: Kind) -> list[Action]:
    """Return the actions of the steps of an operation.

    Raises:
        InvalidParameters: another version has planned an action that this version does not know.
    """
    planned = operation.plan.steps
    if planned and planned[0].action is None:
        written: Sequence[Mapping[str, Any]] = earlier_plans.actions_of(operation)
    else:
        written = [step.action or {} for step in planned]
    known = {one.tag: one for one in kind.actions}
    if len(written) != len(operation.steps):
        raise InvalidParameters(kind.name, "this version has other steps for it: plan it again")
    return [_read(one, known, kind) for one in written]


async def read_back(
    operation: Operation, actions: Sequence[Action], context: OperationContext
) -> list[ReadBack]:
    """Read back the effects of all steps."""
    places = asyncio.Semaphore(READ_AT_ONCE_MAX)

    async def verify(position: int) -> Sequence[ReadBack]:
        async with places:
            return await actions[position].verify(operation.steps[position], context)

    found = await asyncio.gather(*(verify(position) for position in range(len(actions))))
    return [one for each in found for one in each]


def take_back(operation: Operation, actions: Sequence[Action]) -> OperationRequest:
    """Return the order that undoes an operation.

    The first action gives the order; other actions of its type add their changes. Actions of other
    types follow from the first: they are undone with it, or remain.

    Raises:
        NotUndoable: the operation can't be undone, or has changed nothing.
    """
    wanted: OperationRequest | None = None
    refusal = NotUndoable("nothing was changed")
    for step, action in zip(reversed(operation.steps), reversed(actions), strict=True):
        if type(action) is not type(actions[0]) or step.state not in _MAY_HAVE_CHANGED:
            continue
        try:
            one = action.undo(step)
        except NotUndoable as error:
            refusal = error
            continue
        more = {} if wanted is None else wanted.parameters
        wanted = replace(one, parameters=_joined(one.parameters, more))
    if wanted is None:
        raise refusal
    return wanted


def _joined(some: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Add the lists of one order to the lists of another; all other values are equal."""
    return {
        name: [*value, *more.get(name, ())] if isinstance(value, list) else value
        for name, value in some.items()
    }


def _written(action: Action) -> dict[str, Any]:
    return {_TAG: action.tag, **msgspec.to_builtins(action, str_keys=True)}


def _read(written: Mapping[str, Any], known: Mapping[str, type[Action]], kind: Kind) -> Action:
    parameters = {name: value for name, value in written.items() if name != _TAG}
    action_type = known.get(written[_TAG])
    if action_type is None:
        reason = f"workers of this version know no action {written[_TAG]!r}: plan it again"
        raise InvalidParameters(kind.name, reason)
    try:
        return msgspec.convert(parameters, action_type, str_keys=True)
    except msgspec.ValidationError as error:
        reason = f"this version has other steps for it: plan it again ({error})"
        raise InvalidParameters(kind.name, reason) from error
