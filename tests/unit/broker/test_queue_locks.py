from backend.remoting.bodies import MessageQueue
from workers.broker.queue_locks import LOCK_LIFE_MS, QueueLocks

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
