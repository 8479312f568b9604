"""What `regent controller` and `regent replica` print, ask, send and end with."""

import io
import json

import httpx
import pytest

from backend.cli.app import run
from tests.unit.cli.fake_server import SERVER, refusal

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
        "sync_state_set": [1],
        "sync_state_set_epoch": 5,
        "retired_ids": [],
        "replicas": [replica(1), lost],
        "election": ELECTION,
        **values,
    }


def candidate(broker_id, **values):
    return {
        "cluster_name": "east",
        "group_name": "broker-a",
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


def sent(server):
    """What was posted, or nothing."""
    return [json.loads(r.content) for r in server.requests if r.method == "POST"]


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
        "GROUP ID ADDRESS ROLE ALIVE IN SYNC EPOCH LOG END CONFIRMED LAST HEARTBEAT",
        f"broker-a 1 10.0.0.1:10911 master yes yes 3 {2**60} 7 2026-03-02 12:00:00Z",
        "broker-a 2 10.0.0.2:10911 replica no no - - - -",
    ]


@pytest.mark.usefixtures("east")
def test_a_group_is_shown_with_the_election_as_it_would_be(capsys):
    assert run(["replica", "get", "broker-a"]) == 0
    shown = lines(capsys)
    assert shown[0] == (
        "Group broker-a of east: master 1 in epoch 3, sync-state set 1 (epoch 5),"
        " lease policy quorum"
    )
    assert shown[4:] == [
        "",
        "Broker 2 would become master:",
        "ID VERDICT REASON",
        "1 master_stays could be master, but …",
        "2 wins would become master",
    ]


@pytest.mark.usefixtures("east")
def test_the_sync_state_says_who_would_win(capsys):
    assert run(["controller", "sync-state"]) == 0
    assert lines(capsys) == [
        "GROUP MASTER ALIVE EPOCH SET SET EPOCH OUTSIDE WOULD WIN",
        "broker-a 1 yes 3 1 5 2 2",
    ]


def test_a_history_is_shown_newest_first(east, capsys):
    change = {
        "id": 9,
        "kind": "master_elected",
        "cause": "operator admin",
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


def test_an_election_is_ordered_for_the_epoch_that_was_shown(east, capsys):
    after = group(master_id=2, master_epoch=4, sync_state_set=[2], sync_state_set_epoch=6)
    east.on("POST", f"{PATH}/elect", {"outcome": "elected", "group": after})

    code = run(["controller", "elect", "broker-a", "--broker", "2", "--yes"])

    shown = capsys.readouterr()
    assert code == 0
    assert sent(east) == [{"expected_master_epoch": 3, "broker_id": 2}]
    assert shown.err == f"target: group broker-a of cluster east at {SERVER}\n"
    assert [" ".join(line.split()) for line in shown.out.splitlines()] == [
        "Broker 2 would become master:",
        "ID VERDICT REASON",
        "1 master_stays could be master, but …",
        "2 wins would become master",
        "",
        "elected",
        "BEFORE AFTER",
        "master 1 2",
        "master epoch 3 4",
        "sync-state set 1 2",
        "set epoch 5 6",
        "replicas 1, 2 1, 2",
    ]


ORDERS = [
    ["controller", "elect", "broker-a"],
    ["controller", "forget", "broker-a", "--broker", "2"],
    ["replica", "adopt", "broker-a"],
]


@pytest.mark.parametrize("order", ORDERS)
def test_a_dry_run_shows_and_sends_nothing(east, capsys, order):
    assert run([*order, "--dry-run"]) == 0
    assert sent(east) == []
    assert capsys.readouterr().out
    assert run([*order, "--dry-run", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["before"]["master_epoch"] == 3


@pytest.mark.parametrize("order", ORDERS)
def test_without_a_terminal_an_order_needs_yes(east, monkeypatch, capsys, order):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert run(order) == 3
    assert sent(east) == []
    assert "next: look at it with --dry-run, then add --yes" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("typed", "code"), [("broker-a\n", 0), ("y\n", 3), ("", 3)])
def test_on_a_terminal_the_name_is_typed(east, monkeypatch, typed, code):
    east.on("POST", f"{PATH}/elect", {"outcome": "unchanged", "group": group()})
    monkeypatch.setattr("sys.stdin", Terminal(typed))

    assert run(["controller", "elect", "broker-a"]) == code
    assert len(sent(east)) == (1 if code == 0 else 0)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(409, "election_failed", "nobody may", {"stock_code": 2012}), 3),
        (refusal(412, "master_epoch_moved", "look again", {"stock_code": 2000}), 3),
        (refusal(403, "forbidden", "may only read"), 5),
        (httpx.ReadTimeout("too late"), 7),
        (httpx.ConnectError("refused"), 1),
    ],
)
def test_an_order_ends_with_the_code_that_says_how(east, capsys, answer, code):
    east.on("POST", f"{PATH}/elect", answer)

    assert run(["controller", "elect", "broker-a", "--yes"]) == code
    assert capsys.readouterr().err


