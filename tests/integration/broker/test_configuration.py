"""Settings of a running agent: typed, changed one by one, in force or after a restart (G14)."""

import asyncio
import json

import pytest

from backend.java_properties import parse_properties_text
from backend.remoting.request_code import RequestCode
from tests.integration.broker.test_fenced_changes import effect, step

UPDATE = RequestCode.UPDATE_BROKER_CONFIG


async def described(client):
    answer = await client.call(RequestCode.GET_BROKER_PROPERTIES)
    body = json.loads(answer.body)
    return {one["name"]: one for one in body["properties"]}


async def test_properties_are_answered_with_type_bounds_and_effect(client):
    found = await described(client)

    reserved, mode = found["fileReservedTime"], found["flushDiskType"]
    assert (reserved["typeName"], reserved["effect"]) == ("integer", "live")
    assert (reserved["low"], reserved["high"]) == (0, 1_000_000)
    assert (reserved["value"], reserved["default"], reserved["stored"]) == ("72", "72", None)
    assert (mode["choices"], mode["effect"]) == (["ASYNC_FLUSH", "SYNC_FLUSH"], "restart")
    assert found["maxMessageSize"]["typeName"] == "bytes"
    assert found["storePathRootDir"]["effect"] == "fixed"
    assert found["brokerName"]["stored"] == "broker-t"


async def test_a_change_is_in_force_at_once_and_in_the_file(client, broker, tmp_path):
    path = tmp_path / "broker.conf"
    path.write_text("# by hand\n" + path.read_text())
    before = parse_properties_text(path.read_text())

    body = b"fileReservedTime=48\nlongPollingEnable=false\n"
    changed = await client.call(UPDATE, step(0, fence=1), body)

    assert effect(changed) == (
        {"fileReservedTime": "72", "longPollingEnable": "true"},
        {"fileReservedTime": "48", "longPollingEnable": "false"},
    )
    settings = broker.broker.settings
    assert (settings.file_reserved_hours, settings.long_polling) == (48, False)
    text = path.read_text()
    assert text.startswith("# by hand\n")
    # Nothing but what was named: stock rewrites its whole file.
    assert parse_properties_text(text) == before | {
        "fileReservedTime": "48",
        "longPollingEnable": "false",
    }
    assert (
        "fileReservedTime=48\n" in (await client.call(RequestCode.GET_BROKER_CONFIG)).body.decode()
    )


async def test_changes_at_once_are_all_kept(client, tmp_path):
    names = ("fileReservedTime", "deleteWhen", "longPollingEnable", "diskMaxUsedSpaceRatio")
    values = ("48", "05", "false", "70")
    changes = [f"{name}={value}\n".encode() for name, value in zip(names, values, strict=True)]

    answers = await asyncio.gather(*(client.call(UPDATE, body=change) for change in changes))

    assert {answer.code for answer in answers} == {0}
    stored = parse_properties_text((tmp_path / "broker.conf").read_text())
    in_force = (await client.call(RequestCode.GET_BROKER_CONFIG)).body.decode()
    for name, value in zip(names, values, strict=True):
        assert stored[name] == value
        assert f"{name}={value}\n" in in_force


async def test_a_value_that_needs_a_restart_is_shown_beside_the_value_in_force(agent):
    client = await agent.start()
    # A value with blanks in it stays whole.
    body = b"messageDelayLevel=2s 3s 4s\n"
    assert (await client.call(UPDATE, body=body)).code == 0
    found = (await described(client))["messageDelayLevel"]
    assert (found["value"], found["stored"]) == ("1s 1s 1s 1s 1s 2s", "2s 3s 4s")
    agent.stop()

    client = await agent.start_with(agent.root / "broker.conf")
    found = (await described(client))["messageDelayLevel"]
    assert (found["value"], found["stored"]) == ("2s 3s 4s", "2s 3s 4s")
    await client.close()


async def test_an_empty_value_takes_a_property_back_to_its_default(client, broker, tmp_path):
    await client.call(UPDATE, body=b"fileReservedTime=48\n")

    await client.call(UPDATE, body=b"fileReservedTime=\n")

    assert broker.broker.settings.file_reserved_hours == 72
    assert "fileReservedTime" not in (tmp_path / "broker.conf").read_text()


@pytest.mark.parametrize(
    ("body", "code", "word"),
    [
        (b"fileReservedTimes=1", 29, "fileReservedTimes"),
        (b"fileReservedTime=-1", 29, "from 0 to 1000000"),
        (b"longPollingEnable=perhaps", 29, "true or false"),
        (b"flushDiskType=NEVER", 29, "ASYNC_FLUSH or SYNC_FLUSH"),
        # D26: no request names a path, a peer or the broker itself.
        (b"storePathRootDir=/tmp/x", 16, "only be changed in the broker's file"),
        (b"namesrvAddr=10.0.0.1:9876", 16, "only be changed in the broker's file"),
        (b"brokerName=other", 16, "only be changed in the broker's file"),
        (b"forceVerifyPropCRC=true", 29, "needs enabledAppendPropCRC"),
        (b"fileReservedTime=24\nbrokerId=7", 16, "brokerId"),
        (b"", 29, "no property"),
        (b"\xff=1", 1, "UTF-8"),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    client, broker, tmp_path, body, code, word
):
    before = (tmp_path / "broker.conf").read_text()

    answer = await client.call(UPDATE, body=body)

    assert (answer.code, word in answer.remark) == (code, True), answer.remark
    assert (tmp_path / "broker.conf").read_text() == before
    assert broker.broker.settings.file_reserved_hours == 72
