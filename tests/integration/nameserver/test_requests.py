"""Each request of the name server over a real socket, against remoting.md 2.7."""

import json
import zlib

import pytest

from backend.services.access.audit import AuditFilter, list_entries


async def test_a_route_shows_what_a_broker_registered(client):
    await client.register()

    answer = await client.ask(105, {"topic": "orders"})

    assert answer.code == 0
    assert json.loads(answer.body) == {
        "brokerDatas": [
            {
                "brokerAddrs": {"0": "10.0.0.1:10911"},
                "brokerName": "broker-a",
                "cluster": "main",
                "enableActingMaster": False,
            }
        ],
        "filterServerTable": {},
        "queueDatas": [
            {
                "brokerName": "broker-a",
                "perm": 6,
                "readQueueNums": 4,
                "topicSysFlag": 0,
                "writeQueueNums": 4,
            }
        ],
    }
    assert b" " not in answer.body


async def test_an_old_client_gets_bare_numeric_keys(client):
    await client.register()

    old = await client.ask(105, {"topic": "orders"}, version=399)
    asked = await client.ask(
        105, {"topic": "orders", "acceptStandardJsonOnly": "true"}, version=399
    )

    assert b'"brokerAddrs":{0:"10.0.0.1:10911"}' in old.body
    assert json.loads(old.body.replace(b"{0:", b'{"0":')) == json.loads(asked.body)


async def test_an_answer_comes_in_the_encoding_of_its_request(client):
    await client.register()

    answer = await client.ask(105, {"topic": "orders"}, encoding="rocketmq")

    assert (answer.code, answer.encoding) == (0, "rocketmq")


@pytest.mark.parametrize(
    "topic", ["nothing", "a/b", "..", "a\0b", "x" * 256, "%RETRY%nobody", "ünïcode"]
)
async def test_a_topic_that_no_broker_serves_is_code_17(client, topic):
    await client.register()

    answer = await client.ask(105, {"topic": topic})

    assert answer.code == 17
    assert answer.body == b""


async def test_an_unknown_code_is_code_3(client):
    answer = await client.ask(9_999)

    assert (answer.code, answer.remark) == (3, "request type 9999 not supported")


@pytest.mark.parametrize(
    ("code", "ext", "field"),
    [
        (105, {}, "topic"),
        (103, {"brokerName": "a"}, "brokerAddr"),
        (104, {"brokerName": "a", "brokerAddr": "h:1", "clusterName": "c"}, "brokerId"),
        (904, {"clusterName": "c", "brokerName": "a"}, "brokerAddr"),
        (901, {"clusterName": "c"}, "brokerName"),
        (224, {}, "cluster"),
        (205, {}, "brokerName"),
        (216, {}, "topic"),
        (100, {"namespace": "n", "key": "k"}, "value"),
        (219, {}, "namespace"),
    ],
)
async def test_a_missing_field_is_code_1_and_named(client, code, ext, field):
    answer = await client.ask(code, ext)

    assert answer.code == 1
    assert field in answer.remark


async def test_a_field_that_is_no_number_is_code_1_and_named(client):
    answer = await client.register(brokerId="many")

    assert answer.code == 1
    assert "brokerId" in answer.remark


async def test_a_first_registration_of_one_topic_is_refused_and_leaves_nothing(client):  # S93
    answer = await client.register(topics={"orders": (4, 4, 6)})

    assert (answer.code, answer.remark) == (1, "register broker failed")
    assert json.loads((await client.ask(206)).body)["topicList"] == []
    assert json.loads((await client.ask(106)).body)["clusterAddrTable"] == {}


async def test_a_wrong_checksum_is_refused(client):  # S102
    answer = await client.register(bodyCrc32="12345")

    assert (answer.code, answer.remark) == (1, "crc32 not match")


async def test_a_right_checksum_is_taken(client, make_register_body):
    body = make_register_body({"a": (1, 1, 6), "b": (1, 1, 6)})

    answer = await client.register(body=body, bodyCrc32=str(zlib.crc32(body) & 0x7FFFFFFF))

    assert answer.code == 0


async def test_a_compressed_registration_is_taken(client):
    def section(data):
        return len(data).to_bytes(4, "big") + data

    version = section(b'{"counter":1,"stateVersion":0,"timestamp":1}')
    topics = section(b"orders 4 4 6 SINGLE_TAG {}") + section(b"bills 1 1 6 SINGLE_TAG {}")
    plain = version + (2).to_bytes(4, "big") + topics + section(b"[]") + (0).to_bytes(4, "big")

    answer = await client.register(body=zlib.compress(plain, 9), compressed="true")

    assert answer.code == 0
    assert (await client.ask(105, {"topic": "bills"})).code == 0


