"""Messages that any consumer of a group may have, each for a limited time."""

import asyncio
import base64
import dataclasses
import time

import pytest
from regent_engine import SHARE_WINDOW, decode_records

from backend.remoting import java_json
from backend.remoting.bodies.shares import FinishedShareBody
from backend.remoting.names import TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import messages
from tests.integration.broker.popping import (
    SHORT_MS,
    ack,
    bodies,
    change,
    handle_fields,
    pop,
    pop_fields,
    popped,
    set_mode,
)
from tests.waiting import ATTEMPT_COUNT_MAX, PATIENCE_S, eventually
from workers.broker.processors import pop as pop_processors
from workers.broker.session import BrokerSession
from workers.broker.shares import exhausted_messages, share_queues
from workers.broker.shares.given_up import dead_letter, read_at, retried
from workers.broker.tables.topics import topic_of


@pytest.fixture
async def consumer(client):
    """A client of group `g`, with four messages in two queues of topic `T`."""
    for number in range(4):
        await client.send("T", b"%d" % number, queue_id=number % 2)
    await client.heartbeat("g", "T")
    return client


async def test_two_consumers_of_a_group_share_the_messages(consumer, broker, connect):
    # Q8: no message is with two consumers.
    other = await connect(broker)

    first, second = await pop(consumer, maxMsgNums=3), await pop(other, maxMsgNums=3)

    assert (len(first), len(second)) == (3, 1)
    assert bodies([*first, *second]) == [b"0", b"1", b"2", b"3"]
    assert await pop(other) == []


async def test_an_acknowledged_message_is_gone_and_the_lag_of_its_group_falls(consumer):
    first = await pop(consumer)

    assert [await ack(consumer, one) for one in first] == [0, 0, 0, 0]

    # O5: the answer was lost, and the client asks again.
    assert [await ack(consumer, one) for one in first] == [0, 0, 0, 0]
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 1}
    told = await consumer.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)
    assert told.ext["offset"] == "2"


async def test_a_consumer_that_waits_gets_a_message_that_comes(consumer):
    await pop(consumer)
    waiting = consumer.start(RequestCode.POP_MESSAGE, pop_fields(pollTime=60_000))

    await consumer.send("T", b"late", queue_id=3)

    assert bodies(popped(await waiting)) == [b"late"]


async def test_a_message_that_is_not_finished_comes_again_in_its_place(consumer):
    # Q12: the consumer is gone.
    await pop(consumer, queueId=0, invisibleTime=SHORT_MS)

    async def again():
        return await pop(consumer, queueId=0)

    found = await eventually(again)

    assert [(one.offset, one.body, one.reconsume_times) for one in found] == [
        (0, b"0", 1),
        (1, b"2", 1),
    ]


async def test_a_delivery_writes_nothing_to_the_log(consumer, broker):
    """Q68, Q83: only the first one names the share queues."""
    await pop(consumer, queueId=0, maxMsgNums=1)
    # Else the broker writes this snapshot at its next tick.
    broker.broker.hot.keep_shares()
    end = broker.broker.store.max_position

    found = await pop(consumer)

    assert bodies(found) == [b"1", b"2", b"3"]
    assert broker.broker.store.max_position == end


async def test_o6_a_released_message_is_delivered_again_before_others(consumer):
    # Q10.
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)
    told = await change(consumer, first, 0)

    again = await pop(consumer, queueId=0)

    assert told.code == 0
    assert [(one.offset, one.reconsume_times) for one in again] == [(0, 1), (1, 0)]


async def test_o14_a_renewal_gives_a_new_handle_and_voids_the_old_one(consumer):
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)

    told = await change(consumer, first, 60_000)

    assert (told.code, told.ext["invisibleTime"]) == (0, "60000")
    assert await ack(consumer, first) == 208
    words = first.handle.split(" ")
    words[1:4] = told.ext["popTime"], told.ext["invisibleTime"], told.ext["reviveQid"]
    fields = handle_fields(first, extraInfo=" ".join(words))
    assert (await consumer.call(RequestCode.ACK_MESSAGE, fields)).code == 0


def batch_entry(first, offsets, topic="T"):
    """Name messages of the delivery of one message: a bit for each offset from its first on."""
    words = first.handle.split(" ")
    return {
        "c": "g",
        "t": topic,
        "r": "0",
        "so": int(words[0]),
        "q": 0,
        "rq": int(words[3]),
        "pt": int(words[1]),
        "it": int(words[2]),
        "b": base64.b64encode(bytes([offsets])).decode(),
    }


