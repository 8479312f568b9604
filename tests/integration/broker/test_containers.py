"""Broker containers (RIP-31): several brokers in one process, added and removed by tools."""

import asyncio
import contextlib
import errno
import os
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from regent_engine import StoreError

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client, bodies
from tests.integration.broker.containers import (
    add,
    described,
    inner,
    listed,
    remove,
    write_broker,
    write_container,
)
from tests.ports import free_port
from tests.waiting import eventually
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.container.inner_broker import InnerBroker
from workers.broker.container.server import ContainerServer
from workers.broker.container.settings import load_container


@pytest.fixture
async def run(tmp_path):
    """Run a container of some brokers; give it, and a connection to its port."""
    async with AsyncExitStack() as stack:

        async def start(*brokers: Path, **properties: str) -> tuple[ContainerServer, Client]:
            path = write_container(tmp_path, *brokers, **properties)
            server = ContainerServer(load_container(path), ConfigFile(path))
            stack.push_async_callback(server.close)
            await server.start()
            tool = await Client.connect(server.port)
            stack.push_async_callback(tool.close)
            return server, tool

        yield start


async def client_of(server: ContainerServer, name: str) -> Client:
    return await Client.connect(inner(server, name).port)


async def send_and_read(server: ContainerServer, name: str, body: bytes) -> list[bytes]:
    client = await client_of(server, name)
    try:
        assert (await client.send("orders", body)).code == ResponseCode.SUCCESS
        return bodies(await client.pull("orders"))
    finally:
        await client.close()


