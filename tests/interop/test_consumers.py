"""Consumers of a stock client: order, tags, retries and rebalancing."""

from concurrent.futures import Future
from typing import Any

import pytest

from tests.interop.client import StockClient
from tests.interop.conftest import CLIENT_VERSIONS

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

Scenarios = dict[tuple[str, str], Future[dict[str, Any]]]


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_an_orderly_consumer_sees_each_queue_in_order(version: str, scenarios: Scenarios):
    result = scenarios[version, "orderly"].result()

    assert result["count"] == 1_000
    assert result["queues"] == 8


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_a_tag_filter_passes_its_tags_and_no_others(version: str, scenarios: Scenarios):
    result = scenarios[version, "tags"].result()

    assert result["sent"] == 600
    assert result["received"] == 240


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_a_sql_filter_passes_what_matches_and_a_wrong_one_is_shown(
    version: str,
    scenarios: Scenarios,
):
    # Case C9.
    result = scenarios[version, "sql"].result()

    assert result["sent"] == 600
    assert result["received"] == 120
    assert "column 16: expected AND between the values of BETWEEN" in result["refusal"]


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_a_message_whose_listener_fails_comes_back_through_the_retry_topic(
    version: str,
    scenarios: Scenarios,
):
    result = scenarios[version, "retry"].result()

    assert result["returned"] == 13
    assert result["dead_letters"] == 1


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_a_second_consumer_takes_half_of_the_queues_within_one_rebalance(
    version: str,
    scenarios: Scenarios,
):
    result = scenarios[version, "rebalance"].result()

    assert result["queues"] == 8
    assert result["taken_ms"] < 20_000
    assert sorted(result["shares"]) == ["first", "second"]


def test_consumers_that_do_not_rebalance_by_themselves_share_the_queues(
    stock_clients: dict[str, StockClient],
):
    # Case C8: such a client has no queue but those that a broker gives it.
    result = stock_clients["5.5.0"].run(
        "rebalance", topic="dealt", group="dealt-group", dealt_by="broker", count=400
    )

    assert result["queues"] == 8
    assert max(result["taken_ms"], result["returned_ms"]) < 20_000
    assert sorted(result["shares"]) == ["first", "second"]


@pytest.mark.parametrize("version", CLIENT_VERSIONS)
def test_consumers_see_the_messages_whose_transactions_are_committed(
    version: str, scenarios: Scenarios
):
    result = scenarios[version, "transactions"].result()

    assert result["asked"] == 30
    assert result["count"] == 45
