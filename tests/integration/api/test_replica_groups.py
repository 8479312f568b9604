"""Groups under a controller over REST and in the graph: one truth, shown and changed alike."""

from datetime import datetime, timedelta

import pytest

from backend.domain.election import ReplicaReport
from backend.domain.epochs import EpochSpan, LogHistory
from backend.domain.errors import AdoptionAwaited
from backend.services.controller.replica_groups import RegisterReplica, register
from backend.services.controller.replica_reports import (
    forget_replica_reports,
    record_replica_reports,
)
from tests.integration.api.spelling import as_rest

V1 = "/api/v1"
G = V1 + "/clusters/c/replica-groups/g"
GROUP_FIELDS = """
  clusterName name mode leasePolicy leaseLeftMs masterId masterEpoch isMasterAlive preferredId
  confirmedEpoch confirmedPosition protocolVersion versionLimit
  syncStateSet syncStateSetEpoch retiredIds
  replicas { brokerId address isMaster isInSync isAlive lastHeartbeatAt epoch maxOffset
             confirmOffset isVerified isCordoned protocolVersion }
  election { winnerId isUnchanged awaitsLeaseMs candidates { brokerId verdict reason } warning }
  health { clusterName brokerGroupName verdict sentence nextFailure replicaCount aliveCount
    hasWriter
           writerFault missing { brokerId name address lastHeardAt } }
"""


def without_instants(group):
    for replica in group["replicas"]:
        replica["last_heartbeat_at"] = replica["last_heartbeat_at"] is not None
    return group


@pytest.fixture
async def f3(driver):
    """Three replicas, 1 the master, all in sync; 3 fell silent, 2 reported its position."""
    await driver.make_f3()
    driver.heartbeat_source.heard = {
        1: ReplicaReport(5, 10_000, epoch=1, max_offset=2**60, confirm_offset=7),
        2: ReplicaReport(5, 10_000),
        3: ReplicaReport(20_000, 10_000, epoch=1, max_offset=0, confirm_offset=0),
    }


@pytest.mark.usefixtures("f3")
async def test_a_group_is_shown_alike_by_both_doors(client, ask):
    told = (await client.get(G)).json()

    data = await ask('{ cluster(name: "c") { replicaGroup(name: "g") {' + GROUP_FIELDS + "} } }")

    assert as_rest(data["cluster"]["replicaGroup"]) == without_instants(told)
    assert (told["master_id"], told["master_epoch"], told["sync_state_set"]) == (1, 1, [1, 2, 3])


@pytest.mark.usefixtures("f3")
async def test_an_unknown_value_is_not_shown_as_a_number(client, driver):
    driver.heartbeat_source.heard.pop(3)

    one, two, three = (await client.get(G)).json()["replicas"]

    assert (one["max_offset"], one["is_alive"], one["is_verified"]) == (2**60, True, True)
    assert (two["epoch"], two["max_offset"], two["is_alive"]) == (None, None, True)
    assert three["last_heartbeat_at"] is None
    assert (three["is_alive"], three["is_verified"], three["confirm_offset"]) == (
        False,
        None,
        None,
    )


@pytest.mark.usefixtures("f3")
async def test_a_replica_that_died_shows_when_it_was_last_heard(client, driver, database):
    key = ("c", "g", 3)
    gone = {key: ReplicaReport(20_000, 10_000, epoch=1, max_offset=9)}
    await record_replica_reports(
        gone, lease_asked={}, heard_by=driver.heartbeat_source.id, database=database
    )
    driver.heartbeat_source.heard.pop(3)

    await forget_replica_reports([key], heard_by=driver.heartbeat_source.id, database=database)

    three = (await client.get(G)).json()["replicas"][2]
    age = driver.controller.clock.now() - datetime.fromisoformat(three["last_heartbeat_at"])
    assert timedelta(seconds=20) <= age < timedelta(minutes=10)
    assert (three["is_alive"], three["max_offset"]) == (False, None)


@pytest.mark.usefixtures("f3")
async def test_an_election_is_explained_before_it_is_ordered(client):
    told = (await client.get(G + "/election", params={"broker_id": 3})).json()
    by_rule = (await client.get(G + "/election")).json()

    assert told["winner_id"] is None
    assert [(c["broker_id"], c["verdict"]) for c in told["candidates"]] == [
        (1, "not_designated"),
        (2, "not_designated"),
        (3, "not_alive"),
    ]
    assert (by_rule["winner_id"], by_rule["is_unchanged"]) == (1, True)
    assert (
        by_rule["candidates"][1]["reason"] == "can become master, but the current master is alive"
    )
    assert (await client.get(G + "/election", params={"broker_id": 9})).status_code == 404


