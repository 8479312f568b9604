"""What `regent status` prints, and the code that it ends with."""

import json

import httpx
import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.fake_server import refusal

LOST = {
    "broker_id": 1,
    "name": "broker-b-1",
    "address": "10.0.0.1:10911",
    "last_heard_at": "2026-11-27T11:39:02.5Z",
}
SENTENCE = "broker-b: 1 of 2 replicas is alive; broker-b-1 is gone. One more failure stops writes."


def group(name, verdict, missing=(), **values):
    return {
        "cluster_name": "east",
        "broker_group_name": name,
        "verdict": verdict,
        "sentence": f"{name}: so it is.",
        "next_failure": "One more failure stops nothing: another replica takes over.",
        "replica_count": 2,
        "alive_count": 2 - len(missing),
        "has_writer": True,
        "writer_fault": None,
        "missing": list(missing),
        **values,
    }


def health(verdict, sentence, *groups):
    return {
        "verdict": verdict,
        "sentence": sentence,
        "next_failure": "One more failure stops no group.",
        "replica_count": 4,
        "alive_count": 3,
        "observed_at": "2026-11-27T11:40:00Z",
        "groups": list(groups),
    }


@pytest.mark.parametrize(
    ("verdict", "code"), [("healthy", 0), ("degraded", 10), ("critical", 11), ("unknown", 12)]
)
def test_the_exit_code_is_the_verdict(signed_in, capsys, verdict, code):
    # Case B1.
    signed_in.on("GET", "/health", health(verdict, "So it is.", group("broker-a", verdict)))

    assert run(["status"]) == code

    assert capsys.readouterr().out.splitlines()[0] == f"{verdict}: So it is."


def test_a_dead_replica_is_named_with_its_address_and_its_last_heartbeat(signed_in, capsys):
    # Case B1.
    reported = [group("broker-b", "degraded", [LOST]), group("broker-a", "healthy")]
    signed_in.on("GET", "/health", health("degraded", SENTENCE, *reported))

    assert run(["status", "--cluster", "east"]) == ExitCode.DEGRADED

    first, *_, lost, _whole = capsys.readouterr().out.splitlines()
    assert first == f"degraded: {SENTENCE}"
    assert "1 of 2" in lost
    assert "broker-b-1 (10.0.0.1:10911, last heard 2026-11-27 11:39:02Z)" in lost
    assert dict(signed_in.requests[-1].url.params) == {"cluster_name": "east"}


def test_programs_get_the_whole_answer_and_the_same_code(signed_in, capsys):
    reported = health("degraded", SENTENCE, group("broker-b", "degraded", [LOST]))
    signed_in.on("GET", "/health", reported)

    assert run(["status", "-o", "json"]) == ExitCode.DEGRADED

    assert json.loads(capsys.readouterr().out) == reported


@pytest.mark.parametrize("output", [[], ["-o", "json"]])
def test_a_control_plane_that_does_not_answer_leaves_the_health_unknown(signed_in, capsys, output):
    # Case B12: what is not known is never shown as well.
    signed_in.on("GET", "/health", httpx.ConnectError("refused"))

    assert run(["status", *output]) == ExitCode.HEALTH_UNKNOWN

    assert "The health is not known: cannot reach the control plane" in capsys.readouterr().out


def test_a_store_behind_the_control_plane_that_is_away_leaves_the_health_unknown(signed_in, capsys):
    # Case B12.
    signed_in.on("GET", "/health", refusal(503, "unavailable", "Postgres does not answer"))

    assert run(["status"]) == ExitCode.HEALTH_UNKNOWN

    assert "unknown: The health is not known:" in capsys.readouterr().out


def test_a_cluster_that_is_not_there_is_an_error(signed_in, capsys):
    signed_in.on("GET", "/health", refusal(404, "cluster_not_found", "no cluster 'west'"))

    assert run(["status", "--cluster", "west"]) == ExitCode.NOT_FOUND

    assert "no cluster 'west'" in capsys.readouterr().err
