"""A person changes a group: plans, confirms, watches, and sees correct data throughout."""

import os
import re
import signal
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.long_form import long_form_only
from tests.system.browser.console_page import Chromium, ConsolePage, signed_in
from tests.system.browser.group_orders import (
    END_TIMEOUT_MS,
    GROUP,
    OPERATIONS,
    another,
    assert_carried_out,
    at_rest,
    ids_by_address,
    let_timers_run,
    members,
    operation_id,
    plan_election,
    process_id,
    state_of,
    tab_to,
)
from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import await_whole

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

OUT_OF_SET_S = 60.0
# Notes what the page says of the operation's state, each time it says something else.
NOTE_STATES = """
() => {
  window.toldStates = [];
  const note = () => {
    const told = document.querySelector('h1 + div [role=status] [data-tone]');
    const now = told && `${told.dataset.tone}: ${told.textContent}`;
    if (now && window.toldStates.at(-1)?.told !== now) {
      window.toldStates.push({ told: now, at: Date.now() });
    }
  };
  new MutationObserver(note).observe(document.body, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
  note();
}
"""


@pytest.fixture(scope="module")
def group(three: Cluster) -> Cluster:
    await_whole(three, GROUP)
    return three


@pytest.fixture
def client(group: Cluster) -> Iterator[httpx.Client]:
    with administrator(group) as client:
        yield client


@pytest.fixture
def console(browser: Chromium, group: Cluster) -> Iterator[ConsolePage]:
    with signed_in(browser, group) as tab:
        yield tab


@long_form_only
def test_a_master_is_elected_by_mouse(console: ConsolePage, group: Cluster, client: httpx.Client):
    before = await_whole(group, GROUP)
    wanted = another(client, before)
    page = console.page
    console.open(f"/replica-groups/{GROUP}")

    page.get_by_role("combobox", name="New master").click()
    page.get_by_role("option", name=f"Replica {wanted}").click()
    page.get_by_role("button", name="Plan the election").click()

    expect(console.heading(f"Broker {wanted} becomes master of {GROUP}")).to_be_visible()
    expect(state_of(console)).to_have_text("planned")
    for block in ("What will happen", "What changes", "Impact", "What could go wrong"):
        expect(page.get_by_role("region", name=block)).to_be_visible()
    change = (
        page.get_by_role("row")
        .filter(has_text="Master epoch")
        .or_(page.get_by_role("row").filter(has_text="master epoch"))
    )
    expect(change.first).to_contain_text(f"{before.epoch + 1}")
    assert await_whole(group, GROUP) == before
    page.get_by_role("button", name="Carry it out").click()
    expect(page.get_by_text(f"This is not {GROUP}")).to_be_visible()
    page.get_by_label(f"Type the name {GROUP}").fill(GROUP)
    page.get_by_label("Reason, for the audit").fill("planned work")
    page.get_by_role("button", name="Carry it out").click()

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    read_back = console.table("Read back")
    expect(read_back.get_by_role("row").filter(has_text="master epoch")).to_contain_text(
        "as intended"
    )
    assert_carried_out(group, client, console, wanted, before)
    console.open(f"/replica-groups/{GROUP}")
    cause = console.table("History").get_by_role("link", name=re.compile("^operation ")).first
    cause.click()
    expect(console.heading(f"Broker {wanted} becomes master of {GROUP}")).to_be_visible()
    assert console.complaints == []


