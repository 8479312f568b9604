"""What `regent controller` and `regent replica` print, ask, send and end with."""

import pytest

from backend.cli.app import run

PATH = "/clusters/east/replica-groups/broker-a"
CANDIDATES = [
    {"broker_id": 1, "verdict": "master_stays", "reason": "could be master, but …"},
    {"broker_id": 2, "verdict": "wins", "reason": "would become master"},
]
ELECTION = {
    "winner_id": 2,
    "is_unchanged": False,
    "awaits_lease_ms": 0,
    "candidates": CANDIDATES,
    "warning": None,
}


def replica(broker_id, **values):
    return {
        "broker_id": broker_id,
        "address": f"10.0.0.{broker_id}:10911",
        "is_master": broker_id == 1,
        "is_in_sync": True,
        "is_alive": True,
        "last_heartbeat_at": "2026-03-02T12:00:00Z",
        "epoch": 3,
        "max_offset": 2**60,
        "confirm_offset": 7,
        "is_verified": True,
        "protocol_version": 2,
        **values,
    }


def group(**values):
    silent = dict.fromkeys(("last_heartbeat_at", "epoch", "max_offset", "confirm_offset"))
    lost = replica(2, is_alive=False, is_in_sync=False, is_verified=None, **silent)
    return {
        "cluster_name": "east",
        "name": "broker-a",
        "mode": "controller",
        "lease_policy": "quorum",
        "lease_left_ms": 900,
        "master_id": 1,
        "master_epoch": 3,
        "is_master_alive": True,
        "protocol_version": 1,
        "version_limit": None,
        "preferred_id": 2,
        "confirmed_epoch": None,
        "confirmed_position": None,
        "sync_state_set": [1],
        "sync_state_set_epoch": 5,
        "retired_ids": [],
        "replicas": [replica(1), lost],
        "election": ELECTION,
        "health": None,
        **values,
    }


def candidate(broker_id, **values):
    return {
        "cluster_name": "east",
        "broker_group_name": "broker-a",
        "broker_id": broker_id,
        "address": f"10.0.0.{broker_id}:10911",
        "has_code": True,
        "epoch": 5,
        "max_offset": 900,
        "master_id": 1,
        "is_verified": True,
        "first_heard_at": "2026-03-02T11:00:00Z",
        "heard_at": "2026-03-02T12:00:00Z",
        **values,
    }


def page(*items):
    return {"items": list(items), "next": None, "total_count": len(items)}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("GET", "/clusters/east/replica-groups", page(group()))
    signed_in.on("GET", PATH, group())
    signed_in.on("GET", f"{PATH}/election", ELECTION)
    signed_in.on("GET", "/adoption-candidates", page(candidate(1), candidate(2)))
    return signed_in


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_the_status_names_the_policy_and_the_processes(signed_in, capsys):
    peer = {
        "id": "8d0c1f1e-6a53-4a0e-9f0e-0b6f0a4c9d11",
        "is_self": True,
        "heard_replica_count": 6,
        "last_heard_at": "2026-03-02T12:00:00Z",
    }
    controller = {
        "address": "127.0.0.1:9876",
        "is_leader": True,
        "lease_policy": "quorum",
        "allows_unclean_election": False,
        "group_count": 2,
        "masterless_group_count": 0,
        "peers": [peer],
    }
    signed_in.on("GET", "/controllers", [controller])

    assert run(["controller", "status"]) == 0
    assert lines(capsys) == [
        "ADDRESS LEADS LEASE POLICY UNCLEAN ELECTION GROUPS WITHOUT MASTER",
        "127.0.0.1:9876 yes quorum refused 2 0",
        "",
        "Processes of the control plane that hear replicas",
        "PROCESS HEARS REPLICAS LAST",
        f"{peer['id']} (this one) 6 2026-03-02 12:00:00Z",
    ]


@pytest.mark.usefixtures("east")
def test_replicas_are_listed_and_the_unknown_is_no_zero(capsys):
    assert run(["replica", "list"]) == 0
    assert lines(capsys) == [
        "BROKER GROUP ID ADDRESS ROLE ALIVE IN SET EPOCH LOG END CONFIRMED VERSION LAST HEARTBEAT",
        f"broker-a 1 10.0.0.1:10911 master yes yes 3 {2**60} 7 2 2026-03-02 12:00:00Z",
        "broker-a 2 10.0.0.2:10911 replica no no - - - 2 -",
    ]


@pytest.mark.usefixtures("east")
def test_a_group_is_shown_with_the_election_as_it_would_be(capsys):
    assert run(["replica", "get", "broker-a"]) == 0
    shown = lines(capsys)
    assert shown[0] == (
        "Group broker-a of east: master 1 in epoch 3, sync-state set 1 (epoch 5),"
        " lease policy quorum, preferred 2"
    )
    assert shown[1] == "Protocol version 1"
    assert shown[5:] == [
        "",
        "Broker 2 would become master:",
        "ID VERDICT REASON",
        "1 master_stays could be master, but …",
        "2 wins would become master",
    ]


