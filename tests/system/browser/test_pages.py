"""Pages in both colour schemes are accessible, and nothing is refused.

`REGENT_PICTURES=1` leaves a picture of each in `build/screenshots`.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.interop.client import StockClient
from tests.long_form import chosen, long_form_only
from tests.system.browser.console_page import ConsolePage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOPIC = "console-pictured"
REPORT_TIMEOUT_MS = 200_000
PAGES = {
    "overview": ("/", "Overview"),
    "topology": ("/topology", "Topology"),
    "replica-groups-none": ("/replica-groups", "Replica groups"),
    "topics": ("/topics", "Topics"),
    "topic": (f"/topics/{TOPIC}", TOPIC),
    "capacity": ("/capacity", "Capacity"),
    "locks-none": ("/locks?group=nobody", "Locks"),
    "leases-none": ("/locks?tab=leases", "Locks"),
    "broker": ("/brokers/broker-a-0", "broker-a-0"),
    "access-users": ("/access", "Access"),
    "access-sessions": ("/access?tab=sessions", "Access"),
    "access-tokens": ("/access?tab=tokens", "Access"),
    "order-create-topic": ("/topics?order=create", "Topics"),
    "order-create-group": ("/topics?order=createGroup", "Topics"),
    "order-change-topic": (f"/topics/{TOPIC}?order=change", TOPIC),
    "order-reset": (f"/topics/{TOPIC}?order=reset", TOPIC),
    "order-drain": ("/brokers/broker-a-0?order=drain", "broker-a-0"),
}


@pytest.fixture(scope="module")
def sent_messages(stock_client: StockClient) -> None:
    stock_client.run("send", mode="async", topic=TOPIC, count=5_000)


@long_form_only
@pytest.mark.spark
def test_a_requested_report_is_made_and_shown(console: ConsolePage):
    console.open("/capacity")

    console.page.get_by_role("button", name="Request a report").click()

    reports = console.table("Reports").get_by_role("row")
    expect(reports.nth(1)).to_contain_text("done", timeout=REPORT_TIMEOUT_MS)
    # A cluster of minutes has no two weeks behind it, and the report must not hide that.
    warning = re.compile("Too little history|No history at all")
    expect(console.page.get_by_text(warning)).to_be_visible()
    expect(console.page.get_by_role("heading", name="Disks by days until full")).to_be_visible()


@pytest.mark.parametrize(
    "name",
    chosen(
        PAGES,
        *("overview", "topology", "topic", "locks-none", "broker", "access-users"),
        *("order-create-topic", "order-reset"),
    ),
)
@pytest.mark.usefixtures("sent_messages")
def test_a_page_is_accessible_and_nothing_of_it_is_refused(tab: ConsolePage, name: str):
    path, heading = PAGES[name]

    tab.open(path)
    expect(tab.heading(heading)).to_be_visible()
    tab.await_live()
    if name.startswith("order-"):
        tab.expect_open(tab.page.get_by_role("dialog"))

    tab.look(name)


def test_the_door_is_accessible_and_nothing_of_it_is_refused(stranger: ConsolePage):
    stranger.open("/sign-in")
    expect(stranger.page.get_by_label("Name")).to_be_visible()

    stranger.look("sign-in")
