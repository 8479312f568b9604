"""Transactions in the hot path: half messages, and ends that need no dispatcher."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from regent_engine import (
    Appended,
    Connection,
    LeadingQueues,
    Pending,
    Received,
    Record,
    Store,
    encode_command,
    encode_properties,
    offset_message_id,
)

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC
from tests.unit.engine.builders import (
    BROKER_HOST,
    NOW_MS,
    PEER,
    UNIQUE_KEY,
    answers,
    open_store,
    send,
    stored,
    transactional,
)
from workers.broker.commit_log.message import Message
from workers.broker.transactions.half_message import checked_again, committed, operation
from workers.broker.transactions.pending import Progress, load_pending

COMMIT, ROLL_BACK = 8, 12
MARKS = {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": UNIQUE_KEY}
BY_BROKER = {"CLUSTER": "cluster-1", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
TIMEOUT_MS = 6000
PEER_V6 = ("2001:db8::1", 8)


def half(body: bytes = b"hello", *, code: int = 310, encoding: str = "json", **more: str) -> bytes:
    """Encode the send of a half message that has more properties."""
    return send(body, code=code, encoding=encoding, properties=MARKS | more, sysFlag=4)


class Master:
    """A store and the hot path of its master, with one producer."""

    def __init__(self, store: Store, *, peer: tuple[str, int] = PEER) -> None:
        self.store, self.hot = store, transactional(store)
        self.pending = self.hot.transactions
        self.connection = Connection(self.hot, peer)

    def begin(self, frame: bytes) -> Record:
        """Store a half message, and return it."""
        received = self.connection.receive(frame, NOW_MS)
        assert [code for _, code, _ in answers(received.replies)] == [0]
        return self.newest(HALF_TOPIC)

    def end(self, half: Record, decision: int = COMMIT, **more: object) -> Received:
        """End a transaction; more fields replace those of its half message."""
        return self.connection.receive(end_of(half, decision, **more), NOW_MS)

    def newest(self, topic: str, queue_id: int = 0) -> Record:
        return stored(self.store, queue_id, topic)[-1]

    def content(self, record: Record) -> bytes:
        """Return a record without what depends on its place."""
        content = self.store.held_record(record.log_position)
        assert content is not None
        stored_at = 48 + (20 if record.sys_flag & 16 else 8)
        return content[:20] + content[36:stored_at] + content[stored_at + 8 :]


def end_of(
    half: Record, decision: int, *, is_oneway: bool = False, encoding: str = "json", **more: object
) -> bytes:
    fields: dict[str, object] = {
        "topic": "Orders",
        "producerGroup": "pg",
        "tranStateTableOffset": half.queue_offset,
        "commitLogOffset": half.log_position,
        "commitOrRollback": decision,
        "fromTransactionCheck": "false",
        "msgId": UNIQUE_KEY,
        "transactionId": UNIQUE_KEY,
    }
    ext = {name: str(value) for name, value in (fields | more).items() if value is not None}
    flag = 2 if is_oneway else 0
    return encode_command(code=37, opaque=9, flag=flag, ext=ext, encoding=encoding)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def master(store: Store) -> Master:
    return Master(store)


@pytest.mark.parametrize("code", [10, 310])
@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_a_half_message_waits_in_its_topic(master: Master, code: int, encoding: str) -> None:
    received = master.connection.receive(half(code=code, encoding=encoding), NOW_MS)

    record = master.newest(HALF_TOPIC)
    assert (record.body, record.flag, record.sys_flag, record.queue_id) == (b"hello", 7, 0, 0)
    assert (record.born_host, record.store_host) == (PEER, BROKER_HOST)
    placed = {"REAL_TOPIC": "Orders", "REAL_QID": "2", "__transactionId__": UNIQUE_KEY}
    assert list(record.properties.items()) == list((MARKS | BY_BROKER | placed).items())
    assert answers(received.replies) == [
        (
            12,
            0,
            {
                "msgId": offset_message_id(*BROKER_HOST, record.log_position),
                "queueId": "2",
                "queueOffset": "0",
                "transactionId": UNIQUE_KEY,
                "MSG_REGION": "DefaultRegion",
                "TRACE_ON": "true",
            },
        )
    ]
    assert (received.cold, received.arrivals) == ([], [(HALF_TOPIC, 0, 1)])
    assert stored(master.store, 2) == []
    expected = Pending(0, record.log_position, NOW_MS + TIMEOUT_MS, UNIQUE_KEY)
    assert list(master.pending) == [(0, expected)]


def test_what_only_brokers_set_of_a_half_message_is_replaced(master: Master) -> None:
    claimed = {
        "TRANSACTION_CHECK_TIMES": "9",
        "TRAN_PREPARED_QUEUE_OFFSET": "0",
        "__transactionId__": "x",
        "REAL_TOPIC": "Other",
        "REAL_QID": "7",
    }
    frame = send(properties=claimed | MARKS, sysFlag=4)

    # The second one is read as the first one was.
    for record in (master.begin(frame), master.begin(frame)):
        placed = {"REAL_TOPIC": "Orders", "REAL_QID": "2", "__transactionId__": UNIQUE_KEY}
        assert record.properties == MARKS | BY_BROKER | placed


def test_a_half_message_that_has_no_room_for_checks_is_refused(master: Master) -> None:
    received = master.connection.receive(half(long="x" * 32_500), NOW_MS)

    assert [code for _, code, _ in answers(received.replies)] == [13]
    assert (len(master.pending), master.store.max_position) == (0, 0)


@pytest.mark.parametrize(
    "frame",
    [
        half(DELAY="3"),
        half(TIMER_DELAY_SEC="3"),
        half(INNER_NUM="2"),
        half(REGENT_ESCAPED_FROM="a/b/1"),
        send(properties=MARKS | {"TRAN_MSG": "false"}),
        send(properties=MARKS, sysFlag=4, topic="Static", queueId=0),
        send(properties=MARKS, sysFlag=4, batch="true", code=320),
        send(properties={"UNIQ_KEY": UNIQUE_KEY}, sysFlag=4),
        send(properties=MARKS, sysFlag=12),
    ],
)
def test_half_messages_that_are_not_ordinary_go_up(master: Master, frame: bytes) -> None:
    leading = LeadingQueues({0: (0, 0, 0, True)})
    queues = {"read_queue_count": 1, "write_queue_count": 1}
    master.hot.set_topic("Static", perm=6, **queues, leading=leading)

    received = master.connection.receive(frame, NOW_MS)

    assert [command.opaque for command in received.cold] == [12]
    assert (received.replies, master.store.max_position) == (b"", 0)


def test_all_go_up_where_transactions_are_refused_or_lack_their_topics(master: Master) -> None:
    record = master.begin(half())

    def cold() -> list[int]:
        received = master.connection.receive(half() + end_of(record, COMMIT), NOW_MS)
        return [command.code for command in received.cold]

    master.hot.take_transactions(None)
    assert cold() == [310, 37]
    master.hot.take_transactions(TIMEOUT_MS)
    master.hot.remove_topic(HALF_OPERATION_TOPIC)
    assert cold() == [310, 37]
    master.hot.set_topic(HALF_OPERATION_TOPIC, perm=6, read_queue_count=1, write_queue_count=1)
    assert cold() == []


def test_the_dispatcher_hands_down_a_half_message_that_it_has_checked(master: Master) -> None:
    (command,) = master.connection.receive(half(DELAY="3"), NOW_MS).cold

    received = master.hot.append(command, PEER, NOW_MS)

    assert received is not None
    assert [code for _, code, _ in answers(received.replies)] == [0]
    assert master.newest(HALF_TOPIC).properties["DELAY"] == "3"
    assert len(master.pending) == 1
    # A message that only waits is not stored so.
    (command,) = master.connection.receive(send(properties={"DELAY": "3"}), NOW_MS).cold
    assert master.hot.append(command, PEER, NOW_MS) is None


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_a_commit_shows_the_message_and_says_that_it_is_decided(
    master: Master, encoding: str
) -> None:
    record = master.begin(half(TAGS="A"))

    received = master.end(record, encoding=encoding)

    (message,) = stored(master.store, 2)
    (decided,) = stored(master.store, 0, HALF_OPERATION_TOPIC)
    assert (message.sys_flag, message.prepared_transaction_offset) == (8, record.log_position)
    assert (decided.body, decided.properties) == (b"0,", {"TAGS": "d", "UNIQ_KEY": UNIQUE_KEY})
    assert message.log_position + message.size == decided.log_position
    assert answers(received.replies) == [(9, 0, {})]
    assert sorted(received.arrivals) == [("Orders", 2, 1), (HALF_OPERATION_TOPIC, 0, 1)]
    assert (received.cold, len(master.pending)) == ([], 0)


def test_a_roll_back_only_says_that_it_is_decided(master: Master) -> None:
    received = master.end(master.begin(half()), ROLL_BACK, is_oneway=True)

    assert stored(master.store, 2) == []
    assert [one.body for one in stored(master.store, 0, HALF_OPERATION_TOPIC)] == [b"0,"]
    assert (received.replies, received.cold, len(master.pending)) == (b"", [], 0)
    assert received.arrivals == [(HALF_OPERATION_TOPIC, 0, 1)]


def test_a_repeated_end_goes_up_and_stores_nothing(master: Master) -> None:
    record = master.begin(half())
    master.end(record)
    end = master.store.max_position

    assert [one.code for one in master.end(record).cold] == [37]
    assert [one.code for one in master.end(record, ROLL_BACK).cold] == [37]
    assert master.store.max_position == end


@pytest.mark.parametrize("flush_mode", ["sync", "async"])
def test_an_end_is_answered_once_it_is_kept(tmp_path: Path, flush_mode: str) -> None:
    store = open_store(tmp_path, flush_mode=flush_mode)
    master = Master(store)
    if flush_mode == "async":
        # Replicas must have it first.
        master.hot.set_deferring(True)
    first = master.connection.receive(half(), NOW_MS)
    received = master.end(master.newest(HALF_TOPIC))

    assert (first.replies, received.replies) == (b"", b"")
    assert answers(received.deferred) == [(9, 0, {})]
    assert received.deferred_position == store.max_position
    store.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"producerGroup": "other"},
        {"producerGroup": None},
        {"tranStateTableOffset": 1},
        {"tranStateTableOffset": -1},
        {"commitLogOffset": 7},
        {"commitLogOffset": 10**15},
        {"commitOrRollback": "0"},
        {"commitOrRollback": "4"},
        {"fromTransactionCheck": "perhaps"},
        {"regentFence": "1"},
    ],
)
def test_ends_that_are_not_ordinary_go_up(master: Master, changes: dict[str, object]) -> None:
    record = master.begin(half())
    end = master.store.max_position

    received = master.end(record, **changes)

    assert [command.opaque for command in received.cold] == [9]
    assert (received.replies, received.arrivals, master.store.max_position) == (b"", [], end)
    assert len(master.pending) == 1
    assert master.end(record).cold == []


def test_a_half_message_with_a_time_for_checks_ends_here_after_a_check_only(
    master: Master,
) -> None:
    record = master.begin(half(CHECK_IMMUNITY_TIME_IN_SECONDS="5"))

    assert len(master.end(record).cold) == 1
    assert master.end(record, fromTransactionCheck="true").cold == []


def test_an_end_goes_up_while_the_broker_takes_no_messages_or_another_one_does(
    master: Master,
) -> None:
    record = master.begin(half())

    master.hot.set_writable(False)
    assert len(master.end(record).cold) == 1
    master.hot.set_writable(True)
    master.hot.set_handing_up(True)
    assert len(master.end(record).cold) == 1
    master.hot.set_handing_up(False)
    assert master.end(record).cold == []


def test_a_commit_goes_up_whose_queue_takes_nothing(master: Master) -> None:
    record = master.begin(half())
    master.store.seal_queue("Orders", 2)

    assert len(master.end(record).cold) == 1
    assert (len(master.pending), stored(master.store, 2)) == (1, [])
    # A roll back stores nothing there.
    assert master.end(record, ROLL_BACK).cold == []


def test_a_commit_goes_up_whose_topic_was_deleted_since(master: Master) -> None:
    record = master.begin(half())
    queues = {"read_queue_count": 4, "write_queue_count": 4}

    master.hot.remove_topic("Orders")
    assert len(master.end(record).cold) == 1
    # It is another topic of that name.
    master.hot.set_topic("Orders", perm=6, **queues)
    assert len(master.end(record).cold) == 1
    master.hot.set_topic("Orders", perm=6, **queues | {"read_queue_count": 5})
    assert len(master.end(record).cold) == 1

    later = master.begin(half())
    # A topic that only changes stays the same one.
    master.hot.set_topic("Orders", perm=6, **queues)
    assert master.end(later).cold == []


def test_what_was_checked_or_is_of_a_former_master_goes_up(master: Master) -> None:
    checked, former = master.begin(half()), master.begin(half())
    copy = checked_again(checked)
    placed = append(master.store, [copy, operation(checked.queue_offset, "K", NOW_MS)])[0]
    newest = Pending(placed.queue_offset, placed.log_position, NOW_MS, "K")
    master.pending.put(checked.queue_offset, newest)

    assert len(master.end(checked).cold) == 1
    assert len(master.end(master.newest(HALF_TOPIC)).cold) == 1

    master.pending.clear()
    assert len(master.end(former).cold) == 1
    loaded = load_pending(master.store, Progress(0, 0), timeout_ms=TIMEOUT_MS)
    master.pending.load(loaded.pending, loaded.operations)
    assert len(master.end(former).cold) == 1
    assert [first for first, _ in master.pending] == [1, 0]


def append(store: Store, messages: list[Message]) -> list[Appended]:
    return store.append_unit([(one, encode_properties(one.properties)) for one in messages])


def generated(random: Random, number: int) -> bytes:
    """Encode the send of a half message as any client might make it."""
    properties = {
        "TRAN_MSG": random.choice(["true", "TRUE"]),
        "PGROUP": "pg",
        "KEYS": f"k{number} 订单",
        "TAGS": random.choice(["A", "标签"]),
        "WAIT": random.choice(["true", "false"]),
        "CHECK_IMMUNITY_TIME_IN_SECONDS": random.choice(["0", "7", "-1", "x", "+3", "9" * 19]),
        "__transactionId__": "resent",
        "REAL_QID": "9",
        "TRACE_ON": "false",
        "own": "x" * random.randrange(1, 3000),
    }
    names = random.sample(sorted(properties), random.randrange(2, len(properties)))
    kept = {name: properties[name] for name in {*names, "TRAN_MSG", "PGROUP"}}
    shuffled = list(kept.items())
    if random.random() < 0.8:
        shuffled.append(("UNIQ_KEY", f"{number:032X}"))
    random.shuffle(shuffled)
    return send(
        random.randbytes(random.randrange(1, 300)),
        properties=dict(shuffled),
        code=random.choice([10, 310]),
        queueId=random.randrange(4),
        sysFlag=random.choice([0, 1, 4, 5]),
        flag=random.randrange(100),
        reconsumeTimes=random.randrange(3),
        bornTimestamp=NOW_MS,
    )


@pytest.mark.parametrize("peer", [PEER, PEER_V6])
def test_commits_here_are_those_of_the_dispatcher_byte_for_byte(
    store: Store, peer: tuple[str, int]
) -> None:
    master, random = Master(store, peer=peer), Random(4)
    for number in range(150):
        record = master.begin(generated(random, number))
        topic, queue_id = record.properties["REAL_TOPIC"], int(record.properties["REAL_QID"])

        assert master.end(record, fromTransactionCheck="true").cold == []
        here = [master.newest(topic, queue_id), master.newest(HALF_OPERATION_TOPIC)]
        key = record.properties["UNIQ_KEY"]
        messages = [
            committed(record, topic=topic, queue_id=queue_id),
            operation(record.queue_offset, key, NOW_MS),
        ]
        append(store, messages)
        there = [master.newest(topic, queue_id), master.newest(HALF_OPERATION_TOPIC)]

        for one, other in zip(here, there, strict=True):
            assert one.log_position < other.log_position
            assert master.content(one) == master.content(other)


@pytest.mark.parametrize("seed", range(8))
def test_a_new_master_finds_in_the_log_what_the_hot_path_knows(store: Store, seed: int) -> None:
    master, random = Master(store), Random(seed)
    waiting: list[Record] = []
    progress = Progress(0, 0)
    for number in range(120):
        if random.random() < 0.6 or not waiting:
            waiting.append(master.begin(generated(random, number)))
        else:
            record = waiting.pop(random.randrange(len(waiting)))
            decision = random.choice([COMMIT, ROLL_BACK])
            assert master.end(record, decision, fromTransactionCheck="true").cold == []
        if random.random() < 0.05:
            ends = [
                (store.held_offsets(topic, 0) or (0, 0))[1]
                for topic in (HALF_TOPIC, HALF_OPERATION_TOPIC)
            ]
            progress = Progress(*master.pending.progress(*ends))

    loaded = load_pending(store, progress, timeout_ms=TIMEOUT_MS)

    assert len(waiting) > 5
    assert dict(loaded.pending) == dict(master.pending)


def test_an_iteration_has_what_was_pending_when_it_began(master: Master) -> None:
    for number in range(200):
        master.pending.put(number, Pending(number, number, 0, "K"))

    seen = []
    for first, pending in master.pending:
        seen.append(first)
        # A copy of it, which is not looked at again.
        master.pending.put(first, Pending(200 + first, pending.log_position, 0, "K"))
        master.pending.decide(199)

    assert seen == list(range(199))
    assert len(master.pending) == 199
