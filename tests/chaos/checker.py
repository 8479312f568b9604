"""Check a run: its journal, and the stores of the brokers at its end. Pure.

The invariants (targets.md 5.2): I1 no acknowledged message is lost, I2 one master acknowledges at a
time, I4 every queue offset is used once. I7 replicas are equal byte for byte, I8 a message that was
read stays. I9 committed offsets do not go back, I13 delayed messages are delivered. `pop_checks.py`
has the invariants of share queues. The journal is compared with the store of the last master.
"""

import bisect
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from tests.chaos.consumer_checks import check_commits, check_delays
from tests.chaos.evidence import Breach, Evidence, Violation, number_of
from tests.chaos.pop_checks import check_pops
from tests.chaos.stores import QUEUE_ENTRY_BYTES, BrokerStore

_ENTRY: Final = struct.Struct(">qiq")


def check(evidence: Evidence) -> list[Violation]:
    """Find all violations."""
    truth = evidence.stores[evidence.last_master]
    return [
        *_check_epochs(truth),
        *_check_queues(truth),
        *_check_replicas(evidence, truth),
        *_check_acknowledgements(evidence, truth),
        *_check_offsets(evidence),
        *_check_readings(evidence, truth),
        *_check_masters(evidence, truth),
        *check_commits(evidence, truth),
        *check_delays(evidence, truth),
        *check_pops(evidence, truth),
    ]


def _check_epochs(store: BrokerStore) -> Iterator[Violation]:
    for (epoch, start), (later, later_start) in zip(store.epochs, store.epochs[1:], strict=False):
        if later <= epoch or later_start < start:
            text = f"{later} at {later_start} follows {epoch} at {start}"
            yield Violation(Breach.BROKEN_EPOCHS, text)


def _check_queues(store: BrokerStore) -> Iterator[Violation]:
    """Compare each queue with the log: offsets without a gap, entries that lead to records."""
    wanted: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for record in store.records:
        entries = wanted.setdefault((record.topic, record.queue), [])
        if record.offset != len(entries):
            breach = Breach.OFFSET_TWICE if record.offset < len(entries) else Breach.BROKEN_QUEUE
            text = f"{record.topic}/{record.queue} has {record.offset} at {record.position}"
            yield Violation(breach, f"{text}, where {len(entries)} was due")
        entries.append((record.position, record.size))
    for key, entries in wanted.items():
        held = store.queues.get(key, b"")
        found = [
            _ENTRY.unpack_from(held, at)[:2]
            for at in range(0, min(len(held), len(entries) * QUEUE_ENTRY_BYTES), QUEUE_ENTRY_BYTES)
        ]
        if found != entries:
            at = _first_difference(found, entries)
            yield Violation(Breach.BROKEN_QUEUE, f"{key[0]}/{key[1]} differs at offset {at}")


def _check_replicas(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    counts: dict[tuple[str, int], int] = {}
    for record in truth.records:
        key = (record.topic, record.queue)
        counts[key] = counts.get(key, 0) + 1
    for agent, store in evidence.stores.items():
        if store is truth:
            continue
        pair = f"broker {agent} and the master, broker {evidence.last_master}"
        if store.log != truth.log:
            at = _first_difference(store.log, truth.log)
            text = f"{pair}: logs of {len(store.log)} and {len(truth.log)} bytes differ at {at}"
            yield Violation(Breach.UNLIKE, text)
        if _filled_epochs(store) != _filled_epochs(truth):
            yield Violation(Breach.UNLIKE, f"{pair}: epochs {store.epochs} and {truth.epochs}")
        for key, count in counts.items():
            size = count * QUEUE_ENTRY_BYTES
            own, other = store.queues.get(key, b"")[:size], truth.queues.get(key, b"")[:size]
            if own != other:
                at = _first_difference(own, other) // QUEUE_ENTRY_BYTES
                text = f"{pair}: queue {key[0]}/{key[1]} differs at offset {at}"
                yield Violation(Breach.UNLIKE, text)


def _filled_epochs(store: BrokerStore) -> list[tuple[int, int]]:
    """Leave out epochs that begin at the log's end: a broker that was stopped first does not know
    them."""
    return [(epoch, start) for epoch, start in store.epochs if start < len(store.log)]


def _check_acknowledgements(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    places: dict[int, tuple[int, int, int]] = {}
    for record in truth.records:
        if record.topic != evidence.topic:
            continue
        number = number_of(record.body)
        if number in places:
            yield Violation(Breach.STORED_TWICE, f"message {number}")
        places[number] = (record.queue, record.offset, record.position)
    for told in evidence.acknowledgements:
        place = places.get(told.number)
        promised = (told.queue, told.offset, told.position)
        if place != promised:
            text = f"message {told.number} of broker {told.agent}, answered at {told.answered_at_s}"
            where = "is nowhere" if place is None else f"is at {place}"
            yield Violation(Breach.LOST, f"{text}, promised at {promised}, {where}")


def _check_offsets(evidence: Evidence) -> Iterator[Violation]:
    by_offset: dict[tuple[int, int], int] = {}
    by_position: dict[int, int] = {}
    for told in evidence.acknowledgements:
        other = by_offset.setdefault((told.queue, told.offset), told.number)
        if other != told.number:
            text = f"{told.queue}/{told.offset} by messages {other} and {told.number}"
            yield Violation(Breach.OFFSET_TWICE, text)
        other = by_position.setdefault(told.position, told.number)
        if other != told.number:
            text = f"position {told.position} by messages {other} and {told.number}"
            yield Violation(Breach.OFFSET_TWICE, text)


def _check_readings(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    held = {
        (record.queue, record.offset): number_of(record.body)
        for record in truth.records
        if record.topic == evidence.topic
    }
    for seen in evidence.readings:
        for offset, number in enumerate(seen.numbers, seen.first_offset):
            if held.get((seen.queue, offset)) != number:
                text = f"broker {seen.agent} showed message {number} at {seen.queue}/{offset}"
                now = held.get((seen.queue, offset), "nothing")
                yield Violation(Breach.UNREAD, f"{text} at {seen.at_s}; there is {now} now")


def _check_masters(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Compare acknowledgements with elections, and the order of epochs with time.

    A message that was sent after an answer of a later epoch must not be acknowledged in an earlier
    one: its master was not alone then.
    """
    numbers = [number for number, _ in truth.epochs]
    starts = [start for _, start in truth.epochs]
    first_answers: dict[int, float] = {}
    placed = []
    for told in evidence.acknowledgements:
        index = bisect.bisect_right(starts, told.position) - 1
        if index < 0:
            yield Violation(Breach.BROKEN_EPOCHS, f"no epoch holds position {told.position}")
            continue
        epoch = numbers[index]
        placed.append((epoch, told))
        first = first_answers.get(epoch, told.answered_at_s)
        first_answers[epoch] = min(first, told.answered_at_s)
        if evidence.masters.get(epoch) != told.agent:
            text = f"broker {told.agent} acknowledged message {told.number} in epoch {epoch}"
            yield Violation(
                Breach.TWO_MASTERS, f"{text}, whose master was {evidence.masters.get(epoch)}"
            )
    for epoch, told in placed:
        for later, answered_at_s in first_answers.items():
            if later > epoch and answered_at_s < told.sent_at_s:
                text = f"message {told.number}, sent at {told.sent_at_s}, was taken in {epoch}"
                yield Violation(
                    Breach.TWO_MASTERS, f"{text}; epoch {later} had answered at {answered_at_s}"
                )
                break


def _first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)