@pytest.mark.parametrize("is_batch", [False, True])
async def test_o52_an_ordered_pop_that_waits_is_answered_when_the_batch_before_it_ends(
    consumer, is_batch
):
    # RocketMQ's PopOrderlyIT. A POP that is not woken looks again after half a minute.
    waits_s = []
    (held,) = await pop(consumer, queueId=0, maxMsgNums=1, order="true")
    for number in range(ATTEMPT_COUNT_MAX):
        fields = pop_fields(queueId=0, maxMsgNums=1, order="true", pollTime=60_000)
        waiting, begun_s = consumer.start(RequestCode.POP_MESSAGE, fields), time.monotonic()
        if is_batch:
            entry = batch_entry(held, 0b1)
            assert (await batch_ack(consumer, entry)).code == 0
        else:
            assert await ack(consumer, held) == 0
        (held,) = popped(await waiting)
        waits_s.append(time.monotonic() - begun_s)
        assert held.offset == number + 1
        await consumer.send("T", b"%d" % number)

    assert min(waits_s) < 10


async def batch_ack(consumer, *entries):
    body = java_json.encode({"brokerName": "broker-t", "acks": entries})
    return await consumer.call(RequestCode.BATCH_ACK_MESSAGE, body=body)


async def test_a_batch_of_which_a_part_fails_is_sent_again_as_a_whole(consumer):
    found = await pop(consumer, queueId=0)
    entries = batch_entry(found[0], 0b1, topic="no-such-topic"), batch_entry(found[0], 0b1)

    told = await batch_ack(consumer, *entries)

    assert (told.code, "no-such-topic" in told.remark) == (2, True)
    assert (await batch_ack(consumer, entries[1])).code == 0
    assert (await batch_ack(consumer, entries[0])).code == 17


@pytest.mark.parametrize(
    ("fields", "repeated", "reason"),
    [
        ({"so": -1}, 1, "negative"),
        ({"rq": 70_000}, 1, "0 to 65535"),
        ({"rq": -1}, 1, "0 to 65535"),
        ({"b": "%"}, 1, "malformed"),
        ({"b": base64.b64encode(bytes(513)).decode()}, 1, "512 bytes"),
        ({"b": base64.b64encode(bytes(1 << 20)).decode()}, 1, "512 bytes"),
        ({"b": base64.b64encode(b"\xff" * 512).decode()}, 17, "65536 messages at most"),
        ({"b": ""}, 65_536, "65536 messages at most"),
    ],
)
async def test_a_malformed_batch_finishes_nothing(consumer, broker, fields, repeated, reason):
    found = await pop(consumer, queueId=0)
    entry = batch_entry(found[0], 0b1)

    told = await batch_ack(consumer, entry, *[entry | fields] * repeated)

    assert (told.code, reason in told.remark) == (13, True)
    _, _, finished = broker.broker.hot.finished_share("T", 0, "g")
    assert finished == []


async def test_o15_a_batch_finishes_what_its_handles_prove_and_names_the_rest(consumer):
    found = await pop(consumer, queueId=0)
    again = await change(consumer, found[1], 60_000)
    assert again.code == 0

    told = await batch_ack(consumer, batch_entry(found[0], 0b11))

    assert told.code == 0
    assert "queue 0 of T: 1" in told.remark
    assert await ack(consumer, found[0]) == 0
    assert await ack(consumer, found[1]) == 208


async def test_o8_a_message_that_its_consumer_gives_up_is_a_dead_letter_once(consumer):
    # Q11.
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)
    fields = {"offset": first.log_position, "group": "g", "delayLevel": -1, "originTopic": "T"}

    for _ in range(2):
        assert (await consumer.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)).code == 0

    # The acknowledgement that follows finds the message finished.
    assert await ack(consumer, first) == 0
    dead = messages(await consumer.pull("%DLQ%g"))
    assert [(one.body, one.properties["RETRY_TOPIC"]) for one in dead] == [(b"0", "T")]


