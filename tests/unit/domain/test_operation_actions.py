"""What may follow is what the functions that do it accept, in every state."""

import pytest

from backend.domain import operation as domain
from backend.domain import operation_run as run
from backend.domain.operation import OperationState
from backend.domain.operation_actions import Action, check_replannable, list_actions
from backend.domain.operation_errors import OperationStateConflict
from backend.domain.plan import Check, CheckVerdict
from tests.unit.domain.test_operation import (
    NOON,
    ORDERS,
    claimed,
    in_every_state,
    plan,
    planned,
)

S = OperationState
DONE_BY = {
    Action.CONFIRM: "confirm",
    Action.APPROVE: "approve",
    Action.DECLINE: "decline",
    Action.PAUSE: "pause",
    Action.RESUME: "resume",
    Action.CANCEL: "cancel",
    Action.RETRY: "retry",
    Action.UNDO: "undone",
}


@pytest.mark.parametrize("state", list(S))
def test_what_may_follow_is_what_is_accepted(state):
    operation = in_every_state()[state]

    listed = set(list_actions(operation)) - {Action.REPLAN}

    assert listed == {action for action, verb in DONE_BY.items() if state in ORDERS[verb][1]}


def test_only_what_has_changed_nothing_is_planned_again():
    allowed = {s for s, one in in_every_state().items() if Action.REPLAN in list_actions(one)}

    assert allowed == {S.PLANNED, S.LAPSED, S.CANCELLED, S.FAILED}
    with pytest.raises(OperationStateConflict, match="is done and can't be planned again"):
        check_replannable(in_every_state()[S.DONE])


def test_a_plan_that_a_check_forbids_is_not_confirmed():
    block = Check("lease", CheckVerdict.BLOCK, "it runs")

    assert list_actions(planned(plan(checks=(block,)))) == (Action.CANCEL, Action.REPLAN)


def test_a_wish_that_was_told_is_not_offered_again_but_can_be_taken_back():
    at_step = run.begin_step(claimed(), 0, fence=1, before=None, at=NOON)
    pausing = domain.pause(at_step)
    cancelling = domain.cancel(at_step, at=NOON)

    assert list_actions(pausing) == (Action.RESUME, Action.CANCEL)
    assert list_actions(cancelling) == ()
