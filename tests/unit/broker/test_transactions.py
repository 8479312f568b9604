"""Records of transactions, and which half messages are pending by them."""

import random
from dataclasses import replace

import pytest
from regent_engine import Store, decode_records, encode_properties

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC
from workers.broker.commit_log.message import Message
from workers.broker.errors import Refusal
from workers.broker.transactions.half_message import (
    as_sent,
    check_count_of,
    checked_again,
    committed,
    decided_offsets,
    first_offset_of,
    immunity_ms_of,
    is_half,
    operation,
    prepared,
)
from workers.broker.transactions.pending import (
    Pending,
    PendingTransactions,
    Progress,
    load_pending,
    read_record,
)

NOW_MS = 1_758_000_000_000
HOSTS = [("10.1.2.3", 7), ("2001:db8::1", 8)]


@pytest.fixture
def store(tmp_path):
    opened = Store(str(tmp_path), segment_size_bytes=1 << 20, queue_file_size_bytes=6000)
    yield opened
    opened.close()


def sent(number=0, **changes):
    properties = {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": f"K{number}"}
    fields = {"topic": "orders", "queue_id": 3, "body": b"%d" % number, "properties": properties}
    return Message(**fields | {"sys_flag": 4, "born_timestamp_ms": NOW_MS} | changes)


def put(store, *messages):
    drafts = [(one, encode_properties(one.properties)) for one in messages]
    return store.append_unit(drafts)


@pytest.mark.parametrize(
    ("properties", "reconsume_times", "expected"),
    [
        ({"TRAN_MSG": "true"}, 0, True),
        ({"TRAN_MSG": "TRUE"}, 3, True),
        ({"TRAN_MSG": "true", "DELAY": "3"}, 0, True),
        ({"TRAN_MSG": "true", "DELAY": "3"}, 1, False),
        ({"TRAN_MSG": "false"}, 0, False),
        ({}, 0, False),
    ],
)
def test_a_half_message_is_marked_and_no_delayed_retry(properties, reconsume_times, expected):
    assert is_half(properties, reconsume_times=reconsume_times) == expected


def test_only_brokers_count_checks():
    marks = {"TRANSACTION_CHECK_TIMES": "9", "__transactionId__": "x"}

    half = prepared(sent(properties={"UNIQ_KEY": "K"} | marks))

    assert check_count_of(half.properties) == 0
    assert half.properties["__transactionId__"] == "K"
    assert (half.topic, half.queue_id, half.sys_flag) == (HALF_TOPIC, 0, 0)


def test_a_half_message_that_has_no_room_for_checks_is_refused():
    with pytest.raises(Refusal):
        prepared(sent(properties={"UNIQ_KEY": "K", "long": "x" * 32_700}))


@pytest.mark.parametrize("born_host", HOSTS)
@pytest.mark.parametrize("store_host", HOSTS)
def test_a_check_carries_the_message_as_it_was_sent(store, born_host, store_host):
    half = prepared(sent(7, born_host=born_host, store_host=store_host, flag=5))
    (appended,) = put(store, half)
    content = store.held_record(appended.log_position)
    record = decode_records(content)[0]

    (read,) = decode_records(as_sent(content, record, topic="订单", queue_id=3))

    assert (read.topic, read.queue_id, read.body, read.flag) == ("订单", 3, b"7", 5)
    assert (read.born_host, read.store_host) == (born_host, store_host)
    assert read.properties == half.properties
    assert (read.queue_offset, read.log_position) == (0, appended.log_position)


@pytest.mark.parametrize(
    ("body", "offsets"),
    [(b"12,13,20,", [12, 13, 20]), (b"7", [7]), (b"", []), (b"a,,4,\xff,", [4])],
)
def test_op_records_of_stock_are_read(body, offsets):
    assert decided_offsets(body) == offsets


@pytest.mark.parametrize(
    ("text", "expected_ms"), [(None, 6000), ("5", 5000), ("-1", 6000), ("x", 6000), ("0", 0)]
)
def test_a_producer_may_name_the_time_before_the_first_check(text, expected_ms):
    properties = {} if text is None else {"CHECK_IMMUNITY_TIME_IN_SECONDS": text}

    assert immunity_ms_of(properties, 6000) == expected_ms


def test_a_copy_names_the_first_record_of_its_half_message(store):
    (first,) = put(store, prepared(sent(1)))
    again = read_record(store, first.log_position)
    for count in (1, 2):
        copy, _ = put(store, checked_again(again), operation(again.queue_offset, "K1", NOW_MS))
        again = read_record(store, copy.log_position)
        assert (first_offset_of(again), check_count_of(again.properties)) == (0, count)


def test_the_progress_stays_before_what_is_pending():
    table = PendingTransactions()
    for offset in range(4):
        table.put(offset, Pending(offset, 100 * offset, 0, "K"))
    for operation_offset, half_offset in enumerate([2, 0, 3]):
        table.decide(half_offset)
        table.note_operation(operation_offset, half_offset)

    assert table.progress(4, 3) == Progress(1, 0)
    table.decide(1)
    table.note_operation(3, 1)
    assert table.progress(4, 4) == Progress(4, 4)


class Life:
    """A producer and a master that make all that may happen to transactions, at random."""

    def __init__(self, store, seed):
        self.store, self.random = store, random.Random(seed)
        self.table, self.progress = PendingTransactions(), Progress(0, 0)
        self.count = 0

    def step(self):
        known = list(self.table)
        choice = self.random.randrange(10)
        if choice < 4 or not known:
            self.begin()
            return
        first, pending = self.random.choice(known)
        half = read_record(self.store, pending.log_position)
        if choice < 6:
            self.decide(first, pending, committed(half, topic="orders", queue_id=3))
        elif choice < 8:
            self.decide(first, pending)
        elif choice < 9:
            copy, last = self.replace(pending, checked_again(half))
            self.table.note_operation(last.queue_offset, pending.offset)
            self.table.put(
                first, replace(pending, offset=copy.queue_offset, log_position=copy.log_position)
            )
        else:
            ends = [
                (self.store.held_offsets(topic, 0) or (0, 0))[1]
                for topic in (HALF_TOPIC, HALF_OPERATION_TOPIC)
            ]
            self.progress = self.table.progress(*ends)

    def begin(self):
        self.count += 1
        (appended,) = put(self.store, prepared(sent(self.count)))
        offset = appended.queue_offset
        self.table.put(
            offset, Pending(offset, appended.log_position, NOW_MS + 6000, f"K{self.count}")
        )

    def replace(self, pending, *instead):
        return put(self.store, *instead, operation(pending.offset, "K", NOW_MS))

    def decide(self, first, pending, *instead):
        last = self.replace(pending, *instead)[-1]
        self.table.decide(first)
        self.table.note_operation(last.queue_offset, pending.offset)


@pytest.mark.parametrize("seed", range(12))
def test_a_new_master_finds_what_is_pending_in_the_log(store, seed):
    life = Life(store, seed)
    for _ in range(80):
        life.step()

        found = load_pending(store, life.progress, timeout_ms=6000)

        assert dict(found) == dict(life.table)


def test_a_commit_whose_op_record_was_lost_in_a_crash_is_a_commit(store):
    # No record names the first one of a log: its position means none.
    _, appended = put(store, sent(), prepared(sent(1)))
    half = read_record(store, appended.log_position)
    put(store, committed(half, topic="orders", queue_id=3))

    assert list(load_pending(store, Progress(0, 0), timeout_ms=6000)) == []