async def test_a_registration_of_an_old_broker_holds_its_topics_bare(client):
    table = {
        name: {"topicName": name, "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
        for name in ("a", "b")
    }
    body = json.dumps({"dataVersion": {"counter": 1}, "topicConfigTable": table}).encode()

    answer = await client.register(body=body, version=36)

    assert answer.code == 0
    assert (await client.ask(105, {"topic": "a"})).code == 0


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff\xfe", b'{"topicConfigSerializeWrapper":7}'])
async def test_a_broken_body_is_code_1(client, body):
    answer = await client.register(body=body)

    assert answer.code == 1


async def test_a_replica_receives_its_master(client):  # S81
    await client.register()

    answer = await client.register(
        brokerId="1", brokerAddr="10.0.0.2:10911", haServerAddr="10.0.0.2:10912"
    )

    assert answer.ext == {"haServerAddr": "10.0.0.1:10912", "masterAddr": "10.0.0.1:10911"}


async def test_a_master_is_given_the_order_table_and_no_master(client):
    await client.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "t", "value": "broker-a:4"})

    answer = await client.register()

    assert answer.ext == {}
    assert json.loads(answer.body) == {"table": {"t": "broker-a:4"}}


async def test_cluster_info_names_groups_and_members(client):
    await client.register()
    await client.register(brokerName="broker-b", brokerAddr="10.0.0.3:10911")

    info = json.loads((await client.ask(106)).body)

    assert info["clusterAddrTable"] == {"main": ["broker-a", "broker-b"]}
    assert info["brokerAddrTable"]["broker-b"]["brokerAddrs"] == {"0": "10.0.0.3:10911"}


async def test_a_member_group_shows_real_ids_and_an_unknown_one_is_empty(client):
    await client.register(brokerId="2")

    known = await client.ask(901, {"clusterName": "main", "brokerName": "broker-a"})
    unknown = await client.ask(901, {"clusterName": "main", "brokerName": "nobody"})

    assert json.loads(known.body) == {
        "brokerMemberGroup": {
            "brokerAddrs": {"2": "10.0.0.1:10911"},
            "brokerName": "broker-a",
            "cluster": "main",
        }
    }
    assert json.loads(unknown.body)["brokerMemberGroup"]["brokerAddrs"] == {}


async def test_a_data_version_is_compared_and_answered(client):
    await client.register()
    ext = {"clusterName": "main", "brokerName": "broker-a", "brokerId": "0"}
    known = ext | {"brokerAddr": "10.0.0.1:10911"}

    same = await client.ask(322, known, b'{"counter":1,"stateVersion":0,"timestamp":1000}')
    other = await client.ask(322, known, b'{"counter":2,"stateVersion":0,"timestamp":1000}')
    absent = await client.ask(322, ext | {"brokerAddr": "h:1"}, b'{"counter":1}')

    assert [answer.ext["changed"] for answer in (same, other, absent)] == ["false", "true", "true"]
    assert json.loads(same.body) == {"counter": 1, "stateVersion": 0, "timestamp": 1000}
    assert absent.body == b""


async def test_a_good_bye_takes_the_broker_out(client):
    await client.register()

    answer = await client.ask(
        104,
        {
            "clusterName": "main",
            "brokerName": "broker-a",
            "brokerAddr": "10.0.0.1:10911",
            "brokerId": "0",
        },
    )

    assert answer.code == 0
    assert (await client.ask(105, {"topic": "orders"})).code == 17


async def test_a_good_bye_in_another_name_changes_nothing(client):
    await client.register()

    await client.ask(
        104,
        {"clusterName": "main", "brokerName": "broker-a", "brokerAddr": "x:1", "brokerId": "0"},
    )

    assert (await client.ask(105, {"topic": "orders"})).code == 0


async def test_topic_lists_name_all_those_of_a_cluster_and_those_of_the_system(client):
    await client.register()
    await client.register(
        clusterName="other",
        brokerAddr="10.1.0.1:10911",
        topics={"x": (1, 1, 6), "y": (1, 1, 6)},
    )

    everything = json.loads((await client.ask(206)).body)
    of_cluster = json.loads((await client.ask(224, {"cluster": "other"})).body)
    of_system = json.loads((await client.ask(304)).body)

    assert everything["topicList"] == ["TBW102", "orders", "x", "y"]
    assert of_cluster["topicList"] == ["x", "y"]
    assert of_system["topicList"] == ["broker-a", "main", "other"]
    assert of_system["brokerAddr"] in {"10.0.0.1:10911", "10.1.0.1:10911"}


async def test_write_permission_is_wiped_and_added(client):
    await client.register()

    wiped = await client.ask(205, {"brokerName": "broker-a"})
    without = json.loads((await client.ask(105, {"topic": "orders"})).body)
    added = await client.ask(327, {"brokerName": "broker-a"})
    with_it = json.loads((await client.ask(105, {"topic": "orders"})).body)

    assert (wiped.ext, added.ext) == ({"wipeTopicCount": "2"}, {"addTopicCount": "2"})
    assert [route["queueDatas"][0]["perm"] for route in (without, with_it)] == [4, 6]


