"""The checker finds planted errors: offsets that went back, and delayed messages that never
came."""

import dataclasses

import msgspec
import pytest

from tests.chaos.checker import check
from tests.chaos.consumer_checks import STATE_TOPIC
from tests.chaos.evidence import Breach, Evidence
from tests.chaos.journal import NONE_COMMITTED, Acknowledgement, Commit, Look
from tests.chaos.stores import BrokerStore, LogRecord
from tests.chaos.test_checker import SIZE, store

DELAYED = "chaos-delayed"


def body_of(offsets, *, topic="chaos"):
    fields = [1, 0, 0, [], {f"{topic}@readers": offsets} if offsets else {}, {}]
    return b"\1" + msgspec.msgpack.encode(fields)


def log(*bodies, delivered=(20, 21)) -> BrokerStore:
    """Messages 0 to 5 in turn with records of state, as many as there are bodies; then delayed."""
    records = []
    for number in range(6):
        position = len(records) * SIZE
        records.append(LogRecord(position, SIZE, "chaos", 0, number, b"%d:..." % number))
        if number < len(bodies):
            position = len(records) * SIZE
            records.append(LogRecord(position, SIZE, STATE_TOPIC, 0, number, bodies[number]))
    for offset, number in enumerate(delivered):
        position = len(records) * SIZE
        records.append(LogRecord(position, SIZE, DELAYED, 0, offset, b"%d:..." % number))
    return store(records, epochs=((1, 0), (2, 400)))


def committed(offset, at, *, agent=1, is_answered=True, is_taken=True):
    return Commit(agent, 0, offset, at, at + 0.01 if is_answered else None, is_taken)


def evidence(held=None, **changes):
    """Offsets 1, 2, 3 and 4 were committed and logged, two masters served, and all is well."""
    held = log(*(body_of({0: offset}) for offset in (1, 2, 3, 4))) if held is None else held
    places = {number_at(record): record for record in held.records if record.topic == "chaos"}
    given = {
        "topic": "chaos",
        "acknowledgements": [
            Acknowledgement(
                number=number,
                agent=1 if record.position < 400 else 2,
                sent_at_s=number + 0.1,
                answered_at_s=number + 0.2,
                queue=0,
                offset=number,
                position=record.position,
            )
            for number, record in places.items()
        ],
        "readings": [],
        "masters": {1: 1, 2: 2},
        "stores": {1: held, 2: held},
        "last_master": 2,
        "deferred": [20, 21],
        "delayed_topic": DELAYED,
        "committing_group": "readers",
        "commits": [
            committed(1, 0.5),
            committed(2, 1.5),
            committed(3, 2.5, agent=2),
            committed(4, 3.5, agent=2),
        ],
        "looks": [Look(1, 0, 1, 1.3, 1.4), Look(2, 0, 3, 3.3, 3.4), Look(2, 0, 4, 5.3, 5.4)],
    }
    return Evidence(**given | changes)


def number_at(record):
    return int(record.body.partition(b":")[0])


def breaches(held=None, **changes):
    return {violation.breach for violation in check(evidence(held, **changes))}


def test_offsets_that_rise_and_delays_that_come_are_no_violation():
    assert check(evidence()) == []


def test_an_offset_that_goes_back_in_the_log_is_found():
    held = log(*(body_of({0: offset}) for offset in (1, 3, 2, 4)))

    assert breaches(held, looks=[]) == {Breach.OFFSET_BACK}


def test_a_commit_that_was_never_answered_may_take_its_effect_late():
    held = log(*(body_of({0: offset}) for offset in (1, 3, 2, 4)))
    commits = [
        committed(2, 1.5, is_answered=False) if one.offset == 2 else one
        for one in evidence().commits
    ]

    assert breaches(held, looks=[], commits=commits) == set()


def test_an_offset_that_no_consumer_committed_is_found():
    held = log(*(body_of({0: offset}) for offset in (1, 2, 3, 9, 4)))

    assert Breach.OFFSET_INVENTED in breaches(held, looks=[])


@pytest.mark.parametrize("told", [2, NONE_COMMITTED])
def test_a_master_that_reports_less_than_was_confirmed_is_found(told):
    assert breaches(looks=[Look(2, 0, told, 5.3, 5.4)]) == {Breach.OFFSET_BACK}


def test_what_was_committed_in_the_last_tick_may_be_gone():
    # 2 was in the log before 1, but no message behind it was acknowledged yet.
    assert breaches(looks=[Look(1, 0, 1, 1.3, 1.4)]) == set()


def test_a_former_master_may_know_less():
    assert breaches(looks=[Look(1, 0, 2, 5.3, 5.4)]) == set()


def test_an_offset_that_the_last_master_took_and_did_not_write_is_found():
    commits = [*evidence().commits, committed(6, 5.9, agent=2)]

    assert breaches(commits=commits) == {Breach.OFFSET_BACK}
    refused = dataclasses.replace(commits[-1], is_taken=False)
    assert breaches(commits=[*commits[:-1], refused]) == set()


def test_offsets_of_other_topics_are_not_the_consumers():
    held = log(
        *(body_of({0: offset}) for offset in (1, 2, 3, 4)), body_of({0: 77}, topic="chaos-other")
    )

    assert breaches(held) == set()


def test_a_delayed_message_that_never_came_is_found():
    held = log(*(body_of({0: offset}) for offset in (1, 2, 3, 4)), delivered=(20,))

    assert breaches(held) == {Breach.UNDELIVERED}


def test_a_delayed_message_may_come_twice():
    held = log(*(body_of({0: offset}) for offset in (1, 2, 3, 4)), delivered=(20, 21, 20))

    assert breaches(held) == set()
