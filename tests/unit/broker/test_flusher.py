import asyncio
import threading
import weakref
from functools import partial

from regent_engine import StoreError
from structlog.testing import capture_logs

from tests.waiting import PATIENCE_S, eventually
from workers.broker.commit_log.flusher import Flusher


class StoreDouble:
    """A log whose flush waits until it is released."""

    def __init__(self):
        self.max_position = 0
        self.flushed_position = 0
        self.flush_count = 0
        self.gate = threading.Event()
        self.gate.set()
        self.is_flushing = threading.Event()
        self.error = None
        self.failure = None
        self.tick_error = None
        self.tick_count = 0
        self.tick_gate = threading.Event()
        self.tick_gate.set()
        self.is_ticking = threading.Event()
        self.started_at = []
        self.write_back_error = None

    def start_write_back(self):
        self.started_at.append(self.max_position)
        if self.write_back_error:
            raise self.write_back_error

    def flush(self):
        position = self.max_position
        self.is_flushing.set()
        assert self.gate.wait(PATIENCE_S)
        self.flush_count += 1
        if self.error:
            raise self.error
        self.flushed_position = position
        return position

    def tick(self, _now_ms):
        self.tick_count += 1
        self.is_ticking.set()
        assert self.tick_gate.wait(PATIENCE_S)
        if self.tick_error:
            raise self.tick_error


class Answer:
    """The outcome for a caller once a position is on the disk."""


def note(reported, _answer, outcome):
    reported.append(outcome)


def flusher_of(store, failures=None, interval_ms=60_000):
    return Flusher(
        store,
        interval_ms=interval_ms,
        clock=lambda: 0,
        on_failure=(failures if failures is not None else []).append,
    )


async def test_those_that_wait_during_a_flush_are_released_by_the_next_together():
    store = StoreDouble()
    flusher = flusher_of(store)
    flusher.start()
    store.gate.clear()
    store.max_position = 100
    first = asyncio.ensure_future(flusher.durable(100, timeout_s=PATIENCE_S))
    assert await asyncio.to_thread(store.is_flushing.wait, PATIENCE_S)
    store.max_position = 1000

    later = [
        asyncio.ensure_future(flusher.durable(at, timeout_s=PATIENCE_S)) for at in (200, 600, 1000)
    ]
    await asyncio.sleep(0)
    released_early = [one.done() for one in (first, *later)]
    store.gate.set()
    outcomes = await asyncio.gather(first, *later)

    await flusher.stop()
    assert released_early == [False] * 4
    assert outcomes == [True] * 4
    assert store.flush_count == 2


async def test_a_position_already_on_disk_waits_for_nothing():
    store = StoreDouble()
    store.flushed_position = store.max_position = 50
    flusher = flusher_of(store)
    flusher.start()

    assert await flusher.durable(50, timeout_s=1) is True

    await flusher.stop()
    assert store.flush_count == 0


async def test_a_wait_for_data_that_a_cut_removed_delays_none_behind_it():
    store, reported = StoreDouble(), []
    flusher = flusher_of(store)
    flusher.start()
    store.gate.clear()
    for position in (40, 100):
        flusher.when_durable(position, lambda is_safe, at=position: reported.append((at, is_safe)))

    flusher.cut(50)

    assert reported == [(100, False)]
    store.max_position = 60
    store.gate.set()
    assert await flusher.durable(60, timeout_s=PATIENCE_S) is True
    assert reported == [(100, False), (40, True)]
    await flusher.stop()


async def test_a_slow_disk_is_distinguished_from_a_dead_one():
    store = StoreDouble()
    flusher = flusher_of(store)
    flusher.start()
    store.gate.clear()
    store.max_position = 10

    assert await flusher.durable(10, timeout_s=0.05) is None

    store.gate.set()
    await flusher.stop()


async def test_the_answers_that_came_too_late_are_not_kept_while_the_disk_hangs():
    store, reported = StoreDouble(), []
    flusher = flusher_of(store)
    flusher.start()
    store.gate.clear()
    store.max_position = 200
    answers = [Answer() for _ in range(100)]
    kept = weakref.WeakSet(answers)
    for position, answer in enumerate(answers, 1):
        release = partial(note, reported, answer)
        flusher.when_durable_in_time(position, release, timeout_s=0.01)
    patient = asyncio.ensure_future(flusher.durable(200, timeout_s=PATIENCE_S))
    del answers, answer, release

    await eventually(lambda: len(reported) == 100)
    await asyncio.sleep(0)

    assert (set(reported), len(kept)) == ({None}, 0)
    store.gate.set()
    assert await patient is True
    assert len(reported) == 100
    await flusher.stop()


async def test_after_a_failed_flush_no_send_is_released_as_durable():
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures)
    flusher.start()
    store.error, store.failure = StoreError("the disk is gone"), "the disk is gone"
    store.max_position = 10

    assert await flusher.durable(10, timeout_s=PATIENCE_S) is False
    store.error = None
    assert await flusher.durable(10, timeout_s=PATIENCE_S) is False

    await flusher.stop()
    assert failures == [failures[0]]
    assert store.flushed_position == 0


