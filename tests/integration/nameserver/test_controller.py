"""The controller's requests over a real socket, by the numbers of control-plane.md 9."""

import json

import pytest

from backend.domain.cluster_scope import EVERYWHERE
from backend.services.controller.adoptions import list_candidates
from tests.integration.nameserver.broker_peer import PATIENT_MS, BrokerPeer, make_f3, state

ALL = {1, 2, 3}


@pytest.fixture
async def f3(name_server, connect):
    brokers = [BrokerPeer(await connect(name_server), number) for number in (1, 2, 3)]
    await make_f3(brokers)
    return brokers


@pytest.fixture
def broker(client):
    return BrokerPeer(client, 1)


async def test_the_next_id_of_an_unknown_group_is_1(broker):  # S1
    answer = await broker.ask(1012, broker.names)

    assert answer.code == 0
    assert answer.ext == broker.names | {"nextBrokerId": "1"}
    assert (await broker.info()).code == 2008


async def test_an_id_is_applied_for_and_answered(broker):  # S2, S4
    for _ in range(2):
        answer = await broker.apply()
        assert (answer.code, answer.ext) == (0, broker.names)

    assert await broker.next_id() == 2
    info = await broker.info()
    assert (info.code, info.ext) == (0, {"masterEpoch": "0", "leasePolicy": "quorum"})
    assert json.loads(info.body) == {"syncStateSet": [], "syncStateSetEpoch": 0}


async def test_an_id_that_may_not_be_had_is_2014_and_names_another(broker):  # S3, S5
    assert (await broker.apply(2)).code == 2014
    await broker.apply()

    refused = await broker.apply(1, "10.9.9.9:1;9")

    assert (refused.code, refused.ext["nextBrokerId"]) == (2014, "2")


async def test_an_application_without_a_code_is_an_error(broker):  # 1.15
    answer = await broker.ask(1013, broker.names | {"appliedBrokerId": "1"})

    assert (answer.code, answer.remark) == (1, "the required field registerCheckCode is missing")


async def test_brokers_that_register_are_listed_as_not_in_sync(f3):  # S7
    data = (await f3[0].sync_state_data("g", "unknown"))["g"]

    assert data == {
        "inSyncReplicas": [
            {"alive": True, "brokerAddress": f"10.0.0.{i}:10911", "brokerId": i, "brokerName": "g"}
            for i in (1, 2, 3)
        ],
        "masterAddress": "10.0.0.1:10911",
        "masterBrokerId": 1,
        "masterEpoch": 1,
        "notInSyncReplicas": [],
        "syncStateSetEpoch": 2,
    }
    await f3[0].alter({1}, epoch=2)
    data = (await f3[0].sync_state_data())["g"]
    assert [replica["brokerId"] for replica in data["notInSyncReplicas"]] == [2, 3]


@pytest.mark.parametrize("body", [b"", b"[]"])
async def test_sync_state_data_of_no_group_is_an_error(broker, body):  # 1.9
    answer = await broker.ask(1006, {}, body)

    assert (answer.code, answer.remark) == (1, "not set any response code")


async def test_of_groups_so_called_the_one_of_the_connection_is_listed(client, second_client):
    one, two = BrokerPeer(client, 1, cluster="one"), BrokerPeer(second_client, 1, cluster="two")
    for broker in (one, two):
        await broker.apply()
        await broker.beat()
    await two.elect()

    assert "masterBrokerId" not in (await one.sync_state_data("g", "unknown"))["g"]
    assert (await two.sync_state_data())["g"]["masterBrokerId"] == 1


async def test_a_broker_that_registers_learns_its_master(f3):  # S9
    answer = await f3[1].register(brokerAddress="10.9.9.9:1")

    assert answer.code == 0
    assert answer.ext == f3[1].names | {
        "masterBrokerId": "1",
        "masterAddress": "10.0.0.1:10911",
        "masterEpoch": "1",
        "syncStateSetEpoch": "2",
        "leasePolicy": "quorum",
    }
    assert json.loads(answer.body) == {"syncStateSet": [1, 2, 3], "syncStateSetEpoch": 2}
    replicas = (await f3[0].sync_state_data())["g"]["inSyncReplicas"]
    assert replicas[1]["brokerAddress"] == "10.9.9.9:1"


async def test_who_never_applied_is_2010(f3):  # S10, S11
    assert (await f3[0].register(brokerId="9")).code == 2010
    assert (await f3[0].register(brokerName="other")).code == 2010


