"""An operation on a running cluster outlives the worker that was killed in the middle of it."""

import json
import os
import signal
import subprocess

import httpx
import pytest

from tests.system.cluster import REGENT, Cluster, wait_until
from tests.system.console import administrator
from tests.system.groups import await_whole
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]

GROUP = "broker-a"
OPERATIONS = "/api/v1/operations"
ELECT = ("controller", "elect", GROUP, "--yes", "--reason", "planned work", "-o", "json")
RESUMED_S_MAX = 10.0


def group(client: httpx.Client) -> dict:
    path = f"/api/v1/clusters/DefaultCluster/replica-groups/{GROUP}"
    return client.get(path).raise_for_status().json()


def regent(cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REGENT), *arguments, "--data", str(cluster.data_dir)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def another(state: dict) -> int:
    """Choose a member of the set that is not the master."""
    return next(i for i in state["sync_state_set"] if i != state["master_id"])


def plan_election(client: httpx.Client, broker_id: int) -> dict:
    parameters = {
        "cluster_name": "DefaultCluster",
        "broker_group_name": GROUP,
        "broker_id": broker_id,
    }
    order = {"kind": "elect_master", "parameters": parameters}
    return client.post(OPERATIONS, json=order).raise_for_status().json()


def worker_pid(cluster: Cluster) -> int:
    return next(p["pid"] for p in cluster.state["processes"] if p["name"] == "worker")


def test_the_command_line_elects_and_undoes(three: Cluster) -> None:
    await_whole(three, GROUP)
    with administrator(three) as client:
        before = group(client)
        wanted = another(before)

        ordered = regent(three, *ELECT, "--broker", str(wanted))

        assert ordered.returncode == 0, ordered.stderr
        operation = json.loads(ordered.stdout)
        assert operation["state"] == "done"
        after = group(client)
        assert (after["master_id"], after["master_epoch"]) == (wanted, before["master_epoch"] + 1)

        await_whole(three, GROUP)
        undone = regent(three, "operation", "undo", operation["id"], "--yes", "--reason", "back")
        assert undone.returncode == 0, undone.stderr
        assert group(client)["master_id"] == before["master_id"]
        first = client.get(f"{OPERATIONS}/{operation['id']}").json()
        assert first["state"] == "undone"
    verified = regent(three, "audit", "verify")
    assert (verified.returncode, "as they were written" in verified.stdout) == (0, True)


def test_a_worker_killed_in_mid_operation_is_followed_by_one_that_goes_on(three: Cluster) -> None:
    await_whole(three, GROUP)
    with administrator(three) as client:
        before = group(client)
        wanted = another(before)
        # The third one neither follows nor is known to be dead for a while: the operation waits.
        addresses = {r["address"]: r["broker_id"] for r in before["replicas"]}
        third = next(
            broker
            for broker in three.brokers
            if addresses[broker.address] not in (before["master_id"], wanted)
        )
        assert third.pid is not None
        path = f"{OPERATIONS}/{plan_election(client, wanted)['id']}"
        os.kill(third.pid, signal.SIGSTOP)
        try:
            given = {"typed_name": GROUP, "reason": "planned work"}
            client.post(f"{path}/confirm", json=given).raise_for_status()
            wait_until(
                lambda: client.get(path).json()["steps"][1]["state"] == "running",
                timeout_s=PATIENCE_S,
                what=lambda: client.get(path).text,
                interval_s=0.02,
            )
            told = three.output.count("worker is up again after ")
            os.kill(worker_pid(three), signal.SIGKILL)
            assert client.get(path).json()["state"] == "running"
            wait_until(
                lambda: three.output.count("worker is up again after ") > told,
                timeout_s=90,
                what=lambda: three.output,
            )
            wait_until(
                lambda: "operation.taken_over" in actions(client, path),
                timeout_s=RESUMED_S_MAX,
                what=lambda: client.get(path).text,
            )
        finally:
            os.kill(third.pid, signal.SIGCONT)
        wait_until(
            lambda: client.get(path).json()["state"] not in ("running", "queued"),
            timeout_s=PATIENCE_S,
            what=lambda: client.get(path).text,
        )

        ended = client.get(path).json()
        assert ended["state"] == "done", ended
        after = group(client)
        assert (after["master_id"], after["master_epoch"]) == (wanted, before["master_epoch"] + 1)
        assert actions(client, path).count("step.done") == 2


def actions(client: httpx.Client, path: str) -> list[str]:
    parameters = {"operation_id": path.rpartition("/")[2]}
    found = client.get("/api/v1/audit", params=parameters).raise_for_status().json()
    return [entry["action"] for entry in found["items"]]
