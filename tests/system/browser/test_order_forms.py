"""A person creates, changes and deletes things by forms, each by way of its plan."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.long_form import long_form_only
from tests.system.browser.console_page import ConsolePage
from tests.system.browser.group_orders import END_TIMEOUT_MS, state_of
from tests.system.browser.ordered_consumers import member
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator, topic_names
from tests.system.groups import send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GROUP = "broker-a"
SUCCESS = 0


@pytest.fixture
def client(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


def carry_out(console: ConsolePage, name: str | None) -> None:
    """Confirm the plan that is shown, with a name and a reason where it asks for them."""
    page = console.page
    expect(page.get_by_role("button", name="Carry it out")).to_be_visible()
    if name is not None:
        page.get_by_label(f"Type the name {name}").fill(name)
        page.get_by_label("Reason, for the audit").fill("planned work")
    page.get_by_role("button", name="Carry it out").click()
    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)


def test_a_topic_is_created_changed_and_deleted_from_the_pages(
    console: ConsolePage, client: httpx.Client
):
    page = console.page
    console.open("/topics?order=create")
    dialog = page.get_by_role("dialog", name="Create a topic in DefaultCluster")
    dialog.get_by_label("Name").fill("form made")
    dialog.get_by_label("Read queues").fill("70000")
    dialog.get_by_role("button", name="Plan it").click()
    expect(dialog.get_by_text(re.compile("can't contain blanks"))).to_be_visible()
    expect(dialog.get_by_text("From 0 to 65535")).to_be_visible()
    expect(dialog.get_by_label("Name")).to_be_focused()
    console.screenshot("order-create-topic-wrong-light")
    dialog.get_by_label("Name").fill("form-made")
    dialog.get_by_label("Read queues").fill("4")
    dialog.get_by_label("Write queues").fill("4")
    dialog.get_by_role("button", name="Plan it").click()
    expect(console.heading("Topic form-made is created on 2 broker groups")).to_be_visible()
    carry_out(console, None)
    wait_until(
        lambda: "form-made" in topic_names(client),
        timeout_s=PATIENCE_S,
        what=lambda: f"{topic_names(client)}",
    )

    console.open("/topics/form-made?order=change")
    dialog = page.get_by_role("dialog", name="Change form-made")
    dialog.get_by_label("Write queues").fill("6")
    dialog.get_by_label("Read queues").fill("6")
    dialog.get_by_role("button", name="Plan it").click()
    expect(page.get_by_role("region", name="What changes")).to_contain_text("6 read and 6 write")
    carry_out(console, None)

    console.open("/topics/form-made")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Plan it").click()
    carry_out(console, "form-made")
    wait_until(
        lambda: "form-made" not in topic_names(client),
        timeout_s=PATIENCE_S,
        what=lambda: f"{topic_names(client)}",
    )
    assert console.complaints == []


def test_offsets_are_reset_with_a_preview_of_each_queue(
    console: ConsolePage, cluster: Cluster, client: httpx.Client
):
    topic, group, copying = "form-reset", "form-readers", "form-copies"
    address = cluster.broker(GROUP).address
    for _ in range(5):
        assert send(address, topic) == SUCCESS
    for name in (group, copying):
        with member(address, name, topic, "10.0.0.9@1"):
            pass
    wait_until(
        lambda: topic in topic_names(client),
        timeout_s=PATIENCE_S,
        what=lambda: f"{topic_names(client)}",
    )
    page = console.page
    console.open(f"/topics/{topic}?order=reset&group={group}")
    dialog = page.get_by_role("dialog", name=f"Reset offsets in {topic}")
    expect(dialog.get_by_label("Consumer group", exact=True)).to_have_value(group)
    console.expect_open(dialog)
    console.look("reset-offsets")
    dialog.get_by_role("combobox", name="Go on from").click()
    page.get_by_role("option", name=re.compile("^the end")).click()
    dialog.get_by_role("button", name="Plan it").click()

    changes = page.get_by_role("region", name="What changes")
    expect(changes).to_contain_text(f"{GROUP} queue 0, holding 0 to 5: 5 skipped, 0 read again")
    carry_out(console, group)
    expect(console.table("Read back")).to_contain_text("as intended")

    console.open(f"/topics/{topic}?order=reset&group={copying}")
    dialog.get_by_role("combobox", name="Go on from").click()
    page.get_by_role("option", name="where another consumer group is").click()
    dialog.get_by_label("Copy from").fill(group)
    dialog.get_by_role("button", name="Plan it").click()
    expect(changes).to_contain_text(f"{GROUP} queue 0, holding 0 to 5: 5 skipped, 0 read again")
    carry_out(console, copying)
    expect(console.table("Read back")).to_contain_text("as intended")


@long_form_only
def test_a_consumer_group_is_created_and_a_setting_of_a_broker_is_changed(
    console: ConsolePage, client: httpx.Client
):
    page = console.page
    console.open("/topics")
    page.get_by_role("button", name="Consumer groups").click()
    page.get_by_role("menuitem", name="Create a consumer group…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Consumer group", exact=True).fill("form-group")
    dialog.get_by_role("button", name="Plan it").click()
    carry_out(console, None)

    console.open("/topology")
    broker = console.table("Brokers").get_by_role("row").filter(has_text=GROUP)
    broker.get_by_role("link", name=f"{GROUP}-0", exact=True).click()
    expect(console.heading(f"{GROUP}-0")).to_be_visible()
    page.get_by_label("Find a setting").fill("slaveTimeout")
    page.get_by_role("checkbox", name="Choose slaveTimeout to change it").check()
    page.get_by_role("button", name="Change one setting…").click()
    dialog = page.get_by_role("dialog", name=f"Change settings of {GROUP}-0")
    dialog.get_by_label("slaveTimeout").fill("4000")
    console.expect_open(dialog)
    console.look("change-config")
    dialog.get_by_role("button", name="Plan it").click()
    expect(page.get_by_role("region", name="What changes")).to_contain_text("4000")
    carry_out(console, f"{GROUP}-0")

    path = f"/api/v1/clusters/DefaultCluster/broker-groups/{GROUP}/brokers/0/config"
    told = client.get(path).raise_for_status().json()["properties"]
    changed = next(one for one in told if one["name"] == "slaveTimeout")
    assert (changed["value"], changed["stored"]) == ("3000", "4000")
    console.open(f"/brokers/{GROUP}-0?search=slaveTimeout")
    expect(console.table("Settings")).to_contain_text("needs a restart")


@long_form_only
def test_a_broker_is_cordoned_and_uncordoned_from_its_page(console: ConsolePage):
    page = console.page
    console.open("/brokers/broker-b-0")
    expect(page.get_by_text("may write", exact=True)).to_be_visible()

    page.get_by_role("button", name="Cordon…", exact=True).click()
    carry_out(console, "broker-b-0")
    console.open("/brokers/broker-b-0")
    expect(page.get_by_text("cordoned: not writable")).to_be_visible()
    page.get_by_role("button", name="Uncordon…").click()
    carry_out(console, None)

    console.open("/brokers/broker-b-0")
    expect(page.get_by_text("may write", exact=True)).to_be_visible()
