"""One name a broker, whatever its role: through both doors, before and after elections (D31)."""

import pytest

from backend.domain.election import ReplicaReport
from backend.domain.event import EventFilter
from backend.services.controller import replica_groups
from backend.services.controller.replica_groups import RegisterReplica
from backend.services.controller.replica_reports import record_replica_reports
from backend.services.upkeep.events import list_events, number_events

V1 = "/api/v1/clusters/c"
BROKER = '{ broker(clusterName: "c", brokerName: "%s") { name ownId brokerId role address state } }'


@pytest.fixture
async def pair(driver, register):
    """Two replicas in sync, 1 the master; both have registered."""
    await driver.apply(1)
    await driver.apply(2)
    driver.hear(1, 2, epoch=1, max_offset=9)
    await driver.elect(1)
    await driver.alter({1, 2}, epoch=1)
    await register_as(register, 1, broker_id=0)
    await register_as(register, 2, broker_id=2)
    return driver


async def register_as(register, own_id, *, broker_id):
    address = f"10.0.0.{own_id}:10911"
    await register(cluster="c", group="g", broker_id=broker_id, address=address, topics=["t"])


@pytest.fixture
def show(client, ask):
    """Give the address and the role of what a name means; both doors say the same."""

    async def show(name):
        told = (await client.get(f"{V1}/brokers/{name}")).json()
        graph = (await ask(BROKER % name.replace("%2F", "/")))["broker"]
        assert (graph["name"], graph["address"]) == (told["name"], told["address"])
        return told["name"], told["address"], told["role"]

    return show


async def test_a_name_means_the_same_machine_before_and_after_an_election(pair, show, register):
    # Case B2: `/brokers/broker-b/0` was another machine than before.
    before = [await show("g-1"), await show("g-2")]
    await pair.elect(2, designated=True)
    await register_as(register, 2, broker_id=0)
    await register_as(register, 1, broker_id=1)
    after = [await show("g-1"), await show("g-2")]

    one, two = ("g-1", "10.0.0.1:10911"), ("g-2", "10.0.0.2:10911")
    assert before == [(*one, "master"), (*two, "replica")]
    assert after == [(*one, "replica"), (*two, "master")]


async def test_a_dead_master_keeps_its_name(pair, show, register, client, database):
    # Case B2, with a master that is gone: first as its registration says, then as its controller.
    told = {("c", "g", 1): ReplicaReport(20, 10_000, epoch=1, max_offset=9)}
    await record_replica_reports(
        told, lease_asked={}, heard_by=pair.heartbeat_source.id, database=database
    )
    pair.heartbeat_source.heard.pop(1)
    await pair.replace_lost()
    between = await show("g-1")
    await register_as(register, 2, broker_id=0)

    assert between == ("g-1", "10.0.0.1:10911", "master")
    assert await show("g-1") == ("g-1", "10.0.0.1:10911", "replica")
    assert await show("g-2") == ("g-2", "10.0.0.2:10911", "master")
    listed = (await client.get(f"{V1}/brokers")).json()["items"]
    assert [(one["name"], one["own_id"], one["broker_id"]) for one in listed] == [
        ("g-1", 1, 1),
        ("g-2", 2, 0),
    ]


@pytest.mark.usefixtures("pair")
async def test_the_former_spelling_still_resolves(show):
    # Case B2: links and scripts hold the id of the role, 0 for the master.
    assert await show("g%2F0") == await show("g-0") == await show("g-1")
    assert await show("g%2F2") == await show("g-2")


async def test_a_broker_without_a_controller_keeps_its_registered_id(register, show):
    await register(cluster="c", group="broker-1", broker_id=0, address="10.0.0.1:10911")
    await register(cluster="c", group="broker", broker_id=1, address="10.0.0.2:10911")

    assert await show("broker-1-0") == ("broker-1-0", "10.0.0.1:10911", "master")
    assert await show("broker-1") == ("broker-1", "10.0.0.2:10911", "replica")


async def test_a_broker_shows_what_its_controller_knows_whatever_its_role(pair, register, ask):
    await register(cluster="c", group="alone", broker_id=0, address="10.0.0.9:10911")
    query = (
        '{ cluster(name: "c") { brokerGroups { nodes { brokers {'
        " name replica { brokerId isMaster isInSync } } } } } }"
    )
    await pair.elect(2, designated=True)
    await register_as(register, 2, broker_id=0)

    groups = (await ask(query))["cluster"]["brokerGroups"]["nodes"]

    told = {one["name"]: one["replica"] for group in groups for one in group["brokers"]}
    assert told["alone-0"] is None
    assert told["g-2"] == {"brokerId": "2", "isMaster": True, "isInSync": True}
    assert told["g-1"]["brokerId"] == "1"
    assert told["g-1"]["isMaster"] is False


async def test_an_address_that_passed_to_another_replica_does_not_bring_its_name(
    pair, register, show
):
    await pair.elect(2, designated=True)
    moved = RegisterReplica("c", "g", 2, "10.0.0.1:10911")
    await replica_groups.register(moved, pair.controller)
    await register(cluster="c", group="g", broker_id=0, address="10.0.0.1:10911")

    assert await show("g-2") == ("g-2", "10.0.0.1:10911", "master")


@pytest.mark.usefixtures("pair")
async def test_what_names_no_broker_is_refused(client, ask):
    absent = await client.get(f"{V1}/brokers/g-3")
    elsewhere = await client.get("/api/v1/clusters/d/brokers/g-1")
    malformed = await client.get(f"{V1}/brokers/g")

    assert (absent.status_code, absent.json()["code"]) == (404, "broker_unknown")
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "cluster_not_found")
    assert (malformed.status_code, malformed.json()["code"]) == (400, "invalid_name")
    assert (await ask(BROKER % "g-3"))["broker"] is None


async def test_a_broker_is_asked_by_its_own_id_whatever_its_role(pair, client, register, brokers):
    brokers.properties_reported = {"10.0.0.2:10911": []}
    path = f"{V1}/broker-groups/g/brokers/2/config"
    before = await client.get(path)
    await pair.elect(2, designated=True)
    await register_as(register, 2, broker_id=0)

    assert before.json() == (await client.get(path)).json()
    assert before.json()["address"] == "10.0.0.2:10911"


async def test_events_name_a_broker_by_its_own_id_in_each_role(pair, register, database):
    # Case B2: an election gave the name g-0 to another broker.
    await pair.elect(2, designated=True)
    await register_as(register, 2, broker_id=0)

    await number_events(database=database)
    page = await list_events(after=0, size=500, chosen=EventFilter(), database=database)

    subjects = [one.subject for one in page.events if one.kind == "broker.registered"]
    assert subjects == ["g-1", "g-2", "g-2"]
