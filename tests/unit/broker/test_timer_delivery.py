"""Why a broker does not deliver the messages whose time has come."""

from regent_engine import StoreError

from workers.broker.commit_log.timer_delivery import NOT_DELIVERING, TimerDelivery
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.tables.escaped import EscapedMessages


class FakeStore:
    """A store that takes the lead, or does not."""

    has_timers_of_stock = False
    max_position = 0

    def __init__(self):
        self.failure = None

    def lead_timers(self, *_):
        if self.failure is not None:
            raise StoreError(self.failure)

    def stop_timers(self):
        pass

    def follow_timers(self, *_):
        return 0, 0

    def due_timers(self, *_):
        return None


class Due:
    """A batch without messages."""

    queues = ()


def delivery(store, *, block=None):
    return TimerDelivery(
        store,
        precision_ms=1000,
        arrived=lambda _: None,
        find_target=lambda *_: None,
        find_block=lambda: block,
        clock=lambda: 0,
        escaped=EscapedMessages(),
    )


def test_only_a_broker_that_delivers_has_no_hindrance():
    timers = delivery(FakeStore())
    before = timers.hindrance

    timers.start()
    begun = timers.hindrance
    timers.stop()

    assert (before, begun, timers.hindrance) == (NOT_DELIVERING, None, NOT_DELIVERING)


def test_a_store_that_can_not_deliver_says_why_until_the_next_start():
    store = FakeStore()
    store.failure = "a file is damaged"
    timers = delivery(store)

    timers.start()
    failed = timers.hindrance
    store.failure = None
    timers.start()

    assert (failed, timers.hindrance) == ("a file is damaged", None)


def test_a_full_disk_is_the_reason_until_nothing_is_due():
    timers = delivery(FakeStore(), block=WriteBlock.DISK_FULL)
    timers.start()

    is_delivered = timers.deliver(Due())
    full = timers.hindrance
    timers._turn()

    assert (is_delivered, full, timers.hindrance) == (False, WriteBlock.DISK_FULL, None)
