"""What the browser tests of operations share: a group of three, and how one looks at it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from playwright.sync_api import Locator, expect

from tests.system.browser.console_page import ConsolePage
from tests.system.cluster import Cluster
from tests.system.groups import GroupState, await_whole

GROUP = "broker-a"
GROUP_PATH = f"/api/v1/clusters/DefaultCluster/replica-groups/{GROUP}"
OPERATIONS = "/api/v1/operations"
END_TIMEOUT_MS = 60_000


def ids_by_address(client: httpx.Client) -> dict[str, int]:
    found = client.get(GROUP_PATH)
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


def plan(client: httpx.Client, kind: str, **parameters: object) -> dict[str, Any]:
    """Plan an operation on the group."""
    order = {
        "kind": kind,
        "parameters": {"cluster_name": "DefaultCluster", "broker_group_name": GROUP} | parameters,
    }
    planned: dict[str, Any] = client.post(OPERATIONS, json=order).raise_for_status().json()
    return planned


def plan_election(client: httpx.Client, broker_id: int) -> str:
    """Plan an election and return the operation's id."""
    return str(plan(client, "elect_master", broker_id=broker_id)["id"])


def process_id(cluster: Cluster, name: str) -> int:
    return int(next(p["pid"] for p in cluster.state["processes"] if p["name"] == name))


@contextmanager
def at_rest(cluster: Cluster, name: str) -> Iterator[None]:
    """Have a part of the control plane, with its own processes, stand still for a block."""
    part = psutil.Process(process_id(cluster, name))
    processes = [part, *part.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


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


TABS_MAX = 300
"""More than the links of any page: a list has a link for each topic of the tests before."""


def tab_to(console: ConsolePage, wanted: Locator) -> None:
    """Press Tab until something has the focus, as a user without a mouse would."""
    expect(wanted).to_be_visible()
    for _ in range(TABS_MAX):
        console.page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"Tab does not lead to {wanted}")


def let_timers_run(console: ConsolePage) -> None:
    """Wait for timers that are due. A list that was just opened has one, and forgets in it what
    arrows chose before. Only a busy machine's browser is slow enough for that."""
    console.page.evaluate("() => new Promise(done => setTimeout(done))")


def members(client: httpx.Client) -> list[int]:
    found = client.get(GROUP_PATH)
    ids: list[int] = found.raise_for_status().json()["sync_state_set"]
    return ids
