"""A second person: for which risk, who it may be, until when, and what their word makes of it."""

from datetime import timedelta

import pytest

from backend.domain import operation as domain
from backend.domain.errors import Forbidden
from backend.domain.operation import APPROVAL_LIFETIME, Confirmation, OperationState
from backend.domain.operation_approval import SecondPerson, approve, decline
from backend.domain.operation_errors import ConfirmationMissing, PlanExpired
from backend.domain.plan import Risk
from tests.unit.domain.test_operation import NOON, awaiting, plan, planned

S = OperationState


@pytest.mark.parametrize(
    ("policy", "needed"),
    [
        (SecondPerson.NONE, set()),
        (SecondPerson.LOSS, {Risk.LOSS}),
        (SecondPerson.SERVICE, {Risk.SERVICE, Risk.LOSS}),
    ],
)
def test_each_policy_names_its_risk_classes(policy, needed):
    assert {risk for risk in Risk if policy.is_needed_for(risk)} == needed


def test_every_policy_is_in_the_table():
    assert {policy.value for policy in SecondPerson} == {"none", "R3", "R2"}


def test_what_was_confirmed_waits_a_day_and_nothing_is_due():
    held = awaiting()

    assert (held.state, held.confirmed_by, held.not_before) == (S.AWAITING_APPROVAL, "anna", None)
    assert held.expires_at == NOON + APPROVAL_LIFETIME == NOON + timedelta(days=1)


def test_the_gate_is_the_same_where_a_second_person_is_needed():
    with pytest.raises(ConfirmationMissing):
        domain.confirm(
            planned(plan(Risk.SERVICE)),
            Confirmation(),
            confirmed_by="anna",
            at=NOON,
            needs_approval=True,
        )


@pytest.mark.parametrize("review", [approve, decline])
def test_a_reviewer_never_reviews_their_own_confirmation(review):
    with pytest.raises(Forbidden, match="another user"):
        review(awaiting(), "fine", reviewed_by="anna", at=NOON)


def test_what_is_approved_is_queued_and_held_as_its_risk_asks():
    made = plan(Risk.LOSS, loss="all of it")
    given = Confirmation("g", "why", accepts_loss=True)
    held = domain.confirm(planned(made), given, confirmed_by="anna", at=NOON, needs_approval=True)
    later = NOON + timedelta(hours=3)

    queued = approve(held, " seen ", reviewed_by="bela", at=later)

    assert (queued.state, queued.not_before) == (S.QUEUED, later + timedelta(seconds=10))
    assert (queued.confirmed_by, queued.reviewed_by, queued.review_reason) == (
        "anna",
        "bela",
        "seen",
    )


def test_a_declined_operation_says_who_declined_it_and_why():
    declined = decline(awaiting(), "not today", reviewed_by="bela", at=NOON)

    assert (declined.state, declined.outcome) == (S.CANCELLED, "declined by bela: not today")
    assert not declined.has_effect
    with pytest.raises(ConfirmationMissing, match="give a reason"):
        decline(awaiting(), " ", reviewed_by="bela", at=NOON)


def test_an_approval_that_comes_too_late_is_none():
    held = awaiting()

    with pytest.raises(PlanExpired):
        approve(held, None, reviewed_by="bela", at=held.expires_at)
