"""`regent up` starts, keeps its data, stops cleanly and says in one line why it can't start."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import psutil
import pytest

from tests.long_form import few
from tests.system.cluster import (
    Cluster,
    Ports,
    free_ports,
    launch,
    left_running,
    short_directory,
    start,
    takes_connections,
    wait_until,
)
from tests.system.console import administrator, topic_names
from tests.system.peer import peer, send_header

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

GET_MAX_OFFSET = 30
GET_BROKER_CLUSTER_INFO = 106
SEND_MESSAGE_V2 = 310
TOPIC = "kept"
RESTART_S_MAX = 10.0
REFUSAL_S_MAX = 30.0


@dataclass(frozen=True, slots=True)
class Story:
    """What a first start, its stop and a second start on the same directory have shown."""

    first_password: str
    exit_code: int
    left_over: list[str]
    still_open: list[str]
    restart_s: float
    second: Cluster


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with short_directory() as directory:
        ports = free_ports()
        first = start(directory / "data", ports)
        broker = first.brokers[0].address
        with peer(broker) as producer:
            answer = producer.ask(SEND_MESSAGE_V2, send_header(TOPIC), b"still here")
        assert answer.code == 0, answer.remark
        password = first.admin_password
        processes = [psutil.Process(pid) for pid in first.process_ids()]
        addresses = [first.name_server_address, *(one.address for one in first.brokers)]
        exit_code = first.stop(signal.SIGINT)
        left_over = left_running(processes)
        still_open = [address for address in addresses if takes_connections(address)]

        second, restart_s = timed_start(directory / "data", ports)
        yield Story(password, exit_code, left_over, still_open, restart_s, second)
        second.stop()


def timed_start(data_dir: Path, ports: Ports) -> tuple[Cluster, float]:
    """Start a cluster and return the seconds it took, less the processors' time others had.

    On a quiet machine these are the seconds on the clock; on a shared one, other work is not held
    against the cluster.
    """
    busy_s = busy_processor_s()
    started = time.monotonic()
    cluster = start(data_dir, ports)
    took_s = time.monotonic() - started
    foreign_s = busy_processor_s() - busy_s - cluster.processor_s()
    return cluster, took_s - max(0.0, foreign_s) / psutil.cpu_count()


def busy_processor_s() -> float:
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq + times.steal


def test_an_interrupt_stops_everything_and_leaves_no_process(story: Story):
    assert story.exit_code == 0
    assert story.left_over == []
    assert story.still_open == []


def test_a_second_start_takes_less_than_ten_seconds(story: Story):
    assert story.restart_s < RESTART_S_MAX


def test_a_second_start_keeps_messages_topics_and_the_password(story: Story):
    with peer(story.second.brokers[0].address) as reader:
        offset = reader.ask(GET_MAX_OFFSET, {"topic": TOPIC, "queueId": "0"}).ext["offset"]
    with administrator(story.second) as client:
        topics = topic_names(client)

    assert offset == "1"
    assert TOPIC in topics
    assert story.second.admin_password == story.first_password


def test_its_output_names_all_one_needs_and_ends_with_ready(story: Story):
    output = story.second.output

    assert output.rstrip().splitlines()[-1] == "ready"
    for fact in (
        story.second.http_url,
        story.second.admin_password,
        story.second.name_server_address,
    ):
        assert fact in output


def test_the_state_file_names_processes_that_run_and_logs_that_exist(story: Story):
    processes = story.second.state["processes"]

    assert {"control-plane", "worker", "beat", "broker-a", "broker-b"} <= {
        process["name"] for process in processes
    }
    assert [p["name"] for p in processes if not psutil.pid_exists(p["pid"])] == []
    assert [p["name"] for p in processes if not Path(p["log"]).exists()] == []


def test_two_clusters_side_by_side_know_nothing_of_each_other(story: Story, cluster: Cluster):
    both = [story.second, cluster]

    known = [broker_addresses(one) for one in both]

    assert known == [{broker.address for broker in one.brokers} for one in both]
    assert known[0].isdisjoint(known[1])


def broker_addresses(cluster: Cluster) -> set[str]:
    with peer(cluster.name_server_address) as asker:
        info = msgspec.json.decode(asker.ask(GET_BROKER_CLUSTER_INFO).body)
    return {
        address
        for group in info["brokerAddrTable"].values()
        for address in group["brokerAddrs"].values()
    }


@pytest.mark.parametrize("taken", few(["http", "remoting", "broker"], 1))
def test_a_port_in_use_is_one_line_that_names_it_and_the_option(taken: str, cluster: Cluster):
    ports = free_ports()
    state = cluster.state
    in_use = {
        "http": state["http"]["port"],
        "remoting": state["remoting"]["port"],
        "broker": int(cluster.brokers[0].address.rpartition(":")[2]),
    }[taken]

    code, lines = refused(dataclasses.replace(ports, **{taken: in_use}))

    assert code != 0
    assert len(lines) == 1
    assert str(in_use) in lines[0]
    assert f"--{taken}-port" in lines[0]


def test_a_directory_in_use_is_one_line_that_names_it(cluster: Cluster):
    code, lines = refused(free_ports(), data_dir=cluster.data_dir)

    assert code != 0
    assert len(lines) == 1
    assert str(cluster.data_dir) in lines[0]


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")

    code, lines = refused(free_ports(), data_dir=tmp_path / "file" / "data")

    assert code != 0
    assert len(lines) == 1
    assert str(tmp_path / "file") in lines[0]


def refused(ports: Ports, *, data_dir: Path | None = None) -> tuple[int, list[str]]:
    """Start a cluster that can't start; return its exit code and what it printed."""
    with short_directory() as directory:
        output_dir = directory / "data"
        attempt = launch(data_dir or output_dir, ports, output_dir=directory)
        wait_until(
            lambda: attempt.process.poll() is not None,
            timeout_s=REFUSAL_S_MAX,
            what=lambda: attempt.output,
        )
        return attempt.process.returncode, attempt.output.strip().splitlines()


def test_a_broker_that_dies_is_started_again(story: Story):
    killed = story.second.broker("broker-b").pid
    assert killed is not None

    os.kill(killed, signal.SIGKILL)
    returned = story.second.await_broker("broker-b", other_than=killed)

    with peer(returned.address) as producer:
        answer = producer.ask(SEND_MESSAGE_V2, send_header("after-death"), b"x")
    assert answer.code == 0, answer.remark
    assert story.second.process.poll() is None