@pytest.mark.parametrize("policy", ["DLQ", "DISCARD"])
async def test_o8_a_message_is_given_up_after_as_many_deliveries_as_its_group_allows(
    consumer, policy
):
    group = {"groupName": "g", "retryMaxTimes": 2, "attributes": {"+rejectPolicy": policy}}
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    assert (await consumer.call(code, body=java_json.encode(group))).code == 0
    for _ in range(2):
        (one,) = await pop(consumer, queueId=0, maxMsgNums=1)
        assert one.offset == 0
        assert (await change(consumer, one, 0)).code == 0

    async def offset():
        queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}
        told = await consumer.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)
        return told.ext.get("offset") == "1"

    await eventually(offset)

    assert [one.offset for one in await pop(consumer, queueId=0)] == [1]
    told = await consumer.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "%DLQ%g"})
    assert told.code == (0 if policy == "DLQ" else 17)
    if policy == "DLQ":
        assert [one.body for one in messages(await consumer.pull("%DLQ%g"))] == [b"0"]


async def test_a_message_that_cannot_be_given_up_holds_up_no_other(
    consumer, broker, tmp_path, monkeypatch
):
    monkeypatch.setattr(exhausted_messages, "DEAD_A_TICK", 1)
    await allow_attempts(consumer, 1)
    found = await pop(consumer, queueId=0)
    position = broker.broker.store.entries("T", 0, 0, 1)[0][0]
    (file,) = (tmp_path / "store" / "commitlog").iterdir()
    content = file.read_bytes()
    with file.open("r+b") as log:
        log.seek(content.index(b"0", content.index(b"\0\0\0\x010", position)))
        log.write(b"!")

    assert [(await change(consumer, one, 0)).code for one in found] == [0, 0]

    await eventually(lambda: broker.broker.store.offsets("%DLQ%g", 0) == (0, 1))
    assert [one.body for one in messages(await consumer.pull("%DLQ%g"))] == [b"2"]


async def allow_attempts(client, count):
    body = java_json.encode({"groupName": "g", "retryMaxTimes": count})
    assert (await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)).code == 0


SEPARATED = b"K\x01v\x01w\x02"
NOT_TEXT = b"K\x01".ljust(12_000, b"\xff") + b"\x02"
WITHOUT_ROOM = b"KEYS\x01k\x02K\x01".ljust(32_766, b"v") + b"\x02"


@pytest.fixture
async def troubled(broker, client, request):
    """A consumer of group `g` that has a message of unusual properties, with one attempt for it."""
    await client.send("T", b"before", queue_id=1)
    broker.broker.store.append("T", 0, b"unusual", request.param)
    await allow_attempts(client, 1)
    await client.heartbeat("g", "T")
    return client


@pytest.mark.parametrize(
    ("troubled", "found"),
    [(SEPARATED, SEPARATED), (NOT_TEXT, NOT_TEXT), (WITHOUT_ROOM, b"KEYS\x01k\x02")],
    ids=["separator", "no text", "no room"],
    indirect=["troubled"],
)
async def test_a_dead_letter_keeps_properties_that_no_other_message_has(troubled, broker, found):
    (first,) = await pop(troubled, queueId=0)
    assert (await change(troubled, first, 0)).code == 0

    await eventually(lambda: broker.broker.store.offsets("%DLQ%g", 0) == (0, 1))

    (dead,) = messages(await troubled.pull("%DLQ%g"))
    assert (dead.body, dead.properties["RETRY_TOPIC"]) == (b"unusual", "T")
    assert dead.property_string.endswith(found)
    assert not broker.failed.is_set()


@pytest.mark.parametrize(
    ("troubled", "moved_count"),
    [(SEPARATED, 1), (NOT_TEXT, 1), (WITHOUT_ROOM, 0)],
    ids=["separator", "no text", "no room"],
    indirect=["troubled"],
)
async def test_a_message_that_is_given_back_keeps_its_properties_or_its_place(
    troubled, broker, moved_count
):
    (first,) = await pop(troubled, queueId=0)

    assert (await release(troubled, first, 70_000)).code == 0

    store = broker.broker.store
    assert store.offsets(TIMER_TOPIC, 0) == ((0, 1) if moved_count else None)
    for position, _, _ in store.entries(TIMER_TOPIC, 0, 0, 1) if moved_count else ():
        (waiting,) = decode_records(store.record(position))
        assert waiting.property_string.endswith(b"\x02" + store_properties(store))


def store_properties(store):
    ((position, _, _),) = store.entries("T", 0, 0, 1)
    return decode_records(store.record(position))[0].property_string


