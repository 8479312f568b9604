"""What a protection says, and what it forbids."""

from datetime import UTC, datetime

import pytest

from backend.domain.plan import CheckVerdict
from backend.domain.protection import (
    Protection,
    Resource,
    ResourceKind,
    broker_resource,
    check_unprotected,
    protection_fact,
    protection_text,
)

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
ORDERS = Resource("c", ResourceKind.TOPIC, "orders")


def protected(*resources, by="anna", reason="production"):
    return {one: Protection(one, by, AT, reason) for one in resources}


def test_nothing_protected_passes():
    assert check_unprotected({}).verdict is CheckVerdict.PASS
    assert protection_fact({}).value == "none"


def test_a_block_says_who_when_why_and_how_to_lift_it():
    check = check_unprotected(protected(ORDERS))

    assert check.verdict is CheckVerdict.BLOCK
    assert check.why == (
        "topic orders is protected by anna since 2026-11-22 10:00:00+00:00, because: production"
        " (lift it: regent topic unprotect orders)"
    )


@pytest.mark.parametrize(
    ("resource", "command"),
    [
        (Resource("c", ResourceKind.CONSUMER_GROUP, "billing"), "regent group unprotect billing"),
        (
            broker_resource("c", "broker-a", "10.0.0.1:10911"),
            "regent broker unprotect broker-a --address 10.0.0.1:10911",
        ),
    ],
)
def test_each_kind_names_its_own_command(resource, command):
    assert command in check_unprotected(protected(resource)).why


def test_a_fact_distinguishes_two_protections():
    facts = {
        protection_fact(one).value
        for one in (
            {},
            protected(ORDERS),
            protected(ORDERS, by="bela"),
            protected(ORDERS, reason=None),
        )
    }

    assert len(facts) == 4


def test_no_reason_is_said_to_be_none():
    [one] = protected(ORDERS, reason=None).values()

    assert protection_text(one).endswith("without a reason")
    assert protection_text(None) == "none"
