"""A log on a separate disk: both disks are watched and shown (storage-and-ha.md 5.6)."""

import json

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.remoting.sample import BrokerSample
from workers.broker.metrics import resources
from workers.broker.metrics.resources import Disk


@pytest.fixture
def used(monkeypatch, tmp_path):
    """Say what share of the log's disk, and of the other one, is used, in percent."""
    used = {"log": 10, "root": 10}

    def disk_of(path):
        percent = used["log" if path == tmp_path / "log" else "root"]
        return Disk(path=path, total_bytes=100, used_bytes=percent, free_bytes=100 - percent)

    monkeypatch.setattr(resources, "disk_of", disk_of)
    return used


@pytest.fixture
async def client(start_broker, connect, tmp_path, used):  # noqa: ARG001 - measured from the start
    settings = {"storePathCommitLog": str(tmp_path / "log"), "cleanResourceInterval": "20"}
    return await connect(await start_broker(**settings))


@pytest.mark.parametrize("full", ["log", "root"])
async def test_messages_are_refused_as_long_as_either_disk_is_full(client, used, eventually, full):
    assert (await client.send("T", b"taken")).code == 0

    async def is_refused() -> bool:
        return (await client.send("T", b"x")).code == 14

    used[full] = 95
    await eventually(is_refused)
    refused = await client.send("T", b"refused")
    used[full] = 10

    async def is_taken() -> bool:
        return (await client.send("T", b"x")).code == 0

    await eventually(is_taken)
    assert "the disk is nearly full" in refused.remark


async def test_each_disk_is_shown_and_the_fuller_one_is_sampled(client, used):
    used.update(log=30, root=60)

    info = json.loads((await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)).body)["table"]
    answer = await client.call(RequestCode.GET_BROKER_SAMPLE)

    assert (info["commitLogDiskRatio"], info["consumeQueueDiskRatio"]) == ("0.3", "0.6")
    assert info["commitLogDirCapacity"] == "Total : 100 B, Free : 70 B."
    assert java_json.decode(answer.body, BrokerSample).disk_free_bytes == 40
