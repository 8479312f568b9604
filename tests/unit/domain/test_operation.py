"""The life of an operation: every transition, the gates, the fence and what is journalled."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from backend.domain import operation as domain
from backend.domain import operation_approval as approval
from backend.domain import operation_run as run
from backend.domain.operation import (
    ATTEMPTS_MAX,
    TRANSITIONS,
    Confirmation,
    OperationState,
    StepState,
    Wish,
)
from backend.domain.operation_errors import (
    ConfirmationMissing,
    OperationFenced,
    OperationStateConflict,
    PlanBlocked,
    PlanExpired,
)
from backend.domain.plan import (
    Agreement,
    Check,
    CheckVerdict,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
    find_moved,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LEASE = timedelta(seconds=5)
ID = UUID(int=7)
S = OperationState


def plan(risk=Risk.SMALL, *, step_count=2, **values):
    steps = tuple(PlannedStep(f"s{i}", f"do {i}") for i in range(step_count))
    return Plan("do it", risk, steps, (Precondition("epoch", "1"),), **values)


def planned(made=None):
    return domain.new_operation(
        ID,
        "count",
        made or plan(),
        cluster_name="c",
        target="g",
        parameters={},
        requested_by="anna",
        at=NOON,
    )


def confirmed(made=None, **given):
    return domain.confirm(planned(made), Confirmation(**given), confirmed_by="anna", at=NOON)


def awaiting():
    return domain.confirm(
        planned(), Confirmation(), confirmed_by="anna", at=NOON, needs_approval=True
    )


def claimed():
    taken = run.claim(confirmed(), at=NOON, lease=LEASE)
    assert taken is not None
    return taken


def with_steps(operation, count):
    for position in range(count):
        operation = run.begin_step(operation, position, fence=1, before={"n": 0}, at=NOON)
        operation = run.end_step(
            operation, position, fence=1, before={"n": 0}, after={"n": 1}, at=NOON
        )
    return operation


def read_back(agreement):
    return ReadBack("n", "1", "1", agreement)


def in_every_state():
    done = with_steps(claimed(), 2)
    finish = {
        S.DONE: Agreement.AGREES,
        S.PARTLY: Agreement.DIFFERS,
        S.UNKNOWN: Agreement.UNKNOWN,
    }
    ended = {s: run.finish(done, [read_back(a)], fence=1, at=NOON) for s, a in finish.items()}
    return {
        S.PLANNED: planned(),
        S.AWAITING_APPROVAL: awaiting(),
        S.QUEUED: confirmed(),
        S.RUNNING: claimed(),
        S.PAUSED: domain.pause(confirmed()),
        **ended,
        S.FAILED: run.fail(claimed(), fence=1, why="no", at=NOON),
        S.CANCELLED: domain.cancel(planned(), at=NOON),
        S.LAPSED: domain.lapse(planned(), "moved", at=NOON),
        S.UNDONE: domain.mark_undone(ended[S.DONE]),
    }


ORDERS = {
    "confirm": (
        lambda held: domain.confirm(held, Confirmation(), confirmed_by="anna", at=NOON),
        {S.PLANNED},
    ),
    "approve": (
        lambda held: approval.approve(held, None, reviewed_by="bela", at=NOON),
        {S.AWAITING_APPROVAL},
    ),
    "decline": (
        lambda held: approval.decline(held, "no", reviewed_by="bela", at=NOON),
        {S.AWAITING_APPROVAL},
    ),
    "pause": (domain.pause, {S.QUEUED, S.RUNNING}),
    "resume": (lambda held: domain.resume(held, at=NOON), {S.PAUSED}),
    "cancel": (
        lambda held: domain.cancel(held, at=NOON),
        {S.PLANNED, S.AWAITING_APPROVAL, S.QUEUED, S.RUNNING, S.PAUSED},
    ),
    "retry": (lambda held: domain.retry(held, at=NOON), {S.PARTLY, S.FAILED, S.UNKNOWN}),
    "undone": (domain.mark_undone, {S.DONE, S.PARTLY, S.UNKNOWN}),
}


@pytest.mark.parametrize("state", list(S))
@pytest.mark.parametrize("verb", ORDERS)
def test_an_order_is_taken_exactly_where_it_may_be(state, verb):
    order, allowed = ORDERS[verb]
    held = in_every_state()[state]
    assert held.state is state

    if state in allowed:
        after = order(held)
        assert after.state is held.state or after.state in TRANSITIONS[held.state]
    else:
        with pytest.raises(OperationStateConflict):
            order(held)


def test_every_state_but_the_last_ones_leads_on_and_none_back_to_a_plan():
    assert set(TRANSITIONS) == set(S)
    assert {state for state in S if not TRANSITIONS[state]} == {S.CANCELLED, S.LAPSED, S.UNDONE}
    assert all(S.PLANNED not in targets for targets in TRANSITIONS.values())


@pytest.mark.parametrize(
    ("risk", "given", "is_enough"),
    [
        (Risk.SMALL, {}, True),
        (Risk.SERVICE, {}, False),
        (Risk.SERVICE, {"typed_name": "g"}, False),
        (Risk.SERVICE, {"typed_name": "other", "reason": "why"}, False),
        (Risk.SERVICE, {"typed_name": "g", "reason": "x" * 501}, False),
        (Risk.SERVICE, {"typed_name": "g", "reason": "two\nlines"}, False),
        (Risk.SERVICE, {"typed_name": "g", "reason": "why"}, True),
        (Risk.LOSS, {"typed_name": "g", "reason": "why"}, False),
        (Risk.LOSS, {"typed_name": "g", "reason": "why", "accepts_loss": True}, True),
    ],
)
def test_each_risk_class_has_its_gate(risk, given, is_enough):
    made = plan(risk, loss="all of it" if risk is Risk.LOSS else None)

    if is_enough:
        held = confirmed(made, **given)
        hold = timedelta(seconds=10 if risk is Risk.LOSS else 0)
        assert (held.state, held.not_before) == (S.QUEUED, NOON + hold)
    else:
        with pytest.raises(ConfirmationMissing):
            confirmed(made, **given)


def test_a_plan_expires_and_a_blocked_one_is_never_confirmed():
    late = NOON + domain.PLAN_LIFETIME
    with pytest.raises(PlanExpired):
        domain.confirm(planned(), Confirmation(), confirmed_by="anna", at=late)
    block = Check("lease", CheckVerdict.BLOCK, "it lives", 2012)
    with pytest.raises(PlanBlocked) as refused:
        confirmed(plan(checks=(block,)))
    assert refused.value.stock_code == 2012
    assert str(refused.value) == "the plan is blocked by its check 'lease': it lives"


def test_the_first_precondition_that_moved_is_named():
    was = (Precondition("a", "1"), Precondition("b", "2"))

    assert find_moved(was, was) is None
    moved = find_moved(was, (Precondition("a", "1"), Precondition("b", "3")))
    gone = find_moved(was, (Precondition("b", "2"),))
    assert moved is not None
    assert (moved.name, moved.expected, moved.found) == ("b", "2", "3")
    assert gone is not None
    assert (gone.name, gone.found) == ("a", None)


def test_only_the_latest_claim_may_change_an_operation():
    first = claimed()
    assert run.claim(first, at=NOON + LEASE - timedelta(seconds=1), lease=LEASE) is None
    second = run.claim(first, at=NOON + LEASE, lease=LEASE)
    assert second is not None
    assert (first.fence, second.fence) == (1, 2)

    for act in (
        lambda: run.renew(second, fence=1, at=NOON, lease=LEASE),
        lambda: run.heed(second, fence=1, at=NOON),
        lambda: run.begin_step(second, 0, fence=1, before=None, at=NOON),
        lambda: run.end_step(second, 0, fence=1, before=None, after=None, at=NOON),
        lambda: run.refuse_step(second, 0, fence=1, error="no", at=NOON),
        lambda: run.leave_open(second, 0, fence=1, error="no", at=NOON),
        lambda: run.postpone_step(second, 0, fence=1, error="no", at=NOON),
        lambda: run.release(second, fence=1, not_before=NOON),
        lambda: run.fail(second, fence=1, why="no", at=NOON),
        lambda: run.finish(second, [], fence=1, at=NOON),
    ):
        with pytest.raises(OperationFenced):
            act()


def test_an_operation_on_hold_is_not_claimed():
    held = confirmed(plan(Risk.LOSS, loss="x"), typed_name="g", reason="y", accepts_loss=True)

    assert run.claim(held, at=NOON + timedelta(seconds=9), lease=LEASE) is None
    assert run.claim(held, at=NOON + timedelta(seconds=10), lease=LEASE) is not None


def test_what_is_resumed_waits_for_the_rest_of_its_hold():
    held = confirmed(plan(Risk.LOSS, loss="x"), typed_name="g", reason="y", accepts_loss=True)
    early, late = NOON + timedelta(seconds=2), NOON + timedelta(seconds=20)

    assert domain.resume(domain.pause(held), at=early).not_before == NOON + timedelta(seconds=10)
    assert domain.resume(domain.pause(held), at=late).not_before == late


def test_the_value_before_is_that_of_the_first_attempt():
    held = run.begin_step(claimed(), 0, fence=1, before={"n": 0}, at=NOON)
    again = run.begin_step(held, 0, fence=1, before={"n": 1}, at=NOON)

    assert (again.steps[0].before, again.steps[0].attempt_count) == ({"n": 0}, 2)


def test_wishes_wait_for_the_end_of_a_step():
    for order, wish, state in (
        (domain.pause, Wish.PAUSE, S.PAUSED),
        (lambda held: domain.cancel(held, at=NOON), Wish.CANCEL, S.PARTLY),
    ):
        held = order(run.begin_step(claimed(), 0, fence=1, before=None, at=NOON))
        assert (held.state, held.wish) == (S.RUNNING, wish)
        assert run.heed(held, fence=1, at=NOON) == held
        done = run.end_step(held, 0, fence=1, before=None, after=None, at=NOON)
        after = run.heed(done, fence=1, at=NOON)
        assert (after.state, after.wish, after.lease_until) == (state, None, None)


@pytest.mark.parametrize("order", [domain.pause, lambda held: domain.cancel(held, at=NOON)])
def test_what_is_carried_out_is_read_back_whatever_is_wished(order):
    in_last_step = run.begin_step(with_steps(claimed(), 1), 1, fence=1, before=None, at=NOON)
    done = run.end_step(order(in_last_step), 1, fence=1, before=None, after=None, at=NOON)

    after = run.heed(done, fence=1, at=NOON)

    assert (after.state, after.wish) == (S.RUNNING, None)
    assert run.finish(after, [], fence=1, at=NOON).state is S.DONE


def test_a_carried_out_operation_that_waits_is_not_cancelled_any_more():
    released = run.release(with_steps(claimed(), 2), fence=1, not_before=NOON)

    for waiting in (released, domain.pause(released)):
        after = domain.cancel(waiting, at=NOON)
        assert (after.state, after.wish) == (S.QUEUED, None)


def test_who_wants_to_cancel_is_not_made_to_pause():
    with pytest.raises(OperationStateConflict):
        domain.pause(domain.cancel(claimed(), at=NOON))


def test_a_refused_step_fails_an_operation_and_a_later_one_leaves_it_partly_done():
    first = run.refuse_step(claimed(), 0, fence=1, error="no", at=NOON)
    second = run.refuse_step(with_steps(claimed(), 1), 1, fence=1, error="no", at=NOON)

    assert (first.state, second.state) == (S.FAILED, S.PARTLY)
    again = domain.retry(second, at=NOON)
    assert [step.state for step in again.steps] == [StepState.DONE, StepState.PENDING]


def test_a_step_whose_outcome_stays_open_is_unknown_and_one_never_begun_has_failed():
    begun = run.begin_step(claimed(), 0, fence=1, before=None, at=NOON)
    for attempt in range(1, ATTEMPTS_MAX + 1):
        after = run.postpone_step(begun, 0, fence=begun.fence, error="silence", at=NOON)
        assert after.state is (S.QUEUED if attempt < ATTEMPTS_MAX else S.UNKNOWN)
        if after.state is S.QUEUED:
            taken = run.claim(after, at=NOON + timedelta(minutes=1), lease=LEASE)
            assert taken is not None
            begun = run.begin_step(taken, 0, fence=taken.fence, before=None, at=NOON)
    assert after.steps[0].state is StepState.UNKNOWN

    # A retry takes it for one that may have had its effect.
    assert domain.retry(after, at=NOON).is_in_step

    held = claimed()
    for _ in range(ATTEMPTS_MAX):
        held = run.postpone_step(held, 0, fence=held.fence, error="silence", at=NOON)
        held = run.claim(held, at=NOON + timedelta(minutes=1), lease=LEASE) or held
    assert held.state is S.FAILED


@pytest.mark.parametrize(
    ("found", "state"),
    [
        ([], S.DONE),
        ([Agreement.AGREES], S.DONE),
        ([Agreement.AGREES, Agreement.DIFFERS], S.PARTLY),
        # Nothing unknown is ever shown as success (D21).
        ([Agreement.DIFFERS, Agreement.UNKNOWN], S.UNKNOWN),
    ],
)
def test_the_outcome_is_what_was_read_back(found, state):
    done = with_steps(claimed(), 2)

    ended = run.finish(done, [read_back(one) for one in found], fence=1, at=NOON)

    assert (ended.state, ended.ended_at, ended.lease_until) == (state, NOON, None)


def test_a_step_that_waits_shows_how_far_and_can_be_paused_and_cancelled_at_once():
    begun = run.begin_step(claimed(), 0, fence=1, before={"n": 9}, at=NOON)

    waiting = run.await_step(begun, 0, fence=1, reason="5 left", progress={"n": 5}, at=NOON)

    step = waiting.steps[0]
    assert (step.state, step.before, step.after) == (StepState.WAITING, {"n": 9}, {"n": 5})
    assert (step.error, step.attempt_count) == ("5 left", 0)
    assert (waiting.state, waiting.not_before) == (S.QUEUED, NOON + domain.RETRY_DELAY)
    assert waiting.next_step == step
    assert domain.pause(waiting).state is S.PAUSED
    assert domain.cancel(waiting, at=NOON).state is S.PARTLY


def test_looking_again_and_again_is_no_failed_attempt():
    operation = claimed()
    for look in range(3 * domain.ATTEMPTS_MAX):
        begun = run.begin_step(operation, 0, fence=1 + look, before=None, at=NOON)
        waiting = run.await_step(
            begun, 0, fence=1 + look, reason="left", progress={"n": look}, at=NOON
        )
        operation = run.claim(waiting, at=NOON + timedelta(seconds=3), lease=LEASE)

    assert operation is not None
    assert operation.state is S.RUNNING
