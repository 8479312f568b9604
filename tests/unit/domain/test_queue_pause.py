"""Why a queue is paused, from the brokers' reports; the first cause that hides the others wins."""

from dataclasses import replace

import pytest

from backend.domain.queue_lock import HeldLock
from backend.domain.queue_pause import STANDSTILL_MS, Cause, QueueFacts, explain
from backend.domain.queue_reading import GroupMember, OnlineGroup, QueueProgress, QueueReader
from backend.domain.topic import QueueSettings

ONLINE = OnlineGroup(
    (GroupMember("c1", "10.0.0.1:5"),), subscriptions={"orders": "*"}, is_broadcasting=False
)
LOCK = HeldLock(
    *("billing", "orders", "broker-a", 3, "c1"),
    locked_at_ms=5,
    held_ms=90_000,
    idle_ms=12_000,
    expires_in_ms=48_000,
    is_connected=True,
    heard_ms=400,
)
GONE = replace(LOCK, is_connected=False, heard_ms=None)
STILL = QueueReader(
    pulled_ms=900, committed_ms=1_000, advanced_ms=STANDSTILL_MS + 5_000, address="10.0.0.1:5"
)
BEHIND = QueueProgress("orders", 3, committed=8, end=20)


def facts(**reported):
    whole = {
        "address": "10.0.0.9:10911",
        "is_gate_open": True,
        "permission": 6,
        "settings": QueueSettings(8, 8, 6),
        "may_consume": True,
        "online": ONLINE,
        "is_online_known": True,
        "progress": BEHIND,
        "locks": (),
        "reader": QueueReader(pulled_ms=10, committed_ms=10, advanced_ms=10, address="10.0.0.1:5"),
        "observed_for_ms": 600_000,
    }
    return QueueFacts("orders", "broker-a", 3, "billing", **(whole | reported))


@pytest.mark.parametrize(
    ("reported", "cause", "words"),
    [
        ({"has_master": False}, Cause.NO_MASTER, "its broker group has no master"),
        ({"silence": "no answer within 3 s"}, Cause.BROKER_SILENT, "does not answer: no answer"),
        ({"refusal": "no master is known yet"}, Cause.GATE_CLOSED, "refuses all requests now"),
        ({"is_gate_open": False}, Cause.GATE_CLOSED, "hands over"),
        ({"permission": 2}, Cause.NOT_READABLE, "brokerPermission=2"),
        ({"settings": QueueSettings(8, 8, 2)}, Cause.NOT_READABLE, "perm=2"),
        ({"settings": QueueSettings(3, 8, 6)}, Cause.NOT_READABLE, "has 3 such queues"),
        ({"may_consume": False}, Cause.GROUP_DISABLED, "switched off"),
        ({"online": None}, Cause.NO_MEMBER, "billing has no member there; 12 messages wait"),
        (
            {"online": replace(ONLINE, subscriptions={"other": "*"})},
            Cause.NOT_SUBSCRIBED,
            "subscribe to other, not to orders",
        ),
        ({"progress": replace(BEHIND, committed=20)}, Cause.NOTHING_TO_DO, "no message"),
        (
            {"progress": replace(BEHIND, committed=20), "permission": 4},
            Cause.NOTHING_TO_DO,
            "takes no new ones (it is cordoned)",
        ),
        (
            {"locks": (GONE,)},
            Cause.HOLDER_GONE,
            "which is not connected any more; it last renewed 12 s ago, and the lock ends in 48 s",
        ),
        ({"locks": (LOCK,)}, Cause.BEING_READ, "c1 holds it and reads"),
        ({"locks": (LOCK,), "reader": STILL}, Cause.SUSPENDED, "not got past offset 8 for 25 s"),
        (
            {"locks": (LOCK,), "reader": replace(STILL, pulled_ms=None, committed_ms=None)},
            Cause.NOT_PULLING,
            "asks for no message",
        ),
        ({"locks": (replace(LOCK, queue_id=1),)}, Cause.NOT_LOCKED, "although billing consumes in"),
        ({}, Cause.BEING_READ, "is not paused: billing reads it; 12 messages wait"),
        ({"reader": STILL}, Cause.SUSPENDED, "is asked for by c1, but the group has not got past"),
        (
            {"reader": QueueReader()},
            Cause.NOT_PULLING,
            "asked for by none of the 1 members of billing for 600 s",
        ),
        (
            {"reader": QueueReader(), "observed_for_ms": 9_000},
            Cause.UNKNOWN,
            "started too recently",
        ),
        ({"reader": QueueReader(pulled_ms=5)}, Cause.BEING_READ, "has committed nothing yet"),
        ({"reader": None}, Cause.UNKNOWN, "whether they read is unknown"),
        ({"reader": None, "locks": None}, Cause.UNKNOWN, "is unknown"),
        ({"reader": None, "locks": (LOCK,)}, Cause.UNKNOWN, "whether it reads is unknown"),
        ({"progress": None}, Cause.UNKNOWN, "is unknown"),
    ],
)
def test_each_cause_has_a_sentence(reported, cause, words):
    found = explain(facts(**reported))

    assert (found.cause, words in found.sentence) == (cause, True), found.sentence
    assert found.sentence.startswith("orders/3 on broker-a ")
    assert found.sentence.endswith(".")


def test_what_is_not_known_is_neither_paused_nor_running():
    unknown = explain(facts(reader=None, unknown=("who reads the queues: it does not tell",)))

    assert unknown.is_paused is None
    assert unknown.evidence[-1] == "unknown: who reads the queues: it does not tell"
    assert explain(facts()).is_paused is False
    assert explain(facts(online=None)).is_paused is True


def test_members_that_are_not_known_are_not_taken_for_none():
    found = explain(facts(online=None, is_online_known=False))

    assert found.cause is Cause.BEING_READ
    assert "members: none" not in found.evidence


def test_the_evidence_names_members_offsets_and_the_lock():
    reported = explain(facts(locks=(LOCK,))).evidence

    assert "ends at 20, committed 8, lag 12" in reported
    assert "members: c1; fewer than the 8 queues: some have several" in reported
    assert "locked by c1 (connected) for 90 s, renewed 12 s ago, ends in 48 s" in reported
