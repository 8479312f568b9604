"""What the commands send that send messages, and how they end."""

import base64
import io
import json

import httpx
import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.fake_server import refusal
from tests.unit.cli.test_orders import operation, sent
from tests.unit.cli.test_replicas import page

SENT = {
    "state": "stored",
    "message_id": "7F00000100002A9F0000000000000001",
    "unique_key": "A1",
    "topic_name": "orders",
    "broker_group_name": "broker-a",
    "queue_id": 2,
    "queue_offset": 41,
    "body_bytes": 2,
    "body_sha256": "ab12",
    "doubt": None,
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/messages", httpx.Response(201, json=SENT))
    return signed_in


def body_of(server):
    return dict(sent(server))["/messages"]


class Piped(io.StringIO):
    """Standard input of a pipe."""

    def __init__(self, content):
        super().__init__()
        self.buffer = io.BytesIO(content)


def test_a_message_is_sent_with_what_was_typed(east, capsys):
    words = ["--key", "k1", "--key", "k2", "--tag", "red", "--property", "a=1=2"]
    place = ["--broker-group", "broker-a", "--queue", "2", "--delay-level", "3"]

    code = run(["message", "send", "orders", "--body", "hi", *words, *place])

    assert code == ExitCode.DONE
    assert body_of(east) == {
        "cluster_name": "east",
        "topic_name": "orders",
        "body": base64.b64encode(b"hi").decode(),
        "body_encoding": "base64",
        "keys": ["k1", "k2"],
        "tag": "red",
        "properties": [{"name": "a", "value": "1=2"}],
        "delay_level": 3,
        "broker_group_name": "broker-a",
        "queue_id": 2,
    }
    reported = capsys.readouterr()
    assert "broker-a queue 2 at 41" in reported.out
    assert "target: topic orders of cluster east" in reported.err


def test_a_body_comes_from_standard_input_byte_by_byte(east, monkeypatch):
    monkeypatch.setattr("sys.stdin", Piped(b"\x00\xff\n"))

    assert run(["message", "send", "orders"]) == ExitCode.DONE

    assert base64.b64decode(body_of(east)["body"]) == b"\x00\xff\n"


def test_a_body_comes_from_a_file(east, tmp_path):
    path = tmp_path / "body"
    path.write_bytes(b"\x80")

    assert run(["message", "send", "orders", "--file", str(path)]) == ExitCode.DONE

    assert base64.b64decode(body_of(east)["body"]) == b"\x80"


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--body", "x", "--file", "y"], "each give a body"),
        (["--body", ""], "the body is empty"),
        (["--file", "/nowhere"], "cannot read /nowhere"),
        (["--body", "x", "--property", "novalue"], "write --property NAME=VALUE"),
    ],
)
def test_what_was_typed_wrong_is_said_before_anything_is_sent(east, capsys, words, reported):
    assert run(["message", "send", "orders", *words]) == ExitCode.USAGE

    assert reported in capsys.readouterr().err
    assert not [one for one in east.requests if one.url.path.endswith("/messages")]


def test_a_message_that_may_be_stored_ends_as_unknown_and_says_how_to_look(east, capsys):
    facts = {"topic_name": "orders", "unique_key": "A1"}
    east.on("POST", "/messages", refusal(502, "send_unanswered", "it may be stored", facts))

    code = run(["message", "send", "orders", "--body", "x"])

    assert code == ExitCode.OUTCOME_UNKNOWN
    reported = capsys.readouterr().err
    assert "next: regent message find orders --unique-key A1" in reported
    assert len([one for one in east.requests if one.url.path.endswith("/messages")]) == 1


def test_a_message_that_is_not_confirmed_is_shown_and_ends_as_unknown(east, capsys):
    answer = {**SENT, "state": "unconfirmed", "doubt": "flush_slave_timeout"}
    east.on("POST", "/messages", httpx.Response(201, json=answer))

    code = run(["message", "send", "orders", "--body", "x"])

    assert code == ExitCode.OUTCOME_UNKNOWN
    assert "did not confirm in time (flush_slave_timeout)" in capsys.readouterr().err


def test_dead_letters_are_listed_with_the_topic_they_come_from(east, capsys):
    letter = {
        "message_id": "AA",
        "broker_group_name": "broker-a",
        "queue_offset": 7,
        "stored_at": "2026-03-02T12:00:00Z",
        "reconsume_times": 16,
        "keys": ["k"],
        "properties": {"RETRY_TOPIC": "orders"},
    }
    path = "/clusters/east/topics/%25DLQ%25billing/messages"
    east.on("GET", path, {"items": [letter], "next": "x", "has_more": False, "unknown": []})

    assert run(["message", "dlq", "list", "billing"]) == ExitCode.DONE

    [_, row] = capsys.readouterr().out.splitlines()
    assert row.split()[-3:] == ["orders", "16", "k"]


def test_a_group_without_a_dead_letter_topic_has_no_dead_letters(east, capsys):
    refused = refusal(404, "topic_not_found", "no topic '%DLQ%billing' in cluster 'east'")
    east.on("GET", "/clusters/east/topics/%25DLQ%25billing/messages", refused)
    unknown = refusal(404, "consumer_group_not_found", "no consumer group 'billing'")
    east.on("GET", "/clusters/east/consumer-groups/billing", {"name": "billing"}, unknown)

    assert run(["message", "dlq", "list", "billing", "-o", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["messages"] == []
    assert run(["message", "dlq", "list", "billing"]) == ExitCode.NOT_FOUND
    assert "no consumer group 'billing'" in capsys.readouterr().err


def test_dead_letters_are_resent_as_an_operation(east):
    east.on("POST", "/operations", operation())
    words = ["AA", "BB", "--destination", "topic", "--limit", "5", "--rate", "2", "--again"]

    assert run(["message", "dlq", "resend", "billing", *words, "--dry-run"]) == ExitCode.DONE

    assert dict(sent(east))["/operations"] == {
        "kind": "resend_dead_letters",
        "parameters": {
            "cluster_name": "east",
            "consumer_group_name": "billing",
            "message_ids": ["AA", "BB"],
            "destination": "topic",
            "count_max": 5,
            "messages_per_second": 2,
            "includes_resent": True,
        },
    }


def test_the_sent_message_is_data_for_programs(east, capsys):
    assert run(["message", "send", "orders", "--body", "x", "-o", "json"]) == ExitCode.DONE

    assert json.loads(capsys.readouterr().out) == SENT
    assert east.requests
