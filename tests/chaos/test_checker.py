"""The checker finds each planted violation."""

import dataclasses
import struct

import pytest

from tests.chaos.checker import check
from tests.chaos.evidence import Breach, Evidence
from tests.chaos.journal import Acknowledgement, Reading
from tests.chaos.stores import BrokerStore, LogRecord

SIZE = 100
QUEUES = 2


def record(number, *, position=None, offset=None):
    """Message `number` as the log holds it: messages take turns between the queues."""
    at = number * SIZE if position is None else position
    place = number // QUEUES if offset is None else offset
    return LogRecord(at, SIZE, "chaos", number % QUEUES, place, b"%d:..." % number)


def store(records, epochs=((1, 0), (2, 400))):
    """A store whose queues are what its log says."""
    queues = {}
    for one in records:
        entry = struct.pack(">qiq", one.position, one.size, 0)
        key = (one.topic, one.queue)
        queues[key] = queues.get(key, b"") + entry
    log = b"".join(one.body.ljust(SIZE, b"\0") for one in records)
    return BrokerStore(log, tuple(records), queues, epochs)


def acknowledged(number, **changes):
    """Message `number` as broker 1 acknowledged it in epoch 1, or broker 2 in epoch 2."""
    entry = Acknowledgement(
        number=number,
        agent=1 if number < 4 else 2,
        sent_at_s=float(number),
        answered_at_s=number + 0.5,
        queue=number % QUEUES,
        offset=number // QUEUES,
        position=number * SIZE,
    )
    return dataclasses.replace(entry, **changes)


def evidence(**changes):
    """Eight messages, the first four in epoch 1, without a violation."""
    held = store([record(number) for number in range(8)])
    given = {
        "topic": "chaos",
        "acknowledgements": [acknowledged(number) for number in range(8)],
        "readings": [Reading(agent=3, at_s=9.0, queue=0, first_offset=0, numbers=(0, 2, 4, 6))],
        "masters": {1: 1, 2: 2},
        "stores": {1: held, 2: held, 3: held},
        "last_master": 2,
    }
    return Evidence(**given | changes)


def with_store(agent, changed):
    return {"stores": evidence().stores | {agent: changed}}


def breaches(**changes):
    return {violation.breach for violation in check(evidence(**changes))}


def test_a_run_without_faults_has_no_violation():
    assert check(evidence()) == []


def test_a_message_that_no_broker_holds_is_lost():
    told = [*evidence().acknowledgements, acknowledged(8)]

    assert breaches(acknowledgements=told) == {Breach.LOST}


@pytest.mark.parametrize("changes", [{"offset": 9}, {"position": 750}, {"queue": 0}])
def test_a_message_at_another_place_than_was_promised_is_lost(changes):
    told = [*evidence().acknowledgements[:7], acknowledged(7, **changes)]

    assert Breach.LOST in breaches(acknowledgements=told)


def test_two_messages_acknowledged_at_one_offset_are_found():
    told = [*evidence().acknowledgements, acknowledged(8, queue=1, offset=3)]

    assert Breach.OFFSET_TWICE in breaches(acknowledgements=told)


def test_two_messages_acknowledged_at_one_position_are_found():
    told = [*evidence().acknowledgements, acknowledged(8, position=700)]

    assert Breach.OFFSET_TWICE in breaches(acknowledgements=told)


def test_an_offset_that_the_log_holds_twice_is_found():
    held = store([*(record(number) for number in range(8)), record(9, position=800, offset=3)])

    assert breaches(stores={1: held, 2: held}) == {Breach.OFFSET_TWICE}


def test_an_offset_that_the_log_leaves_out_is_found():
    held = store([*(record(number) for number in range(8)), record(9, position=800, offset=5)])

    assert breaches(stores={1: held, 2: held}) == {Breach.BROKEN_QUEUE}


def test_a_queue_that_leads_elsewhere_is_found():
    held = evidence().stores[2]
    entries = held.queues["chaos", 1]
    bent = dataclasses.replace(
        held, queues=held.queues | {("chaos", 1): entries[:20] + entries[:20] + entries[40:]}
    )

    assert breaches(stores={1: bent, 2: bent}) == {Breach.BROKEN_QUEUE}


def test_a_replica_with_another_byte_in_its_log_is_found():
    held = evidence().stores[3]
    bent = dataclasses.replace(held, log=held.log[:333] + b"!" + held.log[334:])

    (violation,) = check(evidence(**with_store(3, bent)))

    assert violation.breach is Breach.UNLIKE
    assert "differ at 333" in violation.text


def test_a_replica_that_lacks_the_last_message_is_found():
    short = store([record(number) for number in range(7)])

    assert breaches(**with_store(3, short)) == {Breach.UNLIKE}


def test_a_replica_with_another_byte_in_a_queue_is_found():
    held = evidence().stores[3]
    entries = held.queues["chaos", 0]
    bent = dataclasses.replace(held, queues=held.queues | {("chaos", 0): entries[:-1] + b"!"})

    assert breaches(**with_store(3, bent)) == {Breach.UNLIKE}


def test_a_replica_with_other_epochs_is_found():
    bent = dataclasses.replace(evidence().stores[3], epochs=((1, 0), (3, 400)))

    assert breaches(**with_store(3, bent)) == {Breach.UNLIKE}


def test_a_replica_need_not_know_of_an_epoch_without_messages_at_the_end():
    longer = dataclasses.replace(evidence().stores[2], epochs=((1, 0), (2, 400), (3, 800)))

    assert breaches(**with_store(2, longer)) == set()


@pytest.mark.parametrize("epochs", [((1, 0), (1, 400)), ((1, 10), (2, 0))])
def test_epochs_out_of_order_are_found(epochs):
    held = store([record(number) for number in range(8)], epochs)

    assert Breach.BROKEN_EPOCHS in breaches(stores={2: held})


def test_a_broker_that_acknowledged_in_the_epoch_of_another_is_found():
    told = [*evidence().acknowledgements[:7], acknowledged(7, agent=1)]

    assert breaches(acknowledgements=told) == {Breach.TWO_MASTERS}


def test_a_master_that_takes_messages_after_its_successor_has_answered_is_found():
    told = [acknowledged(3, sent_at_s=4.6, answered_at_s=4.7)]
    told += [entry for entry in evidence().acknowledgements if entry.number != 3]

    assert breaches(acknowledgements=told) == {Breach.TWO_MASTERS}


def test_an_answer_of_the_former_master_may_come_late():
    told = [acknowledged(3, sent_at_s=3.0, answered_at_s=20.0)]
    told += [entry for entry in evidence().acknowledgements if entry.number != 3]

    assert breaches(acknowledgements=told) == set()


@pytest.mark.parametrize("numbers", [(0, 2, 4, 6, 8), (0, 4)])
def test_a_reading_that_is_not_true_any_more_is_found(numbers):
    seen = [Reading(agent=1, at_s=9.0, queue=0, first_offset=0, numbers=numbers)]

    assert breaches(readings=seen) == {Breach.UNREAD}


def test_a_message_that_is_stored_twice_is_found():
    held = store([*(record(number) for number in range(8)), record(7, position=800, offset=4)])

    assert Breach.STORED_TWICE in breaches(stores={1: held, 2: held})
