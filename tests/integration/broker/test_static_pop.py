"""POP of static topics: a share queue moves with its logical queue (queue-ownership.md 4.19)."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from regent_engine import decode_records, offset_message_id

from backend.brokers.requests.logical_queues import DiscardLogicalQueue, UnsealLogicalQueue
from backend.domain.logical_queue.commit import with_successor
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
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
from tests.integration.broker.static_topics import TOPIC, BrokerGroups
from tests.integration.broker.test_static_topics import offset_of, send
from tests.waiting import PATIENCE_S, eventually
from workers.broker.logical import share_owning
from workers.broker.logical.share_moves import RETRY_S
from workers.broker.processors import logical_queues

BUSY, NOT_LEADER, NOT_COMMITTED, NOTHING = 2, 501, 22, 210
RESET = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET


@pytest.fixture
async def groups(tmp_path, monkeypatch):
    # A busy machine answers late, and a leader that is stopped refuses at once.
    monkeypatch.setattr(share_owning, "TIMEOUT_S", PATIENCE_S)
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        for name in ("b1", "b2"):
            client = await groups.start(name)
            await client.heartbeat("g", TOPIC)
        yield groups


async def take(client, **fields):
    """The messages of one POP of any queue."""
    return await pop(client, TOPIC, **fields)


async def take_all(client, **fields):
    """All messages that can be had now, in the order of their offsets."""
    found = []

    async def is_empty():
        more = await take(client, **fields)
        found.extend(more)
        return not more

    await eventually(is_empty)
    return sorted(found, key=lambda one: (one.queue_id, one.offset))


def numbers(*parts):
    return [b"%d" % number for part in parts for number in part]


async def test_ids_and_offsets_are_those_of_the_logical_queue(groups):
    # The physical queues of both logical queues are 0, and that of the moved one is 1.
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 5)
    await groups.move("b1", "b2")
    b2 = groups.clients["b2"]
    await send(b2, 3, start=5)

    found = await take_all(b2, maxMsgNums=2)

    assert [(one.queue_id, one.offset, one.body) for one in found] == [
        (0, number, b"%d" % number) for number in range(8)
    ]
    assert [await ack(b2, one) for one in found] == [0] * 8
    committed = await offset_of(b2, RequestCode.QUERY_CONSUMER_OFFSET, consumerGroup="g")
    assert committed == 8


async def test_a_move_takes_along_what_is_finished_and_what_consumers_have(groups):
    """O55: no loss, and handles from before the move finish their messages."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 10)
    found = await take(b1)
    assert len(found) == 10
    for number in (0, 3, 4, 9):
        assert await ack(b1, found[number]) == 0

    await groups.move("b1", "b2")
    await send(b2, 2, start=10)

    # Consumers have the other ones still: only new messages come.
    assert bodies(await take_all(b2)) == numbers(range(10, 12))
    assert await ack(b2, found[1]) == 0
    # A client with an old route asks the former leader.
    assert await ack(b1, found[2]) == 0
    assert (await change(b1, found[5], 0)).code == 0
    again = await take_all(b2)
    assert [(one.offset, one.reconsume_times) for one in again] == [(5, 1)]
    assert await ack(b2, again[0]) == 0
    assert await ack(b2, found[5]) == 0


async def test_messages_of_a_lost_consumer_come_again_behind_the_move(groups):
    # Q12; nothing that was acknowledged comes again.
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 6)
    found = await take(b1, invisibleTime=SHORT_MS)
    assert [await ack(b1, found[number]) for number in (0, 2, 5)] == [0, 0, 0]

    await groups.move("b1", "b2")

    again = []

    async def have_come():
        again.extend(await take(b2))
        return len(again) >= 3

    await eventually(have_come)
    assert [(one.offset, one.reconsume_times) for one in again] == [(1, 1), (3, 1), (4, 1)]
    assert [await ack(b2, one) for one in again] == [0, 0, 0]
    assert await take(b2) == []


