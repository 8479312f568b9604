"""Health says what is known, what is missing, and what one more failure would cost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.health import (
    BrokerFacts,
    GroupFacts,
    HealthVerdict,
    Presence,
    WriterFault,
    judge_group,
    judge_health,
    judge_presence,
    list_heirs,
)

HEARD_AT = datetime(2026, 11, 27, 11, 39, 2, tzinfo=UTC)
HEALTHY, UNKNOWN = HealthVerdict.HEALTHY, HealthVerdict.UNKNOWN
DEGRADED, CRITICAL = HealthVerdict.DEGRADED, HealthVerdict.CRITICAL


def broker(broker_id, presence=Presence.ALIVE, **changes):
    heard_at = HEARD_AT if presence is Presence.DOWN else None
    values = {"last_heard_at": heard_at, **changes}
    return BrokerFacts(broker_id, f"10.0.0.{broker_id}:10911", presence, **values)


def down(broker_id, **changes):
    return broker(broker_id, Presence.DOWN, **changes)


def unheard(broker_id):
    return broker(broker_id, Presence.UNKNOWN)


def group(*brokers, name="broker-b", **changes):
    values = {"is_controlled": True, "master_id": 1, "has_writable_topics": True, **changes}
    return GroupFacts("regent", name, brokers=tuple(brokers), **values)


def static(*brokers, **changes):
    return group(*brokers, is_controlled=False, **{"master_id": 0, **changes})


def test_a_whole_group_is_healthy_and_one_more_failure_stops_nothing():
    reported = judge_group(group(broker(1), broker(2)))

    assert (reported.verdict, reported.has_writer, reported.missing) == (HEALTHY, True, ())
    assert reported.sentence == "broker-b: 2 of 2 replicas are alive."
    assert reported.next_failure == "One more failure stops nothing: another replica takes over."


def test_a_dead_former_master_is_named_until_it_is_back_or_forgotten():
    # Case B1.
    reported = judge_group(group(down(1), broker(2), master_id=2))

    assert reported.verdict is DEGRADED
    assert reported.sentence == (
        "broker-b: 1 of 2 replicas is alive; broker-b-1 (10.0.0.1:10911) sent its last heartbeat at"
        " 2026-11-27 11:39:02 UTC. One more failure stops writes and reads."
    )
    assert [one.name for one in reported.missing] == ["broker-b-1"]
    assert (reported.alive_count, reported.replica_count) == (1, 2)


def test_a_broker_that_was_never_heard_has_no_instant_and_none_is_made_up():
    reported = judge_group(group(broker(1), down(2, last_heard_at=None)))

    assert "broker-b-2 (10.0.0.2:10911) sent no heartbeat." in reported.sentence


def test_a_cordoned_master_means_that_there_is_no_writer_and_what_to_enter():
    # Case A16.
    reported = judge_group(group(down(1), broker(2, is_cordoned=True), master_id=2))

    assert (reported.verdict, reported.writer_fault) == (CRITICAL, WriterFault.CORDONED)
    assert reported.sentence.startswith(
        "broker-b has no writer: its master broker-b-2 is cordoned. Uncordon it:"
        " `regent broker uncordon broker-b --broker 0`. 1 of 2 replicas is alive; broker-b-1"
    )
    assert reported.next_failure == "One more failure stops reads too."


def test_an_heir_with_the_right_to_write_is_named_where_the_master_has_none():
    reported = judge_group(group(broker(1, is_cordoned=True), broker(2)))

    assert "or make broker-b-2 master: `regent controller elect broker-b --broker 2`." in (
        reported.writer_sentence or ""
    )


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        (group(broker(1), broker(2), master_id=None), WriterFault.NO_MASTER),
        (group(broker(1), broker(2), master_id=7), WriterFault.NO_MASTER),
        (group(broker(1), broker(2), is_master_lost=True), WriterFault.MASTER_LOST),
        (group(down(1), broker(2)), WriterFault.MASTER_DOWN),
        (group(broker(1, is_cordoned=True), broker(2)), WriterFault.CORDONED),
        (group(broker(1), broker(2), has_writable_topics=False), WriterFault.READ_ONLY),
        (group(broker(1, is_disk_full=True), broker(2)), WriterFault.DISK_FULL),
        (static(down(0)), WriterFault.MASTER_DOWN),
        (static(broker(1), master_id=None), WriterFault.NO_MASTER),
        (static(broker(0), has_writable_topics=False), WriterFault.READ_ONLY),
    ],
)
def test_a_group_without_a_writer_is_critical_whatever_the_reason(facts, fault):
    # Case A16, the whole kind.
    reported = judge_group(facts)

    assert (reported.verdict, reported.has_writer, reported.writer_fault) == (
        CRITICAL,
        False,
        fault,
    )
    assert reported.sentence.startswith("broker-b has no writer: ")
    assert judge_health([facts]).verdict is CRITICAL


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (group(broker(1), down(2)), "1 of 2 replicas is alive"),
        (group(broker(1), down(2), broker(3)), "2 of 3 replicas are alive"),
        (group(broker(1), broker(2, is_in_sync=False)), "broker-b-2 is not in sync"),
        (group(broker(1), broker(2, is_verified=False)), "broker-b-2 has not verified its log"),
        (group(broker(1), broker(2, is_cordoned=True)), "broker-b-2 is cordoned"),
        (group(broker(1), broker(2, is_disk_full=True)), "broker-b-2 has a full disk"),
        (
            group(broker(1), down(2, is_learner=True)),
            "broker-b-2 (10.0.0.2:10911) sent its last heartbeat",
        ),
        (static(broker(0), down(1)), "1 of 2 brokers is alive"),
    ],
)
def test_whatever_is_missing_or_impaired_is_said(facts, words):
    reported = judge_group(facts)

    assert reported.verdict is DEGRADED
    assert words in reported.sentence
    assert reported.sentence.endswith(reported.next_failure)


@pytest.mark.parametrize(
    ("facts", "cost"),
    [
        (group(broker(1)), "One more failure stops writes and reads."),
        (group(broker(1), broker(2, is_cordoned=True)), "One more failure stops writes."),
        (group(broker(1), broker(2, is_in_sync=False)), "One more failure stops writes."),
        (group(broker(1), broker(2, is_learner=True)), "One more failure stops writes."),
        (group(broker(1), down(2)), "One more failure stops writes and reads."),
        (static(broker(0), broker(1)), "One more failure stops writes."),
        (group(down(1), down(2)), "The group serves no requests now."),
        (group(unheard(1), broker(2)), "The effect of one more failure is unknown."),
    ],
)
def test_what_one_more_failure_costs(facts, cost):
    assert judge_group(facts).next_failure == cost


def test_a_learner_outside_the_set_is_whole():
    assert (
        judge_group(
            group(broker(1), broker(2), broker(3, is_learner=True, is_in_sync=False))
        ).verdict
        is HEALTHY
    )


@pytest.mark.parametrize("master", [unheard(1), broker(1)])
def test_what_is_not_known_is_neither_healthy_nor_missing(master):
    # Case B1, the reverse: a control plane that has just begun to listen accuses no broker.
    reported = judge_group(group(master, unheard(2)))

    assert reported.verdict is UNKNOWN
    assert reported.missing == ()
    assert "is unknown: the control plane started too recently" in reported.sentence


def test_all_groups_in_one_sentence_the_worst_first():
    facts = [
        group(broker(1), broker(2), name="broker-a"),
        group(broker(1), down(2), name="broker-c"),
        group(broker(1, is_cordoned=True), down(2), name="broker-d"),
    ]

    reported = judge_health(facts)

    assert reported.verdict is CRITICAL
    assert reported.sentence.startswith("broker-d has no writer: ")
    assert reported.sentence.endswith(" 1 more group is not healthy: broker-c.")
    assert [one.broker_group_name for one in reported.groups] == [
        "broker-d",
        "broker-c",
        "broker-a",
    ]
    assert (reported.alive_count, reported.replica_count) == (4, 6)


def test_healthy_groups_in_one_sentence_say_who_could_not_lose_a_broker():
    reported = judge_health([group(broker(1), broker(2), name="broker-a"), static(broker(0))])

    assert reported.sentence == "All 2 broker groups are healthy: 3 of 3 brokers are alive."
    assert reported.next_failure == (
        "One more failure can stop the writes of broker-b: no other replica takes over."
    )


def test_without_a_group_nothing_is_healthy():
    reported = judge_health([])

    assert (reported.verdict, reported.groups) == (UNKNOWN, ())


@pytest.mark.parametrize("presence", Presence)
@pytest.mark.parametrize("is_controlled", [True, False])
@pytest.mark.parametrize("is_master_lost", [True, False])
@pytest.mark.parametrize("master_id", [None, 1, 9])
@pytest.mark.parametrize("has_writable_topics", [True, False, None])
def test_every_group_is_judged_and_a_green_one_has_a_writer_and_all_its_brokers(
    presence, is_controlled, is_master_lost, master_id, has_writable_topics
):
    flags = ("is_in_sync", "is_verified", "is_cordoned", "is_learner", "is_disk_full")
    for number in range(2 ** len(flags)):
        reported = {flag: bool(number >> place & 1) for place, flag in enumerate(flags)}
        facts = group(
            broker(1, presence, **reported),
            replace(broker(2), is_cordoned=reported["is_cordoned"]),
            is_controlled=is_controlled,
            is_master_lost=is_master_lost,
            master_id=master_id,
            has_writable_topics=has_writable_topics,
        )

        judged = judge_group(facts)

        assert judged.sentence.endswith(".")
        assert (judged.writer_fault is None) == (judged.has_writer is not False)
        if judged.verdict is HEALTHY:
            assert judged.has_writer
            assert presence is Presence.ALIVE
            assert not reported["is_cordoned"]
        assert all(not heir.is_cordoned for heir in list_heirs(facts))


@pytest.mark.parametrize(
    ("heard_s", "listened_s", "is_listener_gone", "presence"),
    [
        (5, 60, False, Presence.DOWN),
        (5, 6, False, Presence.DOWN),
        (5, 4, False, Presence.UNKNOWN),
        (90, 4, False, Presence.UNKNOWN),
        (90, 40, False, Presence.DOWN),
        (None, 4, False, Presence.UNKNOWN),
        (None, 40, False, Presence.DOWN),
        (20, 60, True, Presence.UNKNOWN),
        (40, 60, True, Presence.DOWN),
        (40, 4, True, Presence.UNKNOWN),
    ],
)
def test_a_silence_has_an_effect_only_while_a_process_listened(
    heard_s, listened_s, is_listener_gone, presence
):
    last_heard = None if heard_s is None else timedelta(seconds=heard_s)

    assert presence is judge_presence(
        is_heard=False,
        last_heard=last_heard,
        listened=timedelta(seconds=listened_s),
        is_listener_gone=is_listener_gone,
    )


def test_a_group_without_its_master_says_which_replica_acts_and_stays_critical():
    since = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
    reported = judge_group(static(down(0), broker(1), acting_id=1, acting_since=since))

    assert (reported.verdict, reported.writer_fault) == (CRITICAL, WriterFault.MASTER_DOWN)
    assert reported.writer_sentence == (
        "broker-b has no writer: its master broker-b-0 is not alive."
        " Reads go on: broker-b-1 acts for it since 2026-11-29 10:00:00 UTC."
    )
