"""The chain of the audit: any change of any entry is found, and named (G22)."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from backend.domain.audit import (
    GENESIS,
    ChainedEntry,
    ChainEnd,
    ChainFault,
    Entry,
    chain,
    check_chain,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def entries(count):
    made, previous = [], GENESIS
    for number in range(1, count + 1):
        entry = Entry(number, NOON, "anna", "rest", "did", "c", "g", UUID(int=number), "{}")
        made.append(chain(entry, previous))
        previous = made[-1].hash
    return made


CHANGES = {
    "number": 2,
    "happened_at": NOON + timedelta(microseconds=1),
    "actor": "bert",
    "source": "graphql",
    "action": "did not",
    "cluster_name": "d",
    "subject": "h",
    "operation_id": None,
    "details": '{"a":1}',
}


def test_a_whole_chain_ends_at_its_newest_entry_in_one_part_or_in_two():
    made = entries(5)

    whole = check_chain(made)
    half = check_chain(made[:2])

    assert whole == ChainEnd(5, made[-1].hash)
    assert isinstance(half, ChainEnd)
    assert check_chain(made[2:], half) == whole
    assert check_chain([]) == ChainEnd()


@pytest.mark.parametrize("name", [field.name for field in fields(Entry)])
def test_a_change_of_any_field_is_named(name):
    made = entries(5)
    changed = replace(made[2].entry, **{name: CHANGES[name]})
    made[2] = replace(made[2], entry=changed)

    found = check_chain(made)

    assert isinstance(found, ChainFault)
    assert found.number == 3


def test_a_new_hash_over_a_change_breaks_the_next_entry():
    made = entries(5)
    made[2] = chain(replace(made[2].entry, actor="bert"), made[2].previous_hash)

    assert check_chain(made) == ChainFault(4, "its hash does not include the entry before it")


def test_a_hash_that_was_changed_is_named():
    made = entries(3)
    flipped = bytes([made[1].hash[0] ^ 1]) + made[1].hash[1:]
    made[1] = ChainedEntry(made[1].entry, made[1].previous_hash, flipped)

    assert check_chain(made) == ChainFault(2, "its content does not match its hash")


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_an_entry_that_is_gone_is_named(gone):
    made = entries(4)
    del made[gone]

    found = check_chain(made)

    assert isinstance(found, ChainFault)
    assert found.number == gone + 1


def test_text_that_moves_from_one_field_to_the_next_is_found():
    one = Entry(1, NOON, "ab", "c", "did", "c", "g", None, "{}")

    assert chain(one, GENESIS).hash != chain(replace(one, actor="a", source="bc"), GENESIS).hash
