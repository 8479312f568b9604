import json
import socket
import subprocess
import sys

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import ROOT, write_config
from tests.integration.broker.client import bodies
from tests.integration.broker.test_bad_input import create_fields
from tests.long_form import few
from tests.open_files import FEW, few_open_files, open_file_limits


async def test_a_broker_may_open_all_files_that_the_system_allows(agent):
    with few_open_files():
        await agent.start()

    allowed, most = open_file_limits(agent.process.pid)
    assert allowed == most > FEW


async def test_messages_topics_groups_and_offsets_survive_a_restart(agent):
    client = await agent.start()
    await client.send("T", b"kept", queue_id=2)
    await client.heartbeat("g", "T")
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 2}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})
    agent.stop()

    client = await agent.start()

    topic = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "%RETRY%g"})
    group = await client.call(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g"})
    offset = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)
    assert bodies(await client.pull("T", queueId=2)) == [b"kept"]
    assert (topic.code, group.code, offset.ext["offset"]) == (0, 0, "1")


async def test_a_delayed_message_is_delivered_once_after_a_restart(agent):
    client = await agent.start()
    await client.send("T", b"a", properties={"DELAY": "1"})
    await client.pull("T", sysFlag=6)
    await client.send("T", b"b", properties={"DELAY": "6"})
    agent.stop()

    client = await agent.start()

    assert bodies(await client.pull("T", queueOffset=1, sysFlag=6)) == [b"b"]
    high = await client.call(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0})
    assert high.ext["offset"] == "2"


async def test_a_killed_broker_keeps_what_it_acknowledged(agent):
    client = await agent.start()
    await client.heartbeat("g", "T")
    sent = [await client.send("T", b"%d" % number) for number in range(200)]
    agent.kill()

    client = await agent.start()
    found = []
    while (pulled := await client.pull("T", queueOffset=len(found))).code == 0:
        found += bodies(pulled)

    assert {answer.code for answer in sent} == {0}
    assert found == [b"%d" % number for number in range(200)]
    for path in (agent.root / "store" / "config").glob("*.json"):
        json.loads(path.read_bytes())


@pytest.mark.parametrize(
    ("name", "value"),
    few(
        [
            ("listenPort", "99999"),
            ("brokerId", "first"),
            ("flushDiskType", "SOMETIMES"),
            ("messageDelayLevel", "1 2 3"),
            ("brokerName", "a/b"),
            ("autoCreateTopicEnable", "perhaps"),
            ("namesrvAddr", ":9876"),
            ("brokerIP1", "broker.example.com"),
        ],
        4,
    ),
)
def test_a_bad_setting_is_one_clear_line_and_exit_code_2(tmp_path, name, value):
    path = write_config(tmp_path, **{name: value})

    done = run_to_end(path)

    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert len(lines) == 1
    assert f"{name}={value}" in lines[0]


@pytest.mark.parametrize("file_name", ["topics.json", "topics.json.bak"])
async def test_a_broker_serves_all_but_the_odd_items_of_its_files_and_keeps_those(agent, file_name):
    # Case A5.
    folder = agent.root / "store" / "config"
    folder.mkdir(parents=True)
    odd = {
        "many": {"topicName": "many", "readQueueNums": 70_000},
        "few": {"topicName": "few", "writeQueueNums": -1},
        "flag": {"topicName": "flag", "topicSysFlag": -1},
        "a b": {"topicName": "a b"},
        "text": {"topicName": "text", "perm": "six"},
    }
    topics = {"good": {"topicName": "good", "readQueueNums": 4, "writeQueueNums": 4}} | odd
    groups = {"g": {"groupName": "g"}, "g g": {"groupName": "g g"}}
    offsets = {"good@g": {"0": 3, "1": "x"}}
    (folder / file_name).write_text(json.dumps({"topicConfigTable": topics}))
    (folder / "subscriptionGroup.json").write_text(json.dumps({"subscriptionGroupTable": groups}))
    (folder / "consumerOffset.json").write_text(json.dumps({"offsetTable": offsets}))

    client = await agent.start()
    sent = await client.send("good", b"kept")
    refused = await client.send("flag", b"lost")
    made = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("new"))
    agent.stop()
    told = "".join(agent.events("state_items_left_out"))
    written = {
        name: json.loads((folder / f"{name}.json").read_bytes())
        for name in ("topics", "subscriptionGroup", "consumerOffset")
    }
    client = await agent.start()
    deleted = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "a b"})
    agent.stop()

    assert (sent.code, refused.code, made.code, deleted.code) == (0, 17, 0, 0)
    assert "topicSysFlag is -1" in refused.remark
    assert all(f"topicConfigTable/{name}" in told for name in odd)
    assert "subscriptionGroupTable/g g" in told
    assert "offsetTable/good@g/1" in told
    table = written["topics"]["topicConfigTable"]
    assert {name: table[name]["topicName"] for name in odd} == {name: name for name in odd}
    assert (table["many"]["readQueueNums"], table["text"]["perm"]) == (70_000, "six")
    assert {"good", "new"} <= table.keys()
    assert written["subscriptionGroup"]["subscriptionGroupTable"]["g g"]["groupName"] == "g g"
    assert written["consumerOffset"]["offsetTable"]["good@g"]["1"] == "x"
    after = json.loads((folder / "topics.json").read_bytes())["topicConfigTable"]
    assert odd.keys() - after.keys() == {"a b"}


async def test_a_topic_that_stock_made_odd_keeps_its_messages(agent):
    # Cases A5 and A6: stock has run on the store meanwhile, and its file names no log.
    client = await agent.start()
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"))
    assert (await client.send("T", b"kept")).code == 0
    agent.stop()
    path = agent.root / "store" / "config" / "topics.json"
    content = json.loads(path.read_bytes())
    content = {"topicConfigTable": content["topicConfigTable"]}
    content["topicConfigTable"]["T"]["perm"] = 22
    path.write_text(json.dumps(content))

    client = await agent.start()
    refused = await client.send("T", b"lost")
    agent.stop()
    kept = json.loads(path.read_bytes())["topicConfigTable"]["T"]["perm"]
    client = await agent.start()
    mended = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"))

    assert (refused.code, kept, mended.code) == (17, 22, 0)
    assert bodies(await client.pull("T")) == [b"kept"]


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


async def test_unknown_stock_properties_are_accepted_with_one_line(agent):
    await agent.start(haFlowControlEnable="true", transientStorePoolEnable="false")

    lines = [line for line in agent.lines if "properties_without_effect" in line]
    assert len(lines) == 1
    assert "haFlowControlEnable" in lines[0]


def run_to_end(path):
    return subprocess.run(
        [sys.executable, "-m", "workers.broker", "-c", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
