"""Consumer groups and messages in Chromium, over a running cluster that stock clients use."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.interop.client import RunningScenario, StockClient
from tests.system.browser.console_page import ConsolePage, Scheme, open_console
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOPIC, GROUP, GONE = "resources-pictured", "resources-group", "resources-gone"
COUNT, MORE = 300, 40
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SEEN_TIMEOUT_MS = 60_000
START_TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def reading(stock_client: StockClient) -> Iterator[RunningScenario]:
    """Keep a consumer that has read all; it stays until the tests of the module are over."""
    stock_client.run("send", mode="sync", topic=TOPIC, count=COUNT)
    stay = {"timeout_ms": 120_000, "quiet_ms": 280_000}
    with stock_client.start("consume", group=GROUP, expect=f"{TOPIC}=0:{COUNT}", **stay) as running:
        running.wait_for(lambda event: event["event"] == "started", timeout_s=START_TIMEOUT_S)
        yield running


@pytest.fixture(scope="module")
def left_behind(reading: RunningScenario, stock_client: StockClient, cluster: Cluster) -> None:
    """Send what nobody of a group that has left reads any more."""
    topic = f"{TOPIC}-left"
    stock_client.run("send", mode="sync", topic=topic, count=MORE)
    stock_client.run("consume", group=GONE, expect=f"{topic}=0:{MORE}")
    stock_client.run("send", mode="sync", topic=topic, first=MORE, count=MORE)
    assert reading.event_count > 0
    assert cluster.process.poll() is None


@pytest.fixture(scope="module")
def consoles(browser: Browser, cluster: Cluster) -> Iterator[dict[Scheme, ConsolePage]]:
    with (
        open_console(browser, cluster.http_url, "light") as light,
        open_console(browser, cluster.http_url, "dark") as dark,
    ):
        tabs: dict[Scheme, ConsolePage] = {"light": light, "dark": dark}
        for tab in tabs.values():
            tab.open("/")
            tab.sign_in(cluster.admin_name, cluster.admin_password)
            expect(tab.heading("Overview")).to_be_visible()
        yield tabs


def look(console: ConsolePage, name: str, scheme: Scheme) -> None:
    """Wait until all is drawn, picture it, and let nobody be kept out."""
    expect(console.page.get_by_label("Loading")).to_have_count(0)
    expect(console.page.get_by_role("alert")).to_have_count(0)
    console.screenshot(f"{name}-{scheme}")
    assert console.violations() == []
    assert console.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.usefixtures("left_behind")
def test_consumer_groups_are_shown_with_members_and_lag(
    consoles: dict[Scheme, ConsolePage], scheme: Scheme
):
    console = consoles[scheme]

    console.open("/consumer-groups")
    gone = console.table("Consumer groups").get_by_role("row").filter(has_text=GONE)
    expect(gone).to_contain_text("inactive", timeout=SEEN_TIMEOUT_MS)
    expect(gone.get_by_role("cell", name=str(MORE), exact=True)).to_be_visible()
    look(console, "consumer-groups", scheme)
    console.page.get_by_role("link", name=GROUP, exact=True).click()

    expect(console.heading(GROUP)).to_be_visible()
    members = console.table("Members").get_by_role("row")
    expect(members).to_have_count(2)
    queues = console.table("Queues").get_by_role("row").filter(has_text=TOPIC)
    expect(queues.first).to_contain_text("@", timeout=SEEN_TIMEOUT_MS)
    look(console, "consumer-group", scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.usefixtures("left_behind")
def test_a_message_is_found_by_key_with_the_keyboard_and_its_body_is_shown(
    consoles: dict[Scheme, ConsolePage], scheme: Scheme
):
    console = consoles[scheme]
    page = console.page

    console.open("/messages")
    expect(console.heading("Messages")).to_be_visible()
    page.get_by_label("Topic", exact=True).focus()
    page.keyboard.type(TOPIC)
    page.keyboard.press("Enter")
    expect(console.table("Messages").get_by_role("row").nth(1)).to_be_visible()
    look(console, "messages", scheme)
    page.get_by_role("radio", name="Key", exact=True).focus()
    page.keyboard.press("Space")
    page.get_by_role("textbox", name="Key").focus()
    page.keyboard.type(f"{TOPIC}#7")
    page.keyboard.press("Enter")

    rows = console.table("Messages").get_by_role("row")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("link").click()
    delivery = console.table("Delivery").get_by_role("row").filter(has_text=GROUP)
    expect(delivery).to_contain_text("consumed")
    expect(page.get_by_role("region", name="Content of the body")).to_be_visible()
    look(console, "message", scheme)


@pytest.mark.usefixtures("left_behind")
def test_a_reset_is_planned_from_the_page_of_a_group(console: ConsolePage):
    console.open(f"/consumer-groups/{GONE}")
    console.page.get_by_role("button", name="Reset offsets…").click()
    console.page.get_by_role("button", name="Plan the reset").click()

    expect(console.page.get_by_text(f"{GONE} goes on in").first).to_be_visible()
    console.screenshot("reset-plan")
    assert console.complaints == []