async def test_a_flush_that_the_store_puts_off_is_tried_again_and_said_once(eventually):
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures, interval_ms=10)
    store.error = StoreError("too many open files")
    store.error.code = "io"
    with capture_logs() as logs:
        flusher.start()
        store.max_position = 10
        waiting = asyncio.ensure_future(flusher.durable(10, timeout_s=PATIENCE_S))
        await eventually(lambda: store.flush_count >= 3)
        assert not waiting.done()

        store.error = None

        assert await waiting is True
        await flusher.stop()
    assert failures == []
    assert [entry["event"] for entry in logs] == ["flush_put_off"]


async def test_the_checkpoint_is_not_written_with_every_flush():
    store = StoreDouble()
    flusher = flusher_of(store)
    flusher.start()

    for position in range(1, 51):
        store.max_position = position
        assert await flusher.durable(position, timeout_s=PATIENCE_S) is True

    await flusher.stop()
    assert store.flush_count == 50
    assert 1 <= store.tick_count < 25


async def test_no_send_waits_for_the_queues_and_the_checkpoint():
    store = StoreDouble()
    flusher = flusher_of(store)
    store.tick_gate.clear()
    flusher.start()
    assert await asyncio.to_thread(store.is_ticking.wait, PATIENCE_S)

    for position in (10, 20):
        store.max_position = position
        assert await flusher.durable(position, timeout_s=PATIENCE_S) is True

    assert store.tick_count == 1
    store.tick_gate.set()
    await flusher.stop()


async def test_a_disk_that_fails_both_threads_is_reported_once():
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures)
    store.tick_gate.clear()
    flusher.start()
    assert await asyncio.to_thread(store.is_ticking.wait, PATIENCE_S)
    store.error, store.failure = StoreError("the disk is gone"), "the disk is gone"
    store.tick_error = StoreError("nothing is done any more")
    store.max_position = 10
    assert await flusher.durable(10, timeout_s=PATIENCE_S) is False

    store.tick_gate.set()
    await flusher.stop()
    await asyncio.sleep(0)

    assert failures == [store.error]


async def test_the_interval_flushes_without_being_asked(eventually):
    store = StoreDouble()
    flusher = flusher_of(store, interval_ms=10)
    flusher.start()
    store.max_position = 10

    await eventually(lambda: store.flushed_position == 10)

    await flusher.stop()


async def test_a_stop_flushes_what_is_left():
    store = StoreDouble()
    flusher = flusher_of(store)
    flusher.start()
    store.max_position = 10

    await flusher.stop()

    assert store.flushed_position == 10


async def test_a_checkpoint_that_cannot_be_written_holds_up_no_flush(eventually):
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures, interval_ms=10)
    store.tick_error = StoreError("no space")
    store.tick_error.code = "disk_full"
    with capture_logs() as logs:
        flusher.start()
        store.max_position = 10

        assert await flusher.durable(10, timeout_s=PATIENCE_S) is True
        await eventually(lambda: logs)
        store.max_position = 20
        assert await flusher.durable(20, timeout_s=PATIENCE_S) is True

        await flusher.stop()
    assert failures == []
    assert [entry["event"] for entry in logs] == ["checkpoint_not_written"]


async def test_a_failure_that_the_store_keeps_ends_the_flushing(eventually):
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures, interval_ms=10)
    store.tick_error, store.failure = StoreError("the disk is gone"), "the disk is gone"
    flusher.start()

    await eventually(lambda: failures)

    assert failures == [store.tick_error]
    assert await flusher.durable(10, timeout_s=PATIENCE_S) is False
    await flusher.stop()


class PanickedStore(StoreDouble):
    """One that refuses all work after a panic in it, that to say why included."""

    @property
    def failure(self):
        if self.has_panicked:
            raise self.error

    @failure.setter
    def failure(self, _text):
        self.has_panicked = False


async def test_a_store_that_panicked_ends_the_flushing_and_is_reported():
    store, failures = PanickedStore(), []
    flusher = flusher_of(store, failures)
    flusher.start()
    store.error, store.has_panicked = StoreError("it panicked"), True
    store.max_position = 10

    assert await flusher.durable(10, timeout_s=PATIENCE_S) is False

    await flusher.stop()
    assert failures == [store.error]


async def test_while_much_is_appended_its_write_back_is_started_between_the_flushes(eventually):
    store = StoreDouble()
    flusher = flusher_of(store)
    flusher.start()
    store.max_position = 100
    assert await flusher.durable(100, timeout_s=PATIENCE_S)
    store.is_flushing.clear()
    store.gate.clear()
    store.max_position += 64 << 20
    flushed = asyncio.ensure_future(flusher.durable(store.max_position, timeout_s=PATIENCE_S))
    # Once this flush is over its thread starts write-backs, however soon we look.
    assert await asyncio.to_thread(store.is_flushing.wait, PATIENCE_S)
    after_little = list(store.started_at)
    store.gate.set()
    assert await flushed

    store.max_position += 64 << 20

    await eventually(lambda: store.started_at.count(store.max_position) >= 3)
    assert (after_little, store.flush_count) == ([], 2)
    await flusher.stop()


async def test_a_write_back_that_cannot_be_started_holds_up_no_flush(eventually):
    store, failures = StoreDouble(), []
    flusher = flusher_of(store, failures, interval_ms=100)
    store.write_back_error = StoreError("too many open files")
    flusher.start()

    for _ in range(3):
        store.max_position += 64 << 20
        flushed_before = store.flush_count
        await eventually(lambda before=flushed_before: store.flush_count > before)

    await flusher.stop()
    assert store.started_at
    assert (store.flushed_position, failures) == (store.max_position, [])
