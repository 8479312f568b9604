"""Clients that are connected to a living agent, over both doors."""

from urllib.parse import quote

import pytest

from backend.remoting import java_json
from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from tests.integration.api.agents.conftest import CLUSTER, GROUP, until
from tests.integration.broker.name_server import RecordingNameServer

CLIENTS = f"/clusters/{CLUSTER}/clients"
FIELDS = """clientId roles producerGroups consumerGroups heardMs connections {
  brokerGroupName brokerName brokerAddress address language version versionName heardMs
  producerGroups consumerGroups }"""
LIST = f"""query ($first: Int!, $after: String, $group: String, $role: ClientRole) {{
  clients(clusterName: "c", first: $first, after: $after, group: $group, role: $role) {{
    nodes {{ {FIELDS} }} pageInfo {{ hasNextPage endCursor }} totalCount
    unknown {{ brokerGroupName why }}
  }}
}}"""
ONE = f"""query ($id: String!) {{
  client(clusterName: "c", clientId: $id) {{ client {{ {FIELDS} }} unknown {{ brokerGroupName }} }}
}}"""


async def test_clients_are_listed_with_groups_and_heartbeats(broker, get, ask):
    one = await broker.member("one")
    await broker.member("two", group="audit")
    await broker.client.heartbeat("audit", client_id="sender", consumerDataSet=[])

    found = await get(CLIENTS)
    first = await get(CLIENTS, limit=2)
    rest = await get(CLIENTS, limit=2, after=first["next"])
    of_audit = await get(CLIENTS, group="audit", role="consumer")
    detail = await get(f"{CLIENTS}/one")
    graph = (await ask(LIST, first=2))["clients"]
    consumers = (await ask(LIST, first=9, group="billing", role="CONSUMER"))["clients"]
    shown = (await ask(ONE, id="one"))["client"]["client"]

    assert [item["client_id"] for item in found["items"]] == ["one", "sender", "two"]
    member, sender, _ = found["items"]
    assert (member["roles"], sender["roles"]) == (["producer", "consumer"], ["producer"])
    assert member["consumer_groups"] == ["billing"]
    assert sender["producer_groups"] == ["pg"]
    (connection,) = member["connections"]
    assert connection["broker_address"] == broker.address
    assert (connection["broker_group_name"], connection["broker_name"]) == (GROUP, f"{GROUP}-0")
    host, port = one.writer.get_extra_info("sockname")
    assert connection["address"] == f"{host}:{port}"
    assert 0 <= member["heard_ms"] < 60_000
    assert [i["client_id"] for i in first["items"] + rest["items"]] == ["one", "sender", "two"]
    assert rest["next"] is None
    assert [item["client_id"] for item in of_audit["items"]] == ["two"]
    assert detail["connections"][0]["address"] == connection["address"]
    assert graph["pageInfo"] == {"hasNextPage": True, "endCursor": first["next"]}
    assert [node["clientId"] for node in consumers["nodes"]] == ["one"]
    assert shown["connections"][0]["brokerAddress"] == broker.address


async def test_a_client_that_leaves_is_gone(broker, get, ask):
    member = await broker.member("leaver")
    assert (await get(f"{CLIENTS}/leaver"))["roles"] == ["producer", "consumer"]

    await member.close()

    async def is_gone():
        return (await get(CLIENTS))["total_count"] == 0

    await until(is_gone, "it is still shown")
    assert (await get(f"{CLIENTS}/leaver", 404))["code"] == "client_not_found"
    assert (await ask(ONE, id="leaver"))["client"] is None


async def test_a_stock_broker_is_asked_group_by_group_and_a_dead_one_is_named(
    broker, get, register
):
    class Stock(RecordingNameServer):
        """Answers what stock has, from the pages of the protocol (remoting.md 2.8)."""

        def reply(self, writer, command):
            group = {"clientAddr": "10.0.0.5:1", "clientId": "far", "language": "GO"}
            bodies = {
                RequestCode.GET_ALL_PRODUCER_INFO: {
                    "data": {
                        "senders": [
                            {
                                "clientId": "far",
                                "language": "GO",
                                "lastUpdateTimestamp": 1,
                                "remoteIP": "10.0.0.5:1",
                                "version": 317,
                            }
                        ]
                    }
                },
                RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: {
                    "subscriptionGroupTable": {"readers": {"groupName": "readers"}}
                },
                RequestCode.GET_CONSUMER_CONNECTION_LIST: {
                    "connectionSet": [group | {"version": 317}],
                    "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
                    "consumeType": "CONSUME_PASSIVELY",
                    "messageModel": "CLUSTERING",
                    "subscriptionTable": {},
                },
            }
            if command.code in bodies:
                writer.write(answer(command, body=java_json.encode(bodies[command.code])))
            else:
                writer.write(answer(command, code=3, remark="request type not supported"))

    stock = Stock()
    await stock.start()
    await register(CLUSTER, "dead", 0)
    await register(CLUSTER, "stock", 0, address=f"127.0.0.1:{stock.port}")

    found = await get(CLIENTS)
    await stock.stop()

    (far,) = found["items"]
    assert (far["producer_groups"], far["consumer_groups"]) == (["senders"], ["readers"])
    assert far["connections"][0]["version_name"] == "4.5.2"
    assert [one["broker_group_name"] for one in found["unknown"]] == ["dead"]
    assert broker is not None


@pytest.mark.parametrize("client_id", ["10.0.0.1@a/b", "a%2Fb", "/", "a//b", "é ü?#", ".."])
async def test_a_client_of_any_name_is_found_by_it(broker, get, client_id):
    # Case B9.
    await broker.member(client_id)

    listed = await get(CLIENTS)
    # An address may not contain two plain dots: clients send them encoded.
    name = "%2E%2E" if client_id == ".." else quote(client_id, safe="")
    found = await get(f"{CLIENTS}/{name}")

    assert client_id in {one["client_id"] for one in listed["items"]}
    assert found["client_id"] == client_id
