import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, bodies
from tests.integration.broker.conftest import broker_properties
from workers.broker.properties import format_properties_text

ROOT = Path(__file__).parents[3]
START_TIMEOUT_S = 20


async def test_messages_topics_groups_and_offsets_survive_a_restart(start_broker, connect):
    first = await start_broker()
    client = await connect(first)
    await client.send("T", b"kept", queue_id=2)
    await client.heartbeat("g", "T")
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 2}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})
    await first.close()

    second = await start_broker()
    client = await connect(second)

    assert bodies(await client.pull("T", queueId=2)) == [b"kept"]
    assert (await client.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)).ext["offset"] == "1"
    assert second.broker.topics.find("%RETRY%g") is not None
    assert second.broker.groups.find("g") is not None


async def test_a_delayed_message_is_delivered_once_after_a_restart(start_broker, connect):
    first = await start_broker()
    client = await connect(first)
    await client.send("T", b"a", properties={"DELAY": "1"})
    await client.pull("T", sysFlag=6)
    await client.send("T", b"b", properties={"DELAY": "6"})
    await first.close()

    second = await start_broker()
    client = await connect(second)

    assert bodies(await client.pull("T", queueOffset=1, sysFlag=6)) == [b"b"]
    assert second.store.offsets("T", 0) == (0, 2)


async def test_a_killed_broker_keeps_what_it_acknowledged(tmp_path):
    process, port = start_process(tmp_path)
    client = await connect_to(process, port)
    await client.heartbeat("g", "T")
    sent = [await client.send("T", b"%d" % number) for number in range(200)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    process, port = start_process(tmp_path)
    try:
        client = await connect_to(process, port)
        found = []
        while (pulled := await client.pull("T", queueOffset=len(found))).code == 0:
            found += bodies(pulled)
        await client.close()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0

    assert {answer.code for answer in sent} == {0}
    assert found == [b"%d" % number for number in range(200)]
    for path in (tmp_path / "store" / "config").glob("*.json"):
        json.loads(path.read_bytes())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listenPort", "99999"),
        ("brokerId", "first"),
        ("flushDiskType", "SOMETIMES"),
        ("messageDelayLevel", "1 2 3"),
        ("brokerName", "a/b"),
        ("autoCreateTopicEnable", "perhaps"),
        ("namesrvAddr", ":9876"),
    ],
)
def test_a_bad_setting_is_one_clear_line_and_exit_code_2(tmp_path, name, value):
    path = write_config(tmp_path, **{name: value})

    done = run_to_end(path)

    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert len(lines) == 1
    assert f"{name}={value}" in lines[0]


def test_a_missing_configuration_file_is_one_clear_line(tmp_path):
    done = run_to_end(tmp_path / "absent.conf")

    assert done.returncode == 2
    assert "absent.conf" in done.stderr


def test_a_port_in_use_is_one_clear_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_to_end(write_config(tmp_path, listenPort=str(port)))

    assert done.returncode == 2
    assert (
        done.stderr.strip() == f"broker: cannot listen on 127.0.0.1:{port}: Address already in use"
    )


async def test_a_store_in_use_is_one_clear_line(tmp_path, start_broker):
    await start_broker()

    done = run_to_end(write_config(tmp_path))

    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_unknown_stock_properties_are_accepted_with_one_line(tmp_path):
    path = write_config(tmp_path, fileReservedTime="72", deleteWhen="04", listenPort="99999")
    text = path.read_text().replace("99999", "0")
    path.write_text(text)

    process, _ = start_process(tmp_path, path)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    errors = "".join(process.seen)

    assert process.returncode == 0
    assert errors.count("properties_without_effect") == 1
    assert "deleteWhen" in errors


def write_config(root, **properties):
    path = root / "broker.conf"
    path.write_text(format_properties_text(broker_properties(root, **properties)))
    return path


def run_to_end(path):
    return subprocess.run(
        [sys.executable, "-m", "workers.broker", "-c", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def start_process(root, path=None):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = path or write_config(root, listenPort=str(port))
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.broker", "-c", str(path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until_started(process)
    return process, port


def wait_until_started(process):
    deadline = time.monotonic() + START_TIMEOUT_S
    seen = []
    while time.monotonic() < deadline:
        line = process.stderr.readline()
        seen.append(line)
        if "broker_started" in line:
            process.seen = seen
            return
        assert process.poll() is None, "".join(seen)
    raise AssertionError("the broker did not start: " + "".join(seen))


async def connect_to(process, port):
    assert process.poll() is None
    return await Client.connect(port)