async def test_tags_and_conditions_filter_as_in_pulls(client):
    for tag in ("A", "B", "A"):
        await client.send("T", tag.encode(), properties={"TAGS": tag, "price": "5"})
    await client.heartbeat("g", "T")

    assert bodies(await pop(client, exp="B")) == [b"B"]
    wrong = await client.call(
        RequestCode.POP_MESSAGE, pop_fields(group="h", expType="SQL92", exp="price >")
    )
    assert wrong.code == 23
    found = await pop(client, group="h", expType="SQL92", exp="price > 4 AND TAGS = 'A'")
    assert bodies(found) == [b"A", b"A"]


async def test_a_client_that_left_while_its_messages_were_read_from_the_disk_gets_none(
    consumer, broker, connect, monkeypatch
):
    leaving = await connect(broker)
    reads, has_left = asyncio.Event(), asyncio.Event()
    pop_at_once = BrokerSession.pop

    def pop_from_disk(session, command, grant, *, may_wait):
        return may_wait and pop_at_once(session, command, grant, may_wait=may_wait)

    async def read(*_args, **_options):
        reads.set()
        await has_left.wait()

    monkeypatch.setattr(BrokerSession, "pop", pop_from_disk)
    monkeypatch.setattr(pop_processors, "read_ahead", read)
    asked = leaving.start(RequestCode.POP_MESSAGE, pop_fields())
    await asyncio.wait_for(reads.wait(), PATIENCE_S)
    (served,) = [one for one in broker.sessions.all if one.tasks]
    await leaving.close()
    await eventually(lambda: served.is_gone)
    has_left.set()
    await eventually(lambda: served not in broker.sessions.all)
    await asyncio.gather(asked, return_exceptions=True)

    monkeypatch.undo()
    assert bodies(await pop(consumer)) == [b"0", b"1", b"2", b"3"]


async def test_messages_that_a_group_leaves_out_are_no_lag_of_it(client):
    await client.send("T", b"x", properties={"TAGS": "other"})
    await client.heartbeat("g", "T")

    # The share queues are named with the first POP, so the engine leaves it to the dispatcher.
    assert await pop(client, exp="mine") == []

    queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}
    assert (await client.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)).ext["offset"] == "1"


async def test_o53_pull_and_pop_of_different_groups_are_independent(consumer):
    found = await pop(consumer, queueId=0)
    await consumer.heartbeat("puller", "T", client_id="c2")

    pulled = messages(await consumer.pull("T", consumerGroup="puller", queueId=0))

    assert [one.body for one in pulled] == bodies(found) == [b"0", b"2"]


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"topic": "Nowhere"}, 17, "Nowhere"),
        ({"queueId": 9}, 29, "queueId[9]"),
        ({"maxMsgNums": 33}, 29, "1 to 32"),
        ({"invisibleTime": 0}, 29, "invisibleTime"),
        ({"topic": "rmq_sys_REGENT_STATE"}, 16, "readable"),
        ({"topic": "rmq_sys_SHARE_STATE_DefaultCluster"}, 16, "readable"),
        ({"pollTime": "60000.0"}, 1, "the field pollTime is malformed"),
        ({"maxMsgNums": "3e0"}, 1, "the field maxMsgNums is malformed"),
    ],
)
async def test_a_bad_pop_is_refused_with_the_reason(consumer, fields, code, reason):
    told = await consumer.call(RequestCode.POP_MESSAGE, pop_fields() | fields)

    assert told.code == code
    assert reason in told.remark


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"topic": "Nowhere"}, 17),
        ({"queueId": 9}, 13),
        ({"offset": 99}, 208),
        ({"offset": -1}, 208),
        ({"extraInfo": "nonsense"}, 13),
        ({"consumerGroup": "stranger"}, 208),
    ],
)
async def test_a_bad_acknowledgement_is_refused(consumer, fields, code):
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)

    told = await consumer.call(RequestCode.ACK_MESSAGE, handle_fields(first) | fields)

    assert told.code == code
    assert await ack(consumer, first) == 0


async def test_a_request_that_comes_after_its_client_gave_up_gets_no_messages(consumer):
    born_ms = round(time.time() * 1000) - 60_000

    assert await pop(consumer, bornTime=born_ms, pollTime=15_000) == []

    assert len(await pop(consumer)) == 4


async def test_o50_one_consumer_too_many_gets_the_answer_that_polling_is_full(
    client, broker, connect
):
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    await pop(client)
    fields, other = pop_fields(pollTime=60_000), await connect(broker)
    first = client.start(RequestCode.POP_MESSAGE, fields)
    waiting = [other.start(RequestCode.POP_MESSAGE, fields) for _ in range(1023)]

    await eventually(lambda: broker.broker.hot.pop_count("T", -1, "g") == 1024)

    full = await client.call(RequestCode.POP_MESSAGE, fields)

    assert full.code == 209
    for one in [first, *waiting]:
        one.cancel()


