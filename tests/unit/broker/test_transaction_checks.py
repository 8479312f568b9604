"""Questions about pending transactions, and the end of those that have escaped."""

import asyncio
import contextlib
from functools import partial
from types import SimpleNamespace

import pytest
from regent_engine import Connection, PendingTransactions, Store, StoreError, encode_properties

from tests.unit.engine import builders
from tests.waiting import PATIENCE_S, eventually
from workers.broker.tables.escaped import EscapedMessages
from workers.broker.transactions.half_message import checked_again
from workers.broker.transactions.leading import TURN_COUNT, Transactions
from workers.broker.transactions.pending import read_record


class Pending:
    """Transactions that are all due."""

    def __iter__(self):
        return ((number, self.find(number)) for number in range(10 * TURN_COUNT))

    def find(self, number):
        return SimpleNamespace(offset=number, log_position=number, due_ms=0)


async def test_other_work_goes_on_while_many_producers_are_asked():
    asked, turns = [], []
    table = Pending()
    transactions = SimpleNamespace(
        pending=lambda: asyncio.sleep(0, table),
        _clock=lambda: 1,
        _end_of_last_pass=0,
        _end_of=lambda _topic: 0,
        _host=SimpleNamespace(
            asks_for_master=lambda _: True, is_writable=False, alone=contextlib.nullcontext
        ),
        _find_escaped=lambda _: asyncio.sleep(0, []),
        _ask_for_master=lambda pending: asked.append(pending.log_position),
        _record=lambda *_: None,
        _table=table,
    )
    transactions._check_known = partial(Transactions._check_known, transactions)

    async def work():
        while len(asked) < 10 * TURN_COUNT:
            turns.append(len(asked))
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    await Transactions.check(transactions)
    await working

    assert asked == list(range(10 * TURN_COUNT))
    assert len(turns) > 8


NOW_MS = 1_758_000_000_000


class Watched:
    """A store that notes which records are read."""

    def __init__(self, store):
        self._store, self.read = store, []
        self.held_offsets, self.held_entries = store.held_offsets, store.held_entries
        self.copied_positions = store.copied_positions

    def held_record(self, log_position):
        self.read.append(log_position)
        return self._store.held_record(log_position)


class Master:
    """A broker whose store refuses the first units; its transactions are checked hourly."""

    is_writable = True
    alone = staticmethod(contextlib.nullcontext)

    def __init__(self, store, refusal_count=0):
        self.store, self.refusal_count = store, refusal_count
        self.escaped, self.load_count = EscapedMessages(), 0
        self.watched, self.table = Watched(store), PendingTransactions()
        self.settings = SimpleNamespace(
            transaction_timeout_ms=3_600_000, transaction_check_interval_ms=3_600_000
        )
        self.offsets = SimpleNamespace(find=lambda *_: None, commit=lambda *_, **__: None)
        self.transactions = Transactions(
            self,
            self.watched,
            self.table,
            on_thread=self.on_thread,
            ask=lambda *_: None,
            clock=lambda: NOW_MS,
        )

    async def on_thread(self, work):
        self.load_count += work.func.__name__ == "load_pending"
        return work()

    def create_topic_of_transactions(self, name):
        pass

    def append_unit(self, messages):
        if self.refusal_count:
            self.refusal_count -= 1
            raise StoreError("the disk is full")
        return self.store.append_unit(
            [(one, encode_properties(one.properties)) for one in messages]
        )


@pytest.fixture
def store(tmp_path):
    opened = Store(str(tmp_path), segment_size_bytes=1 << 20, queue_file_size_bytes=6000)
    yield opened
    opened.close()


def begin(store, count):
    """Store half messages as the hot path does; return their log positions."""
    hot = builders.transactional(store)
    connection = Connection(hot, ("10.1.2.3", 7))
    for number in range(count):
        properties = {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": f"K{number}"}
        frame = builders.send(b"half", properties=properties, sysFlag=4, bornTimestamp=NOW_MS)
        assert connection.receive(frame, NOW_MS).cold == []
    return [pending.log_position for _, pending in hot.transactions]


async def test_a_decided_transaction_stays_decided_if_an_escaped_one_can_not_be_ended_yet(
    store,
):  # D17, D18
    positions = begin(store, 3)
    master = Master(store, refusal_count=1)
    master.escaped.add(positions[1])

    master.transactions.start()
    await eventually(master.transactions._loaded.is_set)
    master.table.decide(0)
    async with asyncio.timeout(PATIENCE_S):
        await master.transactions.check()
    master.transactions._task.cancel()

    assert [first for first, _ in master.table] == [2]
    assert (len(master.escaped), master.load_count) == (0, 1)


async def test_a_pass_reads_no_half_message_to_find_those_that_escaped(store):
    positions = begin(store, 5)
    master = Master(store)
    master.transactions.start()
    await eventually(master.transactions._loaded.is_set)
    copied = master.table.find(3)
    half = checked_again(read_record(store, copied.log_position))
    master.transactions._replace(3, copied, half)
    master.watched.read.clear()
    for one in (*positions[2:4], 1 << 40):
        master.escaped.add(one)

    await master.transactions.check()
    master.transactions._task.cancel()

    assert {first for first, _ in master.table} == {0, 1, 4}
    assert (master.escaped.sorted(), master.watched.read) == ([1 << 40], [])