async def test_the_state_survives_moves_to_and_fro_and_restarts(groups):
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 3)
    kept, *_, last = await take(groups.clients["b1"])
    assert await ack(groups.clients["b1"], last) == 0
    names = ["b1", "b2"]
    for turn in range(3):
        source, destination = names
        await groups.move(source, destination)
        await send(groups.clients[destination], 1, start=3 + turn)
        # Each owner finishes something that the next one must know.
        [new] = await take_all(groups.clients[destination])
        assert new.body == b"%d" % (3 + turn)
        assert await ack(groups.clients[destination], new) == 0
        names.reverse()

    assert await ack(groups.clients["b2"], kept) == 0
    for name in ("b1", "b2"):
        await groups.stop(name)
        await groups.start(name)
        await groups.clients[name].heartbeat("g", TOPIC)

    # A restart forgets what consumers have, and nothing that is finished.
    async def has_come():
        # Its mapping is not confirmed at first.
        told = await groups.clients["b2"].call(RequestCode.POP_MESSAGE, pop_fields(TOPIC))
        return popped(told) if told.code == 0 else []

    assert bodies(await eventually(has_come)) == [b"1"]


async def test_a_sealed_queue_gives_its_state_away_once_and_delivers_nothing(groups):
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 4)
    first, second, *_ = await take(b1, maxMsgNums=2)
    fields = {"topic": TOPIC, "globalId": 0}
    assert (await b1.call(RequestCode.TAKE_SHARE_QUEUES, fields)).code == BUSY
    await groups.seal("b1")
    assert await ack(b1, first) == 0

    told = await b1.call(RequestCode.TAKE_SHARE_QUEUES, fields)

    states = java_json.loads(told.body)["states"]
    assert [one["consumerGroup"] for one in states] == ["g"]
    assert await take(b1) == []
    refused = await b1.call(RequestCode.ACK_MESSAGE, handle_fields(second, lqFwd=1))
    assert refused.code == NOT_LEADER
    again = await b1.call(RequestCode.TAKE_SHARE_QUEUES, fields)
    assert java_json.loads(again.body)["states"][0]["epoch"] == states[0]["epoch"]


async def test_a_move_that_is_rolled_back_leaves_the_share_queue_where_it_was(groups):
    """L45."""
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 4)
    first, second, *_ = await take(b1, maxMsgNums=2)
    await groups.prepare("b2")
    await groups.seal("b1")
    assert (await b1.call(RequestCode.TAKE_SHARE_QUEUES, {"topic": TOPIC, "globalId": 0})).code == 0

    later = {"topic": TOPIC, "global_id": 0, "epoch": groups.topic.epoch + 2_000}
    await groups.ask("b1", UnsealLogicalQueue(**later))
    await groups.ask("b2", DiscardLogicalQueue(**later))

    assert [await ack(b1, one) for one in (first, second)] == [0, 0]
    assert bodies(await take_all(b1)) == numbers(range(2, 4))


async def test_messages_whose_finish_is_unknown_wait_for_the_former_leader(groups):
    """No acknowledged message comes again, although the former leader is away."""
    await groups.create("b1", "b2", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 4)
    for message in await take(b1, maxMsgNums=2):
        assert await ack(b1, message) == 0
    prepared, sealed = await groups.prepare("b2"), await groups.seal("b1")
    groups.decide(0, "b2", prepared, sealed)
    await groups.stop("b1")
    await groups.store("b2")
    await send(b2, 1, start=4)
    await send(b2, 1, start=100, queue_id=2)

    told = await b2.call(RequestCode.POP_MESSAGE, pop_fields(TOPIC, queueId=0))
    assert (told.code, "former leader" in told.remark) == (BUSY, True)
    # Other queues of the topic are served meanwhile.
    assert bodies(await take_all(b2)) == [b"100"]

    await groups.start("b1")
    await groups.store("b1", is_final=True)
    found = []

    async def are_there():
        found.extend(await take(b2))
        return len(found) >= 3

    await eventually(are_there)
    assert bodies(found) == numbers(range(2, 5))