async def test_state_survives_a_kill(agent):
    # Q9, Q29: what is not acknowledged is kept.
    client = await agent.start()
    for number in range(4):
        await client.send("T", b"%d" % number)
    await client.heartbeat("g", "T")
    first = await pop(client)
    assert [await ack(client, one) for one in first[1:3]] == [0, 0]
    assert (await set_mode(client, "POP")).code == 0
    agent.kill()

    client = await agent.start()

    await client.heartbeat("g", "T")
    # O13: the consumer of before the crash finishes its message.
    assert await ack(client, first[0]) == 0
    assert bodies(await pop(client)) == [b"3"]
    told = await client.call(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
    assert java_json.loads(told.body)["messageRequestModeMap"]["T"]["g"]["mode"] == "POP"


async def test_o58_a_deleted_topic_takes_its_share_queues_along(consumer, client):
    found = await pop(consumer, queueId=0)
    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})).code == 0

    assert await ack(consumer, found[0]) == 17
    await client.send("T", b"new")

    assert bodies(await pop(consumer, queueId=0)) == [b"new"]


async def test_an_acknowledgement_during_a_deletion_commits_nothing_to_a_new_topic(
    consumer, broker, client, monkeypatch
):
    (held,) = await pop(consumer, queueId=0, maxMsgNums=1)
    shares, take_progress = broker.broker.shares, broker.broker.take_progress
    _, time_ms, _, tag, *_ = held.handle.split(" ")
    acknowledged = []

    def take_progress_before_an_acknowledgement():
        take_progress()
        acknowledged.append(
            broker.broker.hot.accept_shares(
                "T", 0, "g", pop_time_ms=int(time_ms), tag=int(tag), offsets=[held.offset]
            )
        )

    monkeypatch.setattr(broker.broker, "take_progress", take_progress_before_an_acknowledgement)
    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})).code == 0
    for finished in filter(None, acknowledged):
        shares.note_progress(finished)
    monkeypatch.undo()

    assert acknowledged
    assert broker.broker.offsets.groups_of("T") == []


async def test_a_deleted_topic_takes_its_retry_topics_along(consumer, client):
    (later,) = await pop(consumer, queueId=0, maxMsgNums=1)
    assert (await release(consumer, later, 70_000)).code == 0
    retry = {"topic": RETRY_TOPIC}
    assert (await client.call(RequestCode.GET_TOPIC_CONFIG, retry)).code == 0

    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})).code == 0

    assert (await client.call(RequestCode.GET_TOPIC_CONFIG, retry)).code == 17


async def test_a_group_whose_offset_lies_beyond_the_end_misses_no_later_message(consumer, broker):
    # A replica may have got the offset of a group before the messages, and then become master.
    broker.broker.offsets.commit("g", "T", queue_id=0, offset=50)
    assert await pop(consumer, queueId=0) == []

    await consumer.send("T", b"later")

    assert bodies(await pop(consumer, queueId=0)) == [b"later"]


async def test_o7_an_ordered_message_given_back_for_long_stays_before_the_later_ones(
    consumer, broker
):
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1, order="true")

    assert (await release(consumer, first, 70_000)).code == 0

    # An ordered consumer gets no message of a retry topic.
    assert broker.broker.store.offsets(TIMER_TOPIC, 0) is None
    assert await pop(consumer, queueId=0, order="true") == []
    (held,) = broker.broker.hot.share_messages("T", 0, "g", broker.broker.elapsed_ms())
    assert (held.offset, held.count) == (0, 1)


@pytest.mark.parametrize(
    "ends_by", [RequestCode.BATCH_ACK_MESSAGE, RequestCode.CONSUMER_SEND_MSG_BACK]
)
async def test_o48_a_pop_that_waits_is_answered_when_a_full_window_has_room(
    consumer, broker, ends_by
):
    for _ in range(SHARE_WINDOW):
        broker.broker.store.append("T", 0, b"x", b"")
    (front,) = await pop(consumer, queueId=0, maxMsgNums=1)
    while await pop(consumer, queueId=0):
        pass
    fields = pop_fields(queueId=0, pollTime=60_000)
    waiting, begun_s = consumer.start(RequestCode.POP_MESSAGE, fields), time.monotonic()

    if ends_by == RequestCode.BATCH_ACK_MESSAGE:
        told = await batch_ack(consumer, batch_entry(front, 0b1))
    else:
        fields = {"offset": front.log_position, "group": "g", "delayLevel": -1}
        told = await consumer.call(ends_by, fields)

    assert told.code == 0
    assert [one.offset for one in popped(await waiting)] == [SHARE_WINDOW]
    assert time.monotonic() - begun_s < 10


