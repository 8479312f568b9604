"""What commands about topics, groups, clients and messages print, and what they ask for."""

import json

import pytest

from backend.cli import messages
from backend.cli.app import run
from tests.unit.cli.fake_server import refusal
from tests.unit.cli.test_replicas import page

EAST = "/clusters/east"
SILENT = {
    "broker_group_name": "broker-b",
    "name": "broker-b-2",
    "broker_id": 0,
    "address": "10.0.0.2:10911",
    "why": "no answer within 3 s",
}
WHOLE = {"is_complete": True, "expired_count": 0, "is_applicable": True}
NOTHING = {"message_count": 0, "waiting_ms": 0, **WHOLE}
ANSWERED = {"broker_count_told": 3, "broker_count_asked": 4}
ROW = {
    "name": "billing",
    "is_system": False,
    "broker_group_names": ["broker-a"],
    "state": "active",
    **ANSWERED,
    "member_count": 2,
    "lag": NOTHING | {"message_count": 50, "waiting_ms": 4_200, "is_complete": False},
    "retry_lag": NOTHING,
    "protection": None,
}
QUEUE = {
    "broker_group_name": "broker-a",
    "topic": "orders",
    "queue_id": 3,
    "kind": "normal",
    "committed": None,
    "begin": 0,
    "end": 7,
    "lag": None,
    "expired_count": None,
    "ahead_count": None,
    "waiting_ms": None,
    "consumed_at": None,
    "owner": "10.0.0.7@412",
}
GROUP = {
    "name": "billing",
    "is_system": False,
    "state": "active",
    **ANSWERED,
    "models": ["clustering"],
    "lag": ROW["lag"],
    "retry_lag": NOTHING,
    "protection": None,
    "dead_letter_count": None,
    "is_dead_letter_count_complete": False,
    "settings": [
        {
            "broker_group_name": "broker-a",
            "consume_enabled": False,
            "is_ordered": False,
            "retry_count_max": 16,
            "consume_timeout_minutes": 15,
        }
    ],
    "members": [
        {
            "client_id": "10.0.0.7@412",
            "address": "10.0.0.7:5",
            "language": "GO",
            "version": 9,
            "version_name": None,
            "broker_group_names": ["broker-a"],
            "addresses": ["10.0.0.7:5"],
            "subscriptions": ["orders (TAG red)"],
            "message_models": ["CLUSTERING"],
            "consume_types": ["CONSUME_PASSIVELY"],
            "starts_from": ["CONSUME_FROM_LAST_OFFSET"],
        }
    ],
    "subscriptions": [{"topic": "orders", "expressions": ["*", "red"]}],
    "queues": [QUEUE],
    "unknown": [SILENT],
}
MESSAGE = {
    "message_id": "7F00",
    "unique_key": "U-1",
    "topic": "orders",
    "broker_group_name": "broker-a",
    "queue_id": 2,
    "queue_offset": 41,
    "log_position": 4096,
    "stored_at": "2026-03-02T12:00:00Z",
    "store_host": "10.0.0.1:10911",
    "born_at": None,
    "born_host": "10.0.0.5:1",
    "reconsume_times": 0,
    "size_bytes": 220,
    "body_bytes": 12,
    "keys": ["4711"],
    "tags": "red",
    "properties": {"KEYS": "4711"},
}
DETAIL = MESSAGE | {
    "deliveries": [
        {
            "consumer_group_name": "billing",
            "state": "retrying",
            "why": "it failed 2 times",
            "attempt_count": 2,
        }
    ],
    "consumer_group_count": 3,
    "unknown": [],
}
BODY = {
    "form": "json",
    "content": '{ "a": 1 }',
    "is_cut": True,
    "stored_bytes": 99,
    "size_bytes": 99,
    "shown_bytes": 10,
    "compression": None,
    "note": None,
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    return signed_in


def listed(*found, after=None):
    return {"items": list(found), "next": after, "total_count": 9, "unknown": [SILENT]}


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def asked(server):
    return [dict(one.url.params) for one in server.requests if one.url.path != "/api/v1/clusters"]


def test_groups_are_listed_over_pages_with_the_brokers_that_are_silent(east, capsys):
    path = f"{EAST}/consumer-groups"
    east.on("GET", path, listed(ROW, after="k"), listed(ROW | {"name": "other"}))

    assert run(["group", "list", "--search", "b"]) == 0

    _, first, second, unknown = lines(capsys)
    assert first == "billing active, by 3 of 4 brokers 2 50+ 4.2 s 0 no broker-a"
    assert second.startswith("other")
    assert unknown == "unknown: broker broker-b-2 (10.0.0.2:10911): no answer within 3 s"
    assert asked(east) == [
        {"limit": "100", "search": "b"},
        {"limit": "100", "search": "b", "after": "k"},
    ]


def test_a_group_is_shown_whole_and_what_is_unknown_is_no_zero(east, capsys):
    east.on("GET", f"{EAST}/consumer-groups/billing", GROUP)

    assert run(["group", "get", "billing"]) == 0

    shown = lines(capsys)
    assert shown[0] == "billing active, by 3 of 4 brokers, clustering"
    assert shown[1] == "deletion protection: none"
    assert shown[2] == "lag 50+, the oldest waits 4.2 s, retries 0, dead letters unknown"
    assert "orders broker-a 3 - 0 7 - - - - 10.0.0.7@412" in shown
    assert "orders * or red" in shown
    assert "10.0.0.7@412 10.0.0.7:5 GO 9 broker-a clustering orders (TAG red)" in shown


def test_expired_messages_are_said_beside_the_lag_and_so_is_an_offset_beyond_the_end(east, capsys):
    # Case B4.
    queue = QUEUE | {"committed": 10, "begin": 300, "end": 301, "lag": 1, "expired_count": 290}
    ahead = QUEUE | {"committed": 99, "end": 15, "lag": 0, "expired_count": 0, "ahead_count": 84}
    lag = NOTHING | {"message_count": 1, "expired_count": 290, "waiting_ms": 6_000}
    reported = GROUP | {"lag": lag, "queues": [queue | {"ahead_count": 0}, ahead]}
    east.on("GET", f"{EAST}/consumer-groups/billing", reported)

    assert run(["group", "lag", "billing"]) == 0

    shown = lines(capsys)
    assert shown[0].startswith("lag 1 (290 expired unread), the oldest waits 6.0 s")
    assert shown[1] == (
        "orders/3 on broker-a: the offset is ahead of the queue's end by 84 messages"
    )
    assert "orders broker-a 3 10 300 301 1 290 - - 10.0.0.7@412" in shown


def test_a_group_that_broadcasts_has_no_lag(east, capsys):
    # Case B5.
    none = {"message_count": None, "waiting_ms": None, "expired_count": None}
    lag = NOTHING | none | {"is_applicable": False}
    east.on("GET", f"{EAST}/consumer-groups", listed(ROW | {"lag": lag, "retry_lag": lag}))
    reported = GROUP | {"lag": lag, "models": ["broadcasting"], "queues": []}
    east.on("GET", f"{EAST}/consumer-groups/billing", reported)

    assert run(["group", "list"]) == 0
    assert run(["group", "lag", "billing"]) == 0

    shown = lines(capsys)
    assert "billing active, by 3 of 4 brokers 2 none - none no broker-a" in shown
    no_lag = "no lag: it broadcasts, so its members keep their own offsets"
    assert any(line.startswith(no_lag) for line in shown)


def test_the_lag_of_a_group_is_printed_for_programs(east, capsys):
    east.on("GET", f"{EAST}/consumer-groups/billing", GROUP)

    assert run(["group", "lag", "billing", "-o", "json"]) == 0

    reported = json.loads(capsys.readouterr().out)
    assert reported["lag"] == GROUP["lag"]
    assert reported["queues"] == [QUEUE]


def test_clients_are_listed_and_narrowed(east, capsys):
    connection = {
        "broker_group_name": "broker-a",
        "broker_name": "broker-a-1",
        "broker_id": 0,
        "broker_address": "10.0.0.1:10911",
        "address": "10.0.0.7:5",
        "language": "JAVA",
        "version": 513,
        "version_name": "5.5.0",
        "heard_ms": None,
        "producer_groups": [],
        "consumer_groups": ["billing"],
    }
    found = {
        "client_id": "10.0.0.7@412",
        "roles": ["consumer"],
        "producer_groups": [],
        "consumer_groups": ["billing"],
        "heard_ms": None,
        "connections": [connection],
    }
    east.on("GET", f"{EAST}/clients", listed(found))
    east.on("GET", f"{EAST}/clients/10.0.0.7%40412", found | {"unknown": []})

    assert run(["client", "list", "--group", "billing", "--role", "consumer"]) == 0
    assert "10.0.0.7@412 10.0.0.7:5 JAVA 5.5.0 billing -" in lines(capsys)
    assert asked(east)[-1] == {"limit": "500", "group": "billing", "role": "consumer"}

    assert run(["client", "get", "10.0.0.7@412"]) == 0
    assert "broker-a-1 10.0.0.1:10911 10.0.0.7:5 JAVA 5.5.0 billing -" in lines(capsys)


def test_a_message_is_shown_with_delivery_and_body(east, capsys):
    east.on("GET", f"{EAST}/messages/7F00", DETAIL)
    east.on("GET", f"{EAST}/messages/7F00/body", BODY)

    assert run(["message", "get", "7F00", "--form", "json"]) == 0

    shown = lines(capsys)
    assert "billing retrying it failed 2 times" in shown
    assert "2 more groups consume the topic" in shown
    assert "Body, 99 B as json, the first 10 B" in shown
    assert '{ "a": 1 }' in shown
    assert asked(east)[-1] == {"form": "json"}


def test_who_may_not_read_bodies_can_leave_them_out(east, capsys):
    east.on("GET", f"{EAST}/messages/7F00", DETAIL)
    reported = refusal(403, "forbidden", "it takes the role operator")
    east.on("GET", f"{EAST}/messages/7F00/body", reported)

    assert run(["message", "get", "7F00"]) == 5
    assert run(["message", "get", "7F00", "--no-body"]) == 0
    assert "Body" not in capsys.readouterr().out


def test_a_search_says_when_there_may_be_more(east, capsys):
    found = {"items": [MESSAGE], "is_complete": False, "unknown": [SILENT]}
    east.on("GET", f"{EAST}/topics/orders/messages/found", found)

    assert run(["message", "find", "orders", "--unique-key", "U-1"]) == 0

    reported = capsys.readouterr()
    assert "7F00" in reported.out
    assert "broker-b" in reported.out
    assert "this may not be all" in reported.err
    assert asked(east)[-1] == {"key": "U-1", "is_unique": "true", "limit": "64"}


@pytest.mark.parametrize("given", [[], ["--key", "a", "--unique-key", "b"]])
def test_a_search_needs_one_key(east, capsys, given):
    assert run(["message", "find", "orders", *given]) == 2
    assert "regent message find orders --key KEY" in capsys.readouterr().err
    assert asked(east) == []


def test_a_list_goes_on_until_it_has_enough(east, capsys):
    first = listed(MESSAGE, after="k") | {"has_more": True}
    last = listed(MESSAGE | {"queue_offset": 42}, after="k2") | {"has_more": False}
    east.on("GET", f"{EAST}/topics/orders/messages", first, last)

    assert run(["message", "list", "orders", "--since", "2026-03-02T11:00:00"]) == 0

    assert len([line for line in lines(capsys) if "7F00" in line]) == 2
    assert asked(east)[0] == {"limit": "32", "begin": "2026-03-02T11:00:00+00:00"}
    assert asked(east)[1]["after"] == "k"


def test_a_topic_is_followed_from_where_each_answer_ends(east, capsys, monkeypatch):
    rests = []
    monkeypatch.setattr(messages, "sleep", rests.append)
    nothing = listed(after="k1") | {"has_more": False}
    some = listed(MESSAGE, after="k2") | {"has_more": False}
    east.on("GET", f"{EAST}/topics/orders/messages", nothing, some)

    assert run(["message", "tail", "orders", "--limit", "1", "--interval", "2"]) == 0

    reported = capsys.readouterr()
    assert reported.out.split() == ["2026-03-02", "12:00:00Z", "broker-a/2@41", "7F00", "red"]
    assert reported.err.count("broker-b") == 1
    assert rests == [2.0]
    first, second = asked(east)
    assert first == {"limit": "1", "from_latest": "true"}
    assert second["after"] == "k1"


def test_a_topic_that_is_not_replicated_says_so(signed_in, capsys):
    placement = {
        "broker_group_name": "broker-a",
        "read_queue_count": 8,
        "write_queue_count": 8,
        "readable": True,
        "writable": True,
        "inherited": False,
        "is_ordered": False,
        "message_type": "FIFO",
        "share_mode": "PRIMARY",
        "is_time_shared": False,
        "is_replicated": False,
    }
    shared = {"broker_group_name": "broker-b", "message_type": None, "share_mode": "SHARED"}
    shared |= {"is_time_shared": True, "is_replicated": True}
    found = {
        "name": "scores",
        "kind": "normal",
        "protection": None,
        "messages_in_per_second": None,
        "placements": [placement, placement | shared],
        "queues": [],
        "route": [],
    }
    signed_in.on("GET", "/clusters/east/topics/scores", found)

    assert run(["topic", "get", "scores", "--cluster", "east"]) == 0

    shown = capsys.readouterr().out
    alone, other = (line for line in shown.splitlines() if line.startswith("broker-"))
    assert alone.split()[-3:] == ["FIFO", "PRIMARY", "no"]
    assert other.split()[-5:] == ["type", "SHARED,", "in", "turns", "yes"]
    assert "not replicated on broker-a: messages are lost if another broker is master" in shown
