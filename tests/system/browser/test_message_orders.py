"""A person sends a message, and has dead letters of a group sent again."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from regent_engine import parse_offset_message_id

from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.browser.group_orders import END_TIMEOUT_MS, state_of
from tests.system.browser.ordered_consumers import member
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import SEND_MESSAGE_V2, send, send_header
from tests.system.peer import peer
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BROKER_GROUP = "broker-a"
CONSUMER_GROUP = "billing-of-letters"
DEAD, RETRY = f"%25DLQ%25{CONSUMER_GROUP}", f"%25RETRY%25{CONSUMER_GROUP}"
CONSUMER_SEND_MSG_BACK = 36
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


def make_dead_letters(address: str, topic: str, count: int) -> None:
    """Have a group give up some messages at once."""
    with member(address, CONSUMER_GROUP, topic, "one"), peer(address) as producer:
        for number in range(count):
            sent = producer.ask(SEND_MESSAGE_V2, send_header(topic), b"letter %d" % number)
            assert sent.code == SUCCESS, sent.remark
            position = parse_offset_message_id(sent.ext["msgId"])[2]
            back = {"offset": str(position), "group": CONSUMER_GROUP, "delayLevel": "-1"}
            answer = producer.ask(CONSUMER_SEND_MSG_BACK, back)
            assert answer.code == SUCCESS, answer.remark


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


@long_form_only
def test_a_dead_letter_that_is_chosen_is_sent_again_and_then_all_others(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    make_dead_letters(cluster.broker(BROKER_GROUP).address, "letters", 3)
    letters = await_messages(client, DEAD, 3)
    page = console.page
    console.open(f"/consumer-groups/{CONSUMER_GROUP}")
    table = console.table("Dead letters")
    expect(table.get_by_role("row")).to_have_count(4)
    console.await_live()
    console.look("dead-letters")

    page.get_by_role("checkbox", name=f"Choose {letters[1]['message_id']}").check()
    page.get_by_role("button", name="Resend one…").click()
    resend(console, 1)
    assert [copied(one) for one in await_messages(client, RETRY, 1)] == [letters[1]["message_id"]]

    console.open(f"/consumer-groups/{CONSUMER_GROUP}")
    page.get_by_role("button", name="Resend all…").click()
    # What was sent before is left out.
    resend(console, 2)

    copies = await_messages(client, RETRY, 3)
    assert sorted(copied(one) for one in copies) == sorted(one["message_id"] for one in letters)
    assert all(one["properties"]["RETRY_TOPIC"] == "letters" for one in copies)
    assert console.complaints == []


def copied(copy: dict[str, Any]) -> str:
    return str(copy["properties"]["REGENT_DEAD_LETTER"])


def resend(console: ConsolePage, count: int) -> None:
    """Plan what the open form says, confirm it and see it done."""
    page = console.page
    dialog = page.get_by_role("dialog", name=f"Resend dead letters of {CONSUMER_GROUP}")
    console.expect_open(dialog)
    dialog.get_by_role("button", name="Plan it").click()
    summary = f"Send {count} dead letters of consumer group {CONSUMER_GROUP} to %RETRY%"
    expect(console.heading(f"{summary}{CONSUMER_GROUP}")).to_be_visible()
    page.get_by_label(f"Type the name {CONSUMER_GROUP}").fill(CONSUMER_GROUP)
    page.get_by_label("Reason, for the audit").fill("the cause is removed")
    page.get_by_role("button", name="Carry it out").click()
    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
