import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.broker.replication import state_record
from workers.broker.replication.state_record import (
    SNAPSHOT_PROPERTIES,
    StateContent,
    StateRecord,
    UnreadableStateRecord,
    change_records,
    decode_state,
    snapshot_records,
)
from workers.broker.replication.state_record import merged as merged_parts

INT64 = st.integers(-(2**63), 2**63 - 1)
QUEUES = st.dictionaries(st.integers(0, 65_535), INT64, min_size=1)
OFFSETS = st.dictionaries(st.text(min_size=1), QUEUES)
DELAYS = st.dictionaries(st.integers(1, 30), st.integers(0, 2**63 - 1))


def merged(records):
    whole = {}
    for record in records:
        for key, queues in record.offsets.items():
            whole.setdefault(key, {}).update(queues)
    return whole


@given(OFFSETS, DELAYS, st.integers(1, 200))
def test_a_snapshot_in_parts_says_what_it_was_made_from(offsets, delays, size_max):
    content = StateContent(offsets=offsets, delays=delays)
    records = snapshot_records(7, content, size_max=size_max)

    read = [decode_state(record.encode()) for record in records]

    assert merged(read) == offsets
    assert [one.part for one in read] == list(range(read[0].part_count))
    assert read[0].delays == delays
    assert {one.epoch for one in read} == {7}
    assert [one.properties == SNAPSHOT_PROPERTIES for one in read] == [
        one.part == 0 for one in read
    ]


@given(OFFSETS, DELAYS, st.lists(st.text(min_size=1)))
def test_changes_in_several_records_say_the_same_as_in_one(offsets, delays, removed):
    content = StateContent(removed_topics=tuple(removed), offsets=offsets, delays=delays)
    records = change_records(3, content, size_max=50)

    read = [decode_state(record.encode()) for record in records]

    assert merged(read) == offsets
    assert (read[0].removed_topics, read[0].delays) == (tuple(removed), delays)
    assert not any(one.is_snapshot or one.properties for one in read)


def test_locks_are_divided_and_put_together_again():
    held = {"g": {f"{queue}@T@b": f"client-{queue}" for queue in range(40)}, "h": {"0@T@b": "c"}}
    content = StateContent(locks=held)

    read = [decode_state(one.encode()) for one in snapshot_records(7, content, size_max=2000)]

    assert len(read) > 1
    assert merged_parts(read).locks == held


def test_a_commit_takes_a_few_bytes():
    (record,) = change_records(12, StateContent(offsets={"orders@g": {3: 1234}}))

    assert len(record.encode()) == 37


def test_escaped_messages_are_divided_among_the_parts_of_a_snapshot():
    positions = dict.fromkeys(range(0, 1 << 30, 1 << 20), True)

    parts = snapshot_records(12, StateContent(escaped=positions), size_max=1 << 12)

    assert len(parts) > 1
    whole = state_record.merged([decode_state(one.encode()) for one in parts])
    assert whole.escaped == positions


def test_fields_that_a_later_broker_adds_are_passed_over():
    fields = [
        5,
        0,
        0,
        [],
        {"t@g": {0: 1}},
        {},
        [],
        None,
        {},
        {},
        {},
        {},
        {},
        {},
        None,
        None,
        {},
        {},
        None,
    ]
    fields.append("new")
    longer = msgspec.msgpack.encode(fields)

    assert decode_state(b"\x01" + longer) == StateRecord(5, offsets={"t@g": {0: 1}})


@pytest.mark.parametrize("body", [b"", b"\x02\x91\x05", b"\x01", b"\x01\x91\xa1x", b"\x01\xff\xff"])
def test_a_record_of_another_version_is_recognized(body):
    with pytest.raises(UnreadableStateRecord):
        decode_state(body)
