"""The records at the ends of two logs that are compared."""

import zlib

from tests.unit.engine.builders import open_store
from workers.broker.acting.last_record import NO_RECORD, crc_of_record, find_last_record


def test_the_newest_record_of_all_queues_is_found_and_its_bytes_are_summed(tmp_path):
    store = open_store(tmp_path)
    assert find_last_record(store) is None

    for topic, body in (("T", b"one"), ("U", b"two"), ("T", b"three")):
        appended = store.append(topic, 0, body, b"")

    assert find_last_record(store) == appended.log_position
    content = store.held_record(appended.log_position)
    assert crc_of_record(store, appended.log_position) == zlib.crc32(content)
    store.close()


def test_a_position_without_a_record_has_no_checksum(tmp_path):
    store = open_store(tmp_path)
    end = store.append("T", 0, b"one", b"")

    positions = [-1, end.log_position + 1, end.log_position + end.size, 2**62]

    assert [crc_of_record(store, one) for one in positions] == [NO_RECORD] * len(positions)
    store.close()
