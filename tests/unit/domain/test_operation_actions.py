"""What may follow is what the functions that do it accept, in every state."""

from dataclasses import replace

import pytest

from backend.domain import operation as domain
from backend.domain import operation_run as run
from backend.domain.operation import OperationState
from backend.domain.operation_actions import Action, check_replannable, list_actions
from backend.domain.operation_approval import SecondPerson
from backend.domain.operation_errors import OperationStateConflict
from backend.domain.plan import Check, CheckVerdict, Risk
from tests.unit.domain.test_operation import (
    NOON,
    ORDERS,
    claimed,
    in_every_state,
    plan,
    planned,
    with_steps,
)

S = OperationState
NO_ONE = SecondPerson.NONE
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

    listed = set(list_actions(operation, NO_ONE)) - {Action.REPLAN}

    assert listed == {action for action, verb in DONE_BY.items() if state in ORDERS[verb][1]}


def test_what_a_second_person_must_agree_to_is_not_tried_again_but_planned_again():
    stopped = run.refuse_step(with_steps(claimed(), 1), 1, fence=1, error="no", at=NOON)

    alone = set(list_actions(stopped, NO_ONE))

    assert alone >= {Action.RETRY, Action.REPLAN}
    risky = replace(stopped, plan=plan(Risk.SERVICE))
    assert set(list_actions(risky, SecondPerson.SERVICE)) == alone - {Action.RETRY}
    assert set(list_actions(risky, SecondPerson.LOSS)) == alone


def test_what_may_lose_data_and_has_done_nothing_is_not_tried_again_but_planned_again():
    failed = run.fail(claimed(), fence=1, why="no", at=NOON)

    risky = replace(failed, plan=plan(Risk.LOSS, loss="all of it"))

    assert list_actions(failed, NO_ONE) == (Action.RETRY, Action.REPLAN)
    assert list_actions(risky, NO_ONE) == (Action.REPLAN,)


def test_what_is_at_work_or_done_is_not_planned_again():
    allowed = {
        s for s, one in in_every_state().items() if Action.REPLAN in list_actions(one, NO_ONE)
    }

    assert allowed == {S.PLANNED, S.LAPSED, S.CANCELLED, S.FAILED, S.PARTLY, S.UNKNOWN}
    with pytest.raises(OperationStateConflict, match="is done and can't be planned again"):
        check_replannable(in_every_state()[S.DONE])


def test_a_plan_that_a_check_forbids_is_not_confirmed():
    block = Check("lease", CheckVerdict.BLOCK, "it runs")

    assert list_actions(planned(plan(checks=(block,))), NO_ONE) == (Action.CANCEL, Action.REPLAN)


def test_a_wish_that_was_recorded_is_not_offered_again_but_can_be_taken_back():
    at_step = run.begin_step(claimed(), 0, fence=1, before=None, at=NOON)
    pausing = domain.pause(at_step)
    cancelling = domain.cancel(at_step, at=NOON)

    assert list_actions(pausing, NO_ONE) == (Action.RESUME, Action.CANCEL)
    assert list_actions(cancelling, NO_ONE) == ()