async def test_a_dead_master_is_not_answered(broker):  # S12
    await broker.apply()
    await broker.elect()

    answer = await broker.register()

    assert (answer.code, answer.ext) == (0, broker.names)
    assert json.loads(answer.body) == {"syncStateSet": [1], "syncStateSetEpoch": 1}
    assert (await broker.info()).ext["masterBrokerId"] == "1"


async def test_a_master_alters_its_set(f3):  # S29
    answer = await f3[0].alter({1, 2}, epoch=2)

    assert (answer.code, answer.ext) == (0, {"newSyncStateSetEpoch": "3"})
    assert answer.body == b'{"syncStateSet":[1,2],"syncStateSetEpoch":3}'


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"members": ALL, "epoch": 2}, 2013),  # S30
        ({"members": {1, 2}, "epoch": 2, "master": 2}, 2002),  # S31
        ({"members": {1, 2}, "epoch": 2, "master_epoch": 2}, 2000),  # S32
        ({"members": {1, 2}, "epoch": 1}, 2001),  # S33
        ({"members": {1, 9}, "epoch": 2}, 2003),  # S34
        ({"members": {2, 3}, "epoch": 2}, 2013),  # S36
    ],
)
async def test_each_fault_of_a_set_has_its_code(f3, wish, code):
    assert (await f3[0].alter(**wish)).code == code
    assert await state(f3[0]) == (1, 1, ALL, 2)


@pytest.fixture
def close(f3, eventually):
    """Have a broker close its connection, and wait until it is missed."""

    async def close_and_wait(broker):
        await broker.close()
        await eventually(lambda: f3[0].misses(broker.id))

    return close_and_wait


async def test_a_dead_replica_enters_no_set(f3, close):  # S35
    await f3[0].alter({1, 2}, epoch=2)
    await close(f3[2])

    assert (await f3[0].alter(ALL, epoch=3)).code == 2006


async def test_a_dead_member_keeps_no_other_in_the_set(f3, close):
    """S35, by D7: stock's master could not let 2 go while only the controller misses 3."""
    await close(f3[2])

    assert (await f3[0].alter({1, 3}, epoch=2)).code == 0
    assert await state(f3[0]) == (1, 1, {1, 3}, 3)


async def test_what_was_asked_for_before_a_fence_is_refused_whenever_it_comes(f3):  # D8
    assert (await f3[0].alter(ALL, epoch=2, isFence="true")).code == 0

    assert (await f3[0].alter({1, 2}, epoch=2)).code == 2001
    assert await state(f3[0]) == (1, 1, ALL, 3)


async def test_a_senders_clock_makes_no_broker_alive_or_dead(f3, close):
    """S72, by D3: stock's jRaft controller measures silence by the sender's time stamp."""
    await f3[0].alter({1, 2}, epoch=2, invoke_time=2**62)
    await close(f3[2])

    assert (await f3[0].alter(ALL, epoch=3, invoke_time=1)).code == 2006
    assert await state(f3[0]) == (1, 1, {1, 2}, 3)


async def test_a_set_of_an_unknown_group_is_2013(broker):  # S37
    assert (await broker.alter({1}, epoch=0)).code == 2013


async def test_the_first_to_ask_is_elected_and_the_second_learns_it(client, second_client):
    one, two = BrokerPeer(client, 1), BrokerPeer(second_client, 2)  # S46, S47
    await one.apply()
    await two.apply()
    await one.beat(epoch=None, maxOffset=None, confirmOffset=None)

    first = await one.elect()

    master = {
        "masterBrokerId": "1",
        "masterAddress": "10.0.0.1:10911",
        "masterEpoch": "1",
        "syncStateSetEpoch": "1",
        "leasePolicy": "quorum",
    }
    assert (first.code, first.ext) == (0, master)
    assert json.loads(first.body) == {
        "brokerMemberGroup": {
            "brokerAddrs": {"1": "10.0.0.1:10911", "2": "10.0.0.2:10911"},
            "brokerName": "g",
            "cluster": "c",
        },
        "syncStateSet": [1],
    }
    second = await two.elect()
    assert (second.code, second.ext, second.body) == (2011, master, b'{"syncStateSet":[1]}')


async def test_an_election_in_an_unknown_group_is_refused(broker):
    assert (await broker.elect()).code == 2010


async def test_an_operator_elects_by_id(f3):  # S57, S58, S59, S60
    async def designate(broker_id):
        return (await f3[0].elect(broker_id, designateElect="true")).code

    assert await designate(1) == 2011
    assert await designate(2) == 0
    assert await state(f3[0]) == (2, 2, {2}, 3)
    assert await designate(3) == 2012


