"""A person moves logical queues between two broker groups, with stock clients beside."""

import asyncio
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from playwright.sync_api import expect

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.logical_queues import GetStaticTopic
from tests.interop.client import StockClient
from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.browser.group_orders import (
    END_TIMEOUT_MS,
    let_timers_run,
    operation_id,
    process_id,
    state_of,
    tab_to,
)
from tests.system.cluster import REGENT, Cluster
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

TOPIC, READERS = "moved-by-hand", "moved-by-hand-readers"
A, B = "broker-a", "broker-b"
QUEUES = range(4)
COUNT = 80
"""So many messages are sent before each move."""

PROGRESS = f"Logical queues of {TOPIC}"
LEADERS = """
SELECT global_id, broker_group_name
  FROM logical_queue_segments segment
  JOIN static_topics topic ON topic.id = segment.topic_id
 WHERE topic.name = %s AND segment.state = 'normal'
"""
CHANGE = "SELECT kind, state FROM logical_queue_changes WHERE id = %s"
OPERATION = "SELECT state, confirmed_by, reason FROM operations WHERE id = %s"


class StaticTopic:
    """A static topic, and what the cluster, Postgres, the audit and a stock client see of it."""

    def __init__(self, cluster: Cluster, stock_client: StockClient, client: httpx.Client) -> None:
        self.cluster = cluster
        self.stock_client = stock_client
        self.client = client
        self.sent_count = 0

    def send(self) -> None:
        """Send messages by the stock client: to all queues in turn."""
        self.stock_client.run("send", mode="sync", topic=TOPIC, first=self.sent_count, count=COUNT)
        self.sent_count += COUNT

    def leaders_at(self, broker_group_name: str) -> dict[int, str]:
        """Return the leader of each queue as a broker has it, whose master is asked."""
        asked = GetStaticTopic(topic=TOPIC)
        address = self.cluster.broker(broker_group_name).address

        async def ask() -> dict[int, str]:
            remoting = RemotingClient()
            try:
                found = await Brokers(remoting).ask(address, asked)
            finally:
                await remoting.aclose()
            assert found is not None
            assert found.mapping is not None
            hosted = found.mapping.hosted.items()
            return {one: segments[-1].broker_group_name for one, segments in hosted}

        # The browser's own loop runs in this thread.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, ask()).result()

    def rows(self, statement: str, parameter: str) -> list[tuple[Any, ...]]:
        process = psutil.Process(process_id(self.cluster, "control-plane"))
        with psycopg.connect(process.environ()["REGENT_DATABASE_URL"]) as connection:
            return connection.execute(statement, (parameter,)).fetchall()

    def assert_moved(self, operation: str, leaders: dict[int, str]) -> None:
        """Ask the brokers, the database, the audit and a stock client for the result of a move."""
        for name in (A, B):
            known = self.leaders_at(name)
            assert known == {one: leader for one, leader in leaders.items() if one in known}
            assert {one for one, leader in leaders.items() if leader == name} <= known.keys()
        assert dict(self.rows(LEADERS, TOPIC)) == leaders
        assert self.rows(CHANGE, operation) == [("migrate", "done")]
        assert self.rows(OPERATION, operation) == [("done", "admin", "planned work")]
        found = self.client.get("/api/v1/audit", params={"operation_id": operation})
        entries = found.json()["items"]
        queued = next(one for one in entries if one["action"] == "operation.queued")
        assert (queued["actor"], queued["details"]["reason"]) == ("admin", "planned work")
        assert queued["source"].startswith("graphql ")
        # It sends to the queues where they are now, and reads all: nothing is lost.
        self.send()
        self.stock_client.run("consume", group=f"{READERS}-{operation}", expect=self.expected)

    @property
    def expected(self) -> str:
        return f"{TOPIC}=0:{self.sent_count}"


