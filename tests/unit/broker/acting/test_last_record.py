"""The records at the ends of two logs that are compared."""

import zlib

import pytest

from backend.remoting.headers.replication import HaInfoAnswer
from tests.unit.engine.builders import open_store
from workers.broker.acting.last_record import NO_RECORD, LogEnd, crc_of_record, find_log_end
from workers.broker.acting.plain_follower import check_is_continued


def test_the_newest_record_of_all_queues_is_found_and_its_bytes_are_summed(tmp_path):
    store = open_store(tmp_path)
    assert find_log_end(store) == LogEnd(0, None)

    for topic, body in (("T", b"one"), ("U", b"two"), ("T", b"three")):
        appended = store.append(topic, 0, body, b"")

    assert find_log_end(store) == LogEnd(store.max_position, appended.log_position)
    content = store.held_record(appended.log_position)
    assert crc_of_record(store, appended.log_position) == zlib.crc32(content)
    store.close()


def test_a_position_without_a_record_has_no_checksum(tmp_path):
    store = open_store(tmp_path)
    end = store.append("T", 0, b"one", b"")

    positions = [-1, end.log_position + 1, end.log_position + end.size, 2**62]

    assert [crc_of_record(store, one) for one in positions] == [NO_RECORD] * len(positions)
    store.close()


def test_what_a_replica_copies_while_its_master_answers_is_no_difference(tmp_path):
    store = open_store(tmp_path)
    first = store.append("T", 0, b"one", b"")
    own = find_log_end(store)
    crc = crc_of_record(store, first.log_position)
    answer = HaInfoAnswer(master_max_offset=store.max_position, record_crc=crc)

    store.append("T", 0, b"two", b"")
    check_is_continued(store, answer, own)

    with pytest.raises(ConnectionError, match="the master lost messages"):
        check_is_continued(store, answer, find_log_end(store))
    store.close()
