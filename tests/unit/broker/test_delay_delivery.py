import asyncio
import threading

import pytest
from regent_engine import StoreError

from tests.waiting import PATIENCE_S, eventually
from workers.broker.commit_log.delay_delivery import (
    BATCH_BYTES_MAX,
    BATCH_COUNT,
    DelayDelivery,
    DelayOffsetFile,
    NotYet,
)
from workers.broker.tables.escaped import EscapedFile, EscapedMessages

LEVELS_MS = (1000, 5000)


class QueueDouble:
    """The schedule topic's queues: the due times of each level."""

    size = 100

    def __init__(self, **due_times):
        self.due = {int(level.removeprefix("level_")): times for level, times in due_times.items()}
        self.low = 0

    def entries(self, _topic, queue_id, offset, count):
        if offset < self.low:
            return []
        due = self.due.get(queue_id + 1, [])[offset : offset + count]
        return [(1000 * queue_id + offset + at, self.size, time) for at, time in enumerate(due)]

    def held_offsets(self, _topic, queue_id):
        return (self.low, len(self.due.get(queue_id + 1, [])))


class Disk:
    """Messages, one of which is read when the test lets the disk answer."""

    def __init__(self):
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.answer_count = 0

    def read_slowly_at(self, slow_position):
        def read(log_position):
            if log_position == slow_position:
                self.is_asked.set()
                assert self.may_answer.wait(PATIENCE_S)
                self.answer_count += 1

        return read


def delivery(store, *, now_ms=0, stored=None, deliver=None, read=lambda _: None, escaped=()):
    delivered = []
    moment = [now_ms]
    take = deliver or delivered.append
    delays = DelayDelivery(
        store,
        levels_ms=LEVELS_MS,
        stored=stored and DelayOffsetFile(offsets=stored),
        read=read,
        deliver=lambda log_position, _record: take(log_position),
        on_thread=asyncio.to_thread,
        clock=lambda: moment[0],
        escaped=EscapedMessages(EscapedFile(positions=list(escaped))),
    )
    return delays, delivered, moment


def deliver_due(delays, level):
    return delays.deliver(level, delays.read_due(level, delays.next_offset(level)))


def test_what_is_due_is_delivered_and_the_rest_waits():
    delays, delivered, moment = delivery(QueueDouble(level_1=[10, 20, 500]), now_ms=20)

    assert deliver_due(delays, 1) == 480
    assert delivered == [0, 1]
    assert delays.progress == {1: 2}
    moment[0] = 500

    assert deliver_due(delays, 1) == 0
    assert deliver_due(delays, 1) is None
    assert delivered == [0, 1, 2]


def test_a_due_time_beyond_the_level_is_a_clock_set_back_and_means_now():
    delays, delivered, _ = delivery(QueueDouble(level_1=[1001]), now_ms=0)

    assert deliver_due(delays, 1) == 0
    assert delivered == [0]


def test_a_long_backlog_is_delivered_in_batches():
    delays, delivered, _ = delivery(QueueDouble(level_1=[0] * (BATCH_COUNT + 1)), now_ms=1)

    assert deliver_due(delays, 1) == 0
    assert len(delivered) == BATCH_COUNT
    deliver_due(delays, 1)
    assert len(delivered) == BATCH_COUNT + 1


def test_a_refused_delivery_keeps_its_place():
    tries = []

    def refuse_once(position):
        tries.append(position)
        if len(tries) == 2:
            raise StoreError("disk full")

    delays, _, _ = delivery(QueueDouble(level_1=[0, 0, 0]), now_ms=1, deliver=refuse_once)

    with pytest.raises(StoreError):
        deliver_due(delays, 1)
    deliver_due(delays, 1)

    assert tries == [0, 1, 1, 2]


def test_a_level_goes_on_behind_what_retention_took_of_it():
    store = QueueDouble(level_1=[10, 20, 30, 40])
    delays, delivered, moment = delivery(store, now_ms=10)
    deliver_due(delays, 1)
    store.low, moment[0] = 2, 40

    deliver_due(delays, 1)

    assert delivered == [0, 2, 3]
    assert delays.progress == {1: 4}


def test_no_more_is_read_at_once_than_fits_into_memory():
    store = QueueDouble(level_1=[0] * 5)
    store.size = BATCH_BYTES_MAX // 2
    delays, delivered, _ = delivery(store, now_ms=1)

    reported = [deliver_due(delays, 1) for _ in range(4)]

    assert reported == [0, 0, 0, None]
    assert delivered == [0, 1, 2, 3, 4]


def test_of_what_was_refused_one_message_is_read_again():
    read = []

    def refuse(_log_position):
        raise NotYet("the topic is being deleted")

    store = QueueDouble(level_1=[0] * 5)
    delays, _, _ = delivery(store, now_ms=1, deliver=refuse, read=read.append)

    async def deliver_twice():
        for _ in range(2):
            await delays._try_to_deliver(1)

    asyncio.run(deliver_twice())

    assert read == [0, 1, 2, 3, 4, 0]