async def test_a_group_passes_over_what_a_lost_leader_knows_by_a_commit(groups):
    """L46: the former leader does not come back, and an operator gives its messages up."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 4)
    assert len(await take(b1)) == 4
    prepared, sealed = await groups.prepare("b2"), await groups.seal("b1")
    groups.decide(0, "b2", prepared, sealed)
    await groups.stop("b1")
    await groups.store("b2")
    await send(b2, 2, start=4)
    fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "commitOffset": 5}

    assert (await b2.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code == 0

    found = await take(b2, queueId=0)
    assert [(one.offset, one.body) for one in found] == [(5, b"5")]
    assert await ack(b2, found[0]) == 0


async def test_a_batch_finishes_messages_of_queues_that_other_broker_groups_lead(groups):
    await groups.create("b1", "b1")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    for queue_id in (0, 1):
        await send(b1, 2, queue_id=queue_id)
    found = await take_all(b1)
    await groups.move("b1", "b2")
    acks = [
        {
            "c": "g",
            "t": TOPIC,
            "r": "0",
            "so": one.offset,
            "q": one.queue_id,
            "rq": int(one.handle.split(" ")[3]),
            "pt": int(one.handle.split(" ")[1]),
            "it": 60_000,
            "b": "AQ==",
        }
        for one in found
    ]

    told = await b1.call(
        RequestCode.BATCH_ACK_MESSAGE, body=java_json.encode({"brokerName": "b1", "acks": acks})
    )

    assert (told.code, told.remark) == (0, None)
    group = {"consumerGroup": "g"}
    for client, queue_id in ((b2, 0), (b1, 1)):
        code = RequestCode.QUERY_CONSUMER_OFFSET
        assert await offset_of(client, code, queueId=queue_id, **group) == 2


async def test_a_consumer_that_waits_gets_messages_of_a_queue_that_arrives(groups):
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 2)
    waiting = b2.start(RequestCode.POP_MESSAGE, pop_fields(TOPIC, pollTime=30_000))

    await groups.move("b1", "b2")

    assert bodies(popped(await waiting)) == numbers(range(2))
    notified = b2.start(
        RequestCode.NOTIFICATION,
        {"consumerGroup": "g", "topic": TOPIC, "queueId": 0, "pollTime": 30_000, "bornTime": 0},
    )
    await send(b2, 1, start=2)
    assert (await notified).ext["hasMsg"] == "true"


async def test_a_pop_of_a_queue_that_is_led_elsewhere_is_answered_by_its_leader(groups):
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 2, queue_id=1)

    found = await take(b1, queueId=1)

    assert [(one.queue_id, one.offset) for one in found] == [(1, 0), (1, 1)]
    assert [await ack(b1, one) for one in found] == [0, 0]
    assert (await b1.call(RequestCode.POP_MESSAGE, pop_fields(TOPIC, queueId=7))).code == NOT_LEADER


async def test_peek_and_polling_info_speak_of_logical_queues(groups):
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 3)
    await groups.move("b1", "b2")
    b2 = groups.clients["b2"]
    await send(b2, 1, start=3)
    fields = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0, "maxMsgNums": 2}

    peeked = await b2.call(RequestCode.PEEK_MESSAGE, fields)

    places = [(one.queue_id, one.queue_offset) for one in decode_records(peeked.body)]
    assert (places, peeked.ext["restNum"]) == ([(0, 0), (0, 1)], "2")
    assert len(await take_all(b2)) == 4
    b2.start(RequestCode.POP_MESSAGE, pop_fields(TOPIC, queueId=0, pollTime=30_000))

    async def waits():
        told = await b2.call(RequestCode.POLLING_INFO, fields)
        return told.ext["pollingNum"] == "1"

    await eventually(waits)


async def test_a_dead_letter_of_an_older_segment_is_copied_by_the_leader(groups):
    """Q11: the copy and the end of the message are at the broker group that leads now."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    group = {"groupName": "g", "retryMaxTimes": 1, "consumeEnable": True}
    for client in (b1, b2):
        told = await client.call(
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=java_json.encode(group)
        )
        assert told.code == 0
    await send(b1, 2)
    first, second = await take(b1)
    assert await ack(b1, second) == 0
    await groups.move("b1", "b2")
    assert (await change(b2, first, 0)).code == 0

    async def is_copied():
        told = await b2.pull("%DLQ%g")
        return decode_records(told.body) if told.code == 0 else []

    [copy] = await eventually(is_copied)
    assert copy.body == b"0"
    assert copy.properties["REGENT_COPY_OF"] == f"{TOPIC} 0 g 0"
    assert await take(b2) == []


