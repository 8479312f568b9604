from backend.remoting.bodies import MessageQueue
from workers.broker.tables.queue_locks import LOCK_LIFE_MS, QueueLocks

QUEUES = [MessageQueue(broker_name="b", queue_id=number, topic="T") for number in range(3)]


def test_one_client_holds_a_queue_and_others_get_the_rest():
    locks = QueueLocks()

    first = locks.lock("g", client_id="a", queues=QUEUES[:2], now_ms=0)
    second = locks.lock("g", client_id="b", queues=QUEUES, now_ms=10)

    assert (first, second) == (QUEUES[:2], QUEUES[2:])


def test_groups_lock_apart():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=0)

    assert locks.lock("h", client_id="b", queues=QUEUES, now_ms=0) == QUEUES


def test_a_renewed_lock_lives_on_and_a_silent_one_ends():  # S126
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=0)
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=50_000)

    kept = locks.lock("g", client_id="b", queues=QUEUES[:1], now_ms=50_000 + LOCK_LIFE_MS)
    taken = locks.lock("g", client_id="b", queues=QUEUES[:1], now_ms=50_001 + LOCK_LIFE_MS)

    assert (kept, taken) == ([], QUEUES[:1])


def test_a_clock_that_is_set_back_keeps_no_queue_from_others_for_longer():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=3_600_000)

    locks.sweep(1_000)

    assert locks.lock("g", client_id="b", queues=QUEUES, now_ms=1_000 + LOCK_LIFE_MS) == []
    assert locks.lock("g", client_id="b", queues=QUEUES, now_ms=1_001 + LOCK_LIFE_MS) == QUEUES


def test_only_the_holder_can_unlock():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=0)

    locks.unlock("g", client_id="b", queues=QUEUES)
    assert locks.holds_any("g", 1)
    locks.unlock("g", client_id="a", queues=QUEUES)

    assert not locks.holds_any("g", 1)
    assert locks.lock("g", client_id="b", queues=QUEUES[:1], now_ms=1) == QUEUES[:1]


def test_a_group_is_orderly_only_while_a_lock_is_alive():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=0)

    assert locks.holds_any("g", LOCK_LIFE_MS)
    assert not locks.holds_any("g", LOCK_LIFE_MS + 1)


def test_a_sweep_forgets_what_is_over():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=0)

    locks.sweep(LOCK_LIFE_MS + 1)

    assert locks._groups == {}


def test_a_lock_shows_since_when_it_is_held_and_when_it_was_renewed():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=5)
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=20_000)

    [(group, queue, held)] = locks.all(20_001)

    assert (group, queue) == ("g", QUEUES[0])
    assert (held.client_id, held.locked_at_ms, held.renewed_at_ms) == ("a", 5, 20_000)
    assert held.expires_in_ms(20_001) == LOCK_LIFE_MS - 1


def test_only_the_very_hold_that_is_named_is_released():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=5)
    hold = {"client_id": "a", "locked_at_ms": 5}

    assert not locks.release("g", QUEUES[0], client_id="b", locked_at_ms=5)
    assert not locks.release("g", QUEUES[0], client_id="a", locked_at_ms=4)
    assert not locks.release("h", QUEUES[0], **hold)
    assert locks.release("g", QUEUES[0], **hold)
    # Asked for again, as after an answer that was lost, it takes nothing from who came next.
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=6)
    assert not locks.release("g", QUEUES[0], **hold)
    assert locks.find("g", QUEUES[0], 6) is not None


def test_locks_that_are_over_are_not_shown():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=0)
    locks.lock("h", client_id="b", queues=QUEUES[:1], now_ms=9)

    assert [group for group, _, _ in locks.all(LOCK_LIFE_MS + 1)] == ["h"]
    assert locks.find("g", QUEUES[0], LOCK_LIFE_MS + 1) is None
    assert [group for group, _, _ in locks.all(1, group="h")] == ["h"]


def test_a_lock_taken_after_it_was_over_is_another_hold():
    locks = QueueLocks()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=0)
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=LOCK_LIFE_MS + 1)

    [(_, _, held)] = locks.all(LOCK_LIFE_MS + 1)

    assert held.locked_at_ms == LOCK_LIFE_MS + 1


def logged_locks():
    """One client has two locks that no other broker knows yet."""
    locks = QueueLocks(lambda: 0)
    locks.lead()
    locks.lock("g", client_id="a", queues=QUEUES[:2], now_ms=0)
    return locks


def test_a_lock_is_kept_once_its_record_is_confirmed():
    locks = logged_locks()

    # A request that is repeated meanwhile waits too.
    locks.lock("g", client_id="a", queues=QUEUES[:2], now_ms=1)
    holds = locks.unkept("g", client_id="a", queues=QUEUES)
    assert list(holds) == QUEUES[:2]
    assert locks.unkept("g", client_id="b", queues=QUEUES) == {}

    assert locks.keep("g", holds) == []
    assert locks.unkept("g", client_id="a", queues=QUEUES) == {}
    locks.end_unkept("g", holds)
    assert locks.lock("g", client_id="b", queues=QUEUES, now_ms=2) == QUEUES[2:]


def test_a_lock_whose_record_is_not_confirmed_is_free_again():
    locks = logged_locks()
    holds = locks.unkept("g", client_id="a", queues=QUEUES)

    locks.end_unkept("g", holds)

    assert locks.lock("g", client_id="b", queues=QUEUES[:1], now_ms=1) == QUEUES[:1]
    # Another request of the client, whose record is confirmed now, has lost them.
    assert locks.keep("g", holds) == QUEUES[:2]
    assert list(locks.unkept("g", client_id="b", queues=QUEUES)) == QUEUES[:1]
    assert locks.take_changes() == {"g": {"0@T@b": "b", "1@T@b": None}}


def test_renewals_need_no_record():
    locks = QueueLocks(lambda: 0)
    locks.lead()
    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=0)
    assert locks.take_changes() == {"g": {"0@T@b": "a"}}

    locks.lock("g", client_id="a", queues=QUEUES[:1], now_ms=1)
    assert not locks.has_changes
    locks.unlock("g", client_id="a", queues=QUEUES)

    assert locks.take_changes() == {"g": {"0@T@b": None}}


def test_without_a_controller_no_lock_is_recorded():
    locks = QueueLocks()
    locks.lead()
    locks.lock("g", client_id="a", queues=QUEUES, now_ms=0)

    locks.replace({"g": {"0@T@b": "b"}})

    assert (locks.has_changes, locks.table) == (False, {})
    assert locks.unkept("g", client_id="a", queues=QUEUES) == {}
    assert locks.lock("g", client_id="b", queues=QUEUES, now_ms=1) == []
