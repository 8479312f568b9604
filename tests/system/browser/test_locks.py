"""A person finds out who keeps a queue from being read, and frees it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psutil
import psycopg
import pytest
from playwright.sync_api import Locator, expect

from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.browser.group_orders import (
    END_TIMEOUT_MS,
    operation_id,
    process_id,
    state_of,
    tab_to,
)
from tests.system.browser.ordered_consumers import holders, lock, member
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GROUP = "broker-a"
DEAD, LIVING = "10.0.0.7@412", "10.0.0.8@99"
SUCCESS = 0


@pytest.fixture
def client(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


@contextmanager
def dead_holder(
    cluster: Cluster, consumer_group: str, *queue_ids: int, client_id: str = DEAD
) -> Iterator[str]:
    """Leave queues locked by a client that is gone, before another one that waits for them."""
    address = cluster.broker(GROUP).address
    topic = f"locks-of-{consumer_group}"
    assert send(address, topic) == SUCCESS
    with member(address, consumer_group, topic, LIVING):
        with member(address, consumer_group, topic, client_id) as holder:
            held = lock(holder, GROUP, consumer_group, topic, client_id, *queue_ids)
            assert held == [*queue_ids]
        yield topic


def row_of(console: ConsolePage, topic: str, queue_id: int) -> Locator:
    rows = console.table("Ordered-queue locks").get_by_role("row")
    return rows.filter(has_text=topic).filter(has_text=f"{queue_id} on {GROUP}")


def assert_released(
    cluster: Cluster,
    client: httpx.Client,
    console: ConsolePage,
    consumer_group: str,
    topic: str,
    freed: int,
) -> None:
    """Ask the broker, the database and the audit whether the release was as it was shown."""
    address = cluster.broker(GROUP).address
    assert freed not in holders(address, consumer_group)
    with member(address, consumer_group, topic, LIVING) as next_one:
        assert lock(next_one, GROUP, consumer_group, topic, LIVING, freed) == [freed]
    shown_id = operation_id(console)
    url = psutil.Process(process_id(cluster, "control-plane")).environ()["REGENT_DATABASE_URL"]
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT kind, state, confirmed_by FROM operations WHERE id = %s", (shown_id,)
        ).fetchone()
    assert row == ("release_locks", "done", "admin")
    found = client.get("/api/v1/audit", params={"operation_id": shown_id}).json()["items"]
    actions = [entry["action"] for entry in found]
    assert (actions.count("operation.queued"), actions.count("step.done")) == (1, 1)
    queued = next(entry for entry in found if entry["action"] == "operation.queued")
    assert queued["actor"] == "admin"
    assert queued["source"].startswith("graphql ")


def test_a_dead_clients_lock_is_explained_and_released_by_mouse(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    with dead_holder(cluster, "by-mouse", 0, 1) as topic:
        page = console.page
        console.open_overview()
        page.get_by_role("link", name="Locks").click()
        expect(console.heading("Locks")).to_be_visible()
        page.get_by_role("search").get_by_label("Consumer group").fill("by-mouse")
        row = row_of(console, topic, 0)
        expect(row).to_contain_text(DEAD)
        expect(row).to_contain_text("gone")

        row.get_by_role("button", name=f"Why is {topic}/0 paused?").click()
        answers = page.get_by_role("list", name="Answers")
        expect(answers).to_contain_text("the holder is gone")
        expect(answers).to_contain_text(DEAD)
        console.screenshot("locks-why-light")
        row.get_by_role("button", name=f"Release the lock of {topic}/0…").click()

        expect(console.heading(f"1 lock of {DEAD} becomes free for others")).to_be_visible()
        assert holders(cluster.broker(GROUP).address, "by-mouse") == {0: DEAD, 1: DEAD}
        page.get_by_role("button", name="Carry it out").click()
        expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)

        assert_released(cluster, client, console, "by-mouse", topic, 0)
        assert holders(cluster.broker(GROUP).address, "by-mouse")[1] == DEAD
    assert console.complaints == []


@long_form_only
def test_a_dead_clients_lock_is_released_by_keyboard_alone(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    with dead_holder(cluster, "by-keyboard", 2) as topic:
        console.open_overview()
        keyboard = console.page.keyboard
        console.go("gl")
        expect(console.heading("Locks")).to_be_visible()
        expect(row_of(console, topic, 2)).to_be_visible()
        keyboard.press("/")
        keyboard.type("by-keyboard")
        expect(console.page).to_have_url(re.compile("group=by-keyboard"))
        release = row_of(console, topic, 2).get_by_role(
            "button", name=f"Release the lock of {topic}/2…"
        )
        tab_to(console, release)
        keyboard.press("Enter")

        expect(console.heading(f"1 lock of {DEAD} becomes free for others")).to_be_visible()
        tab_to(console, console.page.get_by_role("button", name="Carry it out"))
        keyboard.press("Enter")

        expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
        assert_released(cluster, client, console, "by-keyboard", topic, 2)


def test_the_list_of_locks_is_accessible(console: ConsolePage, cluster: Cluster):
    group = "pictured"
    with (
        dead_holder(cluster, group, 0, 1, client_id="10.0.0.10@8") as topic,
        member(cluster.broker(GROUP).address, group, topic, "10.0.0.11@7") as living,
    ):
        lock(living, GROUP, group, topic, "10.0.0.11@7", 2, 3)
        queue = f"whyGroup={group}&whyTopic={topic}&whyBroker={GROUP}&whyQueue=1"
        console.open(f"/locks?group={group}&{queue}")
        expect(row_of(console, topic, 3)).to_contain_text("connected")
        expect(console.page.get_by_role("list", name="Answers")).to_be_visible()
        console.await_live()

        console.look("locks")


@long_form_only
def test_all_locks_of_a_dead_client_are_released_at_once(console: ConsolePage, cluster: Cluster):
    # No other client's locks go with its own.
    gone = "10.0.0.9@77"
    with dead_holder(cluster, "all-of-it", 0, 1, 3, client_id=gone) as topic:
        address = cluster.broker(GROUP).address
        console.open("/locks?holder=GONE&group=all-of-it")
        expect(row_of(console, topic, 3)).to_be_visible()

        row_of(console, topic, 3).get_by_role("button", name="Release all locks of").click()
        expect(console.heading(f"3 locks of {gone} become free for others")).to_be_visible()
        console.page.get_by_role("button", name="Carry it out").click()
        expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)

        wait_until(
            lambda: not holders(address, "all-of-it"),
            timeout_s=PATIENCE_S,
            what=lambda: f"{holders(address, 'all-of-it')}",
        )
        console.open("/locks?group=all-of-it")
        expect(console.page.get_by_text("No lock matches")).to_be_visible()
