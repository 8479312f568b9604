"""A person sends a message."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.system.browser.console_page import ConsolePage
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BROKER_GROUP = "broker-a"
SUCCESS = 0


@pytest.fixture
def client(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


def messages_of(client: httpx.Client, topic: str) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/clusters/DefaultCluster/topics/{topic}/messages")
    return [] if answer.is_error else list(answer.json()["items"])


def await_messages(client: httpx.Client, topic: str, count: int) -> list[dict[str, Any]]:
    wait_until(
        lambda: len(messages_of(client, topic)) >= count,
        timeout_s=PATIENCE_S,
        what=lambda: f"{messages_of(client, topic)}",
    )
    return messages_of(client, topic)


def test_a_message_is_sent_from_its_topics_page_and_found_there(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    assert send(cluster.broker(BROKER_GROUP).address, "sent-by-hand") == SUCCESS
    await_messages(client, "sent-by-hand", 1)
    page = console.page
    console.open("/topics/sent-by-hand")
    page.get_by_role("button", name="Send a message…").click()
    dialog = page.get_by_role("dialog", name="Send a message to sent-by-hand")
    console.expect_open(dialog)
    console.look("send-message")

    dialog.get_by_label("Body").fill('{"id": 4711}')
    dialog.get_by_label("Keys").fill("k-4711")
    dialog.get_by_label("Keys").press("Enter")
    dialog.get_by_label("Tag").fill("created")
    dialog.get_by_label("Properties").fill("source=console")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_text("The message is stored", exact=True)).to_be_visible()
    console.look("message-sent")
    link = dialog.get_by_role("link")
    message_id = link.inner_text()
    link.click()

    expect(console.heading(message_id)).to_be_visible()
    expect(page.get_by_text("k-4711").first).to_be_visible()
    path = f"/api/v1/clusters/DefaultCluster/messages/{message_id}"
    found = client.get(path).json()
    assert (found["keys"], found["tags"]) == (["k-4711"], "created")
    assert found["properties"]["source"] == "console"
    body = client.get(f"{path}/body", params={"form": "text"}).json()
    assert body["content"] == '{"id": 4711}'
    entries = client.get("/api/v1/audit", params={"action": "message.sent"}).json()["items"]
    assert entries[0]["details"]["message_id"] == message_id
    assert "4711" not in str(entries[0]["details"]["body_sha256"])
    assert console.complaints == []
