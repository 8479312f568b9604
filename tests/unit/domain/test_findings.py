"""What is said of a finding names what it is about."""

from datetime import UTC, datetime

import pytest

from backend.domain.finding import OF_BROKERS, RUNBOOKS, Finding, FindingCode, FindingKey

AT = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("code", FindingCode)
def test_advice_can_be_entered_as_it_is(code):
    key = FindingKey(code, "c", "broker-a-2" if code in OF_BROKERS else "broker-a")

    advice = Finding(1, key, {}, {}, suspected_at=AT).advice

    commands = advice.split("`")[1::2]
    assert commands
    assert all(one.startswith("regent ") and " broker-a" in one for one in commands)
    assert "{" not in advice
    is_named = "--broker 2" in advice or "broker-a-2" in advice
    assert is_named == ("{broker" in RUNBOOKS[code].advice)


@pytest.mark.parametrize("subject", ["broker-a-2", "broker-a/2"])
def test_a_recorded_finding_names_its_broker_whatever_the_spelling(subject):
    key = FindingKey.recorded(FindingCode.REPLICA_DOWN, "c", subject)

    assert (key.subject, key.broker_group_name) == ("broker-a-2", "broker-a")


def test_a_group_whose_name_ends_like_a_brokers_is_a_group():
    key = FindingKey.recorded(FindingCode.TWO_MASTERS, "c", "broker-2")

    assert (key.subject, key.broker_name, key.broker_group_name) == ("broker-2", None, "broker-2")


def test_a_consumer_group_is_no_broker_group():
    key = FindingKey(FindingCode.SUBSCRIPTIONS_DIFFER, "c", "billing-2")

    assert (key.broker_name, key.broker_group_name) == (None, None)
