"""Messages of a stock client arrive once each, and as they were sent.

`make soak SOAK=messages` sends 10 000 in each way.
"""

import os

import pytest

from tests.interop.client import StockClient

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

MODES = ["sync", "async", "oneway", "batch"]
COUNT = int(os.environ.get("REGENT_SENT_MESSAGES", "2000"))


def test_messages_of_each_kind_of_send_arrive_once_and_byte_for_byte(
    client: StockClient,
):
    topics = [f"{mode}-{client.label}" for mode in MODES]

    sent = client.run("send", mode=MODES, topic=topics, count=COUNT)
    expected = [f"{topic}=0:{COUNT}" for topic in topics]
    received = client.run("consume", group=f"messages-{client.label}", expect=expected)

    assert sent["count"] == COUNT * len(MODES)
    assert received["count"] == COUNT * len(MODES)


def test_a_client_with_binary_headers_sends_and_receives_like_any_other(newest_client: StockClient):
    binary = {"rocketmq.serialize.type": "ROCKETMQ"}
    topic = f"binary-{newest_client.label}"

    newest_client.run(
        "send", system=binary, mode=MODES, topic=topic, first=[0, 200, 400, 600], count=200
    )
    received = newest_client.run(
        "consume",
        system=binary,
        group=f"binary-group-{newest_client.label}",
        expect=f"{topic}=0:800",
    )

    assert received["count"] == 800


def test_a_lite_pull_consumer_polls_commits_and_seeks(newest_client: StockClient):
    topic = f"litepull-{newest_client.label}"
    newest_client.run("send", mode="async", topic=topic, count=1_000)

    result = newest_client.run(
        "litepull",
        system={"rocketmq.client.rebalance.waitInterval": "1000"},
        topic=topic,
        group=f"litepull-group-{newest_client.label}",
        count=1_000,
    )

    assert result["count"] == 1_000
