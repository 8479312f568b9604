"""The health of broker groups: one judgement over REST and in the graph, from the replicas."""

from datetime import datetime

import pytest

from backend.domain.election import ReplicaReport
from backend.services.controller.replica_reports import (
    forget_replica_reports,
    record_replica_reports,
)
from backend.services.upkeep.events import number_events
from tests.integration.api.spelling import as_rest

V1 = "/api/v1"
FIELDS = """
  verdict sentence nextFailure replicaCount aliveCount groupCount
  troubled { clusterName brokerGroupName verdict sentence nextFailure replicaCount aliveCount
    hasWriter
             writerFault missing { brokerId name address lastHeardAt } }
"""


@pytest.fixture
async def pair(driver, register):
    """Two replicas in sync, 1 the master, which has registered with its topics."""
    await driver.apply(1)
    await driver.apply(2)
    driver.hear(1, 2, epoch=1, max_offset=9)
    await driver.elect(1)
    await driver.alter({1, 2}, epoch=1)
    await register(cluster="c", group="g", broker_id=0, address="10.0.0.1:10911", topics=["t"])
    await register(cluster="c", group="g", broker_id=2, address="10.0.0.2:10911", topics=["t"])
    return driver


async def kill_master(driver, database, register):
    """Lose replica 1, elect replica 2, and have it register as the master."""
    key = ("c", "g", 1)
    told = {key: ReplicaReport(20, 10_000, epoch=1, max_offset=9)}
    await record_replica_reports(
        told, lease_asked={}, heard_by=driver.heartbeat_source.id, database=database
    )
    driver.heartbeat_source.heard.pop(1)
    await driver.replace_lost()
    await forget_replica_reports([key], heard_by=driver.heartbeat_source.id, database=database)
    await register(cluster="c", group="g", broker_id=0, address="10.0.0.2:10911", topics=["t"])


@pytest.mark.usefixtures("pair")
async def test_a_whole_cluster_is_healthy_through_both_doors(client, ask):
    told = (await client.get(f"{V1}/health?cluster_name=c")).json()
    data = await ask('{ health(clusterName: "c") {' + FIELDS + "} }")

    assert told["verdict"] == "healthy"
    assert told["sentence"] == "The broker group g is healthy: 2 of 2 brokers are alive."
    assert told["groups"][0]["has_writer"] is True
    assert data["health"]["sentence"] == told["sentence"]
    assert (data["health"]["verdict"], data["health"]["troubled"]) == ("HEALTHY", [])


async def test_a_dead_master_is_named_by_every_list_until_it_is_back(
    pair, client, ask, register, database
):
    # Case B1: "every broker is online, 3 of 3", and its row was gone everywhere.
    await kill_master(pair, database, register)

    told = (await client.get(f"{V1}/health")).json()
    data = await ask('{ health(clusterName: "c") {' + FIELDS + "} }")
    brokers = (await client.get(f"{V1}/clusters/c/brokers")).json()
    overview = await ask("{ overview { brokerCount onlineBrokerCount } }")
    group = await ask(
        '{ cluster(name: "c") { brokerGroup(name: "g") { brokers { brokerId address state'
        ' isRegistered lastHeartbeatAt } } replicaGroup(name: "g") { health { sentence } } } }'
    )

    [judged] = told["groups"]
    assert told["verdict"] == "degraded"
    assert told["sentence"].startswith(
        "g: 1 of 2 replicas is alive; g-1 (10.0.0.1:10911) sent its last heartbeat at "
    )
    assert [one["name"] for one in judged["missing"]] == ["g-1"]
    [shown] = as_rest(data["health"]["troubled"])
    heard_at = datetime.fromisoformat(shown["missing"][0].pop("last_heard_at"))
    assert heard_at == datetime.fromisoformat(judged["missing"][0].pop("last_heard_at"))
    assert shown == judged
    assert [(b["broker_id"], b["address"], b["state"]) for b in brokers["items"]] == [
        (1, "10.0.0.1:10911", "offline"),
        (0, "10.0.0.2:10911", "online"),
    ]
    assert brokers["total_count"] == 2
    assert datetime.fromisoformat(brokers["items"][0]["last_heartbeat_at"]) == heard_at
    assert overview["overview"] == {"brokerCount": 2, "onlineBrokerCount": 1}
    missing = group["cluster"]["brokerGroup"]["brokers"][0]
    assert (missing["brokerId"], missing["isRegistered"]) == ("1", False)
    assert missing["lastHeartbeatAt"] is not None
    assert group["cluster"]["replicaGroup"]["health"]["sentence"] == told["sentence"]

    pair.hear(1, 2, epoch=2, max_offset=9)
    await pair.alter({1, 2}, master=2, master_epoch=2, epoch=3)
    await register(cluster="c", group="g", broker_id=1, address="10.0.0.1:10911", topics=["t"])

    assert (await client.get(f"{V1}/health")).json()["verdict"] == "healthy"
    assert (await client.get(f"{V1}/clusters/c/brokers")).json()["total_count"] == 2


