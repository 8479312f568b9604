"""`regent up --replicas`: groups that outlive a killed broker, a stop and another size."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.long_form import chosen, long_form_only
from tests.system.cluster import (
    Cluster,
    Ports,
    free_ports_for_three,
    launch,
    running_cluster,
    short_directory,
    start_new,
    wait_until,
)
from tests.system.console import administrator
from tests.system.groups import GroupState, await_whole, group_state, message_count, send
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]

GROUP = "broker-a"
TOPIC = "kept"
SUCCESS = 0
UP_AGAIN_S_MAX = 90.0


@dataclass(frozen=True, slots=True)
class Story:
    """A group of three and the group at its second start."""

    data_dir: Path
    ports: Ports
    ready_state: GroupState | None
    ready_output: str
    first_ids: dict[str, str]
    killed: str
    killed_address: str
    after_kill: GroupState
    after_kill_output: str
    exit_code: int
    left_over: list[int]
    second: Cluster
    second_state: GroupState | None


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with short_directory() as directory:
        data_dir, ports = directory / "data", free_ports_for_three()
        first = start_new(data_dir, ports, "--groups", "1", "--replicas", "3")
        try:
            ready_state, ready_output, first_ids = (
                group_state(first, GROUP),
                first.output,
                ids(first),
            )
            killed = kill_master(first)
            after_kill = await_whole(first, GROUP, other_than=killed.address)
            assert after_kill.master is not None
            assert send(after_kill.master, TOPIC) == SUCCESS
            await_line(first, f"{killed.name} is up again after ")
            processes = first.process_ids()
        finally:
            exit_code = first.stop()
        left_over = [pid for pid in processes if psutil.pid_exists(pid) and is_alive(pid)]
        with running_cluster(data_dir, ports) as second:
            yield Story(
                data_dir=data_dir,
                ports=ports,
                ready_state=ready_state,
                ready_output=ready_output,
                first_ids=first_ids,
                killed=killed.name,
                killed_address=killed.address,
                after_kill=after_kill,
                after_kill_output=first.output,
                exit_code=exit_code,
                left_over=left_over,
                second=second,
                second_state=group_state(second, GROUP),
            )


@dataclass(frozen=True, slots=True)
class Killed:
    name: str
    address: str


def kill_master(cluster: Cluster) -> Killed:
    """Send a message, then end the master at once."""
    master = await_whole(cluster, GROUP).master
    assert master is not None
    assert send(master, TOPIC) == SUCCESS
    broker = next(broker for broker in cluster.brokers if broker.address == master)
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGKILL)
    return Killed(broker.name, broker.address)


def ids(cluster: Cluster) -> dict[str, str]:
    """Read the id that each broker owns for good."""
    return {
        broker.name: (broker.store_path / ".broker.meta").read_text().split("#")[2]
        for broker in cluster.brokers
    }


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def await_line(cluster: Cluster, line: str) -> None:
    wait_until(
        lambda: line in cluster.output,
        timeout_s=UP_AGAIN_S_MAX,
        what=lambda: f"{line!r} in\n{cluster.output}",
    )


def test_a_group_is_ready_when_it_has_its_master_and_all_replicas_in_sync(story: Story):
    addresses = {broker.address for broker in story.second.brokers}

    assert story.ready_state is not None
    assert story.ready_state.in_sync == addresses
    assert f"master {story.ready_state.master}, replicas " in story.ready_output


def test_ids_follow_the_names_of_the_brokers(story: Story):
    assert story.first_ids == {"broker-a": "1", "broker-a-2": "2", "broker-a-3": "3"}


def test_a_killed_master_is_replaced_and_comes_back_into_the_set_by_itself(story: Story):
    assert story.after_kill.master != story.killed_address
    assert story.killed_address in story.after_kill.in_sync


def test_the_terminal_shows_which_broker_ended_and_how(story: Story):
    told = f"{story.killed} was ended by SIGKILL; starting it again"

    assert told in story.after_kill_output


def test_a_stop_is_clean_and_elects_no_master(story: Story):
    assert story.exit_code == 0
    assert story.left_over == []
    # The one election is that of the second start. Its winner depends on whether the last master
    # had reported already that its replicas were gone: if not, each of them holds all confirmed
    # data.
    assert story.second_state is not None
    assert story.second_state.master in story.after_kill.in_sync
    assert story.second_state.epoch == story.after_kill.epoch + 1


def test_a_second_start_keeps_the_size_the_ids_and_the_messages(story: Story):
    assert ids(story.second) == story.first_ids
    assert await_shown(story.second, [2, 2, 2]) == [2, 2, 2]


def test_the_console_shows_who_is_master_and_who_replicas(story: Story):
    state = await_whole(story.second, GROUP)
    replicas = state.in_sync - {state.master}

    def seen() -> tuple[str | None, set[str], set[str]]:
        with administrator(story.second) as client:
            groups = client.get("/api/v1/clusters/DefaultCluster/broker-groups").json()["items"]
            brokers = client.get("/api/v1/clusters/DefaultCluster/brokers").json()["items"]
        online = [broker for broker in brokers if broker["state"] == "online"]
        masters = {broker["address"] for broker in online if broker["role"] == "master"}
        return groups[0]["master"], masters, {broker["address"] for broker in online} - masters

    wait_until(
        lambda: seen() == (state.master, {state.master}, replicas),
        timeout_s=PATIENCE_S,
        what=lambda: f"{state}, but {seen()}",
    )


def test_fewer_replicas_than_there_are_is_one_line_that_says_why(story: Story):
    attempt = launch(
        story.data_dir,
        free_ports_for_three(),
        *("--replicas", "1"),
        output_dir=story.data_dir.parent,
    )

    wait_until(
        lambda: attempt.process.poll() is not None,
        timeout_s=PATIENCE_S,
        what=lambda: attempt.output,
    )

    lines = attempt.output.strip().splitlines()
    assert attempt.process.returncode != 0
    assert len(lines) == 1
    assert "broker-a has 3 replicas" in lines[0]
    assert "--replicas 3" in lines[0]


@pytest.mark.parametrize(
    "name", chosen(["control-plane", "beat", "worker", "redis", "postgres"], "beat", "postgres")
)
def test_every_part_that_dies_is_started_again_and_reported(name: str, story: Story):
    cluster = story.second
    killed = next(p["pid"] for p in cluster.state["processes"] if p["name"] == name)

    os.kill(killed, signal.SIGKILL)
    await_line(cluster, f"{name} is up again after ")

    master = await_whole(cluster, GROUP).master
    assert master is not None
    assert send(master, f"after-{name}") == SUCCESS
    assert f"{name} " in cluster.output
    assert cluster.process.poll() is None


@long_form_only
def test_a_broker_that_was_alone_founds_a_group_which_has_its_messages():
    with short_directory() as directory:
        data_dir, ports = directory / "data", free_ports_for_three()
        with running_cluster(data_dir, ports, "--groups", "1") as cluster:
            assert send(cluster.brokers[0].address, TOPIC) == SUCCESS
        with running_cluster(data_dir, ports, "--replicas", "3") as cluster:
            grown = await_shown(cluster, [1, 1, 1])
            founder = await_whole(cluster, GROUP).master
            alone = cluster.broker("broker-a").address
            # Nothing was written since: what its replicas have in common with it is older.
            os.kill(pid_at(cluster, founder), signal.SIGKILL)
            after_kill = await_whole(cluster, GROUP, other_than=founder)
            counts = await_shown(cluster, [1, 1, 1])

    assert founder == alone
    assert grown == counts == [1, 1, 1]
    assert founder in after_kill.in_sync


def await_shown(cluster: Cluster, expected: list[int]) -> list[int]:
    """Ask what each broker shows; a replica shows nothing before its master sends the confirmed
    position.

    That news comes a moment after the replica has joined the set.
    """
    told: list[int] = []

    def is_shown() -> bool:
        told[:] = [message_count(broker.address, TOPIC) for broker in cluster.brokers]
        return told == expected

    wait_until(is_shown, timeout_s=PATIENCE_S, what=lambda: f"{expected}, but {told}")
    return told


def pid_at(cluster: Cluster, address: str | None) -> int:
    pid = next(broker.pid for broker in cluster.brokers if broker.address == address)
    assert pid is not None
    return pid
