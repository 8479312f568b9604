"""What `regent replica lag` and `catch-up`, `regent controller peers` and `config` print."""

import json

import pytest

from backend.cli import replica_lags
from backend.cli.app import run

PATH = "/clusters/east/replica-groups/broker-a/lag"
CONTROLLER = {
    "address": "127.0.0.1:9876",
    "peers": [
        {
            "id": "8d0c1f1e-6a53-4a0e-9f0e-0b6f0a4c9d11",
            "is_self": True,
            "heard_replica_count": 6,
            "last_heard_at": "2026-03-02T12:00:00Z",
        }
    ],
    "settings": [
        {
            "name": "lease_policy",
            "stock_name": None,
            "value": "strict",
            "default": "quorum",
            "variable": "REGENT_LEASE_POLICY",
            "description": "what masters need",
        }
    ],
}


def one(broker_id, lag_bytes, **values):
    return {
        "broker_id": broker_id,
        "address": f"10.0.0.{broker_id}:10911",
        "is_master": broker_id == 1,
        "is_in_sync": True,
        "is_following": broker_id != 1,
        "max_offset": None if lag_bytes is None else 10_000 - lag_bytes,
        "lag_bytes": lag_bytes,
        "ahead_bytes": None if lag_bytes is None else 0,
        "bytes_per_second": 1024,
        "catch_up_ms": lag_bytes,
        "obstacle": None,
        "error": None,
        **values,
    }


def lags(*replicas):
    return {"master_id": 1, "master_max_offset": 10_000, "replicas": [one(1, 0), *replicas]}


@pytest.fixture
def east(signed_in, monkeypatch):
    signed_in.on("GET", "/clusters", {"items": [{"name": "east"}], "next": None, "total_count": 1})
    signed_in.on("GET", "/controllers", [CONTROLLER])
    monkeypatch.setattr(replica_lags, "POLL_INTERVAL_S", 0)
    return signed_in


def printed(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_lag_is_shown_in_bytes_and_seconds_and_what_is_unknown_as_such(east, capsys):  # D21
    silent = one(3, None, error="nobody listens", is_following=None, bytes_per_second=None)
    east.on("GET", PATH, lags(one(2, 2048), silent))

    assert run(["replica", "lag", "broker-a"]) == 0

    out = printed(capsys)
    assert "1 master yes - 10000 0 B - -" in out
    assert "2 replica yes yes 7952 2.0 KiB 1.0 KiB/s 2.0 s" in out
    assert "3 replica yes - - - - -" in out
    assert "Broker 3 is not known: nobody listens" in out


def test_a_replica_that_is_ahead_is_said_to_be_and_catches_up_with_nothing(east, capsys):
    # Case B6.
    ahead = one(2, None, ahead_bytes=4096, max_offset=14_096, catch_up_ms=None)
    east.on("GET", PATH, lags(ahead))
    east.on("GET", PATH, lags(ahead))

    assert run(["replica", "lag", "broker-a"]) == 0
    assert run(["replica", "catch-up", "broker-a", "--timeout", "0.01"]) == 8

    reported = capsys.readouterr()
    out = [" ".join(line.split()) for line in reported.out.splitlines()]
    assert "2 replica yes yes 14096 ahead by 4.0 KiB 1.0 KiB/s -" in out
    assert "broker 2 is ahead of its master by 4.0 KiB" in reported.err


def test_lag_is_watched_until_interrupted(east, capsys, monkeypatch):
    east.on("GET", PATH, lags(one(2, 5)))
    pauses = []

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(replica_lags, "sleep", sleep)

    assert run(["replica", "lag", "broker-a", "--watch", "--interval", "0.5"]) == 130

    assert pauses == [0.5, 0.5]
    assert sum(line.startswith("2 replica") for line in printed(capsys)) == 2


def test_catching_up_ends_once_those_named_are_in_the_set_and_lack_little(east, capsys):
    outside = one(3, 90_000, is_in_sync=False)
    not_yet = lags(one(2, 500, is_in_sync=False), outside)
    east.on("GET", PATH, not_yet, lags(one(2, 101), outside), lags(one(2, 100), outside))

    code = run(["replica", "catch-up", "broker-a", "--broker", "2", "--max-lag", "100"])

    captured = capsys.readouterr()
    assert (code, captured.out.strip()) == (0, "Caught up: 2")
    assert captured.err.strip() == "broker 2 lacks 500 B and is outside the sync-state set"


def test_who_has_not_caught_up_in_time_is_named_with_8(east, capsys):
    east.on("GET", PATH, lags(one(2, 500), one(3, None, error="nobody listens")))

    assert run(["replica", "catch-up", "broker-a", "--timeout", "0.01"]) == 8

    reported = capsys.readouterr().err
    assert "broker 2 lacks 500 B; broker 3 is not known: nobody listens" in reported
    assert "regent replica lag broker-a" in reported


def test_a_wait_for_a_broker_that_is_no_replica_is_refused(east, capsys):
    east.on("GET", PATH, lags(one(2, 0)))

    assert run(["replica", "catch-up", "broker-a", "--broker", "9"]) == 4
    assert "the group's are 1, 2" in capsys.readouterr().err


@pytest.mark.usefixtures("east")
def test_the_processes_of_the_control_plane_are_listed(capsys):
    assert run(["controller", "peers"]) == 0

    assert f"{CONTROLLER['peers'][0]['id']} yes 6 2026-03-02 12:00:00Z" in printed(capsys)


@pytest.mark.usefixtures("east")
def test_the_settings_name_the_variables_that_set_them(capsys):
    assert run(["controller", "config", "get"]) == 0
    table = printed(capsys)
    assert run(["controller", "config", "get", "-o", "json"]) == 0

    assert "lease_policy strict quorum REGENT_LEASE_POLICY - what masters need" in table
    assert json.loads(capsys.readouterr().out) == CONTROLLER["settings"]


def test_groups_that_keep_another_lease_policy_are_listed(east, capsys):
    groups = [{"name": "a", "lease_policy": "strict"}, {"name": "b", "lease_policy": "quorum"}]
    page = {"items": groups, "next": None, "total_count": 2}
    east.on("GET", "/clusters/east/replica-groups", page)

    assert run(["controller", "config", "diff"]) == 0
    assert printed(capsys)[1:] == ["b quorum strict"]

    east.on("GET", "/clusters/east/replica-groups", page | {"items": groups[:1]})
    assert run(["controller", "config", "diff"]) == 0
    assert printed(capsys) == ["All 1 groups go by the lease policy strict."]


def test_why_a_replica_does_not_follow_is_shown_by_both_commands(east, capsys):
    stuck = one(2, 300, is_following=False, is_in_sync=False, obstacle="copy its store, then …")
    east.on("GET", PATH, lags(stuck))

    run(["replica", "lag", "broker-a"])
    shown = capsys.readouterr().out
    run(["replica", "catch-up", "broker-a", "--timeout", "0.01"])

    assert "Broker 2 does not follow: copy its store, then …" in shown
    assert "does not follow: copy its store" in capsys.readouterr().err