async def test_o7_a_message_given_back_for_a_moment_stays_in_its_place(consumer):
    (later,) = await pop(consumer, queueId=0, maxMsgNums=1)
    (soon,) = await pop(consumer, queueId=1, maxMsgNums=1)

    assert (await release(consumer, later, 60_000)).code == 0
    assert (await release(consumer, soon, SHORT_MS)).code == 0

    assert [one.offset for one in await pop(consumer, queueId=0)] == [1]
    found = []

    async def came_again():
        found.extend(await pop(consumer, queueId=1))
        return len(found) == 2

    await eventually(came_again)
    assert sorted((one.offset, one.topic) for one in found) == [(0, "T"), (1, "T")]
    config = await consumer.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "%RETRY%g+T"})
    assert config.code == 17


async def test_o7_a_message_given_back_for_long_moves_to_the_retry_topic(start_broker, connect):
    broker = await start_broker()
    client = await connect(broker)
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    (first,) = await pop(client)

    told = await release(client, first, 70_000)

    assert told.code == 0
    # Never both: the message is finished here, and its copy waits for its time.
    assert await ack(client, first) == 0
    assert broker.broker.store.offsets("rmq_sys_wheel_timer", 0) == (0, 1)
    copy = retried(
        RETRY_TOPIC, "g", await read_at(broker.broker, "T", 0, "g", 0), count=1, deliver_at_ms=0
    )
    properties = {name: value for name, value in copy.properties.items() if "TIMER" not in name}
    broker.broker.append(dataclasses.replace(copy, properties=properties))
    (again,) = await pop(client)
    assert (again.topic, again.body, again.reconsume_times) == ("%RETRY%g+T", b"x", 1)
    assert await ack(client, again) == 0


RETRY_TOPIC = "%RETRY%g+T"


async def test_a_copy_that_was_delivered_late_waits_again_and_reaches_the_limit(client, broker):
    store = broker.broker.store
    await client.send("T", b"before", queue_id=1)
    store.append("T", 0, b"x", b"DELAY\x012\x02K\x01v\x02")
    await allow_attempts(client, 3)
    await client.heartbeat("g", "T")
    (one,) = await pop(client, queueId=0)
    for waiting_count in (1, 2):
        assert (await release(client, one, 70_000)).code == 0

        assert store.offsets(TIMER_TOPIC, 0) == (0, waiting_count)
        waiting = last_waiting(store)
        assert waiting.reconsume_times == waiting_count
        assert int(waiting.properties["TIMER_OUT_MS"]) > broker.broker.clock() + 60_000
        assert "DELAY" not in waiting.properties
        # As the delivery of a message for a time does.
        times = b"TIMER_ENQUEUE_MS\x011\x02TIMER_DEQUEUE_MS\x012\x02"
        text = waiting.property_string + times
        store.append(RETRY_TOPIC, 0, b"x", text, reconsume_times=waiting_count)
        broker.broker.put_topic_if_missing(topic_of(RETRY_TOPIC, 1))
        (one,) = await pop(client, queueId=0)

    assert (await release(client, one, 70_000)).code == 0

    assert store.offsets(TIMER_TOPIC, 0) == (0, 2)
    (dead,) = messages(await client.pull("%DLQ%g"))
    assert (dead.body, dead.reconsume_times, dead.properties["K"]) == (b"x", 3, "v")


def last_waiting(store):
    _, end = store.offsets(TIMER_TOPIC, 0)
    ((position, _, _),) = store.entries(TIMER_TOPIC, 0, end - 1, 1)
    return decode_records(store.record(position))[0]


async def release(client, message, delay_ms):
    fields = handle_fields(message, invisibleTime=delay_ms, release="true")
    return await client.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)