async def test_the_filter_of_a_group_holds_for_older_segments(groups):
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    for number in range(6):
        tags = {"TAGS": "ab"[number % 2]}
        assert (await b1.send(TOPIC, b"%d" % number, properties=tags)).code == 0
    await groups.move("b1", "b2")

    found = await take_all(b2, exp="b")

    assert bodies(found) == numbers((1, 3, 5))
    assert [await ack(b2, one) for one in found] == [0, 0, 0]
    assert await take(b2, exp="*") == []


async def test_an_order_to_reset_a_stored_queue_moves_the_share_queue_of_its_logical_queue(groups):
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 5)
    await groups.move("b1", "b2")
    b2 = groups.clients["b2"]
    await send(b2, 3, start=5)
    assert [await ack(b2, one) for one in await take_all(b2)] == [0] * 8
    # The moved queue, with the global id 0, is stored in queue 1, and offset 5 there is 0.
    fields = {"group": "g", "topic": TOPIC, "timestamp": -1, "isForce": True}

    other = await b2.call(RESET, fields | {"queueId": 0, "offset": 0})
    assert (other.code, await take(b2)) == (0, [])
    told = await b2.call(RESET, fields | {"queueId": 1, "offset": 1})

    assert told.code == 0, told.remark
    assert [(one.queue_id, one.offset) for one in await take_all(b2)] == [(0, 6), (0, 7)]


async def test_an_assignment_names_the_leaders_for_pop(groups):
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    assert (await set_mode(b1, "POP", TOPIC)).code == 0
    question = {
        "topic": TOPIC,
        "consumerGroup": "g",
        "clientId": "c",
        "strategyName": "AVG",
        "messageModel": "CLUSTERING",
    }

    told = await b1.call(RequestCode.QUERY_ASSIGNMENT, body=java_json.encode(question))

    queues = java_json.loads(told.body)["messageQueueAssignments"]
    names = {(one["messageQueue"]["brokerName"], one["messageQueue"]["queueId"]) for one in queues}
    assert names == {("b1", -1), ("b2", -1)}
    assert {one["mode"] for one in queues} == {"POP"}


