"""A person sees which messages of a share queue consumers have, frees them, and resets it."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect
from regent_engine import decode_records

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.system.browser.console_page import ConsolePage
from tests.system.browser.group_orders import END_TIMEOUT_MS, operation_id, state_of
from tests.system.browser.ordered_consumers import member
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import send
from tests.system.peer import Peer, peer
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GROUP = "broker-a"
CONSUMERS, TOPIC = "sharers", "shared-by-hand"
GONE, LIVING = "10.0.0.7@412", "10.0.0.8@99"
QUEUE = {"topic": TOPIC, "queueId": "0", "consumerGroup": CONSUMERS}
QUEUES, MESSAGES = (
    "Share queues by consumer group, topic and queue",
    "Messages that are delivered and not finished",
)
SUCCESS = 0


@pytest.fixture
def client(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


def pop(consumer: Peer, count: int) -> list[int]:
    """Take messages for ten minutes, and return their offsets."""
    fields = {
        **QUEUE,
        "maxMsgNums": count,
        "invisibleTime": 600_000,
        "pollTime": round(PATIENCE_S * 1000),
        "bornTime": round(time.time() * 1000),
        "initMode": 0,
        "expType": "TAG",
        "exp": "*",
        "order": "false",
    }
    answer = consumer.ask(RequestCode.POP_MESSAGE, {key: str(one) for key, one in fields.items()})
    assert answer.code == SUCCESS, answer.remark
    return [one.queue_offset for one in decode_records(answer.body)]


def held(address: str) -> dict[str, Any]:
    """Ask the broker for the share queue and its messages."""
    with peer(address) as asker:
        answer = asker.ask(RequestCode.GET_SHARE_MESSAGES, QUEUE)
    assert answer.code == SUCCESS, answer.remark
    told: dict[str, Any] = java_json.loads(answer.body)
    return told


def holders(address: str) -> dict[int, str]:
    """Return which client has which message, by its offset."""
    return {
        one["offset"]: one["clientId"] for one in held(address)["messages"] if one["isAcquired"]
    }


@contextmanager
def taken(address: str) -> Iterator[Peer]:
    """Leave three of six messages with a client that is gone, and two with one that is there."""
    for _ in range(6):
        assert send(address, TOPIC) == SUCCESS
    with member(address, CONSUMERS, TOPIC, GONE) as gone:
        assert pop(gone, 3) == [0, 1, 2]
    with member(address, CONSUMERS, TOPIC, LIVING) as living:
        assert pop(living, 2) == [3, 4]
        wait_until(
            lambda: (
                [one["isConnected"] for one in held(address)["messages"]]
                == [False] * 3 + [True] * 2
            ),
            timeout_s=PATIENCE_S,
            what=lambda: f"{held(address)}",
        )
        yield living


def carry_out(console: ConsolePage, client: httpx.Client, name: str | None) -> None:
    """Confirm the plan that is shown; compare what the audit has of it."""
    page = console.page
    if name is not None:
        page.get_by_label(f"Type the name {name}").fill(name)
        page.get_by_label("Reason, for the audit").fill("planned work")
    page.get_by_role("button", name="Carry it out").click()
    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    expect(console.table("Read back")).to_contain_text("as intended")
    shown_id = operation_id(console)
    found = client.get("/api/v1/audit", params={"operation_id": shown_id}).json()["items"]
    queued = next(entry for entry in found if entry["action"] == "operation.queued")
    assert queued["actor"] == "admin"
    assert queued["source"].startswith("graphql ")
    assert [entry["action"] for entry in found].count("step.done") == 1


def row_of(console: ConsolePage, table: str, text: str) -> Locator:
    return console.table(table).get_by_role("row").filter(has_text=text)


def test_messages_of_a_gone_client_are_released_and_a_share_queue_is_reset_by_mouse(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    address = cluster.broker(GROUP).address
    page = console.page
    with taken(address) as living:
        console.open_overview()
        page.get_by_role("link", name="Share queues").click()
        expect(console.heading("Share queues")).to_be_visible()
        filters = page.get_by_role("search")
        filters.get_by_label("Consumer group").fill("no-such-group")
        expect(page.get_by_text("No share queue matches")).to_be_visible()
        filters.get_by_label("Consumer group").fill(CONSUMERS)
        filters.get_by_label("Topic").fill(TOPIC)
        expect(page).to_have_url(re.compile(f"group={CONSUMERS}.*topic={TOPIC}"))
        row = row_of(console, QUEUES, f"{TOPIC}/0")
        expect(row).to_contain_text("being consumed")

        row.get_by_role("button", name="Show messages").click()

        expect(row_of(console, MESSAGES, GONE)).to_have_count(3)
        expect(row_of(console, MESSAGES, GONE).first).to_contain_text("gone")
        expect(row_of(console, MESSAGES, LIVING).first).to_contain_text("connected")
        console.await_live()
        console.look("share-queues")
        page.get_by_role("button", name=re.compile("^Release messages of gone clients")).click()
        summary = f"Consumers of {CONSUMERS} receive 3 messages of {TOPIC}/0 again"
        expect(console.heading(summary)).to_be_visible()
        assert len(holders(address)) == 5
        carry_out(console, client, None)

        assert holders(address) == {3: LIVING, 4: LIVING}
        assert pop(living, 3) == [0, 1, 2]

        place = f"ofGroup={CONSUMERS}&ofTopic={TOPIC}&ofBroker={GROUP}&ofQueue=0"
        console.open(f"/share-queues?group={CONSUMERS}&{place}")
        page.get_by_role("button", name="Reset to an offset…").click()
        dialog = page.get_by_role("dialog")
        console.expect_open(dialog)
        console.look("reset-share-queue")
        dialog.get_by_role("textbox", name="Offset").fill("5")
        dialog.get_by_role("button", name="Plan it").click()
        changes = page.get_by_role("region", name="What changes")
        expect(changes).to_contain_text(f"position in {TOPIC}/0")
        carry_out(console, client, f"{TOPIC}/0")

        assert held(address)["queue"]["start"] == 5
        assert holders(address) == {}
        assert pop(living, 3) == [5]
    assert console.complaints == []
