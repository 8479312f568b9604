"""What is tried again passes the gate of its risk class again, or is planned again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backend.domain import operation as domain
from backend.domain import operation_run as run
from backend.domain.operation import Confirmation, OperationState
from backend.domain.operation_errors import OperationStateConflict
from backend.domain.plan import Risk
from tests.unit.domain.test_operation import (
    LEASE,
    NOON,
    claimed,
    in_every_state,
    plan,
    planned,
    with_steps,
)

HOLD = timedelta(seconds=10)
S = OperationState


def losing():
    given = Confirmation("g", "why", accepts_loss=True)
    held = domain.confirm(
        planned(plan(Risk.LOSS, loss="x")), given, confirmed_by="anna", at=NOON - HOLD
    )
    taken = run.claim(held, at=NOON, lease=LEASE)
    assert taken is not None
    return taken


def test_what_may_lose_data_holds_again_when_it_is_tried_again():
    refused = run.refuse_step(with_steps(losing(), 1), 1, fence=1, error="no", at=NOON)

    assert domain.retry(refused, at=NOON).not_before == NOON + HOLD


def test_what_may_lose_data_and_has_done_nothing_is_planned_again():
    void = run.fail(losing(), fence=1, why="protected", at=NOON)
    refused = run.refuse_step(losing(), 0, fence=1, error="no", at=NOON)

    for failed in (void, refused):
        with pytest.raises(OperationStateConflict, match="plan it again"):
            domain.retry(failed, at=NOON)


@pytest.mark.parametrize("state", sorted(domain.RETRYABLE))
def test_what_a_second_person_must_agree_to_is_planned_again(state):
    stopped = {
        S.FAILED: run.fail(claimed(), fence=1, why="no", at=NOON),
        S.PARTLY: run.refuse_step(with_steps(claimed(), 1), 1, fence=1, error="no", at=NOON),
        S.UNKNOWN: replace(
            run.begin_step(claimed(), 0, fence=1, before=None, at=NOON), state=S.UNKNOWN
        ),
    }

    with pytest.raises(OperationStateConflict, match=r"second user .* plan it again"):
        domain.retry(stopped[state], at=NOON, needs_approval=True)


@pytest.mark.parametrize("state", [S.PARTLY, S.UNKNOWN])
def test_what_is_carried_out_is_read_back_again_without_another_person(state):
    retried = domain.retry(in_every_state()[state], at=NOON, needs_approval=True)

    assert (retried.state, retried.is_carried_out) == (S.QUEUED, True)
