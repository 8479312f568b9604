"""The commands `regent timer …`: what they ask, list and refuse."""

import base64

import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_orders import WITH_REASON, operation, sent
from tests.unit.cli.test_replicas import page

HANDLE = base64.urlsafe_b64encode(b"v1 orders broker-a 1700000000001 K").decode()
GROUP = {
    "cluster_name": "east",
    "broker_group_name": "broker-a",
    "waiting_count": 2,
    "overdue_count": 0,
    "behind_ms": 0,
    "first_due_at": "2026-03-02T12:05:00Z",
    "last_due_at": "2026-03-02T13:05:00Z",
    "topic_count": 1,
    "hindrance": None,
    "minutes": [],
    "hours": [{"starts_at": "2026-03-02T12:00:00Z", "waiting_count": 2}],
    "topics": [{"topic": "orders", "waiting_count": 2}],
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/operations", operation())
    return signed_in


def test_a_recall_is_planned_with_its_handle(east, capsys):
    assert run(["timer", "recall", HANDLE, "--dry-run", *WITH_REASON]) == ExitCode.DONE

    (planned,) = sent(east)
    assert planned[1]["kind"] == "recall_message"
    assert planned[1]["parameters"]["recall_handle"] == HANDLE
    assert f"target: message {HANDLE} of cluster east" in capsys.readouterr().err


def test_the_due_times_of_a_broker_group_are_listed(east, capsys):
    east.on("GET", "/timers", {**page(GROUP), "unknown": []})

    assert run(["timer", "show", "broker-a"]) == ExitCode.DONE

    shown = capsys.readouterr().out
    assert "2026-03-02 12:00:00Z    2" in shown
    assert "orders        2" in shown


def test_an_unknown_broker_group_has_no_due_times(east, capsys):
    east.on("GET", "/timers", {**page(), "unknown": []})

    assert run(["timer", "show", "nonsense"]) == ExitCode.NOT_FOUND

    shown = capsys.readouterr().err
    assert "error: there is no broker group nonsense" in shown
    assert "next: regent timer list" in shown