async def test_a_missing_broker_is_on_exactly_one_page_of_a_list(pair, client, register, database):
    # Case B1, with pages.
    await kill_master(pair, database, register)
    await register(cluster="c", group="h", broker_id=0, address="10.0.1.1:10911")

    found, after = [], None
    for _ in range(3):
        query = "limit=1" + ("" if after is None else f"&after={after}")
        page = (await client.get(f"{V1}/clusters/c/brokers?{query}")).json()
        found += [(one["broker_group_name"], one["broker_id"]) for one in page["items"]]
        after = page["next"]

    assert found == [("g", 1), ("g", 0), ("h", 0)]
    assert after is None


async def test_a_forgotten_broker_is_missed_no_longer(pair, client, register, database):
    await kill_master(pair, database, register)

    await pair.clean("1")

    assert (await client.get(f"{V1}/health")).json()["verdict"] == "healthy"
    assert (await client.get(f"{V1}/clusters/c/brokers")).json()["total_count"] == 1


async def test_a_cordoned_winner_is_named_by_the_election_its_event_and_its_history(
    pair, client, ask, register, database
):
    # Case A16.
    pair.heartbeat_source.heard[2] = ReplicaReport(
        0, 10_000, epoch=1, max_offset=9, is_cordoned=True
    )
    await kill_master(pair, database, register)
    path = f"{V1}/clusters/c/replica-groups/g"

    health = (await client.get(f"{V1}/health")).json()
    election = (await client.get(f"{path}/election")).json()
    change = (await client.get(f"{path}/changes?limit=1")).json()["items"][0]
    graph = await ask(
        '{ cluster(name: "c") { replicaGroup(name: "g") { election { warning }'
        " changes(first: 1) { nodes { warning } } replicas { isCordoned } } } }"
    )

    assert (health["verdict"], health["groups"][0]["writer_fault"]) == ("critical", "cordoned")
    assert health["sentence"].startswith("g has no writer: its master g-2 is cordoned. Uncordon it")
    for warning in (election["warning"], change["warning"]):
        assert warning.startswith("g has no writer: its master g-2 is cordoned; uncordon it: `")
    shown = graph["cluster"]["replicaGroup"]
    assert shown["election"]["warning"] == election["warning"]
    assert shown["changes"]["nodes"][0]["warning"] == change["warning"]
    assert [one["isCordoned"] for one in shown["replicas"]] == [None, True]
    await number_events(database=database)
    events = (await client.get(f"{V1}/events?kinds=group.master_elected")).json()
    warned = [one["details"].get("warning") for one in events["items"]]
    assert warned == [None, change["warning"]]


async def test_a_broker_without_a_controller_is_judged_by_its_registration(client, register):
    await register(cluster="c", group="s", broker_id=1, address="10.0.0.9:10911", topics=["t"])

    told = (await client.get(f"{V1}/health")).json()

    assert told["verdict"] == "critical"
    assert told["sentence"].startswith("s has no writer: it has no master. 1 of 1 broker is alive")


@pytest.mark.usefixtures("pair")
async def test_a_control_plane_that_has_just_begun_to_listen_calls_no_broker_dead(
    client, driver, name_server
):
    driver.heartbeat_source.heard.clear()
    name_server.listened_ms = 2_000

    told = (await client.get(f"{V1}/health")).json()

    assert told["verdict"] == "unknown"
    assert told["groups"][0]["missing"] == []
    assert told["groups"][0]["has_writer"] is None


@pytest.mark.usefixtures("pair")
async def test_an_unknown_cluster_has_no_health(client):
    answer = await client.get(f"{V1}/health?cluster_name=elsewhere")

    assert (answer.status_code, answer.json()["code"]) == (404, "cluster_not_found")
