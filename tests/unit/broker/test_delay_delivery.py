import asyncio

import pytest
from regent_engine import StoreError

from tests.waiting import eventually
from workers.broker.delay_delivery import BATCH_COUNT, DelayDelivery, DelayOffsetFile

LEVELS_MS = (1000, 5000)


class QueueDouble:
    """The schedule topic's queues: the due times of each level."""

    def __init__(self, **due_times):
        self.due = {int(level.removeprefix("level_")): times for level, times in due_times.items()}
        self.low = 0

    def entries(self, _topic, queue_id, offset, count):
        if offset < self.low:
            return []
        due = self.due.get(queue_id + 1, [])[offset : offset + count]
        return [(1000 * queue_id + offset + at, 100, time) for at, time in enumerate(due)]

    def held_offsets(self, _topic, queue_id):
        return (self.low, len(self.due.get(queue_id + 1, [])))


def delivery(store, *, now_ms=0, stored=None, deliver=None):
    delivered = []
    moment = [now_ms]
    delays = DelayDelivery(
        store,
        levels_ms=LEVELS_MS,
        stored=stored and DelayOffsetFile(offsets=stored),
        deliver=deliver or delivered.append,
        clock=lambda: moment[0],
    )
    return delays, delivered, moment


def test_what_is_due_is_delivered_and_the_rest_waits():
    delays, delivered, moment = delivery(QueueDouble(level_1=[10, 20, 500]), now_ms=20)

    assert delays.deliver_due(1) == 480
    assert delivered == [0, 1]
    assert delays.progress == {1: 2}
    moment[0] = 500

    assert delays.deliver_due(1) == 0
    assert delays.deliver_due(1) is None
    assert delivered == [0, 1, 2]


def test_a_due_time_beyond_the_level_is_a_clock_set_back_and_means_now():
    delays, delivered, _ = delivery(QueueDouble(level_1=[1001]), now_ms=0)

    assert delays.deliver_due(1) == 0
    assert delivered == [0]


def test_a_long_backlog_is_delivered_in_batches():
    delays, delivered, _ = delivery(QueueDouble(level_1=[0] * (BATCH_COUNT + 1)), now_ms=1)

    assert delays.deliver_due(1) == 0
    assert len(delivered) == BATCH_COUNT
    delays.deliver_due(1)
    assert len(delivered) == BATCH_COUNT + 1


def test_a_refused_delivery_keeps_its_place():
    tries = []

    def refuse_once(position):
        tries.append(position)
        if len(tries) == 2:
            raise StoreError("disk full")

    delays, _, _ = delivery(QueueDouble(level_1=[0, 0, 0]), now_ms=1, deliver=refuse_once)

    with pytest.raises(StoreError):
        delays.deliver_due(1)
    delays.deliver_due(1)

    assert tries == [0, 1, 1, 2]


def test_a_level_goes_on_behind_what_retention_took_of_it():
    store = QueueDouble(level_1=[10, 20, 30, 40])
    delays, delivered, moment = delivery(store, now_ms=10)
    delays.deliver_due(1)
    store.low, moment[0] = 2, 40

    delays.deliver_due(1)

    assert delivered == [0, 2, 3]
    assert delays.progress == {1: 4}


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