def test_a_level_does_not_fall_asleep_over_what_expires_while_it_looks():
    store = QueueDouble(level_1=[10, 20, 30, 40])
    delays, delivered, _ = delivery(store, now_ms=40)
    offset = delays.next_offset(1)
    store.low = 2

    assert delays.deliver(1, delays.read_due(1, offset)) == 0
    deliver_due(delays, 1)

    assert delivered == [2, 3]


async def test_a_message_on_a_slow_disk_holds_up_nothing_else_and_no_other_level():
    disk = Disk()
    store = QueueDouble(level_1=[1], level_2=[1])
    delays, delivered, _ = delivery(store, now_ms=1, read=disk.read_slowly_at(0))
    delays.start()

    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)
    await eventually(lambda: delivered == [1000])
    disk.may_answer.set()

    await eventually(lambda: delivered == [1000, 0])
    delays.stop()


async def test_what_is_read_while_delivery_stops_is_not_delivered_before_it_starts_again():
    disk = Disk()
    store = QueueDouble(level_1=[1, 1])
    delays, delivered, _ = delivery(store, now_ms=1, read=disk.read_slowly_at(0))
    delays.start()
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    tasks = list(delays._tasks)
    delays.stop()
    disk.may_answer.set()
    await eventually(lambda: disk.answer_count == 1)
    await asyncio.wait(tasks)
    held_back = list(delivered)
    delays.start()
    await eventually(lambda: len(delivered) == 2)
    delays.stop()

    assert (held_back, delivered, delays.progress) == ([], [0, 1], {1: 2})


async def test_a_start_right_behind_a_stop_delivers_nothing_twice():
    disk = Disk()
    store = QueueDouble(level_1=[1, 1])
    delays, delivered, _ = delivery(store, now_ms=1, read=disk.read_slowly_at(0))
    delays.start()
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    tasks = list(delays._tasks)
    delays.stop()
    delays.start()
    disk.may_answer.set()

    await eventually(lambda: disk.answer_count == 2 and len(delivered) == 2)
    await asyncio.wait(tasks)
    delays.stop()
    assert delivered == [0, 1]


async def test_what_arrives_while_a_level_is_looked_at_is_seen():
    store = QueueDouble(level_1=[])
    entries, looked, may_end = store.entries, threading.Event(), threading.Event()

    def look(*wanted):
        found = entries(*wanted)
        looked.set()
        assert may_end.wait(PATIENCE_S)
        return found

    store.entries = look
    delays, delivered, _ = delivery(store, now_ms=1)
    delays.start()
    assert await asyncio.to_thread(looked.wait, PATIENCE_S)

    store.due[1].append(1)
    delays.arrived(0)
    may_end.set()

    await eventually(lambda: delivered == [0])
    delays.stop()


async def test_progress_outside_the_queue_is_corrected_at_the_start():
    store = QueueDouble(level_1=[9**9] * 3, level_2=[])
    delays, _, _ = delivery(store, stored={1: 99, 2: 5})

    delays.start()

    assert delays.progress == {1: 3, 2: 0}
    delays.stop()


async def test_an_arrival_wakes_its_level():
    store = QueueDouble(level_1=[])
    delays, delivered, _ = delivery(store, now_ms=100)
    delays.start()
    await asyncio.sleep(0.02)

    store.due[1].append(50)
    delays.arrived(0)

    await eventually(lambda: delivered)
    delays.stop()
    assert delivered == [0]


async def test_a_level_advances_behind_the_messages_that_another_group_has_without_a_gap():
    delays, delivered, moment = delivery(QueueDouble(level_1=[1, 2, 3]), now_ms=10)
    gone = {}

    async def escape(level, log_position, _record, is_gone):
        assert level == 1
        gone[log_position] = is_gone

    delays.escape_by(escape)
    delays.start()
    await eventually(lambda: len(gone) == 3)
    gone[0]()
    gone[2]()
    first = dict(delays.progress)
    gone[1]()
    delays.stop()

    assert (first, delays.progress) == ({1: 1}, {1: 3})
    assert delivered == []
    assert moment == [10]


async def test_a_message_is_taken_into_the_outbox_once_while_it_waits_there():
    store = QueueDouble(level_1=[1, 2])
    delays, _, _ = delivery(store, now_ms=10)
    taken = []

    async def escape(_level, log_position, _record, _is_gone):
        taken.append(log_position)

    delays.escape_by(escape)
    delays.start()
    await eventually(lambda: taken == [0, 1])
    store.due[1].append(3)
    delays.arrived(0)
    await eventually(lambda: len(taken) == 3)
    delays.stop()

    assert taken == [0, 1, 2]


def test_a_master_passes_over_what_escaped_and_forgets_it():
    delays, delivered, _ = delivery(QueueDouble(level_1=[1, 2, 3]), now_ms=10, escaped=[1])

    deliver_due(delays, 1)

    assert delivered == [0, 2]
    assert delays.progress == {1: 3}
    assert 1 not in delays._escaped