@pytest.mark.parametrize("is_torn", [False, True])
async def test_o9_a_crash_between_copy_and_reject_leaves_one_dead_letter(
    start_broker, connect, is_torn
):
    # Q11.
    server = await start_broker()
    client = await connect(server)
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    (first,) = await pop(client)
    broker = server.broker
    record = await read_at(broker, "T", 0, "g", 0)
    if is_torn:
        # As the log is after a power cut in the middle of the unit: the copy comes first.
        broker.put_topic_if_missing(topic_of("%DLQ%g", 1))
        broker.append(dead_letter("g", record, count=1))
    else:
        assert (await broker.shares.give_up("T", 0, "g", 0, count=1)).successes == [True]
    await client.close()
    await server.close()

    server = await start_broker()

    client = await connect(server)
    await client.heartbeat("g", "T")
    assert await pop(client) == []
    assert await ack(client, first) == 0
    fields = {"offset": first.log_position, "group": "g", "delayLevel": -1}
    assert (await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)).code == 0
    assert [one.body for one in messages(await client.pull("%DLQ%g"))] == [b"x"]


async def test_o9_a_torn_copy_is_found_before_the_log_gets_other_records(start_broker, connect):
    server = await start_broker()
    client = await connect(server)
    for body in (b"x", b"y"):
        await client.send("T", body)
    await client.heartbeat("g", "T")
    await pop(client)
    broker = server.broker
    record = await read_at(broker, "T", 0, "g", 0)
    broker.put_topic_if_missing(topic_of("%DLQ%g", 1))
    broker.append(dead_letter("g", record, count=1))
    number, reset_epoch, _ = broker.hot.finished_share("T", 0, "g")
    # What was finished here while the master was absent.
    broker.shares.finished.keep(
        FinishedShareBody(
            topic="T",
            queue_id=0,
            consumer_group="g",
            number=number,
            reset_epoch=reset_epoch,
            ranges=[(1, 2)],
        )
    )
    await broker.shares.finished.save()
    await client.close()
    await server.close()

    server = await start_broker()

    client = await connect(server)
    await client.heartbeat("g", "T")
    assert await pop(client) == []


@pytest.mark.parametrize("delay_level", [0, 9])
async def test_o9_a_torn_copy_is_found_in_retry_topics_and_delay_levels(
    start_broker, connect, delay_level
):
    server = await start_broker()
    client = await connect(server)
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    (first,) = await pop(client)
    broker = server.broker
    record = await read_at(broker, "T", 0, "g", 0)
    broker.put_topic_if_missing(topic_of("%RETRY%g+T", 1))
    copy = retried("%RETRY%g+T", "g", record, count=1, deliver_at_ms=0)
    properties = {name: value for name, value in copy.properties.items() if "TIMER" not in name}
    copy = dataclasses.replace(copy, properties=properties | {"DELAY": str(delay_level)})
    broker.append(broker.turn_aside(copy))
    await client.close()
    await server.close()

    server = await start_broker()

    client = await connect(server)
    await client.heartbeat("g", "T")
    found = await pop(client)
    assert [one.topic for one in found] == ([] if delay_level else ["%RETRY%g+T"])
    assert await ack(client, first) == 0


async def test_a_client_names_no_message_that_its_message_is_a_copy_of(start_broker, connect):
    server = await start_broker()
    client = await connect(server)
    forged = {"REGENT_COPY_OF": "T 0 g 0", "K": "v"}
    await client.heartbeat("g", "%RETRY%g")

    # The engine stores the first one, and the agent the second one.
    for topic in ("T", "%RETRY%g"):
        await client.send(topic, b"x", properties=forged)

    for topic in ("T", "%RETRY%g"):
        (message,) = messages(await client.pull(topic))
        assert message.properties["K"] == "v"
        assert "REGENT_COPY_OF" not in message.properties


async def test_a_message_that_another_consumer_got_meanwhile_is_not_moved(
    start_broker, connect, monkeypatch
):
    server = await start_broker()
    client, other = await connect(server), await connect(server)
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    (first,) = await pop(client)
    # As where the window is full: even a short delay moves the message.
    monkeypatch.setattr(pop_processors, "MOVE_DELAY_MS", 0)
    found = []

    async def read_slowly(*args):
        async def again():
            return await pop(other)

        found.extend(await eventually(again))
        return await read_at(*args)

    monkeypatch.setattr(share_queues, "read_at", read_slowly)

    told = await release(client, first, 1)

    assert (told.code, bodies(found)) == (0, [b"x"])
    assert server.broker.store.offsets("rmq_sys_wheel_timer", 0) is None
    assert await ack(other, found[0]) == 0


