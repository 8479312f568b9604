"""What commands about figures of topics and brokers print, and what they ask for."""

import json

import pytest

from backend.cli.app import run
from tests.unit.cli.test_replicas import page

EAST = "/clusters/east"
SILENT = {
    "broker_group_name": "broker-b",
    "name": "broker-b-2",
    "broker_id": 0,
    "address": "10.0.0.2:10911",
    "why": "no answer within 3 s",
}
QUEUES = [
    {
        "topic": "orders",
        "queue_id": 0,
        "committed": 4,
        "end": 9,
        "lag": 5,
        "expired_count": 2,
        "consumed_at": None,
    },
    {
        "topic": "orders",
        "queue_id": 1,
        "committed": 7,
        "end": 7,
        "lag": 0,
        "expired_count": 0,
        "consumed_at": None,
    },
]


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    return signed_in


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_offsets_name_who_is_silent_and_never_count_them_as_none(east, capsys):
    queue = {"broker_group_name": "broker-a", "queue_id": 0, "min_offset": 2, "max_offset": 9}
    reported = {"message_count": None, "queues": [queue | {"stored_at": None}], "unknown": [SILENT]}
    east.on("GET", f"{EAST}/topics/orders/offsets", reported)

    assert run(["topic", "offsets", "orders"]) == 0

    printed = lines(capsys)
    assert printed[1] == "broker-a 0 2 9 7 -"
    assert printed[3] == "messages: -"
    assert printed[4] == "unknown: broker broker-b-2 (10.0.0.2:10911): no answer within 3 s"


def test_clusters_that_hold_a_topic_are_listed(signed_in, capsys):
    held = {
        "cluster_name": "east",
        "kind": "normal",
        "broker_group_names": ["broker-a", "broker-b"],
    }
    signed_in.on("GET", "/topics/orders/clusters", [held])

    assert run(["topic", "clusters", "orders"]) == 0

    assert lines(capsys)[1] == "east normal broker-a, broker-b"


def test_rates_have_a_line_for_each_time_and_never_call_unknown_none(signed_in, capsys):
    point = {
        "observed_at": "2026-03-02T12:00:00.125Z",
        "messages_in_per_second": 1234.5,
        "messages_out_per_second": None,
        "bytes_in_per_second": 2048,
        "bytes_out_per_second": None,
    }
    signed_in.on("GET", "/rates", [point])

    assert run(["cluster", "rates", "east", "--minutes", "60"]) == 0

    asked = dict(signed_in.requests[-1].url.params)
    assert asked == {"cluster": "east", "minutes": "60"}
    assert lines(capsys)[1:] == ["2026-03-02 12:00:00Z 1,234.5 - 2.0 KiB -"]


def test_stats_of_topics_have_a_line_for_each_reader_and_one_without(east, capsys):
    reader = {"consumer_group_name": "billing", "lag": 12, "measured_at": "2026-03-02T12:00:00Z"}
    orders = {"name": "orders", "messages_in_per_second": 2.5, "bytes_in_per_second": None}
    idle = {"name": "idle", "messages_in_per_second": None, "bytes_in_per_second": None}
    listed = page(orders | {"readers": [reader]}, idle | {"readers": []})
    east.on("GET", f"{EAST}/topic-stats", listed)

    assert run(["topic", "stats"]) == 0

    assert lines(capsys)[1:] == [
        "orders 2.5 - billing 12 2026-03-02 12:00:00Z",
        "idle - - - - -",
    ]


def test_allocations_are_asked_for_each_client(east, capsys):
    queue = {"broker_group_name": "broker-a", "queue_id": 0}
    reported = [{"rule": "average", "clients": {"x": [queue], "y": []}}]
    east.on("GET", f"{EAST}/topics/orders/allocations", reported)

    assert run(["topic", "allocate", "orders", "--client", "x", "--client", "y"]) == 0

    assert lines(capsys)[1:] == ["average x 1 broker-a/0", "average y 0"]
    assert east.requests[-1].url.params.get_list("client") == ["x", "y"]


def test_figures_of_a_broker_are_chosen_by_name(east, capsys):
    reported = {"address": "10.0.0.1:10911", "figures": {"pid": "7", "putTps": "1.0"}}
    east.on("GET", f"{EAST}/broker-groups/broker-a/brokers/1/status", reported, reported)

    assert run(["broker", "status", "broker-a", "putTps", "--broker", "1"]) == 0
    assert lines(capsys)[1:] == ["putTps 1.0"]
    assert run(["broker", "status", "broker-a", "--broker", "1", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == reported


def test_readers_of_a_broker_are_chosen_by_lag(east, capsys):
    found = {
        "consumer_group_name": "billing",
        "is_broadcasting": False,
        "lag": 5,
        "expired_count": 2,
        "queues": QUEUES,
    }
    listed = {"items": [found], "next": None, "total_count": 1, "unknown": [SILENT]}
    east.on("GET", f"{EAST}/broker-groups/broker-a/brokers/0/consume-stats", listed)

    assert run(["broker", "consume-stats", "broker-a", "--lag-min", "1", "--sort", "lag"]) == 0

    printed = lines(capsys)
    assert printed[1] == "billing orders 0 4 9 5 2 -"
    assert printed[3] == "messages left to read: at least 5"
    assert printed[4].startswith("unknown: broker broker-b")


def test_a_clone_of_offsets_is_a_reset_to_another_group(east):
    run(["offset", "clone", "billing", "audit", "orders", "--cluster", "east", "--dry-run"])

    asked = json.loads(east.requests[-1].content)
    assert asked["kind"] == "reset_offsets"
    assert asked["parameters"] == {
        "cluster_name": "east",
        "consumer_group_name": "audit",
        "topic_name": "orders",
        "position": "group",
        "source_group": "billing",
        "broker_groups": [],
        "queue_ids": [],
        "mode": "auto",
    }
