"""The commands `regent queue share …` and `regent group mode`: what they ask, list and refuse."""

import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_orders import WITH_REASON, operation, sent
from tests.unit.cli.test_replicas import page

QUEUE = {
    "cluster_name": "east",
    "consumer_group_name": "billing",
    "topic": "orders",
    "broker_group_name": "broker-a",
    "queue_id": 3,
    "mode": "PRIMARY",
    "owner": "broker-a-0",
    "waiters": [],
    "lease_epoch": 7,
    "consume_mode": None,
    "position": 1200,
    "window_end": 5296,
    "is_full": True,
    "unfinished_count": 8000,
    "acquired_count": 2,
    "returned_count": 1,
    "oldest_acquired_ms": 42_000,
    "attempt_count_max": 16,
    "counted_ms": 3_600_000,
    "delivered_count": 5004,
    "redelivered_count": 17,
    "accepted_count": 4998,
    "dead_letter_count": 1,
    "discarded_count": 0,
    "retried_count": 2,
}
MESSAGE = {
    "offset": 1200,
    "holder": "gone",
    "client_id": "10.0.0.7@412",
    "acquired_ms": 42_000,
    "delivered_ms": 90_000,
    "due_in_ms": 18_000,
    "delivery_count": 2,
}
WAITING = MESSAGE | {"offset": 1201, "holder": None, "client_id": None, "due_in_ms": 0}
NAMELESS = MESSAGE | {"offset": 1202, "client_id": None}
PLACE = "/clusters/east/broker-groups/broker-a/share-queue"
SHARE = ["queue", "share"]
WHICH = ["billing", "orders", "3"]
WHERE = ["--broker-group", "broker-a"]
NAMED = {
    "cluster_name": "east",
    "broker_group_name": "broker-a",
    "consumer_group_name": "billing",
    "topic_name": "orders",
    "queue_id": 3,
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/operations", operation())
    return signed_in


@pytest.mark.parametrize("noun", ["share", "shares"])
def test_share_queues_are_listed_with_their_window_and_what_is_in_flight(east, capsys, noun):
    east.on("GET", "/share-queues", {**page(QUEUE), "unknown": []})

    assert run(["queue", noun, "list", "--group", "billing"]) == ExitCode.DONE

    shown = capsys.readouterr().out
    for text in ("broker-a-0", "1200-5296 full", "8000", "42.0 s"):
        assert text in shown


def test_a_share_queue_shows_who_has_which_message(east, capsys):
    found = {"queue": QUEUE, "messages": [MESSAGE, WAITING, NAMELESS]}
    east.on("GET", PLACE, found)

    assert run([*SHARE, "show", *WHICH, *WHERE]) == ExitCode.DONE

    shown = capsys.readouterr().out
    assert "mode PRIMARY, consume mode PULL, 16 attempts" in shown
    assert "finished=4998" in shown
    first, second, third = shown.splitlines()[-3:]
    assert "10.0.0.7@412" in first
    assert "no consumer" in second
    assert "a client without a known id" in third


def test_incidents_say_what_they_are_about_and_how_they_ended(east, capsys):
    store = {
        "id": 2,
        "cluster_name": "east",
        "broker": "broker-a-2",
        "kind": "cannot_store",
        "explanation": "Replace its disk.",
        "epoch": 4,
        "position": 8192,
        "topic": None,
        "queue_id": None,
        "consumer_group_name": None,
        "reason": "the disk failed",
        "outcome": "others_have_it",
        "opened_at": "2026-01-01T12:00:00Z",
        "resolved_at": None,
        "resolution": None,
    }
    lease = store | {"id": 1, "kind": "lease_fenced", "outcome": None, "reason": None}
    lease |= {"topic": "orders", "queue_id": 3, "consumer_group_name": "billing"}
    lease |= {"resolved_at": "2026-01-01T12:00:01Z", "resolution": "lease_ended"}
    lease |= {"explanation": "Another member has a later lease."}
    lost = lease | {"id": 4, "kind": "messages_lost", "topic": "scores", "epoch": 9}
    lost |= {"queue_id": None, "consumer_group_name": None, "resolution": "topic_emptied"}
    lost |= {"explanation": "Topic scores is not replicated. Send them again."}
    east.on("GET", "/share-incidents", page(store, lease, lost, lost | {"id": 3}))

    assert run([*SHARE, "incidents", *WHERE, "--open"]) == ExitCode.DONE

    table, *explained = capsys.readouterr().out.split("\n\n")
    first, second, third, _ = table.splitlines()[-4:]
    for text in ("cannot_store", "record at 8192", "others_have_it", "now", "the disk failed"):
        assert text in first
    for text in ("lease_fenced", "billing orders/3", "lease_ended"):
        assert text in second
    for text in ("messages_lost", "topic scores", "topic_emptied"):
        assert text in third
    assert explained[0] == "cannot_store: Replace its disk."
    assert explained[2].splitlines() == [
        "messages_lost: Topic scores is not replicated. Send them again.",
        "  likewise: incident 3",
    ]


def test_messages_are_released_for_one_client_or_for_all_that_are_gone(east):
    dry = ["--dry-run", *WITH_REASON]
    assert run([*SHARE, "release", *WHICH, *WHERE, *dry]) == ExitCode.DONE
    assert run([*SHARE, "release", *WHICH, *WHERE, "--client", "c1", *dry]) == ExitCode.DONE

    every, one = (call[1] for call in sent(east))
    assert every["kind"] == one["kind"] == "release_shared_messages"
    assert every["parameters"] == {**NAMED, "client_id": None}
    assert one["parameters"] == {**NAMED, "client_id": "c1"}


def test_a_share_queue_is_reset_to_an_offset(east, capsys):
    assert run([*SHARE, "reset", *WHICH, "1200", *WHERE, "--dry-run", *WITH_REASON]) == 0

    (planned,) = sent(east)
    assert planned[1]["parameters"] == {**NAMED, "offset": 1200}
    assert "target: queue orders/3 of broker-a for group billing" in capsys.readouterr().err


def test_a_consume_mode_is_set_for_a_group_and_a_topic(east):
    mode = ["group", "mode", "billing", "orders", "POP", "--dry-run", *WITH_REASON]
    assert run(mode) == ExitCode.DONE

    (planned,) = sent(east)
    assert planned[1]["kind"] == "set_consume_mode"
    assert planned[1]["parameters"] == {
        "cluster_name": "east",
        "consumer_group_name": "billing",
        "topic_name": "orders",
        "mode": "POP",
        "shared_client_count": 0,
        "broker_groups": [],
    }


def test_a_shared_queue_names_its_owner_and_who_waits(east, capsys):
    shared = QUEUE | {"mode": "SHARED", "owner": None, "waiters": ["broker-a-2", "broker-a-3"]}
    east.on("GET", PLACE, {"queue": shared, "messages": []})

    assert run([*SHARE, "show", *WHICH, *WHERE, "--cluster", "east"]) == ExitCode.DONE

    shown = capsys.readouterr().out
    for text in ("SHARED", "no member", "broker-a-2, broker-a-3 waiting"):
        assert text in shown


def test_share_queues_are_handed_over_by_owner_and_to_a_named_member_o30(east):
    order = [*SHARE, "hand-over", "broker-a", "--owner", "2", "--to", "3", "--dry-run"]

    assert run([*order, *WITH_REASON]) == ExitCode.DONE

    (planned,) = sent(east)
    assert planned[1]["kind"] == "hand_over_share_queues"
    assert planned[1]["parameters"] == {
        "cluster_name": "east",
        "broker_group_name": "broker-a",
        "successor_id": 3,
        "owner_id": 2,
        "consumer_group_name": None,
        "topic_name": None,
        "queue_id": None,
    }