async def test_a_controllers_request_over_the_wire_is_answered_too(f3):  # S56
    assert (await f3[0].ask(1002, {"brokerName": "g"})).code == 2011


async def test_an_old_master_that_registers_learns_of_the_new_one(f3):  # S70
    await f3[0].elect(3, designateElect="true")

    answer = await f3[0].register()

    assert (answer.ext["masterBrokerId"], answer.ext["masterEpoch"]) == ("3", "2")


async def test_a_master_that_was_not_missed_goes_on_in_its_epoch(f3):  # S71
    answer = await f3[0].register()

    assert (answer.ext["masterBrokerId"], answer.ext["masterEpoch"]) == ("1", "1")


async def test_living_replicas_are_not_cleaned(f3):  # S73, S74
    assert (await f3[0].clean("1")).code == 2009
    assert (await f3[0].clean()).code == 2009
    assert (await f3[0].clean("1; 2")).code == 2009


async def test_a_dead_replica_is_cleaned(f3, eventually):  # S75
    await f3[0].close()

    async def is_cleaned():
        return (await f3[1].clean("1")).code == 0

    await eventually(is_cleaned)
    data = (await f3[1].sync_state_data())["g"]
    listed = data["inSyncReplicas"] + data["notInSyncReplicas"]
    assert sorted(replica["brokerId"] for replica in listed) == [2, 3]
    assert await f3[1].next_id() == 4


async def test_cleaning_the_living_removes_the_group(f3):  # S77, S78
    assert (await f3[0].clean("1", living=True, cluster=None)).code == 0
    assert (await f3[0].info()).code == 2008
    assert (await f3[0].clean(living=True)).code == 2009
    assert await f3[0].next_id() == 1


async def test_every_process_leads(start_server, connect):  # S65, by D1: stock's followers are 2007
    servers = [await start_server(), await start_server()]
    peers = [BrokerPeer(await connect(server), 1) for server in servers]

    answers = [await peer.metadata() for peer in peers]

    for server, answer in zip(servers, answers, strict=True):
        assert answer.ext == {
            "group": "regent",
            "controllerLeaderId": server.address,
            "controllerLeaderAddress": server.address,
            "isLeader": "true",
            "peers": f"{server.address};",
        }
    await peers[0].apply()
    assert await peers[1].next_id() == 2


async def test_settings_are_shown_and_not_changed_by_a_request(broker):  # D26
    shown = await broker.ask(1010, {})
    changed = await broker.ask(1009, {}, b"enableElectUncleanMaster=true")

    assert b"enableElectUncleanMaster=false\n" in shown.body
    assert changed.code == 16
    assert b"enableElectUncleanMaster=false\n" in (await broker.ask(1010, {})).body


async def test_a_heartbeat_without_an_id_is_the_name_servers(broker):
    """S66: one port hears for both, so stock's 2005 would refuse every plain heartbeat."""
    ext = broker.names | {"brokerAddr": broker.address}

    assert (await broker.ask(904, ext)).code == 0


async def test_a_heartbeat_with_only_an_id_is_accepted(broker):  # S141
    await broker.apply()
    ext = broker.names | {"brokerAddr": broker.address, "brokerId": "1"}

    answer = await broker.ask(904, ext)

    assert (answer.code, answer.remark) == (0, "Heart beat success")
    data = (await broker.sync_state_data())["g"]
    assert data["notInSyncReplicas"][0]["alive"] is True


async def test_a_group_in_two_clusters_is_the_one_of_the_connection(client, second_client):  # D2
    one = BrokerPeer(client, 1, cluster="one")
    two = BrokerPeer(second_client, 1, cluster="two")
    for broker in (one, two):
        await broker.apply()
        await broker.elect()
    assert (await one.info()).code == 1

    await one.beat()

    assert (await one.info()).code == 0
    assert (await two.info()).remark == (
        "several clusters hold a broker group 'g'; name its cluster"
    )


async def test_a_master_gets_a_lease_and_a_replica_none(f3):  # D9
    master, replica = await f3[0].lease(), await f3[1].lease()
    outdated = await f3[0].lease(epoch="0")

    assert (master.code, master.ext) == (0, {"leaseMs": str(PATIENT_MS)})
    assert (replica.ext, outdated.ext) == ({"leaseMs": "0"}, {"leaseMs": "0"})