async def test_a_message_with_a_consumer_is_not_given_up_by_the_broker(consumer, broker):
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)

    finished = await broker.broker.shares.give_up("T", 0, "g", 0, count=1, is_free=True)

    assert finished.successes == [False]
    assert not broker.broker.store.offsets("%DLQ%g", 0)
    assert await ack(consumer, first) == 0


@pytest.fixture
async def releasing(broker, connect):
    """A consumer of group `g`, whose messages are delivered again when their client leaves."""
    client = await connect(broker)
    await client.send("T", b"x")
    group = {"groupName": "g", "attributes": {"+releaseOnDisconnect": "true"}}
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    assert (await client.call(code, body=java_json.encode(group))).code == 0
    consumer = await connect(broker)
    await consumer.heartbeat("g", "T", client_id="c1")
    assert len(await pop(consumer)) == 1
    return consumer


async def test_o10_what_a_client_had_that_is_gone_is_delivered_again(
    releasing, broker, connect, monkeypatch
):
    # Q12.
    monkeypatch.setattr(share_queues, "CLIENT_GRACE_S", 0.1)
    other = await connect(broker)
    await other.heartbeat("g", "T", client_id="c2")
    waiting = other.start(RequestCode.POP_MESSAGE, pop_fields(pollTime=30_000))

    await releasing.close()

    (again,) = popped(await waiting)
    assert again.reconsume_times == 1


async def test_o10_a_client_that_returns_in_time_keeps_its_messages(
    releasing, broker, connect, monkeypatch
):
    monkeypatch.setattr(share_queues, "CLIENT_GRACE_S", PATIENCE_S)
    shares = broker.broker.shares
    (member,) = broker.broker.consumers.find("g").members
    await releasing.close()
    await eventually(lambda: shares.departed.find(member.connection_id, "g"))
    returned = await connect(broker)
    await returned.heartbeat("g", "T", client_id="c1")

    # As at the end of the time.
    shares.release_unless_back(member.connection_id, "g", "c1")

    assert await pop(returned) == []


async def test_o54_after_a_reset_former_handles_change_nothing(consumer):
    found = await pop(consumer, queueId=0)
    assert await ack(consumer, found[1]) == 0
    fields = {"group": "g", "topic": "T", "timestamp": 0, "isForce": "true", "queueId": 0}
    fields |= {"offset": 0}
    told = await consumer.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)
    assert told.code == 0

    again = await pop(consumer, queueId=0)

    assert [one.offset for one in again] == [0, 1]
    assert await ack(consumer, found[0]) == 208
    assert [await ack(consumer, one) for one in again] == [0, 0]


async def test_a_question_for_messages_waits_for_one(consumer):
    await pop(consumer)
    fields = {
        "consumerGroup": "g",
        "topic": "T",
        "queueId": -1,
        "pollTime": 30_000,
        "bornTime": round(time.time() * 1000),
    }
    now = await consumer.call(RequestCode.NOTIFICATION, fields | {"pollTime": 0})
    waiting = consumer.start(RequestCode.NOTIFICATION, fields)

    await consumer.send("T", b"late", queue_id=2)

    assert now.ext["hasMsg"] == "false"
    assert (await waiting).ext["hasMsg"] == "true"
    assert (await consumer.call(RequestCode.NOTIFICATION, fields)).ext["hasMsg"] == "true"
    assert bodies(await pop(consumer)) == [b"late"]


async def test_a_look_at_messages_takes_none(consumer):
    fields = {"consumerGroup": "g", "topic": "T", "queueId": 0, "maxMsgNums": 8}
    (first,) = await pop(consumer, queueId=0, maxMsgNums=1)

    for _ in range(2):
        told = await consumer.call(RequestCode.PEEK_MESSAGE, fields)
        assert [one.body for one in messages(told)] == [b"2"]

    assert bodies(await pop(consumer, queueId=0)) == [b"2"]
    assert (await consumer.call(RequestCode.PEEK_MESSAGE, fields)).code == 19
    assert await ack(consumer, first) == 0


async def test_the_number_of_waiting_consumers_can_be_asked_for(consumer):
    await pop(consumer)
    waiting = consumer.start(RequestCode.POP_MESSAGE, pop_fields(pollTime=30_000))
    fields = {"consumerGroup": "g", "topic": "T", "queueId": -1}

    told = await consumer.call(RequestCode.POLLING_INFO, fields)

    assert told.ext["pollingNum"] == "1"
    waiting.cancel()