@pytest.fixture(scope="module")
def topic(cluster: Cluster, stock_client: StockClient, signed_in: httpx.Client) -> StaticTopic:
    """Create a static topic with messages in all its queues, which are spread evenly."""
    topic = StaticTopic(cluster, stock_client, signed_in)
    create = ("topic", "static", "create", TOPIC, "--queues", str(len(QUEUES)), "--yes")
    ended = subprocess.run(
        [str(REGENT), *create, "--reason", "test", "--data", str(cluster.data_dir)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    topic.send()
    return topic


def test_all_queues_leave_a_broker_group_by_mouse(console: ConsolePage, topic: StaticTopic):
    page = console.page
    # High enough for a whole plan with its segments.
    page.set_viewport_size({"width": 1440, "height": 1320})
    console.open(f"/replica-groups/{A}")
    held = console.table("Static topics with queues here").get_by_role("row").filter(has_text=TOPIC)
    expect(held).to_contain_text("2 of 4")
    console.look("broker-group-static-topics")

    page.get_by_role("button", name="Migrate queues…").click()
    dialog = page.get_by_role("dialog", name=f"Migrate queues of {A}")
    console.expect_open(dialog)
    dialog.get_by_role("combobox", name="Which way").click()
    page.get_by_role("option", name="One topic off this broker group").click()
    dialog.get_by_role("combobox", name="Static topic").click()
    page.get_by_role("option", name=TOPIC).click()
    console.look("move-queues-form")
    dialog.get_by_role("button", name="Plan it").click()

    before, after = (page.get_by_role("region", name=name) for name in ("Before", "After"))
    expect(before.get_by_text(f"led by {A}")).to_have_count(2)
    expect(after.get_by_text(f"led by {B}")).to_have_count(2)
    expect(after.get_by_text("read only")).to_have_count(2)
    expect(before).to_contain_text("physical offsets 0 to open")
    assert dict(topic.rows(LEADERS, TOPIC)) == {0: A, 1: B, 2: A, 3: B}
    console.look("move-queues-plan")
    page.get_by_role("button", name="Carry it out").click()
    page.get_by_label(f"Type the name {TOPIC}").fill(TOPIC)
    page.get_by_label("Reason, for the audit").fill("planned work")
    page.get_by_role("button", name="Carry it out").click()

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    expect(page.get_by_text("2 of 2 logical queues done")).to_be_visible()
    progress = page.get_by_role("region", name=PROGRESS).get_by_role("listitem")
    expect(progress.filter(has_text="Logical queue 0")).to_contain_text(f"{A} to {B}")
    console.look("move-queues-done")
    topic.assert_moved(operation_id(console), dict.fromkeys(QUEUES, B))
    console.open(f"/topics/{TOPIC}")
    lane = page.get_by_role("list", name="Logical queue 0")
    expect(lane.get_by_role("listitem").first).to_contain_text("read only")
    expect(lane.get_by_role("listitem").last).to_contain_text(f"{B}, physical queue 2")
    console.look("static-topic")


@long_form_only
def test_one_queue_is_moved_by_keyboard_alone(console: ConsolePage, topic: StaticTopic):
    before = dict(topic.rows(LEADERS, TOPIC))
    page, keyboard = console.page, console.page.keyboard
    console.open_overview()

    console.go("gp")
    expect(console.heading("Topics")).to_be_visible()
    tab_to(console, page.get_by_role("link", name=TOPIC, exact=True))
    keyboard.press("Enter")
    expect(console.heading(TOPIC)).to_be_visible()
    expect(page.get_by_role("button", name="Migrate queues…")).to_be_visible()
    keyboard.press("e")
    expect(page.get_by_role("button", name="Migrate queues…")).to_be_focused()
    keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"Migrate queues of {TOPIC}")
    console.expect_open(dialog)
    destination = dialog.get_by_role("combobox", name="To", exact=True)
    tab_to(console, destination)
    keyboard.press("Enter")
    expect(page.get_by_role("option", name=A)).to_be_visible()
    let_timers_run(console)
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(destination).to_have_value(A)
    tab_to(console, dialog.get_by_role("combobox", name="Logical queues"))
    keyboard.type("3")
    expect(page.get_by_role("option", name="3")).to_be_visible()
    let_timers_run(console)
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    tab_to(console, dialog.get_by_role("button", name="Plan it"))
    keyboard.press("Enter")
    expect(
        console.heading(f"1 logical queue of topic {TOPIC} moves from {B} to {A}")
    ).to_be_visible()
    tab_to(console, page.get_by_role("region", name="After"))
    tab_to(console, page.get_by_label(f"Type the name {TOPIC}"))
    keyboard.type(TOPIC)
    keyboard.press("Tab")
    keyboard.type("planned work")
    keyboard.press("Tab")
    expect(page.get_by_role("button", name="Carry it out")).to_be_focused()
    keyboard.press("Enter")

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    expect(page.get_by_text("1 of 1 logical queues done")).to_be_visible()
    read_back = console.table("Read back").get_by_role("row")
    expect(read_back.filter(has_text="leader of logical queue 3")).to_contain_text("as intended")
    topic.assert_moved(operation_id(console), {**before, 3: A})
    assert console.complaints == []
