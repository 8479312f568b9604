"""A person looks at a group of three, and sees its master fall and another lead."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.long_form import chosen, long_form_only
from tests.system.browser.console_page import Chromium, ConsolePage, signed_in
from tests.system.cluster import Cluster
from tests.system.groups import GroupState, await_whole, group_state, registered, send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

GROUP = "broker-a"
PAGES = {
    "replica-groups": ("/replica-groups", "Replica groups"),
    "replica-group": (f"/replica-groups/{GROUP}?designate=3", GROUP),
    "replica-group-epochs": (f"/replica-groups/{GROUP}?epochs=table", GROUP),
    "replica-topology": ("/topology", "Topology"),
}
SUCCESS = 0
PROGRAM = "from backend.cli.app import main; main()"
DEGRADED = 10
SHOWN_WITHIN_S = 1.0
FOUND_WITHIN_S = 5.0
SPARE_S = 4.0
"""What a machine that others use as well may need beyond the promised time."""


@pytest.fixture(scope="module")
def group(three: Cluster) -> Cluster:
    """Give a group of three that has replaced its master, with messages from both."""
    # `regent up` says that it is ready once a new group is whole.
    ready = group_state(three, GROUP)
    assert ready is not None
    assert ready.in_sync == {broker.address for broker in three.brokers}
    fill(await_whole(three, GROUP))
    kill_master(three)
    fill(await_whole(three, GROUP))
    return three


@pytest.fixture
def console(browser: Chromium, group: Cluster) -> Iterator[ConsolePage]:
    """Give a signed-in tab of that group."""
    with signed_in(browser, group) as tab:
        yield tab


def fill(state: GroupState) -> None:
    assert state.master is not None
    for _ in range(50):
        assert send(state.master, "kept") == SUCCESS


def kill_master(cluster: Cluster) -> GroupState:
    """End the master at once and wait until all follow another."""
    master = await_whole(cluster, GROUP).master
    process_id = next(broker.pid for broker in cluster.brokers if broker.address == master)
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)
    return await_whole(cluster, GROUP, other_than=master)


def row_of(console: ConsolePage, address: str | None) -> Locator:
    return console.table("Replicas").get_by_role("row").filter(has_text=address)


def test_a_group_is_found_in_the_list_and_opens_with_all_there_is_to_know(
    console: ConsolePage, group: Cluster
):
    state = await_whole(group, GROUP)
    console.open_overview()
    console.go("gr")
    expect(console.heading("Replica groups")).to_be_visible()
    listed = console.table("Replica groups").get_by_role("row").filter(has_text=GROUP)
    expect(listed).to_contain_text("3 of 3")
    expect(listed).to_contain_text(f"{state.epoch}")

    console.page.get_by_role("link", name=GROUP).click()

    expect(console.heading(GROUP)).to_be_visible()
    expect(row_of(console, state.master).get_by_role("img", name="Master")).to_be_visible()
    expect(row_of(console, state.master)).to_contain_text("is master and stays master")
    expect(console.table("Replicas").get_by_role("row")).to_have_count(4)
    expect(console.page.get_by_text(re.compile(r"^Replica \d is master"))).to_be_visible()
    lanes = console.page.get_by_role("figure", name="The log of each replica")
    expect(lanes.get_by_role("img", name=re.compile(f"epochs .*{state.epoch}$"))).to_have_count(3)
    history = console.table("History")
    expect(history).to_contain_text(re.compile(r"Replica \d was made master after \d"))
    expect(history).to_contain_text("applied for its id")


@long_form_only
def test_a_replica_can_be_asked_for_without_anything_happening(
    console: ConsolePage, group: Cluster
):
    state = await_whole(group, GROUP)
    console.open(f"/replica-groups/{GROUP}")
    follower = min(state.in_sync - {state.master})
    broker_id = row_of(console, follower).get_by_role("cell").first.inner_text().strip()

    console.page.get_by_role("combobox", name="New master").click()
    console.page.get_by_role("option", name=f"Replica {broker_id}").click()

    told = f"Replica {broker_id} would become master in epoch {state.epoch + 1}"
    expect(console.page.get_by_text(told)).to_be_visible()
    assert await_whole(group, GROUP) == state


@pytest.mark.parametrize("name", chosen(PAGES, "replica-groups", "replica-group"))
def test_a_page_of_groups_is_accessible_and_nothing_of_it_is_refused(
    console: ConsolePage, name: str
):
    path, heading = PAGES[name]

    console.open(path)
    expect(console.heading(heading)).to_be_visible()
    console.await_live()

    console.look(name)


@long_form_only
def test_brokers_that_wait_for_adoption_are_taken_in_by_a_form(console: ConsolePage):
    page = console.page
    # No group is lost here: what waits is drawn from an answer of the test.
    page.route("**/graphql", answer_candidates)
    console.open("/replica-groups")
    lost = page.get_by_role("region", name=re.compile("^Brokers of broker-lost"))
    expect(lost.get_by_role("checkbox", name="Replica 2")).to_be_checked()
    console.await_live()
    console.look("adoption")

    lost.get_by_role("checkbox", name="Replica 1").uncheck()
    lost.get_by_role("checkbox", name="Replica 2").uncheck()
    lost.get_by_role("button", name="Plan the adoption").click()

    expect(lost.get_by_text("Choose at least one")).to_be_visible()


def answer_candidates(route: Route) -> None:
    if "query AdoptionCandidates" not in (route.request.post_data or ""):
        route.continue_()
        return
    nodes = [
        {
            "clusterName": "DefaultCluster",
            "brokerGroupName": "broker-lost",
            "brokerId": broker_id,
            "address": f"10.0.0.{broker_id}:10911",
            "epoch": 5,
            "maxOffset": "900",
            "masterId": None,
            "hasCode": True,
            "heardAt": "2026-11-22T10:00:00Z",
        }
        for broker_id in ("1", "2")
    ]
    route.fulfill(json={"data": {"adoptionCandidates": {"totalCount": 2, "nodes": nodes}}})


def test_a_new_master_is_shown_without_a_reload(console: ConsolePage, group: Cluster):
    before = await_whole(group, GROUP)
    console.open(f"/replica-groups/{GROUP}")
    expect(row_of(console, before.master).get_by_role("img", name="Master")).to_be_visible()
    console.await_live()
    console.page.evaluate("window.isTheSamePage = true")

    after = kill_master(group)

    row = row_of(console, after.master)
    expect(row.get_by_role("img", name="Master")).to_be_visible()
    expect(row).to_contain_text("is master and stays master")
    expect(row_of(console, before.master)).to_contain_text("in set")
    expect(console.table("History")).to_contain_text("is gone: its connection closed")
    newest = re.compile(f"epochs .*{after.epoch}$")
    lanes = console.page.get_by_role("figure", name="The log of each replica")
    expect(lanes.get_by_role("img", name=newest)).to_have_count(3)
    assert console.page.evaluate("window.isTheSamePage") is True


@long_form_only
def test_the_topology_leads_to_the_group(console: ConsolePage):
    console.open("/topology")

    console.page.get_by_role("figure").get_by_role("link", name=GROUP).click()

    expect(console.heading(GROUP)).to_be_visible()


@contextmanager
def held_down(cluster: Cluster) -> Iterator[None]:
    """Keep the supervisor from starting again what ends; it goes on afterwards."""
    cluster.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cluster.process.send_signal(signal.SIGCONT)


def regent(cluster: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command against the cluster."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words, "--data", str(cluster.data_dir)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_dead_master_is_named_at_once_on_every_page_until_it_is_back(
    console: ConsolePage, group: Cluster
):
    # Case B1: "every broker is online", its row gone, and the first finding after 62.7 s.
    before = await_whole(group, GROUP)
    master = next(broker for broker in group.brokers if broker.address == before.master)
    assert master.pid is not None
    console.open("/")
    console.await_live()
    expect(console.page.get_by_text(re.compile("3 of 3 brokers are alive"))).to_be_visible()

    with held_down(group):
        os.kill(master.pid, signal.SIGKILL)
        killed_at = time.monotonic()
        said = re.compile(
            f"2 of 3 replicas are alive; {GROUP}-\\d .{master.address}. sent its last heartbeat"
        )
        expect(console.page.get_by_text(said)).to_be_visible()
        shown_s = time.monotonic() - killed_at
        expect(
            console.page.get_by_text(re.compile("finding(s are| is) open, (a|all)"))
        ).to_be_visible()
        found_s = time.monotonic() - killed_at
        row = console.table("Brokers").get_by_role("row").filter(has_text=master.address)
        expect(row).to_contain_text("offline")
        expect(console.tile("Brokers online")).to_contain_text("of 3")
        status, listed = regent(group, "status"), regent(group, "broker", "list")
        console.look("overview-dead-master")
        console.open(f"/replica-groups/{GROUP}")
        expect(console.page.get_by_text(said)).to_be_visible()
        console.look("replica-group-dead-master")
        console.open("/findings")
        expect(console.page.get_by_text("A broker of a group is down")).to_be_visible()
        console.look("findings-dead-master")

    assert (status.returncode, master.address in status.stdout) == (DEGRADED, True)
    assert master.address in listed.stdout
    assert shown_s < SHOWN_WITHIN_S + SPARE_S
    assert found_s < FOUND_WITHIN_S + SPARE_S
    await_whole(group, GROUP)
    console.open("/")
    expect(console.page.get_by_text(re.compile("3 of 3 brokers are alive"))).to_be_visible()


def test_a_drained_replica_in_command_is_said_loudly_and_ends_when_it_is_uncordoned(
    console: ConsolePage, group: Cluster
):
    # Case A16: the group took no messages, and everything was green.
    before = await_whole(group, GROUP)
    followers = sorted(before.in_sync - {before.master})
    master = next(broker for broker in group.brokers if broker.address == before.master)
    assert master.pid is not None
    console.open(f"/replica-groups/{GROUP}")
    ids = [row_of(console, one).get_by_role("cell").first.inner_text().strip() for one in followers]
    for broker_id in ids:
        order = ("broker", "drain", GROUP, "--broker", broker_id, "--yes", "--reason", "test")
        drained = regent(group, *order)
        assert drained.returncode == 0, drained.stderr
    assert "is the only broker of" in drained.stdout + drained.stderr

    with held_down(group):
        os.kill(master.pid, signal.SIGKILL)
        # In the headline, and in the history beside the election.
        said = console.page.get_by_text(re.compile(f"{GROUP} has no writer: its master"))
        expect(said.first).to_be_visible()
        expect(console.table("History")).to_contain_text("has no writer: its master")
        console.look("replica-group-without-writer")
        console.open("/")
        expect(said.first).to_be_visible()
        expect(
            console.page.get_by_text(re.compile("critical", re.IGNORECASE)).first
        ).to_be_visible()
        console.look("overview-without-writer")

    await_whole(group, GROUP)
    for address in followers:
        order = ("broker", "uncordon", GROUP, "--yes", "--reason", "test")
        broker_id = next(i for i, a in registered(group, GROUP).items() if a == address)
        assert regent(group, *order, "--broker", broker_id).returncode == 0
    console.open("/")
    expect(console.page.get_by_text(re.compile("3 of 3 brokers are alive"))).to_be_visible()
