"""What the commands about topics, groups, settings and offsets send, and how they refuse."""

import json

import pytest

from backend.cli.app import run
from tests.unit.cli.test_orders import WITH_REASON, operation, sent
from tests.unit.cli.test_replicas import page

CONFIG = "/clusters/east/broker-groups/broker-a/brokers/0/config"


def setting(name, **values):
    return {
        "name": name,
        "type": "integer",
        "effect": "live",
        "value": "72",
        "stored": None,
        "default": "72",
        "low": 0,
        "high": 1_000_000,
        "choices": [],
        **values,
    }


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/operations", operation(risk="R1"))
    mode = {"type": "choice", "value": "ASYNC_FLUSH", "default": "ASYNC_FLUSH"}
    properties = [
        setting("fileReservedTime"),
        setting("flushDiskType", **mode, choices=["ASYNC_FLUSH", "SYNC_FLUSH"], low=None)
        | {"effect": "restart", "stored": "SYNC_FLUSH"},
    ]
    signed_in.on("GET", CONFIG, {"address": "10.0.0.1:10911", "properties": properties})
    return signed_in


def ordered(server):
    [(path, body)] = sent(server)
    assert path == "/operations"
    return body["kind"], body["parameters"]


@pytest.mark.parametrize(
    ("command", "kind", "parameters"),
    [
        (
            ["topic", "create", "orders", "--queues", "6", "--broker-group", "broker-a"],
            "create_topic",
            {
                "topic_name": "orders",
                "broker_groups": ["broker-a"],
                "read_queue_count": 6,
                "write_queue_count": 6,
                "is_readable": True,
                "is_writable": True,
                "is_ordered": False,
                "message_type": None,
                "share_mode": None,
                "is_time_shared": None,
                "is_replicated": True,
            },
        ),
        (
            ["topic", "set", "orders", "--no-writable", "--read-queues", "3"],
            "change_topic",
            {
                "topic_name": "orders",
                "broker_groups": [],
                "read_queue_count": 3,
                "write_queue_count": None,
                "is_readable": None,
                "is_writable": False,
                "is_ordered": None,
                "message_type": None,
                "share_mode": None,
                "is_time_shared": None,
            },
        ),
        (
            ["topic", "protect", "orders"],
            "change_protection",
            {"resource_kind": "topic", "resource_name": "orders", "is_protected": True},
        ),
        (
            ["group", "unprotect", "billing"],
            "change_protection",
            {"resource_kind": "consumer_group", "resource_name": "billing", "is_protected": False},
        ),
        (
            ["broker", "protect", "broker-a", "--address", "10.0.0.9:10911"],
            "change_protection",
            {
                "resource_kind": "broker",
                "resource_name": "broker-a/10.0.0.9:10911",
                "is_protected": True,
            },
        ),
        (
            ["topic", "delete", "orders", "--only-empty"],
            "delete_topic",
            {"topic_name": "orders", "broker_groups": [], "only_empty": True},
        ),
        (
            ["group", "delete", "billing", "--clean"],
            "delete_consumer_group",
            {"consumer_group_name": "billing", "broker_groups": [], "cleans_up": True},
        ),
        (
            ["broker", "config", "set", "broker-a", "deleteWhen=02;03", "fileReservedTime="],
            "change_broker_config",
            {
                "broker_group_name": "broker-a",
                "broker_id": 0,
                "changes": [
                    {"name": "deleteWhen", "value": "02;03"},
                    {"name": "fileReservedTime", "value": ""},
                ],
            },
        ),
        (
            ["offset", "reset", "billing", "orders", "--to", "2026-03-02T12:00:00Z"],
            "reset_offsets",
            {
                "consumer_group_name": "billing",
                "topic_name": "orders",
                "position": "time",
                "timestamp_ms": 1_772_452_800_000,
                "broker_groups": [],
                "queue_ids": [],
                "mode": "auto",
            },
        ),
        (
            [
                "offset",
                "reset",
                "billing",
                "orders",
                "--to",
                "12",
                "--queue",
                "3",
                "--mode",
                "offline",
            ],
            "reset_offsets",
            {
                "consumer_group_name": "billing",
                "topic_name": "orders",
                "position": "offset",
                "offset": 12,
                "broker_groups": [],
                "queue_ids": [3],
                "mode": "offline",
            },
        ),
    ],
)
def test_a_command_plans_what_it_says(east, command, kind, parameters):
    assert run([*command, "--dry-run"]) == 0
    assert ordered(east) == (kind, {"cluster_name": "east", **parameters})


def test_what_a_group_command_leaves_out_stays_or_has_its_default(east):
    assert run(["group", "create", "billing", "--retries", "3", "--dry-run"]) == 0
    assert run(["group", "set", "billing", "--no-consume", "--dry-run"]) == 0

    made, changed = (body["parameters"] for _, body in sent(east))
    assert (made["retry_count_max"], made["consume_enabled"]) == (3, True)
    given = {name: value for name, value in changed.items() if value not in (None, [])}
    assert given == {
        "cluster_name": "east",
        "consumer_group_name": "billing",
        "consume_enabled": False,
    }


@pytest.mark.usefixtures("east")
def test_settings_are_shown_with_what_may_be_set_and_when_it_takes_effect(capsys):
    assert run(["broker", "config", "get", "broker-a"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "NAME IN FORCE FILE ALLOWED VALUES TAKES EFFECT",
        "fileReservedTime 72 - integer 0 to 1000000 immediately",
        "flushDiskType ASYNC_FLUSH SYNC_FLUSH ASYNC_FLUSH or SYNC_FLUSH after a restart",
    ]
    assert run(["broker", "config", "get", "broker-a", "--changed", "-o", "json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["flushDiskType"]
    assert run(["broker", "config", "get", "broker-a", "nonsense"]) == 4


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["offset", "reset", "g", "t", "--to", "yesterday"], "no place to go on from"),
        (["broker", "config", "set", "broker-a", "deleteWhen"], "is not NAME=VALUE"),
        (["broker", "config", "set", "broker-a"], "nothing to set"),
    ],
)
def test_what_is_misspelt_is_sent_nowhere(east, capsys, command, words):
    assert run([*command, *WITH_REASON]) == 2
    assert words in capsys.readouterr().err
    assert sent(east) == []


def test_a_broker_is_protected_by_the_address_that_its_id_has_now(east):
    row = {"broker_group_name": "broker-a", "own_id": 1, "address": "10.0.0.2:10911"}
    east.on("GET", "/clusters/east/brokers/broker-a-1", row)

    code = run(["broker", "protect", "broker-a", "--broker", "1", *WITH_REASON, "--dry-run"])
    kind, parameters = ordered(east)

    assert (code, kind) == (0, "change_protection")
    assert parameters["resource_name"] == "broker-a/10.0.0.2:10911"


@pytest.mark.usefixtures("east")
def test_a_broker_that_is_not_in_the_records_is_named_by_its_address(capsys):
    assert run(["broker", "unprotect", "broker-a", "--broker", "7"]) == 4

    assert "--address" in capsys.readouterr().err
