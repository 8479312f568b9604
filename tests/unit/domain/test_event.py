"""Every visible change of an operation has an event, and filters hold."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.errors import InvalidName
from backend.domain.event import (
    FAMILIES,
    KINDS,
    Event,
    EventFilter,
    change_events,
    choose_kinds,
    plan_event,
    read_subject,
)
from backend.domain.operation import OperationState, StepState, Wish
from tests.unit.domain.test_operation import claimed, confirmed, planned

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def kinds(before, after):
    return [one.kind for one in change_events(before, after, at=NOW)]


def test_a_plan_has_an_event_with_its_risk_and_without_its_parameters():
    reported = plan_event(replace(planned(), parameters={"password": "x"}), at=NOW)

    assert (reported.kind, reported.cluster_name, reported.subject) == (
        "operation.planned",
        "c",
        "g",
    )
    assert reported.details == {"operation_kind": "count", "risk": planned().plan.risk}
    assert reported.operation_id == planned().id


@pytest.mark.parametrize("state", sorted(set(OperationState) - {OperationState.PLANNED}))
def test_every_state_has_an_event(state):
    assert kinds(planned(), replace(planned(), state=state)) == [f"operation.{state}"]


@pytest.mark.parametrize("state", sorted(set(StepState) - {StepState.PENDING}))
def test_every_state_of_a_step_has_its_event_before_that_of_its_operation(state):
    first, second = confirmed().steps
    after = replace(
        confirmed(), state=OperationState.RUNNING, steps=(first, replace(second, state=state))
    )

    reported = list(change_events(confirmed(), after, at=NOW))

    assert [one.kind for one in reported] == [f"step.{state}", "operation.running"]
    assert (reported[0].details["step"], reported[0].details["position"]) == ("s1", 1)


@pytest.mark.parametrize("wish", Wish)
def test_a_wish_has_one_event(wish):
    wanted = replace(claimed(), wish=wish)

    assert kinds(claimed(), wanted) == [f"operation.{wish}_wanted"]
    assert kinds(wanted, claimed()) == []


def test_a_worker_that_takes_over_has_an_event_and_a_lease_that_is_renewed_is_not():
    assert kinds(claimed(), replace(claimed(), fence=9)) == ["operation.taken_over"]
    assert kinds(claimed(), replace(claimed(), lease_until=NOW)) == []


def test_families_stand_for_their_kinds():
    assert choose_kinds(None) is None
    assert choose_kinds([]) is None
    assert choose_kinds(["broker"]) == {"broker.registered", "broker.lost"}
    assert choose_kinds(["broker.lost", "step.done"]) == {"broker.lost", "step.done"}
    assert choose_kinds(FAMILIES) == KINDS


@pytest.mark.parametrize("name", ["", "brok", "broker.", "operation.elected", "*"])
def test_an_unknown_kind_is_refused_with_the_families(name):
    with pytest.raises(InvalidName, match="families are broker, finding, group, operation, step"):
        choose_kinds(["broker", name])


def test_a_filter_lets_pass_what_is_of_its_cluster_and_kinds():
    event = Event(1, "broker.lost", "c", "g-1", NOW, {}, None)

    assert EventFilter().lets_pass(event)
    assert EventFilter("c", choose_kinds(["broker"])).lets_pass(event)
    assert not EventFilter("d").lets_pass(event)
    assert not EventFilter("c", choose_kinds(["group"])).lets_pass(event)


@pytest.mark.parametrize(
    ("kind", "subject", "read"),
    [
        ("broker.lost", "broker-a/2", "broker-a-2"),
        ("finding.opened", "broker-a/2", "broker-a-2"),
        ("broker.lost", "broker-a-2", "broker-a-2"),
        ("operation.done", "orders/2", "orders/2"),
    ],
)
def test_a_recorded_event_names_a_broker_whatever_the_spelling(kind, subject, read):
    assert read_subject(kind, subject) == read


@pytest.mark.parametrize(
    ("kind", "subject", "broker_group_name"),
    [
        ("broker.lost", "broker-a-2", "broker-a"),
        ("group.master_elected", "broker-2", "broker-2"),
        ("topic.changed", "broker-a", "broker-a"),
        ("operation.done", "orders", None),
        ("finding.opened", "broker-a-2", None),
    ],
)
def test_an_event_names_the_broker_group_that_it_is_about(kind, subject, broker_group_name):
    assert Event(1, kind, "c", subject, NOW, {}, None).broker_group_name == broker_group_name
