"""The hot path: what it answers itself, what it hands up, and what it leaves alone."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from regent_engine import (
    Connection,
    Decoder,
    Store,
    encode_command,
    offset_message_id,
    special_properties,
)

from tests.unit.engine.builders import (
    BROKER_HOST,
    NOW_MS,
    PEER,
    UNIQUE_KEY,
    answers,
    connect,
    hot_path,
    open_store,
    packed,
    send,
    stored,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize("code", [10, 310, 320])
@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_a_send_is_stored_and_answered_in_its_own_encoding(
    store: Store, code: int, encoding: str
) -> None:
    received = connect(store).receive(send(code=code, encoding=encoding), NOW_MS)

    (record,) = stored(store, 2)
    (answer,) = Decoder().receive(received.replies)
    assert (answer.code, answer.opaque, answer.flag, answer.version) == (0, 12, 1, 513)
    assert (answer.language, answer.encoding, answer.body) == ("JAVA", encoding, b"")
    assert answer.ext == {
        "msgId": offset_message_id(*BROKER_HOST, record.log_position),
        "queueId": "2",
        "queueOffset": "0",
        "transactionId": UNIQUE_KEY,
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    assert received.cold == []
    assert received.deferred == b""
    assert received.arrivals == [("Orders", 2, 1)]


def test_the_stored_record_carries_the_request_and_what_the_broker_adds(store: Store) -> None:
    connect(store).receive(send(b"payload", reconsumeTimes=3), NOW_MS)

    (record,) = stored(store, 2)
    assert (record.topic, record.queue_id, record.body) == ("Orders", 2, b"payload")
    assert (record.flag, record.sys_flag, record.reconsume_times) == (7, 0, 3)
    assert (record.born_host, record.store_host) == (PEER, BROKER_HOST)
    assert (record.born_timestamp_ms, record.store_timestamp_ms) == (NOW_MS - 5, NOW_MS)
    assert record.properties == {
        "UNIQ_KEY": UNIQUE_KEY,
        "WAIT": "true",
        "TAGS": "TagA",
        "CLUSTER": "cluster-1",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }


def test_what_only_the_broker_may_set_is_replaced_or_stripped(store: Store) -> None:
    properties = {"POP_CK": "x", "CLUSTER": "forged", "MSG_REGION": "x", "TRACE_ON": "x", "K": "v"}
    properties["REGENT_COPY_OF"] = "T 0 g 0"

    received = connect(store).receive(send(properties=properties), NOW_MS)

    (record,) = stored(store, 2)
    ((_, _, ext),) = answers(received.replies)
    unique_key = record.properties.pop("UNIQ_KEY")
    assert record.properties == {
        "K": "v",
        "CLUSTER": "cluster-1",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    assert len(unique_key) == 32
    assert ext["transactionId"] == unique_key


def test_the_last_property_without_its_separator_is_kept(store: Store) -> None:
    connect(store).receive(send(properties=b"UNIQ_KEY\x01k\x02TAGS\x01TagB"), NOW_MS)

    (record,) = stored(store, 2)
    assert record.properties["TAGS"] == "TagB"


def test_pipelined_sends_are_answered_in_order_however_they_are_cut(store: Store) -> None:
    random = Random(5)
    connection = connect(store)
    stream = b"".join(
        send(b"%d" % number, opaque=number, queueId=number % 4, code=random.choice([10, 310]))
        for number in range(300)
    )
    replies = b""

    at = 0
    while at < len(stream):
        size = random.choice([1, 10, 500, 5000])
        replies += connection.receive(stream[at : at + size], NOW_MS).replies
        at += size

    assert [(opaque, code) for opaque, code, _ in answers(replies)] == [
        (number, 0) for number in range(300)
    ]
    for queue_id in range(4):
        bodies = [record.body for record in stored(store, queue_id)]
        assert bodies == [b"%d" % number for number in range(queue_id, 300, 4)]


def test_arrivals_name_each_queue_once_with_its_end(store: Store) -> None:
    stream = b"".join(send(queueId=queue_id) for queue_id in [0, 1, 0, 1, 1, 3])

    received = connect(store).receive(stream, NOW_MS)

    assert sorted(received.arrivals) == [("Orders", 0, 2), ("Orders", 1, 3), ("Orders", 3, 1)]


def test_a_one_way_send_is_stored_and_not_answered(store: Store) -> None:
    received = connect(store).receive(send(is_oneway=True), NOW_MS)

    assert received.replies == b""
    assert received.arrivals == [("Orders", 2, 1)]
    assert len(stored(store, 2)) == 1


def test_a_one_way_send_is_not_answered_on_errors_either(store: Store) -> None:
    received = connect(store).receive(send(b"x" * 100_001, is_oneway=True), NOW_MS)

    assert (received.replies, received.cold, received.arrivals) == (b"", [], [])


@pytest.mark.parametrize("code", [10, 310, 320])
def test_a_batch_becomes_one_record_a_message_and_one_answer(store: Store, code: int) -> None:
    connection = connect(store)
    connection.receive(send(), NOW_MS)
    body = packed([(b"one", {"UNIQ_KEY": "k1", "TAGS": "a"}), (b"two", {"UNIQ_KEY": "k2"})])

    received = connection.receive(
        send(body, code=code, batch="true", properties={"WAIT": "true"}), NOW_MS
    )

    ((_, answer_code, ext),) = answers(received.replies)
    _, first, second = stored(store, 2)
    assert answer_code == 0
    assert ext["queueOffset"] == "1"
    assert ext["msgId"] == ",".join(
        offset_message_id(*BROKER_HOST, record.log_position) for record in (first, second)
    )
    assert [first.body, second.body] == [b"one", b"two"]
    assert first.properties == {"UNIQ_KEY": "k1", "TAGS": "a"}
    assert second.properties == {"UNIQ_KEY": "k2"}
    assert received.arrivals == [("Orders", 2, 3)]


def test_code_320_without_the_batch_flag_is_one_message(store: Store) -> None:
    connect(store).receive(send(packed([(b"one", {})]), code=320), NOW_MS)

    assert [record.body for record in stored(store, 2)] == [packed([(b"one", {})])]


@pytest.mark.parametrize("body", [b"\x00", packed([(b"one", {})])[:-1], b"\xff" * 40])
def test_a_malformed_batch_is_illegal_and_stores_nothing(store: Store, body: bytes) -> None:
    received = connect(store).receive(send(body, batch="true"), NOW_MS)

    assert [code for _, code, _ in answers(received.replies)] == [13]
    assert (stored(store, 2), received.arrivals) == ([], [])


@pytest.mark.parametrize("queue_id", [-1, -(2**31)])
def test_a_negative_queue_is_the_brokers_choice(store: Store, queue_id: int) -> None:
    stream = b"".join(send(queueId=queue_id) for _ in range(8))

    received = connect(store).receive(stream, NOW_MS)

    assert {ext["queueId"] for _, _, ext in answers(received.replies)} == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(send(topic="Unknown"), id="unknown topic"),
        pytest.param(send(topic="%RETRY%group"), id="retry topic"),
        pytest.param(send(topic="SCHEDULE_TOPIC_XXXX"), id="forbidden topic"),
        pytest.param(send(topic="ReadOnly"), id="topic without write permission"),
        pytest.param(send(topic="a/b"), id="slash in topic"),
        pytest.param(send(topic=".."), id="dots as topic"),
        pytest.param(send(topic="a\x00b"), id="NUL in topic"),
        pytest.param(send(topic="t" * 256), id="topic of 256 bytes"),
        pytest.param(send(topic=""), id="empty topic"),
        pytest.param(send(queueId=4), id="queue out of range"),
        pytest.param(send(queueId="x"), id="queue no number"),
        pytest.param(send(bornTimestamp=""), id="time empty"),
        pytest.param(send(sysFlag=4), id="prepared"),
        pytest.param(send(properties={"DELAY": "3"}), id="delayed"),
        pytest.param(send(properties={"TIMER_DELAY_SEC": "3"}), id="timer s"),
        pytest.param(send(properties={"TIMER_DELAY_MS": "3"}), id="timer ms"),
        pytest.param(send(properties={"TIMER_DELIVER_MS": "3"}), id="timer at"),
        pytest.param(send(properties={"TRAN_MSG": "true"}), id="half message"),
        pytest.param(send(properties={"INNER_NUM": "2"}), id="number of an inner batch"),
        pytest.param(send(b""), id="no body"),
        pytest.param(send(b"", code=320, batch="true"), id="no batch"),
        *(
            pytest.param(send(without=name, code=code), id=f"{code} without {name}")
            for code in (10, 310)
            for name in (
                "producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId",
                "sysFlag", "bornTimestamp", "flag",
            )
        ),
        pytest.param(encode_command(code=34, opaque=1, body=b"{}"), id="heartbeat"),
        pytest.param(encode_command(code=9999, opaque=1), id="unknown code"),
        pytest.param(encode_command(code=310, opaque=1, flag=1), id="answer of a client"),
    ],
)  # fmt: skip
def test_what_is_not_hot_goes_up_with_nothing_written(store: Store, frame: bytes) -> None:
    hot = hot_path(store)
    for name in ("%RETRY%group", "SCHEDULE_TOPIC_XXXX"):
        hot.set_topic(name, perm=6, read_queue_count=4, write_queue_count=4)
    hot.set_topic("ReadOnly", perm=4, read_queue_count=4, write_queue_count=4)

    received = Connection(hot, PEER).receive(frame, NOW_MS)

    (command,) = received.cold
    (expected,) = Decoder().receive(frame)
    assert (command.code, command.opaque, command.flag) == (
        expected.code, expected.opaque, expected.flag,
    )  # fmt: skip
    assert (command.ext, command.body) == (expected.ext, expected.body)
    assert (received.replies, received.arrivals) == (b"", [])
    assert (store.max_position, store.queues()) == (0, [])


@pytest.mark.parametrize("name", special_properties())
def test_each_property_that_is_called_special_leaves_a_send_cold(store: Store, name: str) -> None:
    received = connect(store).receive(send(properties={name: "1"}), NOW_MS)

    assert [command.opaque for command in received.cold] == [12]
    assert store.max_position == 0


@pytest.mark.parametrize("name", ["INNER_BASE", "INNER_MULTI_DISPATCH", "TIMER_OUT_MS"])
def test_properties_of_features_that_are_not_served_are_stored_as_they_are(
    store: Store, name: str
) -> None:
    offset = {"INNER_MULTI_QUEUE_OFFSET": "7"}
    received = connect(store).receive(send(properties={name: "%LMQ%a", **offset}), NOW_MS)

    (record,) = stored(store, 2)
    assert received.cold == []
    assert record.properties[name] == "%LMQ%a"
    # It would be an entry in another queue, at an offset that the sender has chosen.
    assert not record.properties.keys() & offset.keys()


def test_hot_and_cold_requests_of_one_chunk_both_arrive(store: Store) -> None:
    stream = send(opaque=1) + encode_command(code=105, opaque=2) + send(opaque=3)

    received = connect(store).receive(stream, NOW_MS)

    assert [opaque for opaque, _, _ in answers(received.replies)] == [1, 3]
    assert [command.opaque for command in received.cold] == [2]


def test_a_topic_in_any_topic_table_spelling_is_matched_exactly(store: Store) -> None:
    hot = hot_path(store)
    hot.set_topic("Other", perm=6, read_queue_count=1, write_queue_count=1)
    hot.remove_topic("Other")

    received = Connection(hot, PEER).receive(send(topic="Other") + send(topic="orders"), NOW_MS)

    assert len(received.cold) == 2


@pytest.mark.parametrize(
    ("body", "properties"),
    [(b"x" * 100_001, {}), (b"x", {"K": "v" * 32_700}), (b"x" * 100_001, {"K": "v" * 32_700})],
)
def test_an_oversize_message_is_illegal_and_not_stored(
    store: Store, body: bytes, properties: dict[str, str]
) -> None:
    connection = connect(store)

    received = connection.receive(send(body, properties=properties), NOW_MS)

    ((opaque, code, _),) = answers(received.replies)
    assert (opaque, code) == (12, 13)
    assert stored(store, 2) == []
    assert len(answers(connection.receive(send(), NOW_MS).replies)) == 1


def test_the_largest_body_is_taken(store: Store) -> None:
    received = connect(store).receive(send(b"x" * 100_000), NOW_MS)

    assert [code for _, code, _ in answers(received.replies)] == [0]


def test_sends_that_another_broker_takes_are_handed_up_unanswered(store: Store) -> None:
    hot = hot_path(store)
    hot.set_writable(False)
    hot.set_handing_up(True)
    connection = Connection(hot, PEER)

    left = connection.receive(send(b"for another"), NOW_MS)
    hot.set_handing_up(False)
    refused = connection.receive(send(), NOW_MS)

    assert ([command.body for command in left.cold], left.replies) == ([b"for another"], b"")
    assert ([code for _, code, _ in answers(refused.replies)], refused.cold) == ([14], [])
    assert stored(store, 2) == []


def test_a_broker_that_is_not_writable_answers_14(store: Store) -> None:
    hot = hot_path(store)
    hot.set_writable(False)
    connection = Connection(hot, PEER)

    refused = connection.receive(send(), NOW_MS)
    hot.set_writable(True)
    taken = connection.receive(send(), NOW_MS)

    assert [code for _, code, _ in answers(refused.replies)] == [14]
    assert [code for _, code, _ in answers(taken.replies)] == [0]
    assert len(stored(store, 2)) == 1


def test_in_sync_mode_answers_wait_for_the_flushed_position(tmp_path: Path) -> None:
    store = open_store(tmp_path, flush_mode="sync")

    received = connect(store).receive(send(opaque=1) + send(opaque=2), NOW_MS)

    assert received.replies == b""
    assert [(opaque, code) for opaque, code, _ in answers(received.deferred)] == [(1, 0), (2, 0)]
    assert received.deferred_position == store.max_position
    assert store.flushed_position < received.deferred_position
    assert store.flush() >= received.deferred_position
    assert store.flushed_position >= received.deferred_position
    store.close()


def test_in_sync_mode_refusals_and_senders_that_do_not_wait_are_answered_at_once(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path, flush_mode="sync")
    stream = send(b"x" * 100_001, opaque=1) + send(properties={"WAIT": "false"}, opaque=2)

    received = connect(store).receive(stream, NOW_MS)

    assert [(opaque, code) for opaque, code, _ in answers(received.replies)] == [(1, 13), (2, 0)]
    assert received.deferred == b""
    store.close()
