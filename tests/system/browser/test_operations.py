"""A person changes a group: plans, confirms, watches, and is told the truth throughout."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
from playwright.sync_api import Browser, Locator, WebSocketRoute, expect

from tests.system.browser.console_page import ConsolePage, Scheme, open_console
from tests.system.cluster import (
    Cluster,
    free_ports_for_three,
    running_cluster,
    short_directory,
    wait_until,
)
from tests.system.console import administrator
from tests.system.groups import GroupState, await_whole

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

GROUP = "broker-a"
OPERATIONS = "/api/v1/operations"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PAGES = {
    "operations": ("/operations", "Operations"),
    "operations-none": ("/operations?search=nothing-like-it", "Operations"),
    "audit": ("/audit", "Audit"),
}
END_TIMEOUT_MS = 60_000
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
def group() -> Iterator[Cluster]:
    with (
        short_directory() as directory,
        running_cluster(
            directory / "data", free_ports_for_three(), "--groups", "1", "--replicas", "3"
        ) as cluster,
    ):
        await_whole(cluster, GROUP)
        yield cluster


@pytest.fixture
def client(group: Cluster) -> Iterator[httpx.Client]:
    with administrator(group) as client:
        yield client


@pytest.fixture
def console(browser: Browser, group: Cluster) -> Iterator[ConsolePage]:
    with signed_in(browser, group, "light") as tab:
        yield tab


@contextmanager
def signed_in(browser: Browser, cluster: Cluster, scheme: Scheme) -> Iterator[ConsolePage]:
    with open_console(browser, cluster.http_url, scheme) as tab:
        tab.open("/")
        tab.sign_in(cluster.admin_name, cluster.admin_password)
        expect(tab.heading("Overview")).to_be_visible()
        yield tab


def ids_by_address(client: httpx.Client) -> dict[str, int]:
    found = client.get(f"/api/v1/clusters/DefaultCluster/replica-groups/{GROUP}")
    return {one["address"]: one["broker_id"] for one in found.raise_for_status().json()["replicas"]}


def another(client: httpx.Client, state: GroupState) -> int:
    """Choose a member of the set that is not the master."""
    return ids_by_address(client)[min(state.in_sync - {state.master})]


def state_of(console: ConsolePage) -> Locator:
    """Find the word that says where an operation stands."""
    return console.page.locator("h1 + div").get_by_role("status")


def operation_id(console: ConsolePage) -> str:
    found = re.search(r"/operations/([0-9a-f-]{36})", console.page.url)
    assert found is not None, console.page.url
    return found.group(1)


def plan_election(client: httpx.Client, broker_id: int) -> str:
    parameters = {
        "cluster_name": "DefaultCluster",
        "group_name": GROUP,
        "broker_id": broker_id,
    }
    order = {"kind": "elect_master", "parameters": parameters}
    found: str = client.post(OPERATIONS, json=order).raise_for_status().json()["id"]
    return found


def process_id(cluster: Cluster, name: str) -> int:
    return int(next(p["pid"] for p in cluster.state["processes"] if p["name"] == name))


def assert_carried_out(
    group: Cluster, client: httpx.Client, console: ConsolePage, wanted: int, before: GroupState
) -> None:
    """Ask the cluster, the database and the audit whether the election was as it was shown."""
    after = await_whole(group, GROUP, other_than=before.master)
    assert after.master is not None
    assert ids_by_address(client)[after.master] == wanted
    assert after.epoch == before.epoch + 1
    shown_id = operation_id(console)
    url = psutil.Process(process_id(group, "control-plane")).environ()["REGENT_DATABASE_URL"]
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT state, confirmed_by, reason FROM operations WHERE id = %s", (shown_id,)
        ).fetchone()
    assert row == ("done", "admin", "planned work")
    found = client.get("/api/v1/audit", params={"operation_id": shown_id}).json()["items"]
    queued = next(entry for entry in found if entry["action"] == "operation.queued")
    assert (queued["actor"], queued["details"]["reason"]) == ("admin", "planned work")
    assert queued["source"].startswith("graphql ")
    assert [entry["action"] for entry in found].count("step.done") == 2


def test_a_master_is_elected_by_mouse(console: ConsolePage, group: Cluster, client: httpx.Client):
    before = await_whole(group, GROUP)
    wanted = another(client, before)
    page = console.page
    console.open(f"/replica-groups/{GROUP}")

    page.get_by_role("combobox", name="If an operator asked for").click()
    page.get_by_role("option", name=f"Replica {wanted}").click()
    page.get_by_role("button", name="Plan the election").click()

    expect(console.heading(f"Broker {wanted} becomes master of {GROUP}")).to_be_visible()
    expect(state_of(console)).to_have_text("planned")
    for block in ("What will happen", "What changes", "Who feels it", "What could go wrong"):
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
    page.get_by_label("Reason, which stands in the audit").fill("planned work")
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
    keyboard = console.page.keyboard

    keyboard.type("gr")
    expect(console.heading("Replica groups")).to_be_visible()
    tab_to(console, console.page.get_by_role("link", name=GROUP))
    keyboard.press("Enter")
    expect(console.heading(GROUP)).to_be_visible()
    asked = console.page.get_by_role("combobox", name="If an operator asked for")
    expect(asked).to_be_visible()
    keyboard.press("e")
    expect(asked).to_be_focused()
    keyboard.press("Enter")
    expect(console.page.get_by_role("option", name=f"Replica {wanted}")).to_be_visible()
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


def tab_to(console: ConsolePage, wanted: Locator) -> None:
    """Press Tab until something has the focus, as somebody without a mouse would."""
    expect(wanted).to_be_visible()
    for _ in range(60):
        console.page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"Tab does not lead to {wanted}")


def test_the_page_tells_the_truth_while_the_control_plane_falls_and_the_socket_is_cut(
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
    # The third one neither follows nor is known to be dead for a while: the operation waits.
    os.kill(third.pid, signal.SIGSTOP)
    try:
        page.get_by_label(f"Type the name {GROUP}").fill(GROUP)
        page.get_by_label("Reason, which stands in the audit").fill("planned work")
        page.get_by_role("button", name="Carry it out").click()
        page.evaluate(NOTE_STATES)
        at_work = page.get_by_role("listitem").filter(has_text="at work")
        expect(at_work).to_contain_text("wait")

        sockets[-1].close(code=1011, reason="cut")
        expect(page.get_by_text(re.compile("^Reconnecting since"))).to_be_visible()
        expect(state_of(console)).to_have_text("running")
        console.await_live()

        os.kill(process_id(group, "control-plane"), signal.SIGKILL)
        expect(state_of(console)).to_have_text(re.compile(r"^running, last seen \d+ s ago$"))
        expect(state_of(console).locator("[data-tone]")).to_have_attribute("data-tone", "unknown")
        expect(state_of(console)).to_have_text(re.compile("^(running|done)$"), timeout=90_000)
    finally:
        os.kill(third.pid, signal.SIGCONT)

    expect(state_of(console)).to_have_text("done", timeout=END_TIMEOUT_MS)
    ended = client.get(f"{OPERATIONS}/{operation_id(console)}").raise_for_status().json()
    told = page.evaluate("window.toldStates")
    words = [one["told"] for one in told]
    assert words[-1] == "good: done"
    # Nothing but the end itself was ever shown in green.
    assert [word for word in words[:-1] if word.startswith("good")] == []
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

    expect(page.get_by_text("This plan is void: master epoch has moved")).to_be_visible()
    expect(page.get_by_text(f"It was {before.epoch} when this was planned")).to_be_visible()
    expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)
    await_whole(group, GROUP, other_than=before.master)
    page.get_by_role("button", name="Plan again").first.click()
    expect(console.heading(f"Broker {wanted} is master of {GROUP} and stays so")).to_be_visible()
    assert operation_id(console) != stale_id


def test_what_is_refused_says_why_and_cannot_be_confirmed(console: ConsolePage, group: Cluster):
    await_whole(group, GROUP)
    page = console.page
    console.open(f"/replica-groups/{GROUP}")

    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("checkbox", name=re.compile("alive$")).first.check()
    page.get_by_role("button", name="Plan it").click()

    expect(page.get_by_role("alert")).to_contain_text("This can’t be carried out: they may go")
    expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)
    console.screenshot("operation-blocked-light")
    assert console.violations() == []
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
        page.get_by_label("Reason, which stands in the audit").fill("it burnt")
        page.get_by_role("button", name="Carry it out").click()
        expect(page.get_by_text("Accept the loss, or discard the plan")).to_be_visible()
        console.screenshot("operation-loss-light")
        page.get_by_role("checkbox", name=re.compile("^I accept")).check()
        page.get_by_role("button", name="Carry it out").click()

        expect(page.get_by_text(re.compile(r"^Begins in \d+ s$"))).to_be_visible()
        console.screenshot("operation-held-light")
        page.get_by_role("button", name="Cancel").first.click()
        expect(state_of(console)).to_have_text("cancelled")
    finally:
        os.kill(gone.pid, signal.SIGCONT)
    assert set(ids_by_address(client).values()) == set(ids.values())
    await_whole(group, GROUP)


def members(client: httpx.Client) -> list[int]:
    found = client.get(f"/api/v1/clusters/DefaultCluster/replica-groups/{GROUP}")
    ids: list[int] = found.raise_for_status().json()["sync_state_set"]
    return ids


def test_the_list_is_narrowed_and_stays_so_after_a_reload(
    console: ConsolePage, group: Cluster, client: httpx.Client
):
    plan_election(client, another(client, await_whole(group, GROUP)))
    page = console.page
    page.keyboard.type("gx")
    expect(console.heading("Operations")).to_be_visible()

    page.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="Planned").click()
    page.get_by_role("combobox", name="Kind").click()
    page.get_by_role("option", name="Elect master").click()
    page.get_by_label("Find by target").fill("oker-a")

    rows = console.table("Operations").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("becomes master of broker-a")
    expect(rows.filter(has_text="done")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("combobox", name="State")).to_have_value("Planned")
    expect(rows.filter(has_text="done")).to_have_count(0)
    page.get_by_label("Find by target").fill("nothing-like-it")
    expect(page.get_by_text("No operation matches")).to_be_visible()


def test_the_audit_is_searched_verified_and_exported(
    console: ConsolePage, client: httpx.Client, tmp_path: Path
):
    page = console.page
    plan = client.get(OPERATIONS, params={"limit": "1"}).json()["items"][0]
    page.keyboard.type("ga")
    expect(console.heading("Audit")).to_be_visible()

    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(re.compile("^All [0-9,]+ entries are as they were"))).to_be_visible()
    page.get_by_label("Find by user").fill("admin")
    page.get_by_label("Id of an operation").fill(plan["id"])
    rows = console.table("Audit").get_by_role("row")
    expect(rows.last).to_contain_text("operation.planned")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    file = tmp_path / "audit.jsonl"
    download.value.save_as(file)

    lines = file.read_text().splitlines()
    assert len(lines) == rows.count() - 1
    assert all(plan["id"] in line for line in lines)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_of_operations_keeps_nobody_out_and_nothing_of_it_is_refused(
    browser: Browser, group: Cluster, client: httpx.Client, scheme: Scheme
):
    wanted = another(client, await_whole(group, GROUP))
    ended = client.get(OPERATIONS, params={"state": "done", "limit": "1"}).json()["items"][0]
    pages = PAGES | {
        "operation-plan": (
            f"/operations/{plan_election(client, wanted)}",
            f"Broker {wanted} becomes master of {GROUP}",
        ),
        "operation-done": (
            f"/operations/{ended['id']}",
            ended["plan"]["summary"].replace("broker", "Broker", 1),
        ),
    }
    with signed_in(browser, group, scheme) as console:
        for name, (path, heading) in pages.items():
            console.open(path)
            expect(console.heading(heading)).to_be_visible()
            console.await_live()
            expect(console.page.get_by_label("Loading")).to_have_count(0)
            expect(console.page.get_by_role("alert")).to_have_count(0)
            console.screenshot(f"{name}-{scheme}")

            assert console.violations() == [], name
            assert console.complaints == [], name