async def test_a_message_that_is_given_up_after_a_restart_counts_at_its_logical_queue(groups):
    """The broker knows from its log that it owns the share queue, and has not used it since."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 3)
    await groups.move("b1", "b2")
    await send(b2, 2, start=3)
    found = await take_all(b2)
    assert [await ack(b2, one) for one in found[:3]] == [0] * 3
    broker = groups.servers["b2"].broker
    first_id = offset_message_id(*broker.store_host, found[3].log_position)
    await groups.stop("b2")
    b2 = await groups.start("b2")
    await b2.heartbeat("g", TOPIC)
    fields = {
        "offset": found[3].log_position,
        "group": "g",
        "delayLevel": -1,
        "originMsgId": first_id,
        "originTopic": TOPIC,
    }

    async def is_given_up():
        # The mapping is not confirmed at first.
        return (await b2.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)).code == 0

    await eventually(is_given_up)
    code = RequestCode.QUERY_CONSUMER_OFFSET
    assert await offset_of(b2, code, consumerGroup="g") == 4
    other = {"topic": TOPIC, "queueId": 1, "consumerGroup": "g", "setZeroIfNotFound": "false"}
    assert (await b2.call(code, other)).code == NOT_COMMITTED
    assert bodies(await take_all(b2)) == [b"4"]
    assert [one.body for one in decode_records((await b2.pull("%DLQ%g")).body)] == [b"3"]


async def test_a_former_leader_without_an_answer_is_asked_once_in_a_time(groups, monkeypatch):
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 1)
    assert len(await take(b1)) == 1
    prepared, sealed = await groups.prepare("b2"), await groups.seal("b1")
    groups.decide(0, "b2", prepared, sealed)
    await groups.stop("b1")
    await groups.store("b2")
    asked = []
    find_origin = share_owning._find_origin

    async def counted(broker, wish, global_id):
        asked.append(global_id)
        return await find_origin(broker, wish, global_id)

    monkeypatch.setattr(share_owning, "_find_origin", counted)
    began_at = time.monotonic()

    told = await asyncio.gather(
        *(b2.call(RequestCode.POP_MESSAGE, pop_fields(TOPIC, queueId=0)) for _ in range(50))
    )

    assert [one.code for one in told] == [BUSY] * 50
    assert 1 <= asked.count(0) <= 1 + (time.monotonic() - began_at) / RETRY_S


async def test_after_a_forced_move_consumers_leave_the_old_segment_once_it_rests(groups):
    """L36: nothing records the end of the old segment, and a jump of offsets follows it."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 3)
    [first] = await take(b1, maxMsgNums=1)
    assert await ack(b1, first) == 0
    prepared = await groups.prepare("b2")
    moved = with_successor(groups.topic, 0, "b2", prepared, forced_start=10_000)
    groups.topic = replace(moved, epoch=2_000)
    await groups.store("b2", is_forced=True)
    await send(b2, 1, start=4)
    # Its group did not know of the move.
    await send(b1, 1, start=3)
    await groups.store("b1", is_forced=True)
    found = await take_all(b2)
    assert bodies(found) == numbers(range(1, 4))
    assert [await ack(b2, one) for one in found] == [0] * 3

    # Without a time of birth, the wait counts from the arrival.
    found = await take(b2, queueId=0, pollTime=30_000, bornTime=0)

    assert [(one.offset, one.body) for one in found] == [(10_000, b"4")]


async def test_a_pop_at_an_open_segment_is_answered_after_its_wait(groups, monkeypatch):
    await groups.create("b1", "b2")
    b2 = groups.clients["b2"]
    await send(groups.clients["b1"], 1)
    prepared = await groups.prepare("b2")
    moved = with_successor(groups.topic, 0, "b2", prepared, forced_start=10_000)
    groups.topic = replace(moved, epoch=2_000)
    for name in ("b2", "b1"):
        await groups.store(name, is_forced=True)
    await send(b2, 1, start=10)
    moves = groups.servers["b2"].broker.share_moves
    # The segment never rests.
    monkeypatch.setattr(moves, "earlier_report", lambda *_: None)
    assert bodies(await take_all(b2)) == [b"0"]

    fields = pop_fields(TOPIC, queueId=0, pollTime=1_000, bornTime=0)
    told = await b2.call(RequestCode.POP_MESSAGE, fields)

    assert told.code == NOTHING


async def test_a_mapping_is_stored_although_the_former_leader_does_not_answer(groups, monkeypatch):
    async def wait_for_ever(*_):
        await asyncio.Event().wait()

    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 2)
    monkeypatch.setattr(logical_queues, "take_over", wait_for_ever)

    await groups.move("b1", "b2")

    assert bodies(await take_all(groups.clients["b2"])) == numbers(range(2))
