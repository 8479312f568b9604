import threading
import time

from regent_engine import StoreError
from structlog.testing import capture_logs

from workers.broker.commit_log.indexer import Indexer


class StoreDouble:
    """An index with so many pieces to build, which fails as the test chooses."""

    def __init__(self, pieces=0, failures=()):
        self.pieces = pieces
        self.failures = list(failures)
        self.turns = []
        self.turned = threading.Event()
        self.wanted_turns = 1

    def advance_followers(self, now_ms, utc_offset_s):
        self.turns.append((now_ms, utc_offset_s))
        if len(self.turns) >= self.wanted_turns:
            self.turned.set()
        if self.failures:
            error = StoreError(self.failures.pop(0))
            error.code = "disk_full"
            raise error
        self.pieces = max(0, self.pieces - 1)
        return self.pieces


def indexer_of(store, interval_ms=1):
    return Indexer(store, clock=lambda: 1_758_000_000_000, interval_ms=interval_ms)


async def test_one_turn_builds_all_there_is_and_names_the_local_time():
    store = StoreDouble(pieces=5)
    indexer = indexer_of(store, interval_ms=60_000)

    indexer.start()
    await indexer.stop()

    assert store.pieces == 0
    assert len(store.turns) == 5
    now_ms, utc_offset_s = store.turns[0]
    assert now_ms == 1_758_000_000_000
    assert -14 * 3600 <= utc_offset_s <= 14 * 3600


async def test_turns_come_by_themselves():
    store = StoreDouble()
    store.wanted_turns = 3
    indexer = indexer_of(store)

    indexer.start()
    turned = store.turned.wait(10)

    await indexer.stop()
    assert turned


async def test_a_failure_is_logged_once_and_the_next_turn_tries_again():
    store = StoreDouble(pieces=2, failures=["full", "full", "full", "broken"])
    store.wanted_turns = 6

    with capture_logs() as logged:
        indexer = indexer_of(store)
        indexer.start()
        turned = store.turned.wait(10)
        await indexer.stop()

    assert turned
    assert store.pieces == 0
    assert [line["reason"] for line in logged] == ["full", "broken"]
    assert logged[0] | {"log_level": "error"} == {
        "event": "index_not_written",
        "code": "disk_full",
        "reason": "full",
        "log_level": "error",
    }


async def test_it_leaves_three_quarters_of_a_processor_to_others_while_much_is_left():
    class Busy(StoreDouble):
        def advance_followers(self, now_ms, utc_offset_s):
            began_s = time.thread_time()
            while time.thread_time() - began_s < 0.005:
                pass
            return super().advance_followers(now_ms, utc_offset_s)

    store = Busy(pieces=10)
    store.wanted_turns = 10
    indexer = indexer_of(store)

    began_s = time.monotonic()
    indexer.start()
    turned = store.turned.wait(30)
    took_s = time.monotonic() - began_s

    await indexer.stop()
    assert turned
    # Ten turns, and nine rests of three times as long.
    assert took_s >= 10 * 0.005 + 9 * 0.015


async def test_an_indexer_that_never_ran_can_be_stopped():
    store = StoreDouble()

    await indexer_of(store).stop()

    assert store.turns == []
