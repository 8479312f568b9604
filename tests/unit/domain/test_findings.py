"""What is said of a finding names what it is about."""

from datetime import UTC, datetime

import pytest

from backend.domain.finding import RUNBOOKS, Finding, FindingCode, FindingKey

AT = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("code", FindingCode)
def test_advice_can_be_entered_as_it_is(code):
    is_of_broker = "{broker_id}" in RUNBOOKS[code].advice or code.startswith("replica")
    key = FindingKey(code, "c", "broker-a/2" if is_of_broker else "broker-a")

    advice = Finding(1, key, {}, {}, suspected_at=AT).advice

    commands = advice.split("`")[1::2]
    assert commands
    assert all(one.startswith("regent ") and " broker-a" in one for one in commands)
    assert "{" not in advice
    is_named = "--broker 2" in advice or "broker-a-2" in advice
    assert is_named == ("{broker_id}" in RUNBOOKS[code].advice)
