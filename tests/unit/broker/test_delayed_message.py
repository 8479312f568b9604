import pytest
from regent_engine import decode_records
from structlog.testing import capture_logs

from tests.unit.engine.builders import open_store
from workers.broker.commit_log.delay_delivery import NotYet
from workers.broker.commit_log.delayed_message import deliver_delayed, read_delayed

# Without the checksum, which no copy takes over, they begin with NUL: as stock stores them.
NEVER_STORED = b"__CRC32#\x01x\x02\0a\x01b\x02REAL_TOPIC\x01T\x02REAL_QID\x011\x02"


def test_a_copy_goes_to_its_real_queue_without_the_checksum(tmp_path):
    store, arrived = open_store(tmp_path), []
    properties = b"__CRC32#\x01x\x02KEYS\x01k\x02REAL_TOPIC\x01T\x02REAL_QID\x011\x02"
    aside = store.append("SCHEDULE_TOPIC_XXXX", 0, b"body", properties)

    deliver(store, arrived.extend, aside.log_position)

    (record,) = decode_records(store.read("T", 1, 0).body)
    assert record.body == b"body"
    assert record.properties == {"KEYS": "k", "REAL_TOPIC": "T", "REAL_QID": "1"}
    assert arrived == [("T", 1, 1)]
    store.close()


def test_a_message_that_the_store_will_never_take_is_reported_and_passed_over(tmp_path):
    store, arrived = open_store(tmp_path), []
    aside = store.append("SCHEDULE_TOPIC_XXXX", 0, b"body", NEVER_STORED)

    with capture_logs() as logs:
        deliver(store, arrived.extend, aside.log_position)

    assert arrived == []
    assert [(entry["event"], entry["log_position"]) for entry in logs] == [
        ("delayed_message_discarded", aside.log_position)
    ]
    assert "NUL" in logs[0]["reason"]
    store.close()


QUEUES_THAT_CANNOT_BE = ("70000", "99999999999999999999", "9" * 5000, "-1", "x")
WITHOUT_ROOM = b"REAL_TOPIC\x01T\x02REAL_QID\x011\x02K\x01".ljust(32_767, b"v")
"""As stock stores them: as many as fit, with room for no separator more."""


@pytest.mark.parametrize(
    "properties",
    [
        *(f"REAL_TOPIC\x01T\x02REAL_QID\x01{one}\x02".encode() for one in QUEUES_THAT_CANNOT_BE),
        WITHOUT_ROOM,
    ],
    ids=[*(one[:10] for one in QUEUES_THAT_CANNOT_BE), "no room for a separator"],
)
def test_a_message_that_cannot_be_delivered_is_passed_over(tmp_path, properties):
    store, arrived = open_store(tmp_path), []
    aside = store.append("SCHEDULE_TOPIC_XXXX", 0, b"body", properties)

    with capture_logs() as logs:
        deliver(store, arrived.extend, aside.log_position)

    assert arrived == []
    assert [entry["event"] for entry in logs] == ["delayed_message_discarded"]
    store.close()


def test_a_disk_that_is_nearly_full_is_given_no_copies(tmp_path):
    store, block = open_store(tmp_path), "the disk is nearly full"
    properties = b"REAL_TOPIC\x01T\x02REAL_QID\x011\x02"
    aside = store.append("SCHEDULE_TOPIC_XXXX", 0, b"body", properties)

    def deliver_it():
        deliver(store, lambda _: None, aside.log_position, find_block=lambda: block)

    with pytest.raises(NotYet, match="full"):
        deliver_it()
    held_back = store.offsets("T", 1)
    block = None
    deliver_it()

    assert held_back is None
    assert store.offsets("T", 1) == (0, 1)
    store.close()


def deliver(store, arrived, log_position, **conditions):
    deliver_delayed(store, arrived, log_position, read_delayed(store, log_position), **conditions)
