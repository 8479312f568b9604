"""Consumer groups and messages in Chromium, over a running cluster that stock clients use."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.interop.client import RunningScenario, StockClient
from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOPIC, GROUP, GONE = "resources-pictured", "resources-group", "resources-gone"
COUNT, MORE = 300, 40
SEEN_TIMEOUT_MS = 60_000
START_TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def reading(stock_client: StockClient) -> Iterator[RunningScenario]:
    """Keep a consumer that has read all; it stays until the tests of the module are over."""
    stock_client.run("send", mode="sync", topic=TOPIC, count=COUNT)
    # An hour: it is ended with the block, however long a busy machine takes for the tests in it.
    stay = {"timeout_ms": 120_000, "quiet_ms": 3_600_000}
    with stock_client.start("consume", group=GROUP, expect=f"{TOPIC}=0:{COUNT}", **stay) as running:
        running.wait_for(lambda event: event["event"] == "started", timeout_s=START_TIMEOUT_S)
        yield running


@pytest.fixture(scope="module")
def left_behind(reading: RunningScenario, stock_client: StockClient, cluster: Cluster) -> None:
    """Send messages that no consumer of a group that has left reads any more."""
    topic = f"{TOPIC}-left"
    stock_client.run("send", mode="sync", topic=topic, count=MORE)
    stock_client.run("consume", group=GONE, expect=f"{topic}=0:{MORE}")
    stock_client.run("send", mode="sync", topic=topic, first=MORE, count=MORE)
    assert reading.event_count > 0
    assert cluster.process.poll() is None


@pytest.mark.usefixtures("left_behind")
def test_consumer_groups_are_shown_with_members_and_lag(tab: ConsolePage):
    tab.open("/consumer-groups")
    gone = tab.table("Consumer groups").get_by_role("row").filter(has_text=GONE)
    expect(gone).to_contain_text("inactive", timeout=SEEN_TIMEOUT_MS)
    expect(gone.get_by_role("cell", name=str(MORE), exact=True)).to_be_visible()
    tab.look("consumer-groups")
    tab.page.get_by_role("link", name=GROUP, exact=True).click()

    expect(tab.heading(GROUP)).to_be_visible()
    members = tab.table("Members").get_by_role("row")
    expect(members).to_have_count(2)
    queues = tab.table("Queues").get_by_role("row").filter(has_text=TOPIC)
    expect(queues.first).to_contain_text("@", timeout=SEEN_TIMEOUT_MS)
    tab.look("consumer-group")


@pytest.mark.usefixtures("left_behind")
def test_a_message_is_found_by_key_with_the_keyboard_and_its_body_is_shown(tab: ConsolePage):
    page = tab.page

    tab.open("/messages")
    expect(tab.heading("Messages")).to_be_visible()
    page.get_by_label("Topic", exact=True).focus()
    page.keyboard.type(TOPIC)
    page.keyboard.press("Enter")
    expect(tab.table("Messages").get_by_role("row").nth(1)).to_be_visible()
    tab.look("messages")
    page.get_by_role("radio", name="Key", exact=True).focus()
    page.keyboard.press("Space")
    page.get_by_role("textbox", name="Key").focus()
    page.keyboard.type(f"{TOPIC}#7")
    page.keyboard.press("Enter")

    rows = tab.table("Messages").get_by_role("row")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("link").click()
    delivery = tab.table("Delivery").get_by_role("row").filter(has_text=GROUP)
    expect(delivery).to_contain_text("consumed")
    expect(page.get_by_role("region", name="Content of the body")).to_be_visible()
    tab.look("message")


@long_form_only
@pytest.mark.usefixtures("left_behind")
def test_clients_are_found_by_group_and_shown_with_their_connections(tab: ConsolePage):
    page = tab.page

    tab.open("/clients")
    expect(tab.heading("Clients")).to_be_visible()
    page.get_by_role("textbox", name="Consumer or producer group").focus()
    page.keyboard.type(GROUP)
    page.keyboard.press("Enter")
    rows = tab.table("Clients").get_by_role("row")
    expect(rows).to_have_count(2, timeout=SEEN_TIMEOUT_MS)
    expect(rows.nth(1)).to_contain_text("JAVA 5.5.0")
    tab.look("clients")
    rows.nth(1).get_by_role("link").click()

    expect(tab.table("Connections").get_by_role("row").nth(1)).to_contain_text(GROUP)
    tab.look("client")


def test_findings_are_shown_with_what_to_do(tab: ConsolePage):
    page = tab.page

    tab.open("/findings")
    expect(page.get_by_text("Nothing is broken and no replica is missing")).to_be_visible()
    tab.look("findings-none")
    # Nothing is broken here: what is shown of a finding is drawn from an answer of the test.
    page.route("**/graphql", _answer_finding)
    # The radio itself lies hidden behind its text, as a pointer finds it.
    page.get_by_role("radiogroup").get_by_text("All", exact=True).click()

    expect(page.get_by_role("link", name="broker-b-1")).to_have_count(2)
    tab.look("findings")
    page.unroute("**/graphql")


def _answer_finding(route: Route) -> None:
    asked = route.request.post_data or ""
    if "query Findings" not in asked:
        route.continue_()
        return
    finding = {
        "id": "7",
        "code": "REPLICA_AHEAD",
        "severity": "CRITICAL",
        "title": "A replica holds more of the log than its master",
        "clusterName": "DefaultCluster",
        "subject": "broker-b-1",
        "brokerGroupName": "broker-b",
        "evidence": {"master_max_offset": 900, "replica_max_offset": 950},
        "advice": "Stop the replica and copy its store: `regent replica lag broker-b`.",
        "since": "2026-11-22T09:59:58Z",
        "openedAt": "2026-11-22T10:00:00Z",
        "closedAt": None,
    }
    ended = {**finding, "id": "6", "closedAt": "2026-11-22T10:05:00Z"}
    page = {"hasNextPage": False, "endCursor": None}
    found = {"totalCount": 2, "pageInfo": page, "nodes": [finding, ended]}
    route.fulfill(json={"data": {"findings": found}})


@long_form_only
@pytest.mark.usefixtures("left_behind")
def test_a_form_shows_what_a_group_is_set_to(tab: ConsolePage):
    tab.open(f"/consumer-groups/{GONE}")
    tab.page.get_by_role("button", name="Change settings…").click()
    dialog = tab.page.get_by_role("dialog")
    retries = dialog.get_by_label("Retries at most")

    tab.expect_open(dialog)
    expect(retries).to_have_attribute("placeholder", "as it is (16)")
    tab.look("change-group")


@long_form_only
@pytest.mark.usefixtures("left_behind")
def test_a_reset_is_planned_from_the_page_of_a_group(console: ConsolePage):
    console.open(f"/consumer-groups/{GONE}")
    console.page.get_by_role("button", name="Reset offsets…").click()
    dialog = console.page.get_by_role("dialog", name=f"Reset offsets of {GONE}")
    dialog.get_by_role("button", name="Plan it").click()
    expect(dialog.get_by_text("Say something here")).to_be_visible()
    dialog.get_by_role("combobox", name="Go on from").click()
    console.page.get_by_role("option", name="the oldest message held").click()
    console.look("reset-group")
    dialog.get_by_role("button", name="Plan it").click()

    expect(console.page.get_by_text(f"Consumer group {GONE} goes on in").first).to_be_visible()
    console.screenshot("reset-plan")
    assert console.complaints == []


@long_form_only
@pytest.mark.usefixtures("left_behind")
def test_a_plan_to_delete_a_group_with_all_that_is_its_says_so_in_words(tab: ConsolePage):
    tab.open(f"/topics?order=deleteGroup&group={GONE}")
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label(re.compile("^Also delete the group's offsets")).check()
    dialog.get_by_role("button", name="Plan it").click()
    facts = tab.page.get_by_role("region", name="Facts of the plan")

    expect(tab.page.get_by_text("retries and dead letters").first).to_be_visible()
    expect(facts.get_by_text(f"%RETRY%{GONE}")).to_be_visible()
    expect(facts).not_to_contain_text("{}")
    tab.look("delete-group-plan")