def test_a_master_is_elected_by_keyboard_alone(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    before = await_whole(group, GROUP)
    wanted = another(client, before)
    console.open_overview()
    keyboard = console.page.keyboard

    console.go("gr")
    expect(console.heading("Replica groups")).to_be_visible()
    tab_to(console, console.page.get_by_role("link", name=GROUP))
    keyboard.press("Enter")
    expect(console.heading(GROUP)).to_be_visible()
    asked = console.page.get_by_role("combobox", name="New master")
    expect(asked).to_be_visible()
    keyboard.press("e")
    expect(asked).to_be_focused()
    keyboard.press("Enter")
    expect(console.page.get_by_role("option", name=f"Replica {wanted}")).to_be_visible()
    let_timers_run(console)
    for _ in range(wanted):
        keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(asked).to_have_value(f"Replica {wanted}")
    tab_to(console, console.page.get_by_role("button", name="Plan the election"))
    keyboard.press("Enter")
    expect(console.heading(f"Broker {wanted} becomes master of {GROUP}")).to_be_visible()
    tab_to(console, console.page.get_by_label(f"Type the name {GROUP}"))
    keyboard.type(GROUP)
    keyboard.press("Tab")
    keyboard.type("planned work")
    keyboard.press("Tab")
    expect(console.page.get_by_role("button", name="Carry it out")).to_be_focused()
    keyboard.press("Enter")

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    assert_carried_out(group, client, console, wanted, before)


@long_form_only
def test_an_election_is_taken_back_from_its_page(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    before = await_whole(group, GROUP)
    former = ids_by_address(client)[before.master or ""]
    first = plan_election(client, another(client, before))
    given = {"typed_name": GROUP, "reason": "planned work"}
    client.post(f"{OPERATIONS}/{first}/confirm", json=given).raise_for_status()
    # The former master is electable once it has followed.
    between = await_whole(group, GROUP, other_than=before.master)
    page = console.page
    console.open(f"/operations/{first}")
    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)

    page.get_by_role("button", name="Undo").click()
    expect(console.heading(f"Broker {former} becomes master of {GROUP}")).to_be_visible()
    page.get_by_label(f"Type the name {GROUP}").fill(GROUP)
    page.get_by_label("Reason, for the audit").fill("planned work")
    page.get_by_role("button", name="Carry it out").click()

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    assert_carried_out(group, client, console, former, between)
    page.get_by_role("link", name="undoes an earlier operation").click()
    expect(state_of(console)).to_have_text("undone")


def test_the_page_stays_correct_while_the_control_plane_falls_and_the_socket_is_cut(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    before = await_whole(group, GROUP)
    wanted = another(client, before)
    ids = ids_by_address(client)
    third = next(
        broker
        for broker in group.brokers
        if ids[broker.address] not in (wanted, ids[before.master])
    )
    assert third.pid is not None
    page = console.page
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/graphql"), pass_on)
    console.open(f"/operations/{plan_election(client, wanted)}")
    console.await_live()
    page.get_by_label(f"Type the name {GROUP}").fill(GROUP)
    page.get_by_label("Reason, for the audit").fill("planned work")
    # The third one neither follows nor is known to be dead for a while: the operation waits.
    os.kill(third.pid, signal.SIGSTOP)
    try:
        page.evaluate(NOTE_STATES)
        page.get_by_role("button", name="Carry it out").click()
        at_work = page.get_by_role("listitem").filter(has_text="at work")
        expect(at_work).to_contain_text("Wait until")

        # At once: the operation waits for seconds only.
        os.kill(process_id(group, "control-plane"), signal.SIGKILL)
        expect(state_of(console)).to_have_text(re.compile(r"^running, last seen \d+ s ago$"))
        expect(state_of(console).locator("[data-tone]")).to_have_attribute("data-tone", "unknown")
        console.screenshot("operation-last-seen-light")
        expect(state_of(console)).to_have_text(re.compile("^(running|done)$"), timeout=90_000)
        console.await_live()

        sockets[-1].close(code=1011, reason="cut")
        expect(page.get_by_text(re.compile("^Reconnecting since"))).to_be_visible()
        expect(state_of(console)).to_have_text(re.compile("^(running|done)"))
        console.await_live()
    finally:
        os.kill(third.pid, signal.SIGCONT)

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    ended = client.get(f"{OPERATIONS}/{operation_id(console)}").raise_for_status().json()
    told = page.evaluate("window.toldStates")
    words = [one["told"] for one in told]
    assert words[-1] == "good: done"
    # Nothing but the end itself was ever shown in green.
    assert {word for word in words if word.startswith("good")} == {"good: done"}
    assert any(word.startswith("unknown: running, last seen") for word in words)
    assert ended["state"] == "done"
    page.reload()
    expect(state_of(console)).to_have_text("done")
    await_whole(group, GROUP, other_than=before.master)


def test_a_plan_whose_facts_have_moved_says_which_and_is_planned_again(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    before = await_whole(group, GROUP)
    wanted = another(client, before)
    page = console.page
    console.open(f"/operations/{plan_election(client, wanted)}")
    expect(page.get_by_role("button", name="Carry it out")).to_be_visible()
    stale_id = operation_id(console)

    other = plan_election(client, wanted)
    given = {"typed_name": GROUP, "reason": "somebody was faster"}
    client.post(f"{OPERATIONS}/{other}/confirm", json=given).raise_for_status()

    expect(page.get_by_text("This plan has expired: master epoch changed")).to_be_visible()
    expect(page.get_by_text(f"It was {before.epoch} at planning time")).to_be_visible()
    expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)
    await_whole(group, GROUP, other_than=before.master)
    page.get_by_role("button", name="Plan again").click()
    expect(console.heading(f"Broker {wanted} is master of {GROUP} and stays so")).to_be_visible()
    assert operation_id(console) != stale_id


@long_form_only
def test_what_is_refused_says_why_and_cannot_be_confirmed(console: ConsolePage, group: Cluster):
    await_whole(group, GROUP)
    page = console.page
    console.open(f"/replica-groups/{GROUP}")

    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("checkbox", name=re.compile("alive$")).first.check()
    page.get_by_role("button", name="Plan it").click()

    expect(page.get_by_role("alert")).to_contain_text("This can't be carried out")
    expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)
    console.look("operation-blocked", alerts=1)
    page.get_by_role("button", name="Discard the plan").click()
    expect(state_of(console)).to_have_text("cancelled")


def test_what_may_lose_data_waits_and_can_be_cancelled_until_it_begins(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    state = await_whole(group, GROUP)
    ids = ids_by_address(client)
    gone = next(broker for broker in group.brokers if broker.address != state.master)
    assert gone.pid is not None
    gone_id = ids[gone.address]
    page = console.page
    os.kill(gone.pid, signal.SIGSTOP)
    try:
        wait_until(
            lambda: gone_id not in members(client),
            timeout_s=OUT_OF_SET_S,
            what=lambda: f"{members(client)}",
        )
        console.open(f"/replica-groups/{GROUP}")
        page.get_by_role("button", name="Forget…").click()
        page.get_by_role("checkbox", name=re.compile(f"^{gone_id} at .*not heard$")).check()
        page.get_by_role("button", name="Plan it").click()

        page.get_by_label(f"Type the name {GROUP}").fill(GROUP)
        page.get_by_label("Reason, for the audit").fill("it burnt")
        page.get_by_role("button", name="Carry it out").click()
        expect(page.get_by_text("Accept the loss, or discard the plan")).to_be_visible()
        console.screenshot("operation-loss-light")
        page.get_by_role("checkbox", name=re.compile("^I accept")).check()
        # The ten seconds may be over before a busy browser has been pictured.
        with at_rest(group, "worker"):
            page.get_by_role("button", name="Carry it out").click()

            expect(page.get_by_text(re.compile(r"^Begins in \d+ s$"))).to_be_visible()
            console.screenshot("operation-held-light")
            page.get_by_role("button", name="Cancel").click()
            expect(state_of(console)).to_have_text("cancelled")
    finally:
        os.kill(gone.pid, signal.SIGCONT)
    assert set(ids_by_address(client).values()) == set(ids.values())
    await_whole(group, GROUP)
