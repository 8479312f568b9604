"""A person in a real browser signs in, looks around, and sees the cluster move."""

import re

import pytest
from playwright.sync_api import expect

from tests.interop.client import StockClient
from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.cluster import Cluster, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

GROUPS = ("broker-a", "broker-b")
MOVE_TIMEOUT_S = 60.0
SEND_RATE = 200


def test_a_wrong_password_is_refused_in_plain_words(stranger: ConsolePage, cluster: Cluster):
    stranger.open("/")

    stranger.sign_in(cluster.admin_name, "not-the-password")

    expect(stranger.page.get_by_role("alert")).to_contain_text("Name or password is wrong")
    expect(stranger.heading("Overview")).not_to_be_visible()


def test_signing_in_leads_to_the_page_that_was_asked_for(stranger: ConsolePage, cluster: Cluster):
    stranger.open("/topics?kind=SYSTEM")
    expect(stranger.page.get_by_label("Name")).to_be_visible()

    stranger.sign_in(cluster.admin_name, cluster.admin_password)

    expect(stranger.heading("Topics")).to_be_visible()
    assert "/topics?kind=SYSTEM" in stranger.page.url


def test_signing_out_closes_the_door(console: ConsolePage):
    console.open_overview()
    console.page.get_by_role("button", name="Account of admin").click()
    console.page.get_by_role("menuitem", name="Sign out").click()
    expect(console.page.get_by_label("Name")).to_be_visible()

    console.open("/topology")

    expect(console.page.get_by_label("Name")).to_be_visible()
    expect(console.heading("Topology")).not_to_be_visible()


@long_form_only
def test_two_broker_groups_stand_there_with_their_masters(console: ConsolePage):
    console.open("/topology")

    picture = console.page.get_by_role("figure")
    brokers = console.table("Brokers")

    for group in GROUPS:
        expect(picture.get_by_text(group, exact=True)).to_be_visible()
        row = brokers.get_by_role("row").filter(has_text=group)
        expect(row).to_contain_text("Master")
        expect(row).to_contain_text("online")
    expect(picture.get_by_text(", Master")).to_have_count(len(GROUPS))
    expect(console.table("Name servers").get_by_role("row")).to_have_count(2)


@long_form_only
def test_a_topic_opens_with_its_queues_and_the_route_of_its_clients(
    console: ConsolePage,
    cluster: Cluster,
    stock_client: StockClient,
):
    topic = "console-opened"
    # A client that looks the route up right after its first message sends to one broker alone.
    some_broker = re.compile("|".join(re.escape(broker.address) for broker in cluster.brokers))
    stock_client.run("send", mode="sync", topic=topic, count=40)
    console.open("/topics?search=console-op")

    console.page.get_by_role("link", name=topic).click()

    expect(console.heading(topic)).to_be_visible()
    expect(console.table("Placements").get_by_role("row")).not_to_have_count(1)
    expect(console.table("Route, as clients see it")).to_contain_text(some_broker)
    held = console.page.locator("dt", has_text="Messages held")
    expect(held.locator("xpath=following-sibling::dd[1]")).to_have_text("40")


def test_the_message_rate_moves_while_a_stock_client_sends_and_rests_after_it(
    console: ConsolePage,
    stock_client: StockClient,
):
    console.open_overview()
    console.await_live()

    def is_at_rest() -> bool:
        return console.figure("Messages in") == 0

    def is_moving() -> bool:
        return (console.figure("Messages in") or 0) > 20

    def what() -> str:
        return f"messages in: {console.tile('Messages in').inner_text()}"

    wait_until(is_at_rest, timeout_s=MOVE_TIMEOUT_S, what=what, interval_s=0.2)
    # For longer than is waited: where figures come late on a busy machine, it sends until then.
    count = int(2 * MOVE_TIMEOUT_S) * SEND_RATE
    with stock_client.start("send", mode="sync", topic="console-rate", count=count, rate=SEND_RATE):
        wait_until(is_moving, timeout_s=MOVE_TIMEOUT_S, what=what, interval_s=0.2)
    wait_until(is_at_rest, timeout_s=MOVE_TIMEOUT_S, what=what, interval_s=0.2)

    console.page.get_by_text("Table", exact=True).click()
    rates = console.table("Messages per second in and out")
    expect(rates.get_by_role("row").nth(3)).to_be_visible()


def test_the_keyboard_alone_leads_through_the_console(console: ConsolePage):
    console.open_overview()
    keyboard = console.page.keyboard

    console.go("gp")
    expect(console.heading("Topics")).to_be_visible()
    keyboard.press("/")
    keyboard.type("TBW")
    expect(console.page.get_by_role("link", name="TBW102")).to_be_visible()
    expect(console.page.get_by_role("link", name="BenchmarkTest")).not_to_be_visible()

    assert "search=TBW" in console.page.url


@long_form_only
def test_a_reload_gives_the_same_view(console: ConsolePage):
    console.open("/topics?search=TBW&kind=SYSTEM&sort=-name")
    expect(console.page.get_by_role("link", name="TBW102")).to_be_visible()

    console.page.reload()

    expect(console.page.get_by_label("Find by name")).to_have_value("TBW")
    expect(console.page.get_by_role("radio", name="System", exact=True)).to_be_checked()
    header = console.page.get_by_role("columnheader", name="Topic")
    expect(header).to_have_attribute("aria-sort", "descending")


def test_a_narrow_screen_shows_where_one_is_and_cuts_no_sentence_off(console: ConsolePage):
    console.open_overview()
    console.page.set_viewport_size({"width": 390, "height": 844})
    health = console.page.get_by_text("broker groups are healthy")
    expect(health).to_be_visible()

    sentence = health.bounding_box()
    console.open("/audit")

    assert sentence is not None
    assert sentence["x"] + sentence["width"] <= 390
    rail = console.page.get_by_role("navigation")
    expect(rail.get_by_role("link", name="Audit")).to_be_in_viewport(ratio=1)


def test_the_chosen_colours_are_kept_against_the_system(console: ConsolePage):
    console.open_overview()
    root = console.page.locator("html")
    expect(root).to_have_attribute("data-mantine-color-scheme", "light")

    console.page.get_by_role("radiogroup", name="Colours").get_by_title("Dark").click()
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
    console.page.reload()

    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