async def test_a_deleted_topic_has_no_route(client):
    await client.register()

    answer = await client.ask(216, {"topic": "orders"})

    assert answer.code == 0
    assert (await client.ask(105, {"topic": "orders"})).code == 17


async def test_a_topic_can_be_added_to_a_group_that_is_known(client):  # S100
    queue = {"brokerName": "broker-a", "perm": 6, "readQueueNums": 2, "writeQueueNums": 2}
    body = json.dumps({"queueDatas": [queue], "brokerDatas": []}).encode()

    before = await client.ask(217, {"topic": "late"}, body)
    unknown = await client.ask(105, {"topic": "late"})
    await client.register()
    await client.ask(217, {"topic": "late"}, body)

    assert (before.code, unknown.code) == (0, 17)
    assert (await client.ask(105, {"topic": "late"})).code == 0


async def test_key_values_are_kept_answered_and_forgotten(client):
    pair = {"namespace": "n", "key": "k"}

    absent = await client.ask(101, pair)
    await client.ask(100, pair | {"value": "v"})
    found = await client.ask(101, pair)
    table = await client.ask(219, {"namespace": "n"})
    await client.ask(102, pair)
    gone = await client.ask(219, {"namespace": "n"})

    assert (absent.code, found.ext, gone.code) == (22, {"value": "v"}, 22)
    assert json.loads(table.body) == {"table": {"k": "v"}}


async def test_the_configuration_is_answered_as_properties_without_paths(client, name_server):
    answer = await client.ask(319)

    lines = dict(line.split("=", 1) for line in answer.body.decode().splitlines())
    assert lines["listenPort"] == str(name_server.port)
    assert not [value for value in lines.values() if "/" in value]


async def reported_settings(client):
    text = (await client.ask(319)).body.decode()
    return dict(line.split("=", 1) for line in text.splitlines())


async def test_settings_that_may_change_do(client, database):
    # Case C6.
    await client.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "t", "value": "broker-a:4"})
    wished = {
        "scanNotActiveBrokerInterval": "2000",
        "serverChannelMaxIdleTimeSeconds": "60",
        "enableTopicList": "false",
        "enableAllTopicList": "false",
        "returnOrderTopicConfigToBroker": "false",
    }
    before = await client.ask(206)
    body = "".join(f"{name}={value}\n" for name, value in wished.items()).encode()

    answer = await client.ask(318, body=body)

    assert (before.code, answer.code) == (0, 0)
    assert wished.items() <= (await reported_settings(client)).items()
    lists = [await client.ask(206), await client.ask(224, {"cluster": "main"})]
    assert {one.code for one in lists} == {1}
    assert "enableAllTopicList is false" in lists[0].remark
    assert (await client.register()).body == b""
    page = await list_entries(size=9, before=None, chosen=AuditFilter(), database=database)
    (entry,) = (one.entry for one in page.items)
    assert (entry.actor, entry.action) == ("unnamed", "name_server.change_settings")


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        # Case C6, by D26: no path, command or class.
        (b"rocketmqHome=/tmp/evil\n", 16, "'rocketmqHome' can't be changed here"),
        (b"kvConfigPath=/tmp/evil\n", 16, "'kvConfigPath' can't be changed here"),
        (b"configStorePath=/tmp/evil\n", 16, "the settings that can be changed are"),
        (b"productEnvName=x\n", 16, "'productEnvName' can't be changed here"),
        (b"listenPort=1\n", 16, "set REGENT_REMOTING_PORT"),
        (b"orderMessageEnable=true\n", 16, "regent topic set"),
        (b"supportActingMaster=false\n", 16, "each broker reports it"),
        (b"enableTopicList=perhaps\n", 29, "true or false is allowed"),
        (b"scanNotActiveBrokerInterval=0\n", 29, "100 to 60000 is allowed"),
        (b"enableTopicList=false\nlistenPort=1\n", 16, "nothing is changed"),
        (b"", 29, "no setting is named"),
        (b"\xff=1\n", 29, "not UTF-8"),
    ],
)
async def test_other_settings_are_refused_by_name(client, body, code, told):
    before = await reported_settings(client)

    answer = await client.ask(318, body=body)

    assert (answer.code, told in answer.remark) == (code, True), answer.remark
    assert await reported_settings(client) == before


async def test_a_one_way_request_is_carried_out_and_not_answered(client):
    await client.send(100, {"namespace": "n", "key": "k", "value": "v"}, oneway=True)
    await client.send(9_999, oneway=True)
    await client.send(105, oneway=True)

    answer = await client.ask(101, {"namespace": "n", "key": "k"})

    assert answer.ext == {"value": "v"}


async def test_unit_topic_lists_follow_the_flag(client):
    await client.register()

    answers = [await client.ask(code) for code in (311, 312, 313)]

    assert [json.loads(answer.body)["topicList"] for answer in answers] == [[], [], []]
