"""Records of transactions, and which half messages are pending by them."""

import random

import pytest
from regent_engine import (
    Connection,
    Pending,
    PendingTransactions,
    Store,
    decode_records,
    encode_properties,
)

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC
from tests.unit.engine import builders
from workers.broker.commit_log.message import Message
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
)
from workers.broker.transactions.pending import (
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


def begin(store, number=0, *, born_host=HOSTS[0], store_host=HOSTS[0], flag=0):
    """Store a half message as the hot path does, and return it."""
    properties = {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": f"K{number}"}
    frame = builders.send(
        b"%d" % number, properties=properties, sysFlag=4, flag=flag, bornTimestamp=NOW_MS
    )
    hot = builders.transactional(store, store_host=store_host)
    assert Connection(hot, born_host).receive(frame, NOW_MS).cold == []
    ((_, pending),) = hot.transactions
    return read_record(store, pending.log_position)


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


@pytest.mark.parametrize("born_host", HOSTS)
@pytest.mark.parametrize("store_host", HOSTS)
def test_a_check_carries_the_message_as_it_was_sent(store, born_host, store_host):
    record = begin(store, 7, born_host=born_host, store_host=store_host, flag=5)
    content = store.held_record(record.log_position)

    (read,) = decode_records(as_sent(content, record, topic="订单", queue_id=3))

    assert (read.topic, read.queue_id, read.body, read.flag) == ("订单", 3, b"7", 5)
    assert (read.born_host, read.store_host) == (born_host, store_host)
    assert read.properties == record.properties
    assert (read.queue_offset, read.log_position) == (0, record.log_position)


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
    again = begin(store, 1)
    for count in (1, 2):
        copy, _ = put(store, checked_again(again), operation(again.queue_offset, "K1", NOW_MS))
        again = read_record(store, copy.log_position)
        assert (first_offset_of(again), check_count_of(again.properties)) == (0, count)


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
            place = copy.queue_offset, copy.log_position
            self.table.put(first, Pending(*place, pending.due_ms, pending.transaction_id))
        else:
            ends = [
                (self.store.held_offsets(topic, 0) or (0, 0))[1]
                for topic in (HALF_TOPIC, HALF_OPERATION_TOPIC)
            ]
            self.progress = Progress(*self.table.progress(*ends))

    def begin(self):
        self.count += 1
        half = begin(self.store, self.count)
        offset = half.queue_offset
        self.table.put(offset, Pending(offset, half.log_position, NOW_MS + 6000, f"K{self.count}"))

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

        assert dict(found.pending) == dict(life.table)


def test_a_commit_whose_op_record_was_lost_in_a_crash_is_a_commit(store):
    # No record names the first one of a log: its position means none.
    put(store, Message(topic="orders", queue_id=3, body=b"m", properties={}))
    half = begin(store, 1)
    put(store, committed(half, topic="orders", queue_id=3))

    assert load_pending(store, Progress(0, 0), timeout_ms=6000).pending == []
