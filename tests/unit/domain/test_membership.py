"""Members of one consumer group that contradict each other."""

from dataclasses import replace

import pytest

from backend.domain.finding import FindingCode
from backend.domain.membership import Membership, find_contradictions

A = Membership(
    "billing",
    "c1",
    "10.0.0.1:5",
    "CLUSTERING",
    "CONSUME_PASSIVELY",
    "CONSUME_FROM_LAST_OFFSET",
    {"orders": "TAG *", "%RETRY%billing": "TAG *"},
    heard_ms=1_000,
)
B = replace(A, client_id="c2", address="10.0.0.2:5")


@pytest.mark.parametrize(
    ("changes", "aspect", "said"),
    [
        # Case B3.
        ({"subscriptions": {"refunds": "TAG *"}}, "subscriptions", "refunds (TAG *)"),
        ({"subscriptions": {"orders": "TAG red"}}, "subscriptions", "orders (TAG red)"),
        ({"subscriptions": {"orders": "SQL92 *"}}, "subscriptions", "orders (SQL92 *)"),
        ({"message_model": "BROADCASTING"}, "message model", "BROADCASTING"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "consume type", "CONSUME_ACTIVELY"),
        ({"starts_from": "CONSUME_FROM_FIRST_OFFSET"}, "where they start", None),
    ],
)
def test_members_that_differ_are_named_with_what_each_says(changes, aspect, said):
    other = replace(B, **changes)

    [found] = find_contradictions([[A, other]])

    assert (found.code, found.consumer_group_name) == (FindingCode.SUBSCRIPTIONS_DIFFER, "billing")
    assert list(found.evidence) == [aspect]
    reported = found.evidence[aspect]
    assert reported[said or "CONSUME_FROM_FIRST_OFFSET"] == ["c2"]
    assert ["c1"] in reported.values()


def test_members_of_different_brokers_are_compared_as_well():
    # Case B3.
    [found] = find_contradictions([[A], [replace(B, subscriptions={"orders": "TAG red"})]])

    assert found.code is FindingCode.SUBSCRIPTIONS_DIFFER


def test_two_connections_with_one_client_id_to_one_broker_are_a_contradiction():
    # Case B3: one client is connected to each broker once.
    twice = replace(A, address="10.0.0.9:7")

    [found] = find_contradictions([[A, twice], [A]])

    assert found.code is FindingCode.CLIENT_ID_SHARED
    assert found.evidence == {"client_ids": {"c1": ["10.0.0.1:5", "10.0.0.9:7"]}}
    assert find_contradictions([[A], [twice]]) == []


def test_who_was_not_heard_for_long_may_be_gone_and_contradicts_no_other():
    # Case B3.
    gone = replace(B, subscriptions={"refunds": "TAG *"}, heard_ms=90_000)

    assert find_contradictions([[A, gone]]) == []
    assert find_contradictions([[A, replace(gone, client_id="c1")]]) == []


def test_members_that_agree_and_other_groups_are_no_contradiction():
    # Case B3: a client subscribes to the retries of its group once it has started.
    early = replace(B, subscriptions={"orders": "TAG *"})
    other = replace(B, consumer_group_name="audit", subscriptions={"refunds": "TAG *"})

    assert find_contradictions([[A, early, other]]) == []