def test_a_group_is_shown_with_what_its_next_master_must_hold(east, capsys):
    # Case A1.
    east.on("GET", PATH, group(confirmed_epoch=3, confirmed_position=2**40))

    assert run(["replica", "get", "broker-a"]) == 0

    assert lines(capsys)[2] == f"Confirmed up to log position {2**40} of epoch 3"


@pytest.mark.parametrize(
    ("alive", "reported"),
    [((), "epoch 5, none of 2 alive"), ((2,), "epoch 5, 1 of 2 alive"), ((1, 2), "epoch 5")],
)
def test_a_set_whose_members_are_dead_says_so(east, capsys, alive, reported):
    replicas = [replica(number, is_alive=number in alive) for number in (1, 2)]
    east.on("GET", PATH, group(sync_state_set=[1, 2], replicas=replicas))

    assert run(["replica", "get", "broker-a"]) == 0

    assert f"sync-state set 1, 2 ({reported})," in lines(capsys)[0]


@pytest.mark.usefixtures("east")
def test_the_sync_state_says_who_would_win(capsys):
    assert run(["controller", "sync-state"]) == 0
    assert lines(capsys) == [
        "BROKER GROUP MASTER ALIVE EPOCH SET SET EPOCH OUTSIDE WOULD WIN",
        "broker-a 1 yes 3 1 5 2 2",
    ]


def test_a_history_is_shown_newest_first(east, capsys):
    change = {
        "id": 9,
        "kind": "master_elected",
        "cause": "operator admin",
        "warning": None,
        "changed_at": "2026-03-02T12:00:00Z",
        "master_id": 1,
        "master_epoch": 3,
        "sync_state_set": [1],
        "sync_state_set_epoch": 4,
        "replica_addresses": {"1": "10.0.0.1:10911"},
    }
    first = {**change, "kind": "broker_id_applied", "master_id": None, "sync_state_set": []}
    east.on("GET", f"{PATH}/changes", page(change, first))

    assert run(["replica", "history", "broker-a"]) == 0
    assert lines(capsys) == [
        "WHEN WHAT MASTER EPOCH SET SET EPOCH CAUSE",
        "2026-03-02 12:00:00Z master_elected 1 3 1 4 operator admin",
        "2026-03-02 12:00:00Z broker_id_applied none 3 none 4 operator admin",
    ]


def test_epochs_are_shown_and_compared(east, capsys):
    spans = [
        {"epoch": 1, "start_offset": 0, "end_offset": 400},
        {"epoch": 2, "start_offset": 400, "end_offset": None},
    ]
    one = {"broker_id": 1, "address": "a:1", "max_offset": 900, "epochs": spans, "error": None}
    two = {**one, "broker_id": 2, "max_offset": None, "epochs": None, "error": "no answer"}
    east.on(
        "GET",
        f"{PATH}/epochs",
        {"replicas": [one, two], "differing_epoch": None},
        {"replicas": [one], "differing_epoch": 2},
    )

    assert run(["replica", "epochs", "broker-a"]) == 0
    assert lines(capsys) == [
        "ID EPOCH START END",
        "1 1 0 400",
        "1 2 400 900",
        "Broker 2 is not known: no answer",
        "No two of these logs differ in where an epoch began.",
    ]
    run(["replica", "epochs", "broker-a"])
    assert lines(capsys)[-1] == "Epoch 2 began at different places: look at the logs."


def test_candidates_show_what_they_reported(east, capsys):
    unknown = dict.fromkeys(("epoch", "max_offset", "master_id", "is_verified"))
    stock = candidate(3, has_code=False, **unknown)
    east.on(
        "GET",
        "/adoption-candidates",
        page(candidate(1), candidate(2), stock, candidate(4, master_id=0)),
    )

    assert run(["replica", "candidates"]) == 0
    assert lines(capsys) == [
        "CLUSTER BROKER GROUP ID ADDRESS CODE EPOCH LOG END MASTER LAST HEARD",
        "east broker-a 1 10.0.0.1:10911 yes 5 900 serves 2026-03-02 12:00:00Z",
        "east broker-a 2 10.0.0.2:10911 yes 5 900 follows 1 2026-03-02 12:00:00Z",
        "east broker-a 3 10.0.0.3:10911 no - - - 2026-03-02 12:00:00Z",
        "east broker-a 4 10.0.0.4:10911 yes 5 900 none 2026-03-02 12:00:00Z",
    ]


@pytest.mark.parametrize(
    "command",
    [
        *("controller status", "controller sync-state", "controller elect", "controller forget"),
        *(
            "replica list",
            "replica get",
            "replica epochs",
            "replica history",
            "replica candidates",
            "replica adopt",
        ),
    ],
)
def test_every_command_shows_examples(command, capsys):
    assert run([*command.split(), "--help"]) == 0
    assert f"regent {command}" in capsys.readouterr().out.split("Examples:")[1]
