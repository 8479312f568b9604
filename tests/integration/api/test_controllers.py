"""Who the controllers are, how they are set, and how far the replicas are behind."""

from backend.domain.epochs import EpochSpan, LogHistory
from backend.domain.replica_identity import Reporter
from backend.domain.replica_lag import LogPosition
from tests.integration.api.spelling import as_rest

V1 = "/api/v1"
G = V1 + "/clusters/c/replica-groups/g"


async def test_controllers_say_what_they_go_by_and_who_else_hears(client, ask, driver, database):
    await driver.make_f3()
    await driver.record(database, ("c", "g", 1), ("c", "g", 2))

    [told] = (await client.get(V1 + "/controllers")).json()
    data = await ask(
        "{ controllers { address isLeader leasePolicy allowsUncleanElection groupCount"
        " masterlessGroupCount peers { id isSelf heardReplicaCount lastHeardAt }"
        " settings { name stockName value default variable description } } }"
    )

    [peer] = told.pop("peers")
    settings = told.pop("settings")
    assert told == {
        "address": "127.0.0.1:9876",
        "is_leader": True,
        "lease_policy": "quorum",
        "allows_unclean_election": False,
        "group_count": 1,
        "masterless_group_count": 0,
    }
    assert (peer["is_self"], peer["heard_replica_count"]) == (True, 2)
    [in_graph] = data["controllers"]
    assert in_graph["peers"][0]["id"] == peer["id"]
    assert (in_graph["leasePolicy"], in_graph["groupCount"]) == ("QUORUM", 1)
    assert {one["name"]: (one["value"], one["variable"]) for one in settings} == {
        "lease_policy": ("quorum", "REGENT_LEASE_POLICY"),
        "unclean_election_allowed": ("false", "REGENT_UNCLEAN_ELECTION_ALLOWED"),
        "second_person": ("none", "REGENT_SECOND_PERSON"),
    }
    assert as_rest(in_graph["settings"]) == settings


async def test_lag_is_what_the_master_holds_beyond_and_unknown_of_a_silent_broker(
    client, ask, driver, brokers
):  # D21
    await driver.make_f3()
    brokers.positions = {
        "10.0.0.1:10911": LogPosition(900, is_following=False, bytes_per_second=0),
        "10.0.0.2:10911": LogPosition(
            400, is_following=True, bytes_per_second=250, obstacle="empty its store"
        ),
    }

    told = (await client.get(G + "/lag")).json()
    data = await ask(
        '{ cluster(name: "c") { replicaGroup(name: "g") { lag { masterId masterMaxOffset'
        " replicas { brokerId address isMaster isInSync isFollowing maxOffset lagBytes aheadBytes"
        " bytesPerSecond catchUpMs obstacle error } } } } }"
    )
    brokers.positions.pop("10.0.0.1:10911")
    without_master = (await client.get(G + "/lag")).json()

    assert (told["master_id"], told["master_max_offset"]) == (1, 900)
    told_of = {one["broker_id"]: (one["lag_bytes"], one["catch_up_ms"]) for one in told["replicas"]}
    assert told_of == {1: (0, 0), 2: (500, 2000), 3: (None, None)}
    obstacles = [one["obstacle"] for one in told["replicas"]]
    assert obstacles == [None, "empty its store", None]
    assert "nobody listens" in told["replicas"][2]["error"]
    assert as_rest(data["cluster"]["replicaGroup"]["lag"]) == told
    assert [one["ahead_bytes"] for one in told["replicas"]] == [0, 0, None]
    assert [one["lag_bytes"] for one in without_master["replicas"]] == [None, None, None]
    assert without_master["replicas"][1]["max_offset"] == 400


async def test_another_broker_at_the_address_of_a_dead_one_never_answers_in_its_place(
    client, driver, brokers
):
    # Case B6.
    await driver.make_f3()
    brokers.positions = {
        "10.0.0.1:10911": LogPosition(
            900, is_following=False, bytes_per_second=0, reported_by=Reporter("c", "g", 0)
        ),
        "10.0.0.2:10911": LogPosition(
            900, is_following=True, bytes_per_second=250, reported_by=Reporter("c", "g", 3)
        ),
        "10.0.0.3:10911": LogPosition(
            1400, is_following=True, bytes_per_second=250, reported_by=Reporter("c", "g", 3)
        ),
    }
    brokers.histories = {
        "10.0.0.2:10911": LogHistory((EpochSpan(1, 0, None),), 900, Reporter("c", "h", 2)),
    }

    dead, ahead = (await client.get(G + "/lag")).json()["replicas"][1:]
    told = (await client.get(G + "/epochs")).json()["replicas"][1]

    assert (dead["lag_bytes"], dead["ahead_bytes"], dead["max_offset"]) == (None, None, None)
    assert dead["error"] == "broker 3 of the group has its address now"
    assert (ahead["lag_bytes"], ahead["ahead_bytes"], ahead["catch_up_ms"]) == (None, 500, None)
    assert (told["epochs"], told["error"]) == (None, "a broker of h in cluster c has its address")
