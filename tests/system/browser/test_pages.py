"""Every page in both colour schemes: nobody is kept out, nothing is refused, and it is pictured."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.interop.client import StockClient
from tests.system.browser.console_page import Chromium, ConsolePage, Scheme, open_console
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOPIC = "console-pictured"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
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
    "broker": ("/brokers/broker-a/0", "broker-a/0"),
    "access-users": ("/access", "Access"),
    "access-sessions": ("/access?tab=sessions", "Access"),
    "access-tokens": ("/access?tab=tokens", "Access"),
    "order-create-topic": ("/topics?order=create", "Topics"),
    "order-create-group": ("/topics?order=createGroup", "Topics"),
    "order-change-topic": (f"/topics/{TOPIC}?order=change", TOPIC),
    "order-reset": (f"/topics/{TOPIC}?order=reset", TOPIC),
    "order-drain": ("/brokers/broker-a/0?order=drain", "broker-a/0"),
}


@pytest.fixture(scope="module")
def sent_messages(stock_client: StockClient) -> None:
    stock_client.run("send", mode="async", topic=TOPIC, count=5_000)


@pytest.fixture(scope="module")
def consoles(browser: Chromium, cluster: Cluster) -> Iterator[dict[Scheme, ConsolePage]]:
    """Give one signed-in tab for each colour scheme."""
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


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.usefixtures("sent_messages")
def test_a_page_keeps_nobody_out_and_nothing_of_it_is_refused(
    consoles: dict[Scheme, ConsolePage],
    name: str,
    scheme: Scheme,
):
    console = consoles[scheme]
    path, heading = PAGES[name]

    console.open(path)
    expect(console.heading(heading)).to_be_visible()
    console.await_live()
    expect(console.page.get_by_label("Loading")).to_have_count(0)
    expect(console.page.get_by_role("alert")).to_have_count(0)
    if name.startswith("order-"):
        console.expect_open(console.page.get_by_role("dialog"))
    console.screenshot(f"{name}-{scheme}")

    assert console.violations() == []
    assert console.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_door_keeps_nobody_out_and_nothing_of_it_is_refused(
    browser: Chromium,
    cluster: Cluster,
    scheme: Scheme,
):
    with open_console(browser, cluster.http_url, scheme) as console:
        console.open("/sign-in")
        expect(console.page.get_by_label("Name")).to_be_visible()
        console.screenshot(f"sign-in-{scheme}")

        assert console.violations() == []
        assert console.complaints == []
