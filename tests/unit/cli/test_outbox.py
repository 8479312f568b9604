"""The command `regent broker outbox`: what it asks and lists."""

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_replicas import page

TOPIC = {
    "cluster_name": "east",
    "broker_group_name": "broker-a",
    "broker_address": "10.0.0.2:10911",
    "topic": "orders",
    "kind": "delayed",
    "entry_count": 3,
    "oldest_age_ms": 65_000,
    "failure_count": 7,
    "last_failure": "no other broker group takes messages of the topic orders",
    "next_attempt_in_ms": 1_500,
}


def test_what_waits_for_another_broker_group_is_listed(signed_in, capsys):
    signed_in.on("GET", "/outbox", {**page(TOPIC), "unknown": []})

    assert run(["broker", "outbox", "--topic", "orders"]) == ExitCode.DONE

    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "broker-a" in line)
    assert row.split()[:5] == ["east", "broker-a", "orders", "delayed", "3"]
    assert "65.0 s" in row
    assert "1.5 s" in row
    assert row.endswith(TOPIC["last_failure"])