def test_replicas_are_forgotten_by_id_and_a_group_with_its_living_ones(east, capsys):
    east.on("POST", f"{PATH}/forget", {"group": group(replicas=[replica(1)])}, {"group": None})

    first = run(["controller", "forget", "broker-a", "--broker", "2", "--yes"])
    shown = lines(capsys)
    second = run(["controller", "forget", "broker-a", "--living", "--yes", "-o", "json"])

    assert (first, second) == (0, 0)
    assert shown[0] == "To be forgotten: 2"
    assert shown[-1] == "replicas 1, 2 1"
    assert json.loads(capsys.readouterr().out)["after"] is None
    assert sent(east) == [
        {"expected_master_epoch": 3, "broker_ids": [2], "includes_living": False},
        {"expected_master_epoch": 3, "broker_ids": [], "includes_living": True},
    ]


def test_candidates_say_what_they_told(east, capsys):
    unknown = dict.fromkeys(("epoch", "max_offset", "master_id", "is_verified"))
    stock = candidate(3, has_code=False, **unknown)
    east.on(
        "GET",
        "/adoption-candidates",
        page(candidate(1), candidate(2), stock, candidate(4, master_id=0)),
    )

    assert run(["replica", "candidates"]) == 0
    assert lines(capsys) == [
        "CLUSTER GROUP ID ADDRESS CODE EPOCH LOG END MASTER LAST HEARD",
        "east broker-a 1 10.0.0.1:10911 told 5 900 serves 2026-03-02 12:00:00Z",
        "east broker-a 2 10.0.0.2:10911 told 5 900 follows 1 2026-03-02 12:00:00Z",
        "east broker-a 3 10.0.0.3:10911 - - - - 2026-03-02 12:00:00Z",
        "east broker-a 4 10.0.0.4:10911 told 5 900 none 2026-03-02 12:00:00Z",
    ]


def test_all_who_wait_are_adopted_into_a_group_that_is_not_there(east, capsys):
    east.on("GET", PATH, refusal(404, "broker_group_not_controlled", "no broker"))
    adopted = group(master_id=None, master_epoch=1005)
    east.on("POST", f"{PATH}/adopt", adopted)

    assert run(["replica", "adopt", "broker-a", "--yes"]) == 0
    assert sent(east) == [
        {
            "broker_ids": [1, 2],
            "expected_master_epoch": 0,
            "master_id": None,
            "least_epoch": None,
            "accepts_loss": False,
        }
    ]
    shown = capsys.readouterr()
    assert "To be adopted: 1, 2" in shown.out
    assert "a master is elected within seconds: regent replica get broker-a" in shown.err


def test_an_adoption_carries_what_the_operator_chose(east):
    east.on("POST", f"{PATH}/adopt", group())
    chosen = ["--broker", "2", "--master", "2", "--least-epoch", "7", "--accept-loss"]

    assert run(["replica", "adopt", "broker-a", *chosen, "--yes"]) == 0
    assert sent(east) == [
        {
            "broker_ids": [2],
            "expected_master_epoch": 3,
            "master_id": 2,
            "least_epoch": 7,
            "accepts_loss": True,
        }
    ]


def test_nobody_waits_or_in_several_clusters(east, capsys):
    assert run(["replica", "adopt", "broker-z", "--yes"]) == 4
    west = candidate(1, cluster_name="west")
    east.on("GET", "/adoption-candidates", page(candidate(1), west))
    assert run(["replica", "adopt", "broker-a", "--yes"]) == 2
    assert "next: add --cluster east" in capsys.readouterr().err


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