@pytest.mark.usefixtures("f3")
async def test_the_history_is_paged_and_outlives_its_group(client, ask, driver):
    await driver.clean(living=True)

    first = (await client.get(G + "/changes", params={"limit": 4})).json()
    rest = (await client.get(G + "/changes", params={"after": first["next"]})).json()

    kinds = [change["kind"] for change in first["items"] + rest["items"]]
    assert kinds == [
        "group_removed",
        "sync_state_set_altered",
        "master_elected",
        *["broker_id_applied"] * 3,
    ]
    assert first["total_count"] == 6
    assert first["items"][1]["sync_state_set"] == [1, 2, 3]
    assert (await client.get(G)).status_code == 404
    assert (await client.get(V1 + "/clusters/c/replica-groups/x/changes")).status_code == 404
    data = await ask('{ cluster(name: "c") { replicaGroup(name: "g") { name } } }')
    assert data["cluster"]["replicaGroup"] is None


@pytest.mark.usefixtures("f3")
async def test_the_graph_pages_through_a_history_too(ask):
    query = (
        'query ($after: String) { cluster(name: "c") { replicaGroup(name: "g") {'
        " changes(first: 3, after: $after) { totalCount pageInfo { hasNextPage endCursor }"
        " nodes { kind cause masterEpoch replicaAddresses { brokerId address } } } } } }"
    )

    first = (await ask(query))["cluster"]["replicaGroup"]["changes"]
    more = await ask(query, after=first["pageInfo"]["endCursor"])

    assert [node["kind"] for node in first["nodes"]] == [
        "SYNC_STATE_SET_ALTERED",
        "MASTER_ELECTED",
        "BROKER_ID_APPLIED",
    ]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (5, True)
    assert len(more["cluster"]["replicaGroup"]["changes"]["nodes"]) == 2


@pytest.mark.usefixtures("f3")
async def test_the_epochs_of_the_logs_are_compared_and_a_silent_broker_is_unknown(
    client, ask, brokers
):
    def history(second_start):
        return LogHistory((EpochSpan(1, 0, second_start), EpochSpan(2, second_start, None)), 900)

    brokers.histories = {"10.0.0.1:10911": history(400), "10.0.0.2:10911": history(500)}

    told = (await client.get(G + "/epochs")).json()
    data = await ask(
        '{ cluster(name: "c") { replicaGroup(name: "g") { epochs { differingEpoch replicas {'
        " brokerId address maxOffset error epochs { epoch startOffset endOffset } } } } } }"
    )

    assert told["differing_epoch"] == 2
    assert told["replicas"][0]["epochs"] == [
        {"epoch": 1, "start_offset": 0, "end_offset": 400},
        {"epoch": 2, "start_offset": 400, "end_offset": None},
    ]
    silent = told["replicas"][2]
    assert (silent["epochs"], silent["max_offset"]) == (None, None)
    assert "nobody listens" in silent["error"]
    assert as_rest(data["cluster"]["replicaGroup"]["epochs"]) == told


@pytest.fixture
async def lost(driver):
    """Two brokers claim ids of a group that is not known; 1 serves as master."""
    for broker_id in (1, 2):
        address = f"10.0.0.{broker_id}:10911"
        told = RegisterReplica("c", "g", broker_id, address, f"{address};1", 5, 900, 1)
        with pytest.raises(AdoptionAwaited):
            await register(told, driver.controller)


@pytest.mark.usefixtures("lost")
async def test_candidates_are_shown_alike_by_both_doors_and_their_codes_by_none(client, ask):
    answer = await client.get(V1 + "/adoption-candidates", params={"limit": 1})
    more = {"after": answer.json()["next"]}
    rest = (await client.get(V1 + "/adoption-candidates", params=more)).json()
    data = await ask(
        "{ adoptionCandidates(first: 1) { totalCount nodes { clusterName brokerGroupName brokerId"
        " address hasCode epoch maxOffset masterId isVerified firstHeardAt heardAt } } }"
    )

    [told] = answer.json()["items"]
    assert (told["broker_id"], told["master_id"], told["is_verified"]) == (1, 1, None)
    assert ";1" not in answer.text
    assert [item["broker_id"] for item in rest["items"]] == [2]
    [in_graph] = data["adoptionCandidates"]["nodes"]
    assert {key: value for key, value in as_rest(in_graph).items() if "heard_at" not in key} == {
        key: value for key, value in told.items() if "heard_at" not in key
    }