async def test_the_brokers_of_the_list_each_have_a_store_and_ports(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"), write_broker(tmp_path, "b"))

    assert await send_and_read(server, "a", b"1") == [b"1"]
    assert await send_and_read(server, "b", b"2") == [b"2"]
    assert {name: one["failure"] for name, one in (await described(tool)).items()} == {
        "a": "",
        "b": "",
    }


async def test_brokers_say_in_which_container_they_are(tmp_path, run):
    server, _ = await run(write_broker(tmp_path, "a"))

    client = await client_of(server, "a")
    answer = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
    await client.close()

    table = java_json.loads(answer.body)["table"]
    assert table["brokerContainerAddr"] == f"127.0.0.1:{server.port}"


async def test_the_name_servers_of_the_container_are_those_of_its_brokers(tmp_path, run):
    port = free_port()
    server, _ = await run(
        write_broker(tmp_path, "a", namesrvAddr="127.0.0.1:1"), namesrvAddr=f"127.0.0.1:{port}"
    )

    assert inner(server, "a").settings.name_servers == (("127.0.0.1", port),)


async def test_an_added_broker_runs_now_and_after_a_restart(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"))
    path = write_broker(tmp_path, "b")

    added = await add(tool, path)

    assert (added.code, added.remark) == (ResponseCode.SUCCESS, None)
    assert await send_and_read(server, "b", b"1") == [b"1"]
    assert listed(tmp_path / "container.conf") == ["a", "b"]
    assert (tmp_path / "container.conf").read_text().startswith("# my container\n")
    await server.close()
    loaded = load_container(tmp_path / "container.conf")
    again = ContainerServer(loaded, ConfigFile(tmp_path / "container.conf"))
    await again.start()
    try:
        assert await send_and_read(again, "b", b"2") == [b"1", b"2"]
    finally:
        await again.close()


async def test_a_removed_broker_is_stopped_and_keeps_its_store(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"), write_broker(tmp_path, "b"))
    await send_and_read(server, "b", b"kept")
    port = inner(server, "b").port

    removed = await remove(tool, "b")

    assert (removed.code, removed.remark) == (ResponseCode.SUCCESS, None)
    assert listed(tmp_path / "container.conf") == ["a"]
    with pytest.raises(ConnectionRefusedError):
        await Client.connect(port)
    assert await send_and_read(server, "a", b"1") == [b"1"]
    assert (await add(tool, tmp_path / "b" / "broker.conf")).code == ResponseCode.SUCCESS
    assert await send_and_read(server, "b", b"more") == [b"kept", b"more"]


async def test_a_broker_that_is_there_is_not_added_again(tmp_path, run):  # S135
    path = write_broker(tmp_path, "a")
    server, tool = await run(path)
    other = write_broker(tmp_path, "other", brokerName="a")

    answers = [await add(tool, path), await add(tool, other)]

    assert {one.code for one in answers} == {ResponseCode.SYSTEM_ERROR}
    remark = "TestCluster_a_0 has already been added to current broker container"
    assert {one.remark for one in answers} == {remark}
    assert await send_and_read(server, "a", b"1") == [b"1"]
    assert listed(tmp_path / "container.conf") == ["a"]


async def test_a_broker_whose_port_is_in_use_is_not_kept(tmp_path, run):  # S135
    server, tool = await run(write_broker(tmp_path, "a"))
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        path = write_broker(tmp_path, "b", listenPort=str(port))
        refused = await add(tool, path)

    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert f"cannot listen on 127.0.0.1:{port}" in refused.remark
    assert listed(tmp_path / "container.conf") == ["a"]
    assert set(await described(tool)) == {"a"}
    assert await send_and_read(server, "a", b"1") == [b"1"]
    # Nothing of the attempt is left: the port is free, and so is the store.
    assert (await add(tool, path)).code == ResponseCode.SUCCESS


async def test_a_broker_on_the_store_of_another_one_is_refused(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"))
    path = write_broker(tmp_path, "b", storePathRootDir=str(tmp_path / "a" / "store"))

    refused = await add(tool, path)

    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert listed(tmp_path / "container.conf") == ["a"]
    assert await send_and_read(server, "a", b"1") == [b"1"]


@pytest.mark.parametrize(
    ("name", "cluster", "broker_id"),
    [("x", "TestCluster", 0), ("a", "Other", 0), ("a", "TestCluster", 7)],
)
async def test_a_broker_that_is_not_there_is_not_removed(  # S136
    tmp_path, run, name, cluster, broker_id
):
    server, tool = await run(write_broker(tmp_path, "a"))

    refused = await remove(tool, name, cluster=cluster, broker_id=broker_id)

    assert refused.code == ResponseCode.BROKER_NOT_EXIST == 211
    assert refused.remark.startswith("Broker not exist")
    assert listed(tmp_path / "container.conf") == ["a"]
    assert await send_and_read(server, "a", b"1") == [b"1"]


@pytest.mark.parametrize(
    ("properties", "remark"),
    [
        ({"brokerRole": "SLAVE"}, "brokerId=0: is the id of a master"),
        ({"brokerId": "3"}, "add broker return null"),
        ({"inSyncReplicas": "2"}, "invalid replicas number"),
        ({"minInSyncReplicas": "2"}, "invalid replicas number"),
        ({"duplicationEnable": "true"}, "duplicationEnable is true"),
        ({"enableDLegerCommitLog": "true"}, "DLedger"),
        ({"listenPort": "many"}, "listenPort=many"),
    ],
)
async def test_wrong_settings_are_refused_and_change_nothing(tmp_path, run, properties, remark):
    _, tool = await run(write_broker(tmp_path, "a"))
    before = (tmp_path / "container.conf").read_text()

    refused = await add(tool, write_broker(tmp_path, "b", **properties))

    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert remark in refused.remark
    assert (tmp_path / "container.conf").read_text() == before
    assert not (tmp_path / "b" / "store").exists()


@pytest.mark.parametrize(
    ("path", "remark"),
    [
        ("", "addBroker config path is empty"),
        ("missing.conf", "addBroker properties empty"),
        ("/tmp", "addBroker properties empty"),
        ("/a:b.conf", "separated by colons"),
    ],
)
async def test_a_path_that_names_no_file_is_refused(tmp_path, run, path, remark):
    _, tool = await run(write_broker(tmp_path, "a"))

    refused = await add(tool, path)

    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert remark in refused.remark
    assert set(await described(tool)) == {"a"}


async def examine(tool: Client, path: Path):
    return await tool.call(RequestCode.EXAMINE_BROKER_FILE, {"configPath": str(path)})


async def test_a_file_is_examined_without_an_effect(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"))
    port = free_port()
    path = write_broker(tmp_path, "b", listenPort=str(port))

    found = java_json.loads((await examine(tool, path)).body)
    present = java_json.loads((await examine(tool, tmp_path / "a" / "broker.conf")).body)
    wrong = await examine(tool, write_broker(tmp_path, "c", listenPort="many"))

    assert found == {
        "path": str(path),
        "clusterName": "TestCluster",
        "brokerName": "b",
        "brokerId": 0,
        "address": f"127.0.0.1:{port}",
        "isControlled": False,
        "problems": [],
    }
    assert present["problems"] == [
        "TestCluster_a_0 has already been added to current broker container"
    ]
    assert (wrong.code, "listenPort=many" in wrong.remark) == (ResponseCode.SYSTEM_ERROR, True)
    assert set(await described(tool)) == {"a"}
    assert not (tmp_path / "b" / "store").exists()
    assert await send_and_read(server, "a", b"1") == [b"1"]


async def test_a_store_of_another_group_and_a_port_in_use_are_found(tmp_path, run):  # S24
    _, tool = await run(write_broker(tmp_path, "a"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        path = write_broker(tmp_path, "b", listenPort=str(taken.getsockname()[1]))
        store = tmp_path / "b" / "store"
        store.mkdir()
        (store / ".broker.meta").write_text("TestCluster#other#1#code\n")
        problems = java_json.loads((await examine(tool, path)).body)["problems"]

    refused = await add(tool, path)

    assert "cannot listen" in problems[0]
    assert "belongs to broker other of cluster TestCluster" in problems[1]
    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert "belongs to broker other" in refused.remark
    assert set(await described(tool)) == {"a"}


async def test_requests_without_their_fields_and_unknown_ones_are_refused(tmp_path, run):
    _, tool = await run(write_broker(tmp_path, "a"))

    incomplete = await tool.call(RequestCode.REMOVE_BROKER, {"brokerName": "a"})
    unknown = await tool.call(RequestCode.SEND_MESSAGE_V2)

    assert incomplete.code == ResponseCode.SYSTEM_ERROR
    assert "brokerClusterName" in incomplete.remark or "brokerId" in incomplete.remark
    assert unknown.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert set(await described(tool)) == {"a"}


@pytest.mark.parametrize("name", ["brokerConfigPaths", "rocketmqHome", "listenPort"])
async def test_settings_of_a_container_are_changed_in_its_file_only(tmp_path, run, name):
    _, tool = await run(write_broker(tmp_path, "a"))
    before = (tmp_path / "container.conf").read_text()

    refused = await tool.call(RequestCode.UPDATE_BROKER_CONFIG, body=f"{name}=7\n".encode())

    assert refused.code == ResponseCode.NO_PERMISSION
    assert (tmp_path / "container.conf").read_text() == before


async def test_a_container_that_cannot_write_its_list_keeps_it(tmp_path, run, monkeypatch):
    server, tool = await run(write_broker(tmp_path, "a"))
    path = write_broker(tmp_path, "b")

    def refuse(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "container.conf"))

    with monkeypatch.context() as patch:
        patch.setattr(ConfigFile, "change", refuse)
        answers = [await add(tool, path), await remove(tool, "a")]

    assert {one.code for one in answers} == {ResponseCode.SYSTEM_ERROR}
    assert all("No space left on device" in one.remark for one in answers)
    assert set(await described(tool)) == {"a"}
    assert await send_and_read(server, "a", b"1") == [b"1"]
    assert (await add(tool, path)).code == ResponseCode.SUCCESS


async def test_a_file_with_wrong_settings_stops_no_other_broker(tmp_path, run):
    server, tool = await run(
        write_broker(tmp_path, "a"),
        write_broker(tmp_path, "bad", listenPort="many"),
        tmp_path / "missing" / "broker.conf",
        write_broker(tmp_path, "double", brokerName="a"),
    )

    brokers = await described(tool)

    assert await send_and_read(server, "a", b"1") == [b"1"]
    assert "listenPort=many" in brokers["bad"]["failure"]
    assert "addBroker properties empty" in brokers["missing"]["failure"]
    assert "names the same broker" in brokers["double"]["failure"]


async def test_a_broker_that_fails_is_started_again_while_the_others_go_on(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"), write_broker(tmp_path, "b"))
    await send_and_read(server, "b", b"1")
    other, failing = inner(server, "a"), inner(server, "b")

    # As when a task of the broker ends, which none does by itself.
    failing.failed.set()
    await eventually(lambda: inner(server, "b") not in {None, failing})

    assert await send_and_read(server, "b", b"2") == [b"1", b"2"]
    assert inner(server, "a") is other
    assert (await described(tool))["b"]["failure"] == ""


async def test_a_broker_whose_flush_failed_runs_again_in_the_same_process(tmp_path, run):
    server, _ = await run(write_broker(tmp_path, "a"), write_broker(tmp_path, "b"))
    kept = b"k" * 8_000
    assert await send_and_read(server, "b", kept) == [kept]
    failed = inner(server, "b")
    failed.store.flush()
    (segment,) = (tmp_path / "b").rglob("commitlog/00000000000000000000")
    content = segment.read_bytes()

    os.truncate(segment, 4096)
    client = await client_of(server, "b")
    with contextlib.suppress(ConnectionResetError):
        await client.send("orders", kept)
    with pytest.raises(StoreError):
        failed.store.flush()
    segment.write_bytes(content)
    failed.failed.set()
    await eventually(lambda: inner(server, "b") not in {None, failed})

    assert (await send_and_read(server, "b", b"more"))[0] == kept
    assert await send_and_read(server, "a", b"1") == [b"1"]


async def test_a_broker_comes_up_once_its_port_is_free(tmp_path, run):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        server, tool = await run(
            write_broker(tmp_path, "a"), write_broker(tmp_path, "b", listenPort=str(port))
        )
        assert "cannot listen" in (await described(tool))["b"]["failure"]

    await eventually(lambda: inner(server, "b") is not None)

    assert await send_and_read(server, "b", b"1") == [b"1"]


async def test_a_container_lists_its_brokers_while_it_adds_one(tmp_path, run, monkeypatch):
    _, tool = await run(write_broker(tmp_path, "a"))
    try_open, may_open = InnerBroker.try_open, asyncio.Event()

    async def open_later(broker):
        await may_open.wait()
        await try_open(broker)

    monkeypatch.setattr(InnerBroker, "try_open", open_later)
    path = write_broker(tmp_path, "b")

    adding = tool.start(RequestCode.ADD_BROKER, {"configPath": str(path)})
    before = await described(tool)
    may_open.set()
    added = await adding

    assert set(before) == {"a"}
    assert added.code == ResponseCode.SUCCESS
    assert set(await described(tool)) == {"a", "b"}


async def test_one_tool_waits_for_the_other(tmp_path, run):
    server, tool = await run(write_broker(tmp_path, "a"))
    path = write_broker(tmp_path, "b")
    second = await Client.connect(server.port)

    answers = await asyncio.gather(add(tool, path), add(second, path))
    await second.close()

    assert sorted(one.code for one in answers) == [0, ResponseCode.SYSTEM_ERROR]
    assert listed(tmp_path / "container.conf") == ["a", "b"]


async def test_a_process_stops_all_its_brokers_and_its_log_names_them(tmp_path):
    paths = [write_broker(tmp_path, name, listenPort=str(free_port())) for name in ("a", "b")]
    agent = Agent(
        tmp_path,
        environment={"REGENT_LOG_FORMAT": "json"},
        program="workers.broker.container",
        started_event="container_started",
    )
    with agent:
        tool = await agent.start_with(write_container(tmp_path, *paths))
        assert set(await described(tool)) == {"a", "b"}
        await tool.close()
        agent.stop()

    stopped = [java_json.loads(line.encode()) for line in agent.events("broker_stopped")]
    assert {(one["broker_name"], one["outcome"]) for one in stopped} == {
        ("a", "clean"),
        ("b", "clean"),
    }
    assert len(agent.events("container_stopped")) == 1


def test_a_container_without_a_file_or_a_port_does_not_start(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        path = write_container(tmp_path, listenPort=str(taken.getsockname()[1]))
        agent = Agent(tmp_path, program="workers.broker.container")
        process = agent._executed(path)

        assert process.wait(timeout=60) == 2
    assert agent.lines[-1].startswith("container: cannot listen on 127.0.0.1:")