@pytest.mark.parametrize("name", ["", "a/b", "..", "x" * 128, "ünïcode", "a\0b"])
async def test_a_name_that_is_none_makes_no_group(broker, name):
    broker.group = name

    assert (await broker.apply()).code in (1, 29)
    await broker.beat()
    assert (await broker.elect()).code in (1, 29)


async def test_a_broker_of_a_lost_group_is_kept_with_what_it_reports(broker, name_server):  # D6
    told = {"registerCheckCode": "10.0.0.1:10911;1", "epoch": "5", "maxOffset": "900"}

    answer = await broker.register(**told, knownMasterId="2", isVerified="true")

    assert answer.code == 2010
    assert "regent replica adopt g" in answer.remark
    page = await list_candidates(
        size=9, after=None, within=EVERYWHERE, controller=name_server.controller
    )
    [kept] = [stored.candidate for stored in page.items]
    assert (kept.register_code, kept.epoch, kept.max_offset) == ("10.0.0.1:10911;1", 5, 900)
    assert (kept.master_id, kept.is_verified) == (2, True)
    # A new broker may not found the group again meanwhile.
    assert (await broker.apply(1, "10.9.9.9:1;9")).code == 2010


async def test_a_broker_that_registers_with_the_code_of_another_is_2014(f3):
    assert (await f3[0].register(registerCheckCode="10.0.0.1:10911;1")).code == 0
    assert (await f3[0].register(registerCheckCode="10.9.9.9:1;9")).code == 2014


async def test_a_broker_that_names_no_epoch_is_given_no_lease_with_its_election(
    start_server, connect
):  # D9
    server = await start_server(unclean_election_allowed=True)
    elected, other = [BrokerPeer(await connect(server), number) for number in (1, 2)]
    for broker in (elected, other):
        await broker.apply()
        # It waits for an answer, and asks for nothing that a controller gives.
        assert (await broker.lease(epoch=None)).ext == {}
    assert (await elected.elect()).code == 0

    answer = await other.elect(designateElect="true")

    # Out of the set, it would have to await the end of a lease that is unknown.
    assert (answer.code, answer.ext["masterBrokerId"]) == (0, "2")


BAD_NAMES = ["a\0b", "a b", "../g", "x" * 128, "%00/..", "\u202egroup"]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    ("code", "field", "more"),
    [
        # Case A14.
        (1002, "brokerName", {"brokerId": "1", "designateElect": "true"}),
        (1002, "clusterName", {"brokerId": "1", "designateElect": "true"}),
        (1003, "brokerName", {"brokerId": "1", "brokerAddress": "10.0.0.1:10911"}),
        (1003, "clusterName", {"brokerId": "1", "brokerAddress": "10.0.0.1:10911"}),
        (1004, "brokerName", {}),
        (1011, "brokerName", {"isCleanLivingBroker": "true"}),
        (1011, "clusterName", {"isCleanLivingBroker": "true"}),
        (1012, "brokerName", {}),
        (1012, "clusterName", {}),
        (1013, "brokerName", {"appliedBrokerId": "1", "registerCheckCode": "a;1"}),
        (904, "brokerName", {"brokerId": "1", "brokerAddr": "10.0.0.1:10911", "epoch": "1"}),
    ],
)
async def test_an_impossible_name_is_an_invalid_name(client, name, code, field, more):
    names = {"clusterName": "main", "brokerName": "broker-a"} | more
    answer = await client.ask(code, names | {field: name})

    assert answer.code == 29, answer.remark
    assert "database" not in answer.remark


async def test_a_bad_name_of_many_is_left_out_and_named(f3, client):
    # Case A14: 1006 takes a list.
    name = f3[0].names["brokerName"]

    mixed = await client.ask(1006, body=json.dumps([name, "a\0b"]).encode())
    bad = await client.ask(1006, body=json.dumps(["a\0b"]).encode())

    assert (mixed.code, bad.code) == (0, 29)
    assert list(json.loads(mixed.body)["replicasInfoTable"]) == [name]
    assert "broker group 'a\\x00b'" in mixed.remark


async def test_a_value_that_can_not_be_stored_is_no_fault_of_the_database(broker):
    # Case A14: not a name, but it goes to Postgres as well.
    answer = await broker.ask(
        1013, broker.names | {"appliedBrokerId": "1", "registerCheckCode": "10.0.0.1:10911;\0"}
    )

    assert answer.code == 29
    assert "can't be stored" in answer.remark
