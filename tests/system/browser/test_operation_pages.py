"""The list of operations, the audit, and each page of both in both colour schemes."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.long_form import chosen, long_form_only
from tests.system.browser.console_page import Chromium, ConsolePage, signed_in
from tests.system.browser.group_orders import (
    END_TIMEOUT_MS,
    GROUP,
    OPERATIONS,
    another,
    plan,
    plan_election,
)
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import await_whole

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

PAGES = {
    "operations": ("/operations", "Operations"),
    "operations-none": ("/operations?search=nothing-like-it", "Operations"),
    "audit": ("/audit", "Audit"),
}
KEPT = ("operations", "audit", "operation-done", "operation-loss", "operation-blocked")


@pytest.fixture(scope="module")
def group(three: Cluster) -> Cluster:
    """Give a group of three whose master was elected by an order."""
    with administrator(three) as client:
        before = await_whole(three, GROUP)
        path = f"{OPERATIONS}/{plan_election(client, another(client, before))}"
        given = {"typed_name": GROUP, "reason": "planned work"}
        client.post(f"{path}/confirm", json=given).raise_for_status()
        wait_until(
            lambda: client.get(path).json()["state"] == "done",
            timeout_s=END_TIMEOUT_MS / 1000,
            what=lambda: client.get(path).text,
        )
        await_whole(three, GROUP, other_than=before.master)
    return three


@pytest.fixture
def client(group: Cluster) -> Iterator[httpx.Client]:
    with administrator(group) as client:
        yield client


@pytest.fixture
def console(browser: Chromium, group: Cluster) -> Iterator[ConsolePage]:
    with signed_in(browser, group) as tab:
        yield tab


def test_the_list_is_narrowed_and_stays_so_after_a_reload(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    plan_election(client, another(client, await_whole(group, GROUP)))
    page = console.page
    console.open_overview()
    console.go("gx")
    expect(console.heading("Operations")).to_be_visible()

    page.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="Planned").click()
    page.get_by_role("combobox", name="Kind").click()
    page.get_by_role("option", name="Elect master").click()
    page.get_by_label("Find by target").fill("oker-a")

    rows = console.table("Operations").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("becomes master of broker-a")
    expect(rows.get_by_role("cell", name="done", exact=True)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("combobox", name="State")).to_have_value("Planned")
    expect(rows.get_by_role("cell", name="done", exact=True)).to_have_count(0)
    page.get_by_label("Find by target").fill("nothing-like-it")
    expect(page.get_by_text("No operation matches")).to_be_visible()


def test_the_audit_is_searched_verified_and_exported(
    console: ConsolePage, client: httpx.Client, tmp_path: Path
):
    page = console.page
    planned = client.get(OPERATIONS, params={"limit": "1"}).json()["items"][0]
    console.open_overview()
    console.go("ga")
    expect(console.heading("Audit")).to_be_visible()

    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(re.compile("^All [0-9,]+ entries are as they were"))).to_be_visible()
    page.get_by_label("Find by user").fill("admin")
    page.get_by_label("Id of an operation").fill(planned["id"])
    rows = console.table("Audit").get_by_role("row")
    expect(rows.last).to_contain_text("operation.planned")
    export = page.get_by_role("link", name="Export")
    expect(export).to_have_attribute("href", re.compile(f"actor=admin.*{planned['id']}"))
    with page.expect_download() as download:
        export.click()
    file = tmp_path / "audit.jsonl"
    download.value.save_as(file)

    lines = file.read_text().splitlines()
    # The list of the filter before stands there until the answer has come.
    expect(rows).to_have_count(len(lines) + 1)
    assert all(planned["id"] in line for line in lines)


def test_a_page_of_operations_is_accessible_and_nothing_of_it_is_refused(
    browser: Chromium, group: Cluster, client: httpx.Client
):
    wanted = another(client, await_whole(group, GROUP))
    ended = client.get(OPERATIONS, params={"state": "done", "limit": "1"}).json()["items"][0]
    shown = {
        "operation-plan": plan(client, "elect_master", broker_id=wanted),
        "operation-done": ended,
        "operation-loss": plan(client, "forget_replicas", includes_living=True),
        "operation-blocked": plan(client, "forget_replicas", broker_ids=[wanted]),
    }
    headings = {name: one["plan"]["summary"] for name, one in shown.items()}
    pages = PAGES | {
        name: (f"/operations/{one['id']}", headings[name][0].upper() + headings[name][1:])
        for name, one in shown.items()
    }
    with signed_in(browser, group) as console:
        # High enough for a whole plan with its confirmation.
        console.page.set_viewport_size({"width": 1440, "height": 1320})
        for name in chosen(pages, *KEPT):
            path, heading = pages[name]
            console.open(path)
            expect(console.heading(heading)).to_be_visible()
            console.await_live()
            if name == "operation-loss":
                console.page.get_by_role("button", name="Carry it out").click()

            console.look(name, alerts=1 if name == "operation-blocked" else 0)


def test_what_opens_over_a_page_is_accessible(browser: Chromium, group: Cluster):
    with signed_in(browser, group) as console:
        page = console.page
        console.open(f"/replica-groups/{GROUP}")
        forget = page.get_by_role("button", name="Forget…")
        forget.click()
        console.expect_open(page.get_by_role("dialog", name=f"Forget replicas of {GROUP}"))

        console.look("replica-group-forget")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(forget).to_be_focused()
        page.keyboard.type("?")
        console.expect_open(page.get_by_role("dialog", name="Keys"))
        console.look("keys")


@long_form_only
def test_a_form_to_prefer_a_master_fences_no_broker(browser: Chromium, group: Cluster):
    with signed_in(browser, group) as console:
        console.open(f"/replica-groups/{GROUP}")
        console.page.get_by_role("button", name="Prefer…").click()
        console.expect_open(console.page.get_by_role("dialog", name=f"Prefer a master of {GROUP}"))

        console.look("replica-group-prefer")
