"""What a consumer group has committed outlives its consumers and the brokers."""

import signal

import pytest

from tests.interop.client import StockClient
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]


def test_a_group_goes_on_where_it_stopped_after_a_restart_of_client_and_brokers(
    newest_client: StockClient,
    cluster: Cluster,
):
    topic, group = f"offsets-{newest_client.label}", f"offsets-group-{newest_client.label}"

    def send_and_consume(first: int, count: int) -> int:
        newest_client.run("send", mode="sync", topic=topic, first=first, count=count)
        expected = f"{topic}={first}:{count}"
        return newest_client.run("consume", group=group, expect=expected)["count"]

    before = send_and_consume(0, 300)
    after_client = send_and_consume(300, 200)
    for broker in cluster.brokers:
        cluster.end_broker(broker.name, signal.SIGTERM)
    after_brokers = send_and_consume(500, 200)

    assert (before, after_client, after_brokers) == (300, 200, 200)
