"""What `regent topic logical-queues` and `regent topic static list` print."""

import json

import pytest

from backend.cli.app import run
from tests.unit.cli.test_replicas import page

SEGMENTS = [
    {
        "generation": 0,
        "broker_group_name": "broker-a",
        "queue_id": 2,
        "status": "read_only",
        "logical_start": 0,
        "logical_end": 101,
    },
    {
        "generation": 1,
        "broker_group_name": "broker-b",
        "queue_id": 5,
        "status": "normal",
        "logical_start": 101,
        "logical_end": None,
    },
]
CHANGE = {
    "id": "7d1c",
    "kind": "migrate",
    "state": "moving",
    "moves": [
        {
            "global_id": 3,
            "source_name": "broker-b",
            "destination_name": "broker-a",
            "step": "sealed",
        }
    ],
    "stale": ["broker-c"],
}


@pytest.fixture
def show(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))

    def answer(change):
        found = {
            "queues": [{"global_id": 3, "segments": SEGMENTS}],
            "queue_count": 4,
            "epoch": 1_760_000_001_000,
            "change": change,
        }
        signed_in.on("GET", "/clusters/east/topics/orders/logical-queues", found)
        return found

    return answer


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_each_segment_has_a_line_with_its_broker_group_and_offsets(show, capsys):
    show(None)

    assert run(["topic", "logical-queues", "orders"]) == 0

    printed = lines(capsys)
    assert printed[1:3] == [
        "3 0 broker-a 2 read_only 0 101",
        "3 1 broker-b 5 normal 101 -",
    ]
    assert printed[4:] == ["logical queues: 4", "epoch: 1760000001000"]


def test_the_unfinished_change_is_printed_with_its_moves(show, capsys):
    show(CHANGE)

    assert run(["topic", "logical-queues", "orders"]) == 0

    printed = lines(capsys)
    assert "unfinished change: migrate 7d1c (moving)" in printed
    assert printed[-2:] == ["3 broker-b broker-a sealed", "broker groups that are down: broker-c"]


def test_programs_get_the_answer_as_it_is(show, capsys):
    found = show(CHANGE)

    assert run(["topic", "logical-queues", "orders", "-o", "json"]) == 0

    assert json.loads(capsys.readouterr().out) == found


def test_static_topics_are_listed_with_the_broker_groups_of_their_queues(signed_in, capsys):
    shares = [
        {"broker_group_name": "broker-a", "led_count": 0, "segment_count": 2},
        {"broker_group_name": "broker-b", "led_count": 4, "segment_count": 4},
    ]
    found = {"name": "orders", "epoch": 7, "queue_count": 4, "change_id": None, "shares": shares}
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("GET", "/clusters/east/static-topics", page(found))

    assert run(["topic", "static", "list"]) == 0
    printed = lines(capsys)
    assert run(["topic", "static", "list", "-o", "json"]) == 0

    assert printed[1] == "orders 4 7 broker-a (0), broker-b (4) -"
    assert json.loads(capsys.readouterr().out) == [found]
