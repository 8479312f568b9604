"""Static topics on two broker groups: a client sees one queue, wherever its segments are stored."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import msgspec
import pytest

from backend.brokers.requests.logical_queues import (
    DiscardLogicalQueue,
    SealLogicalQueue,
    StoreMapping,
    UnsealLogicalQueue,
)
from backend.domain.logical_queue.commit import with_successor
from backend.domain.logical_queue.errors import QueueEpochFenced
from backend.domain.logical_queue.mapping import (
    LogicalQueue,
    QueueCounts,
    TopicMapping,
    copy_for,
)
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.operation_errors import ChangeRefused
from backend.domain.topic_layout import TopicLayout
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import HELD_MS, Client, bodies, messages, send_fields
from tests.integration.broker.static_topics import TOPIC, BrokerGroups, OldClient
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.broker.test_pulling import SUBSCRIPTION, SUSPEND, holding
from tests.integration.broker.test_sending import batch_entry
from tests.waiting import PATIENCE_S, eventually
from workers.broker.dispatcher import Dispatcher
from workers.broker.logical import forwarding

NOT_FOUND, RETRY_IMMEDIATELY, NOT_LEADER, ILLEGAL = 19, 20, 501, 604
TOPIC_NOT_EXIST = 17


@pytest.fixture
async def groups(tmp_path):
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        await groups.start("b1")
        await groups.start("b2")
        yield groups


async def send(client, count, *, start=0, queue_id=0):
    sent = []
    for number in range(start, start + count):
        reply = await client.send(TOPIC, b"%d" % number, queue_id=queue_id)
        assert reply.code == 0, reply.remark
        sent.append((int(reply.ext["queueId"]), int(reply.ext["queueOffset"])))
    return sent


async def read_all(client, offset=0, *, group="g", limit=50):
    """Read a logical queue as a client does, up to its end: pairs of offset and body."""
    read, codes = [], []
    for _ in range(limit):
        reply = await client.pull(TOPIC, queueOffset=offset, consumerGroup=group)
        codes.append(reply.code)
        if reply.code == NOT_FOUND:
            return read, codes, offset
        if reply.code == 0:
            delta = int(reply.ext["offsetDelta"])
            read += [(one.queue_offset + delta, one.body) for one in messages(reply)]
        offset = int(reply.ext["nextBeginOffset"])
    raise AssertionError(f"the end is not reached: {codes}")


async def offset_of(client, code, **fields):
    reply = await client.call(code, {"topic": TOPIC, "queueId": 0} | fields)
    assert reply.code == 0, reply.remark
    return int(reply.ext["offset"])


async def test_a_queue_moves_and_keeps_its_offsets(groups):
    """L11, L20, L29: the numbers of logical-queues.md 21.2."""
    await groups.create("b1", "b1", "b2", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    assert await send(b1, 101) == [(0, number) for number in range(101)]

    await groups.move("b1", "b2")

    assert (await b1.send(TOPIC, b"late", lqFwd=1)).code == NOT_LEADER
    assert await send(b1, 1, start=101) == [(0, 101)]
    assert await send(b2, 2, start=102) == [(0, 102), (0, 103)]
    read, codes, end = await read_all(b2)
    assert read == [(number, b"%d" % number) for number in range(104)]
    assert (end, set(codes)) == (104, {0, NOT_FOUND})
    held = await groups.held("b2")
    assert [str(one) for one in held.mapping.hosted[0]] == [
        "[g0 b1:q0 L0 S0 E101]",
        "[g1 b2:q2 L101 S0 E-]",
    ]
    assert (held.counts.write_count, held.prepared) == (3, {})


async def test_a_mapping_is_registered_before_the_broker_answers(groups):
    """M4; L64: its keys are quoted."""
    await groups.create("b1", "b2")

    await groups.move("b1", "b2")

    infos = groups.directory.infos()
    assert infos["b2"]["currIdMap"] == {"0": 1, "1": 0}
    assert (infos["b1"]["currIdMap"], infos["b1"]["epoch"]) == ({}, 2_000)
    assert infos["b1"]["totalQueues"] == 2


async def test_a_refused_mapping_leaves_no_trace(groups):
    """L52, L53."""
    await groups.create("b1", "b2")
    before = await groups.held("b1"), await groups.described("b1")
    first = groups.topic
    other = replace(
        first,
        queues=(LogicalQueue(0, (QueueSegment(0, "b1", 5),)), *first.queues[1:]),
        counts=first.counts | {"b1": QueueCounts(9, 9)},
    )

    for topic in (other, replace(other, epoch=900)):
        groups.topic = topic
        with pytest.raises((ChangeRefused, QueueEpochFenced)):
            await groups.store("b1")

    assert (await groups.held("b1"), await groups.described("b1")) == before
    groups.topic = first
    await groups.store("b1")


async def test_every_request_of_an_older_change_is_refused(groups):
    """L45: a delayed activation of an aborted change is refused by its epoch."""
    await groups.create("b1", "b2")
    await groups.prepare("b2")
    await groups.seal("b1")
    unseal = UnsealLogicalQueue(topic=TOPIC, global_id=0, epoch=3_000)
    await groups.ask("b1", unseal)
    await groups.ask("b1", unseal)

    for request in (SealLogicalQueue, UnsealLogicalQueue):
        with pytest.raises(QueueEpochFenced) as raised:
            await groups.ask("b1", request(topic=TOPIC, global_id=0, epoch=2_000))
        assert raised.value.held == 3_000

    groups.topic = replace(groups.topic, epoch=3_000)
    await groups.store("b1", is_final=True)
    assert await send(groups.clients["b1"], 1) == [(0, 0)]


async def test_a_change_that_was_undone_leaves_its_physical_queue_to_a_later_one(groups):
    await groups.create("b1", "b2")
    prepared = await groups.prepare("b2")
    assert await groups.prepare("b2") == prepared

    await groups.ask("b2", DiscardLogicalQueue(topic=TOPIC, global_id=0, epoch=3_000))

    held = await groups.held("b2")
    assert (held.prepared, sorted(held.retired)) == ({}, [prepared.queue_id])
    groups.topic = replace(groups.topic, epoch=3_000)
    assert await groups.prepare("b2") == prepared


async def test_a_seal_ends_after_the_last_admitted_message_and_refuses_all_later_ones(groups):
    """L23, L26: also one-way sends and batches."""
    await groups.create("b1", "b2")
    client = groups.clients["b1"]
    sends = [client.start(310, send_fields(TOPIC), b"%d" % number) for number in range(20)]

    seal = await groups.seal("b1")

    stored = [one for one in await asyncio.gather(*sends) if one.code == 0]
    assert seal.physical_end == len(stored)
    assert (seal.first_stored_ms > 0, seal.last_stored_ms > 0) == (bool(stored), bool(stored))
    client.notify(310, send_fields(TOPIC), b"one-way")
    refused = await client.send(TOPIC, b"late")
    assert (refused.code, "lqHint" in refused.ext) == (NOT_LEADER, False)
    assert await groups.seal("b1") == seal
    assert await offset_of(client, RequestCode.GET_MAX_OFFSET) == len(stored)


async def test_the_leader_answers_requests_of_an_old_route_and_a_refusal_names_it(groups):
    """L22: clients switch by the hint; until then the former leader forwards, once only."""
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 1)
    await groups.move("b1", "b2")
    wanted = {"topic": TOPIC, "queueId": 0}

    sent = await b1.send(TOPIC, b"x")
    pulled = await b1.pull(TOPIC, queueOffset=1)
    highest = await b1.call(RequestCode.GET_MAX_OFFSET, wanted)
    found = await b1.call(
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, wanted | {"timestamp": 0, "boundaryType": "LOWER"}
    )
    earliest = await b1.call(RequestCode.GET_EARLIEST_MSG_STORETIME, wanted)
    refused = [
        await b1.send(TOPIC, b"x", lqFwd=1),
        await b1.pull(TOPIC, lqFwd=1),
        await b1.call(RequestCode.GET_MAX_OFFSET, wanted | {"lqFwd": 1}),
    ]

    assert (sent.code, sent.ext["queueId"], sent.ext["queueOffset"]) == (0, "0", "1")
    assert (bodies(pulled), pulled.ext["nextBeginOffset"]) == ([b"x"], "2")
    assert (highest.ext["offset"], found.ext["offset"]) == ("2", "0")
    assert int(earliest.ext["timestamp"]) > 0
    assert {(one.code, one.ext.get("lqHint")) for one in refused} == {(NOT_LEADER, "b2@2000")}


async def test_a_send_to_a_sealed_queue_waits_for_the_new_leader(groups):
    """L20: its producer sees no refusal, and the former leader's order stays."""
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 1)
    prepared, seal = await groups.prepare("b2"), await groups.seal("b1")
    waiting = [asyncio.ensure_future(b1.send(TOPIC, b"%d" % number)) for number in range(1, 4)]
    await asyncio.sleep(0.1)
    assert not any(one.done() for one in waiting)

    groups.decide(0, "b2", prepared, seal)
    await groups.store("b2")
    await groups.store("b1")

    replies = await asyncio.gather(*waiting)
    assert [(one.code, one.ext.get("queueOffset")) for one in replies] == [
        (0, str(number)) for number in range(1, 4)
    ]
    read, _, _ = await read_all(groups.clients["b2"])
    assert read == [(number, b"%d" % number) for number in range(4)]


async def test_a_sealed_queue_without_a_new_leader_refuses_in_time(groups):
    """L20: a client is not held for longer than it waits for an answer."""
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 1)
    await groups.seal("b1")

    begun_s = time.monotonic()
    refused = await b1.send(TOPIC, b"late")

    assert refused.code == NOT_LEADER
    assert time.monotonic() - begun_s > 2


async def test_a_message_without_a_queue_goes_to_a_queue_that_is_led_here(groups):
    """H-17."""
    await groups.create("b2", "b1", "b1")
    for queue_id in (1, 2):
        await send(groups.clients["b1"], 1, queue_id=queue_id)
    assert {one for one, _ in await send(groups.clients["b1"], 4, queue_id=-1)} == {1, 2}

    await groups.seal("b1", 1)

    assert {one for one, _ in await send(groups.clients["b1"], 2, queue_id=-1)} == {2}


async def test_a_static_topic_takes_no_delayed_and_no_transactional_message(groups):
    """L63."""
    await groups.create("b1", "b2")
    client = groups.clients["b1"]

    codes = [
        (await client.send(TOPIC, b"x", properties=properties)).code
        for properties in ({"DELAY": "2"}, {"TRAN_MSG": "true"}, {"TIMER_DELAY_SEC": "3"})
    ]

    assert codes == [ILLEGAL] * 3
    assert await offset_of(client, RequestCode.GET_MAX_OFFSET) == 0
    assert (await client.send(TOPIC, b"x", properties={"DELAY": "0"})).code == 0


async def test_a_topic_changes_its_kind_only_by_its_deletion(groups):
    """L61, L62, INV-37."""
    await groups.create("b1", "b2")
    client = groups.clients["b1"]
    assert (await client.call(17, create_fields(TOPIC))).code == ILLEGAL

    await send(client, 1)
    assert (await client.call(215, {"topic": TOPIC})).code == 0

    assert await groups.held("b1") is None
    assert (await client.call(17, create_fields(TOPIC))).code == 0
    assert groups.directory.tables()[-1].mapping_infos == {}
    reply = await client.send(TOPIC, b"x", queue_id=3)
    assert (reply.ext["queueId"], reply.ext["queueOffset"]) == ("3", "0")


async def test_a_tool_of_stock_sees_no_end_of_contiguous_segments(groups):
    """L60."""
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 5)
    await groups.move("b1", "b2")
    client = groups.clients["b2"]

    async def ends(**fields):
        reply = await client.call(351, {"topic": TOPIC} | fields)
        detail = msgspec.json.decode(reply.body).get("mappingDetail", {"hostedQueues": {}})
        return [one["endOffset"] for one in detail["hostedQueues"].get("0", ())]

    assert await ends(lo="true") == [-1, -1]
    assert await ends(lo="true", lqv="1") == [5, -1]
    assert await ends() == []
    table = msgspec.json.decode((await client.call(21)).body)
    [first, _] = table["topicQueueMappingDetailMap"][TOPIC]["hostedQueues"]["0"]
    assert (first["endOffset"], table["mappingDataVersion"]["counter"] > 0) == (-1, True)


async def test_positions_are_kept_at_the_segment_that_has_them(groups):
    """L29, L36: a commit in a segment of another broker group is stored there."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 10)
    await groups.move("b1", "b2")
    await send(b2, 5, start=10)
    for client in (b1, b2):
        await client.heartbeat("g", TOPIC)

    async def commit(offset):
        fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "commitOffset": offset}
        return (await b2.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code

    async def committed(client, **fields):
        wanted = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "setZeroIfNotFound": "false"}
        reply = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, wanted | fields)
        return int(reply.ext["offset"]) if reply.code == 0 else reply.code

    assert await committed(b2) == 22
    assert (await commit(7), await committed(b2)) == (0, 7)
    assert await committed(b1, lo="false") == 7
    assert (await commit(12), await committed(b2)) == (0, 12)
    assert await committed(b2, lo="false", queueId=1) == 2
    assert await committed(b1) == 12
    assert await committed(b1, lqFwd=1) == NOT_LEADER


async def test_a_pull_commits_logical_offsets(groups):
    """L37: a committed offset of a segment with another delta is read back as it was given."""
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 10)
    await groups.move("b1", "b2")
    b2 = groups.clients["b2"]
    await send(b2, 5, start=10)
    for client in groups.clients.values():
        await client.heartbeat("g", TOPIC)

    for offset in (13, 6, 14):
        await b2.pull(TOPIC, queueOffset=13, commitOffset=offset, sysFlag=SUBSCRIPTION | 1)
        fields = {"consumerGroup": "g", "setZeroIfNotFound": "false"}
        if offset >= 10:
            found = await offset_of(b2, RequestCode.QUERY_CONSUMER_OFFSET, **fields)
            assert found == offset
        else:
            fields |= {"lo": "false"}
            b1 = groups.clients["b1"]
            assert await offset_of(b1, RequestCode.QUERY_CONSUMER_OFFSET, **fields) == offset


async def test_ends_and_times_are_those_of_the_whole_queue(groups):
    """L38, L39: three segments, the middle one at another broker group."""
    await groups.create("b1", "b2")
    seals = []
    for at, name, destination in ((0, "b1", "b2"), (4, "b2", "b1")):
        await send(groups.clients[name], 4, start=at)
        seals.append(await groups.seal(name))
        await groups.move(name, destination)
        # The store times of two segments differ.
        await asyncio.sleep(0.01)
    client = groups.clients["b1"]
    await send(client, 4, start=8)

    async def search(timestamp, boundary="LOWER"):
        fields = {"timestamp": timestamp, "boundaryType": boundary}
        return await offset_of(client, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, **fields)

    assert await offset_of(client, RequestCode.GET_MIN_OFFSET) == 0
    assert await offset_of(client, RequestCode.GET_MAX_OFFSET) == 12
    wanted = {"topic": TOPIC, "queueId": 0}
    earliest = await client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, wanted)
    assert int(earliest.ext["timestamp"]) == seals[0].first_stored_ms
    assert await search(0) == 0
    assert await search(seals[0].last_stored_ms + 1) == 4
    assert 4 <= await search(seals[1].last_stored_ms) <= 7
    assert await search(seals[1].last_stored_ms, "UPPER") == 7
    assert await search(seals[1].last_stored_ms + 1) == 8
    assert [await search(2**62, boundary) for boundary in ("LOWER", "UPPER")] == [12, 12]


async def test_a_reader_at_the_end_of_a_sealed_queue_waits(groups):
    """L24, L31: it does not go on before the end is in the mapping, and asks once."""
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    await send(b1, 2)
    await groups.prepare("b2")
    await groups.seal("b1")

    waiting = b1.start_pull(TOPIC, queueOffset=2, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(groups.servers["b1"], 1)
    assert not waiting.done()
    await groups.move("b1", "b2")

    again = await waiting
    assert (again.code, again.ext["nextBeginOffset"]) == (RETRY_IMMEDIATELY, "2")
    await send(groups.clients["b2"], 1, start=2)
    assert bodies(await b1.pull(TOPIC, queueOffset=2)) == [b"2"]
    assert bodies(await groups.clients["b2"].pull(TOPIC, queueOffset=2)) == [b"2"]


async def test_after_a_forced_move_a_reader_leaves_the_old_segment_once_it_rests(groups):
    """L36, L46: the old segment has no recorded end, and a jump of offsets follows it."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 3)
    prepared = await groups.prepare("b2")
    groups.topic = replace(
        with_successor(groups.topic, 0, "b2", prepared, forced_start=10_000), epoch=2_000
    )
    await groups.store("b2", is_forced=True)
    assert await send(b2, 1) == [(0, 10_000)]
    # Its group did not know of the move.
    await send(b1, 1, start=3)
    await groups.store("b1", is_forced=True)
    for client in (b1, b2):
        await client.heartbeat("g", TOPIC)

    first = await b2.pull(TOPIC, queueOffset=0)
    at_end = await b2.pull(TOPIC, queueOffset=4)
    rested = await b2.pull(TOPIC, queueOffset=4, sysFlag=SUSPEND | SUBSCRIPTION)

    assert bodies(first) == [b"0", b"1", b"2", b"3"]
    assert (at_end.code, at_end.ext["nextBeginOffset"]) == (NOT_FOUND, "4")
    assert (rested.code, rested.ext["nextBeginOffset"]) == (20, "10000")
    assert bodies(await b2.pull(TOPIC, queueOffset=10_000)) == [b"0"]
    fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g"}
    for offset, kept in ((2, 2), (5_000, 4), (10_000, 10_000)):
        committed = fields | {"commitOffset": offset}
        assert (await b2.call(RequestCode.UPDATE_CONSUMER_OFFSET, committed)).code == 0
        assert await offset_of(b2, RequestCode.QUERY_CONSUMER_OFFSET, consumerGroup="g") == kept


async def test_a_parked_pull_gets_the_next_message_and_wakes_when_the_queue_moves(groups):
    """L30, L31."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 2)
    pull = b1.start_pull(TOPIC, queueOffset=2, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(groups.servers["b1"], 1)
    await send(b1, 1, start=2)
    found = await pull
    assert (found.code, bodies(found), found.ext["nextBeginOffset"]) == (0, [b"2"], "3")

    parked = b1.start_pull(TOPIC, queueOffset=3, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(groups.servers["b1"], 1)
    await groups.move("b1", "b2")

    woken = await parked
    assert (woken.code, woken.ext["nextBeginOffset"]) == (RETRY_IMMEDIATELY, "3")
    pull = b2.start_pull(TOPIC, queueOffset=3, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(groups.servers["b2"], 1)
    await send(b2, 1, start=3)
    first = await pull
    assert (bodies(first), first.ext["offsetDelta"]) == ([b"3"], "3")


async def test_a_push_consumer_reads_over_three_segments_with_its_filter(groups):
    """L29, L33: its group was offline during two moves."""
    await groups.create("b1", "b2")
    for index, (name, to) in enumerate((("b1", "b2"), ("b2", "b1"), ("b1", None))):
        client = groups.clients[name]
        for number in range(4):
            tags = {"TAGS": "even" if number % 2 == 0 else "odd"}
            await client.send(TOPIC, b"%d" % (index * 4 + number), properties=tags)
        if to is not None:
            await groups.move(name, to)
    reader = groups.clients["b1"]
    await reader.heartbeat("g", TOPIC, sub={"expression": "even"})

    offset, read = 0, []
    for _ in range(20):
        reply = await reader.pull(
            TOPIC, queueOffset=offset, sysFlag=0, subscription=None, subVersion=1
        )
        read += bodies(reply) if reply.code == 0 else []
        offset = int(reply.ext["nextBeginOffset"])
        if reply.code == NOT_FOUND:
            break

    assert read == [b"%d" % number for number in range(0, 12, 2)]
    assert offset == 12


async def test_an_older_segment_without_its_broker_group_is_named_and_the_newer_one_is_read(groups):
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 3)
    await groups.move("b1", "b2")
    await groups.stop("b1")
    del groups.directory.addresses["b1"]
    b2 = groups.clients["b2"]

    refused = await b2.pull(TOPIC, queueOffset=0)

    assert (refused.code, "g0 b1:q0" in refused.remark) == (2, True)
    assert await send(b2, 2, start=3) == [(0, 3), (0, 4)]
    assert bodies(await b2.pull(TOPIC, queueOffset=3)) == [b"3", b"4"]


async def lock(client, client_id, *queue_ids, code=RequestCode.LOCK_BATCH_MQ, **ext):
    """Lock queues, and return the ids of the locked ones."""
    queues = [
        {"brokerName": "__syslo__global__", "queueId": one, "topic": TOPIC} for one in queue_ids
    ]
    body = {"clientId": client_id, "consumerGroup": "g", "mqSet": queues}
    reply = await client.call(code, ext, body=msgspec.json.encode(body))
    assert reply.code == 0 or (reply.code == NOT_LEADER and "lqFwd" in ext), reply.remark
    locked = msgspec.json.decode(reply.body or b"{}").get("lockOKMQSet", ())
    return sorted(one["queueId"] for one in locked)


unlock = partial(lock, code=RequestCode.UNLOCK_BATCH_MQ)


async def test_a_lock_moves_with_its_queue(groups):
    """L32: another client gets no lock at the new leader before the first one ends."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 1)
    assert [await lock(b1, "c1", 0), await lock(b2, "c1", 0, lqFwd=1)] == [[0], []]

    await groups.move("b1", "b2")

    assert [await lock(b1, "c1", 0, lqFwd=1), await lock(b2, "c2", 0)] == [[], []]
    assert await lock(b2, "c1", 0) == [0]
    await unlock(b2, "c1", 0)
    assert await lock(b2, "c2", 0) == [0]


async def test_leaders_lock_queues_for_a_client_with_an_old_route(groups):
    """L32: the lock has one holder, whichever broker group its client asks."""
    await groups.start("b3")
    await groups.create("b1", "b2", "b3")
    b1, b2, b3 = (groups.clients[name] for name in ("b1", "b2", "b3"))
    await send(b1, 1)
    await groups.move("b1", "b2")
    await send(b2, 1, start=1)
    await groups.move("b2", "b3")

    assert await lock(b1, "c1", 0, 1, 2) == [0, 1, 2]

    assert [await lock(one, "c2", 0) for one in (b1, b2, b3)] == [[], [], []]
    assert await lock(b2, "c1", 0) == [0]
    await unlock(b1, "c1", 0, 1)
    assert await lock(b3, "c2", 0, 1, 2) == [0, 1]


async def test_requests_follow_a_queue_that_moved_several_times(groups):
    """L22: each former leader knows its successor only; the last refusal is no answer."""
    await groups.start("b3")
    await groups.create("b1", "b2")
    b1 = groups.clients["b1"]
    for at, (source, destination) in enumerate(
        (("b1", "b2"), ("b2", "b3"), ("b3", "b2"), ("b2", "b3"))
    ):
        await send(groups.clients[source], 1, start=at)
        await groups.move(source, destination)

    assert await send(b1, 1, start=4) == [(0, 4)]
    read, _, _ = await read_all(b1)
    assert read == [(number, b"%d" % number) for number in range(5)]
    assert await offset_of(b1, RequestCode.GET_MAX_OFFSET) == 5
    assert (await b1.send(TOPIC, b"x", lqFwd=1)).ext["lqHint"].startswith("b2@")


async def test_a_successor_that_is_gone_is_passed_over(groups):
    """The name servers know the leader, where the former leader's successor does not answer."""
    await groups.start("b3")
    await groups.create("b1", "b2", "b3")
    await groups.move("b1", "b2")
    await groups.move("b2", "b3")
    await groups.stop("b2")
    del groups.directory.addresses["b2"]

    assert await send(groups.clients["b1"], 2) == [(0, 0), (0, 1)]
    assert await send(groups.clients["b1"], 1, queue_id=2) == [(2, 0)]


async def test_a_leader_without_an_answer_leaves_the_outcome_unknown(groups):
    """A refusal (501) would say that the message is not stored."""
    await groups.create("b1", "b2")
    await groups.move("b1", "b2")
    silent = await asyncio.start_server(lambda reader, _: reader.read(), "127.0.0.1", 0)
    groups.directory.addresses["b2"] = f"127.0.0.1:{silent.sockets[0].getsockname()[1]}"

    reply = await groups.clients["b1"].send(TOPIC, b"x")

    silent.close()
    assert (reply.code, "unknown" in reply.remark) == (14, True)


async def test_sends_do_not_wait_behind_forwarded_pulls(groups, monkeypatch):
    """L20: pulls of many consumers wait at the leader for the clients of a former one."""
    monkeypatch.setattr(forwarding, "SUSPEND_MS_MAX", HELD_MS)
    monkeypatch.setattr(forwarding, "WAIT_S_MAX", PATIENCE_S)
    await groups.create("b1", "b2")
    await groups.move("b1", "b2")
    b1 = groups.clients["b1"]
    fields = {"sysFlag": SUSPEND | SUBSCRIPTION, "queueOffset": 0}
    waiting = [b1.start_pull(TOPIC, **fields) for _ in range(60)]
    other = await Client.connect(groups.servers["b1"].port)
    waiting += [other.start_pull(TOPIC, **fields) for _ in range(60)]
    await holding(groups.servers["b2"], 120)

    sender = await Client.connect(groups.servers["b1"].port)
    assert await send(sender, 1) == [(0, 0)]

    assert {bodies(one)[0] for one in await asyncio.gather(*waiting)} == {b"0"}
    for client in (other, sender):
        await client.close()


async def test_a_queue_that_the_topic_does_not_have_is_refused_at_once(groups):
    await groups.create("b1", "b2")

    begun_s = time.monotonic()
    refused = await groups.clients["b1"].send(TOPIC, b"x", queue_id=7)

    assert refused.code == NOT_LEADER
    assert time.monotonic() - begun_s < 2


async def old_client(groups, stack, name):
    client = await OldClient.connect(groups.servers[name].port)
    stack.push_async_callback(client.close)
    await client.heartbeat("g", TOPIC, client_id="old", sub={"expression": "a || b"})
    return client


async def read_as_old_client(client, queue_id):
    """Read a logical queue with the subscription of the group: what the records say, to the end."""
    read, offset = [], 0
    for _ in range(50):
        fields = {"queueId": queue_id, "queueOffset": offset, "sysFlag": 0, "subscription": None}
        reply = await client.pull(TOPIC, **fields, subVersion=1)
        if reply.code == NOT_FOUND:
            return read
        if reply.code == 0:
            read += [(one.queue_id, one.queue_offset, one.body) for one in messages(reply)]
        offset = int(reply.ext["nextBeginOffset"])
    raise AssertionError("the end is not reached")


async def test_a_client_without_static_topics_is_served_by_one_broker_group(groups):
    """L58: all queues, with logical ids and offsets in the records."""
    async with AsyncExitStack() as stack:
        await groups.start("b3")
        await groups.create("b1", "b2", "b3")
        front = await old_client(groups, stack, "b3")
        tags = {"TAGS": "a"}
        for queue_id in range(3):
            for number in range(2):
                sent = await front.send(TOPIC, b"%d" % number, queue_id=queue_id, properties=tags)
                place = sent.ext["queueId"], sent.ext["queueOffset"]
                assert place == (f"{queue_id}", f"{number}")
        # Older segments at the front, and elsewhere.
        await groups.move("b1", "b2", 0)
        await groups.move("b3", "b1", 2)
        await groups.move("b2", "b3", 1)
        for queue_id in range(3):
            sent = await front.send(TOPIC, b"2", queue_id=queue_id, properties=tags)
            assert (sent.ext["queueId"], sent.ext["queueOffset"]) == (f"{queue_id}", "2")
        await front.send(TOPIC, b"unwanted", properties={"TAGS": "c"})

        for queue_id in range(3):
            expected = [(queue_id, number, b"%d" % number) for number in range(3)]
            assert await read_as_old_client(front, queue_id) == expected


async def test_positions_locks_and_members_of_old_clients_are_served_by_the_front(groups):
    """L58."""
    async with AsyncExitStack() as stack:
        await groups.start("b3")
        await groups.create("b1", "b2", "b3")
        front = await old_client(groups, stack, "b3")
        await front.send(TOPIC, b"x", queue_id=0)
        await groups.move("b1", "b2")
        await front.send(TOPIC, b"x", queue_id=0)
        wanted = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "commitOffset": 2}
        await groups.clients["b2"].heartbeat("g", TOPIC)

        assert (await front.call(RequestCode.UPDATE_CONSUMER_OFFSET, wanted)).code == 0

        found = await offset_of(front, RequestCode.QUERY_CONSUMER_OFFSET, consumerGroup="g")
        assert found == 2
        assert await offset_of(front, RequestCode.GET_MAX_OFFSET) == 2
        assert await offset_of(front, RequestCode.GET_MIN_OFFSET) == 0
        assert await lock(front, "old", 0, 1, 2) == [0, 1, 2]
        members = await front.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"})
        # The front adds the members that others know: it has known the group for a moment only.
        assert msgspec.json.decode(members.body) == {"consumerIdList": ["old", "c1"]}


async def test_a_parked_pull_of_an_old_client_is_repeated_once_there_is_a_message(groups):
    """L58: its record gets the logical offset."""
    async with AsyncExitStack() as stack:
        await groups.create("b1", "b2")
        await send(groups.clients["b1"], 3)
        await groups.move("b1", "b2")
        client = await old_client(groups, stack, "b2")
        parked = client.start_pull(TOPIC, queueOffset=3, sysFlag=SUSPEND | SUBSCRIPTION)
        await holding(groups.servers["b2"], 1)

        await send(groups.clients["b2"], 1, start=3)

        again = await parked
        assert (again.code, again.ext["nextBeginOffset"]) == (RETRY_IMMEDIATELY, "3")
        [found] = messages(await client.pull(TOPIC, queueOffset=3))
        assert (found.queue_id, found.queue_offset, found.body) == (0, 3, b"3")
        [physical] = messages(await groups.clients["b2"].pull(TOPIC, queueOffset=3))
        assert (physical.queue_id, physical.queue_offset) == (1, 0)


async def test_a_message_that_is_stored_elsewhere_is_not_sent_back_to_the_front(groups):
    """L58: the log position is of another broker group; after a refusal the client sends a copy."""
    async with AsyncExitStack() as stack:
        await groups.create("b1", "b2")
        front = await old_client(groups, stack, "b2")
        tags = {"TAGS": "a"}
        for queue_id in range(2):
            await front.send(TOPIC, b"%d" % queue_id, queue_id=queue_id, properties=tags)

        async def send_back(queue_id):
            reply = await front.pull(TOPIC, queueId=queue_id)
            [record] = messages(reply)
            fields = {
                "offset": record.log_position,
                "group": "g",
                "delayLevel": 1,
                "originMsgId": record.properties["UNIQ_KEY"],
                "originTopic": TOPIC,
            }
            return (await front.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)).code

        assert [await send_back(0), await send_back(1)] == [1, 0]


async def test_a_restart_keeps_the_seal_and_the_mapping(groups, tmp_path):
    """L44, in part."""
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 3)
    seal = await groups.seal("b1")
    held = await groups.held("b1")
    await groups.stop("b1")

    document = msgspec.json.decode(
        (tmp_path / "b1" / "store" / "config" / "topicQueueMapping.json").read_bytes()
    )
    await groups.start("b1")

    assert document["topicQueueMappingInfoMap"][TOPIC]["hostedQueues"]["0"][0]["bname"] == "b1"
    assert await groups.held("b1") == held
    assert await groups.seal("b1") == seal
    assert (await groups.clients["b1"].send(TOPIC, b"late")).code == NOT_LEADER


async def test_a_returned_broker_group_takes_no_message_of_a_queue_that_it_lost(groups):
    """L46, L50: it gets the mapping before its queues take messages, and forwards from then on."""
    await groups.create("b1", "b2", "b1")
    await send(groups.clients["b1"], 3)
    await groups.stop("b1")
    prepared = await groups.prepare("b2")
    moved = with_successor(groups.topic, 0, "b2", prepared, forced_start=10_000)
    groups.topic = groups.directory.present = replace(moved, epoch=2_000)
    await groups.store("b2", is_forced=True)
    groups.directory.confirms = False

    b1 = await groups.start("b1")
    refused = [(await b1.send(TOPIC, b"x", queue_id=one, lqFwd=1)).code for one in (0, 2, -1)]
    waiting = [asyncio.ensure_future(b1.send(TOPIC, b"3", queue_id=one)) for one in (0, 2)]
    groups.directory.confirm()

    assert refused == [NOT_LEADER] * 3
    sent = await asyncio.gather(*waiting)
    assert [(one.code, one.ext["queueId"], one.ext["queueOffset"]) for one in sent] == [
        (0, "0", "10000"),
        (0, "2", "0"),
    ]
    held = await groups.held("b1")
    assert (held.info.epoch, held.mapping.leads(0), held.mapping.leads(2)) == (2_000, False, True)
    _, end = groups.servers["b1"].store.held_offsets(TOPIC, 0)
    assert end == 3


async def test_a_mapping_that_a_returned_broker_group_refuses_opens_no_queue(groups):
    """INV-34: the topic waits for a mapping of an operator; other ones take messages."""
    await groups.create("b1", "b2")
    await groups.stop("b1")
    other = groups.topic.queue(0).with_segments(QueueSegment(0, "b1", 5))
    groups.directory.present = replace(groups.topic.with_queue(other), epoch=2_000)

    b1 = await groups.start("b1")
    leading = groups.servers["b1"].broker.leading
    await eventually(lambda: leading.outdated == {TOPIC})

    assert (await b1.send(TOPIC, b"x", lqFwd=1)).code == NOT_LEADER
    groups.topic = replace(groups.topic, epoch=3_000)
    await groups.store("b1", is_final=True)
    assert await send(b1, 1) == [(0, 0)]


async def test_a_mapping_whose_topic_is_missing_holds_up_no_other_topic(groups):
    """INV-34, INV-36: the newer mapping of one topic can't be stored without its layout."""
    await groups.create("b1", "b2")
    other = TopicMapping(
        "Other",
        1_000,
        (LogicalQueue(0, (QueueSegment(0, "b1", 0),)),),
        {"b1": QueueCounts(1, 1)},
    )
    layout = TopicLayout(read_queue_count=1, write_queue_count=1)
    await groups.ask("b1", StoreMapping(layout=layout, mapping=copy_for(other, "b1")))
    groups.directory.present = replace(groups.topic, epoch=2_000)
    broker = groups.servers["b1"].broker
    broker.topics.remove(TOPIC)

    broker.withdraw_queues()
    broker.confirmation.refresh()

    await eventually(lambda: broker.leading.outdated == {TOPIC})
    assert (await groups.clients["b1"].send("Other", b"x")).code == 0


async def test_the_mapping_file_of_another_broker_group_is_left_out(groups, tmp_path):
    """L10: the broker starts, and registers nothing of it."""
    await groups.create("b1", "b2")
    await groups.stop("b1")
    await groups.stop("b2")
    folders = [tmp_path / name / "store" / "config" for name in ("b1", "b2")]
    copied = msgspec.json.decode((folders[0] / "topicQueueMapping.json").read_bytes())
    # As a tool wrote it: without our marks.
    del copied["isInLog"]
    (folders[1] / "topicQueueMapping.json").write_bytes(msgspec.json.encode(copied))

    await groups.start("b2")

    [left_out] = groups.servers["b2"].broker.static_topics.left_out
    assert (left_out.name, "INV-2" in left_out.reason) == (TOPIC, True)
    assert await groups.held("b2") is None


async def test_a_queue_that_moves_back_gets_a_new_physical_queue_while_the_old_one_has_data(groups):
    """L13: the numbers of logical-queues.md 21.6, with fewer messages."""
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 3)
    await groups.move("b1", "b2")
    await send(groups.clients["b2"], 2, start=3)

    await groups.move("b2", "b1")

    assert [str(one) for one in (await groups.held("b1")).mapping.hosted[0]] == [
        "[g0 b1:q0 L0 S0 E3]",
        "[g1 b2:q1 L3 S0 E2]",
        "[g2 b1:q1 L5 S0 E-]",
    ]
    assert await send(groups.clients["b1"], 1, start=5) == [(0, 5)]
    read, _, _ = await read_all(groups.clients["b1"])
    assert read == [(number, b"%d" % number) for number in range(6)]


async def test_an_expired_queue_is_used_again_without_the_old_positions(tmp_path):
    """L12, L35, L39: the numbers of logical-queues.md 21.3 to 21.5, with fewer messages."""
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        b1 = await groups.start("b1", **SHORT_LIVED)
        b2 = await groups.start("b2")
        await groups.create("b1", "b1")
        await send(b1, 10)
        await b1.heartbeat("g", TOPIC)
        await b2.heartbeat("g", TOPIC)
        fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "commitOffset": 10}
        assert (await b1.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code == 0
        await groups.move("b1", "b2")
        await send(b2, 5, start=10)
        held = groups.topic.queue(0).segments[-1]
        stored_ms = groups.servers["b2"].store.store_timestamp(TOPIC, held.queue_id, 0)
        await fill(b1)
        await expire(groups.servers["b1"], b1, 0, (10, 10))

        assert await offset_of(b2, RequestCode.GET_MIN_OFFSET) == 10
        wanted = {"topic": TOPIC, "queueId": 0}
        earliest = await b2.call(RequestCode.GET_EARLIEST_MSG_STORETIME, wanted)
        assert int(earliest.ext["timestamp"]) == stored_ms
        pulled = await b2.pull(TOPIC, queueOffset=5)
        assert (pulled.code, pulled.ext["nextBeginOffset"]) == (20, "10")
        await drop_first_segment(groups, "b1", "b2")
        prepared = await groups.prepare("b1")
        assert (prepared.queue_id, prepared.physical_start) == (0, 10)
        groups.decide(0, "b1", prepared, await groups.seal("b2"))
        await groups.store("b1")
        await groups.store("b2", is_final=True)

        assert await send(b1, 1, start=15) == [(0, 15)]
        fields |= {"setZeroIfNotFound": "false"}
        assert (await b1.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)).code == 22
        read, _, _ = await read_all(b1, 10)
        assert read == [(number, b"%d" % number) for number in range(10, 16)]
        assert (await groups.held("b1")).counts.write_count == 2


async def test_a_reader_of_a_hole_in_a_middle_segment_goes_on_behind_it(tmp_path):
    """L40: with a retry, never a reset to an end of the whole queue."""
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        b1 = await groups.start("b1")
        b2 = await groups.start("b2", **SHORT_LIVED)
        await groups.create("b1", "b2")
        await send(b1, 3)
        await groups.move("b1", "b2")
        await send(b2, 5, start=3)
        await fill(b2)
        await send(b2, 5, start=8)
        await groups.move("b2", "b1")
        await send(b1, 1, start=13)
        queue_id = groups.topic.queue(0).segments[1].queue_id
        await expire(groups.servers["b2"], b2, queue_id, (5, 10))

        in_hole = await b1.pull(TOPIC, queueOffset=4)
        read, _, _ = await read_all(b1)

        assert (in_hole.code, in_hole.ext["nextBeginOffset"]) == (20, "8")
        assert [offset for offset, _ in read] == [0, 1, 2, *range(8, 14)]


SHORT_LIVED = {
    "fileReservedTime": "0",
    "mappedFileSizeCommitLog": "65536",
    "cleanResourceInterval": "3600000",
}


async def fill(client):
    """Store more in the second logical queue than a file of the log holds."""
    for _ in range(100):
        await client.send(TOPIC, b"x" * 2000, queue_id=1)


async def expire(server, client, queue_id, left):
    """Let all but the last file of the log expire, and wait until a queue has what is left."""
    store = server.broker.store
    await eventually(lambda: store.flushed_position == store.max_position)
    await client.call(RequestCode.DELETE_EXPIRED_COMMITLOG)
    await eventually(lambda: store.offsets(TOPIC, queue_id) == left)


async def drop_first_segment(groups, *names):
    """Have broker groups forget the oldest segment of logical queue 0."""
    queue = groups.topic.queue(0)
    shorter = queue.with_segments(*queue.segments[1:])
    groups.topic = replace(groups.topic.with_queue(shorter), epoch=groups.topic.epoch + 1_000)
    for name in names:
        mapping = copy_for(groups.topic, name)
        mapping = replace(mapping, hosted={**mapping.hosted, 0: shorter.segments})
        layout = TopicLayout(read_queue_count=1, write_queue_count=1)
        await groups.ask(name, StoreMapping(layout=layout, mapping=mapping))


async def test_a_queue_without_messages_moves_and_begins_at_zero(groups):
    """L17."""
    await groups.create("b1", "b2")

    await groups.move("b1", "b2")

    held = await groups.held("b2")
    assert [str(one) for one in held.mapping.hosted[0]] == ["[g1 b2:q1 L0 S0 E-]"]
    assert await send(groups.clients["b2"], 2) == [(0, 0), (0, 1)]
    assert sorted((await groups.held("b1")).retired) == [0]


async def test_a_batch_lies_in_one_segment(groups):
    """L27."""
    await groups.create("b1", "b2")
    batch = batch_entry(b"x", {}) * 3
    fields = send_fields(TOPIC) | {"m": "true"}

    async def send_batch(name):
        return await groups.clients[name].call(RequestCode.SEND_BATCH_MESSAGE, fields, batch)

    first = await send_batch("b1")
    await groups.move("b1", "b2")

    assert (first.ext["queueId"], first.ext["queueOffset"]) == ("0", "0")
    assert (await send_batch("b1")).ext["queueOffset"] == "3"
    assert (await send_batch("b2")).ext["queueOffset"] == "6"


async def test_of_two_mappings_of_one_epoch_the_second_one_is_refused(groups):
    """L51: with an error, never a silent success."""
    await groups.create("b1", "b2")
    first = groups.topic
    moved = first.queue(0).with_segments(QueueSegment(0, "b2", 7))
    other = replace(first.with_queue(moved), counts={**first.counts, "b1": QueueCounts(8, 8)})
    before = await groups.held("b1")

    groups.topic = replace(other, queues=other.queues)
    mapping = replace(copy_for(other, "b1"), hosted={0: moved.segments})
    layout = TopicLayout(read_queue_count=8, write_queue_count=8)
    with pytest.raises(ChangeRefused, match="INV"):
        await groups.ask("b1", StoreMapping(layout=layout, mapping=mapping))

    assert await groups.held("b1") == before


async def test_an_undecided_queue_is_answered_as_busy(groups, tmp_path):
    """L66: a file of stock's tools, after a cleaning that left only the undecided segment."""
    await groups.create("b1", "b2")
    await groups.stop("b1")
    path = tmp_path / "b1" / "store" / "config" / "topicQueueMapping.json"
    document = msgspec.json.decode(path.read_bytes())
    document["topicQueueMappingInfoMap"][TOPIC]["hostedQueues"]["0"][0]["logicOffset"] = -1
    del document["isInLog"]
    path.write_bytes(msgspec.json.encode(document))
    client = await groups.start("b1")
    wanted = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g"}
    await client.heartbeat("g", TOPIC)

    codes = {
        code: (await client.call(code, wanted | {"timestamp": 0, "commitOffset": 1})).code
        for code in (14, 15, 29, 30, 31, 32)
    }

    assert codes == dict.fromkeys(codes, 2)
    assert (await client.pull(TOPIC)).code == 2
    assert (await client.send(TOPIC, b"x")).code == 2


async def test_a_delayed_message_of_before_goes_to_a_queue_that_takes_messages(groups):
    """H-10: it does not land behind the end of a sealed segment."""
    client = groups.clients["b1"]
    assert (
        await client.call(17, create_fields(TOPIC, readQueueNums=2, writeQueueNums=2))
    ).code == 0
    await client.send(TOPIC, b"delayed", properties={"DELAY": "6"})
    await groups.create("b1", "b1", "b2")
    await send(client, 1)

    await groups.seal("b1", 0)

    async def is_delivered():
        return await offset_of(client, RequestCode.GET_MAX_OFFSET, queueId=1) == 1

    await eventually(is_delivered)
    assert await offset_of(client, RequestCode.GET_MAX_OFFSET) == 1


async def test_sends_and_pulls_in_the_last_segment_do_not_reach_the_dispatcher(groups, monkeypatch):
    """Only the first send, whose queue lacks a file, and the first pull, which is checked, do."""
    await groups.create("b1", "b2")
    await send(groups.clients["b1"], 2)
    await groups.move("b1", "b2")
    b2 = groups.clients["b2"]
    await send(b2, 1, start=2)
    await b2.pull(TOPIC, queueOffset=2)
    dispatched, dispatch = [], Dispatcher.dispatch

    def noted(self, caller, command):
        dispatched.append(int(command.code))
        return dispatch(self, caller, command)

    monkeypatch.setattr(Dispatcher, "dispatch", noted)

    assert await send(b2, 3, start=3) == [(0, 3), (0, 4), (0, 5)]
    assert bodies(await b2.pull(TOPIC, queueOffset=2)) == [b"2", b"3", b"4", b"5"]
    parked = b2.start_pull(TOPIC, queueOffset=6, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(groups.servers["b2"], 1)
    await send(b2, 1, start=6)

    assert bodies(await parked) == [b"6"]
    assert dispatched == []


class Follower:
    """Finds the leader of logical queue 0: by the hint of a refusal, or by trying."""

    def __init__(self, groups, name):
        self.groups, self.name = groups, name

    async def ask(self, request):
        """Make a request of the leader until one takes it."""
        while True:
            reply = await request(self.groups.clients[self.name])
            if reply.code != NOT_LEADER:
                return reply
            hint = reply.ext.get("lqHint", "").partition("@")[0]
            names = sorted(self.groups.clients)
            self.name = hint or names[(names.index(self.name) + 1) % len(names)]
            await asyncio.sleep(0.001)


async def produce(groups, acknowledged, is_over):
    leader, number = Follower(groups, "b1"), 0
    while not is_over.is_set():
        reply = await leader.ask(partial(Client.send, topic=TOPIC, body=b"%d" % number))
        assert reply.code == 0, reply.remark
        acknowledged.append((int(reply.ext["queueOffset"]), b"%d" % number))
        number += 1


async def consume(groups, read, producing, acknowledged):
    leader, offset = Follower(groups, "b1"), 0
    while not (producing.done() and len(read) >= len(acknowledged)):
        fields = {"queueOffset": offset, "sysFlag": SUSPEND | SUBSCRIPTION}
        waiting = {"suspendTimeoutMillis": 200}
        reply = await leader.ask(partial(Client.pull, topic=TOPIC, **(fields | waiting)))
        if reply.code == 0:
            delta = int(reply.ext["offsetDelta"])
            read += [(one.queue_offset + delta, one.body) for one in messages(reply)]
        following = int(reply.ext["nextBeginOffset"])
        assert following >= offset, "a reader never goes back"
        offset = following


async def test_ten_moves_under_load_lose_and_reorder_nothing(groups):
    """L16, L20: also nothing is read twice, and the offsets have no gap."""
    await groups.start("b3")
    await groups.create("b1", "b2", "b3")
    acknowledged, read, is_over = [], [], asyncio.Event()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        producing = tasks.create_task(produce(groups, acknowledged, is_over))
        tasks.create_task(consume(groups, read, producing, acknowledged))
        names = ["b1", "b2", "b3"]
        for turn in range(10):
            count = len(acknowledged)
            await eventually(lambda count=count: len(acknowledged) > count + 5)
            await groups.move(names[turn % 3], names[(turn + 1) % 3])
        is_over.set()

    assert [offset for offset, _ in acknowledged] == list(range(len(acknowledged)))
    assert read == acknowledged
    held = await groups.held("b2")
    assert [one.generation for one in held.mapping.hosted[0]] == list(range(11))


async def test_a_tool_of_stock_moves_a_queue_in_its_own_steps(groups):
    """The steps of logical-queues.md 9.1; an undecided segment takes no message."""
    await groups.create("b1", "b2")
    b1, b2 = groups.clients["b1"], groups.clients["b2"]
    await send(b1, 3)

    async def store(name):
        counts = groups.topic.counts[name]
        layout = TopicLayout(
            read_queue_count=counts.read_count, write_queue_count=counts.write_count
        )
        request = StoreMapping(layout=layout, mapping=copy_for(groups.topic, name))
        ext = {key: one for key, one in request.ext.items() if not key.startswith("lq")}
        reply = await groups.clients[name].call(request.code, ext, request.body)
        assert reply.code == 0, reply.remark

    queue = groups.topic.queue(0)
    undecided = queue.with_segments(*queue.segments, QueueSegment(1, "b2", 1, -1))
    groups.topic = replace(groups.topic.with_queue(undecided), epoch=2_000)
    groups.topic = groups.topic.with_counts("b2", QueueCounts(2, 2))
    for name in ("b2", "b1"):
        await store(name)
        assert (await b2.send(TOPIC, b"too early")).code == 2
    assert (await b1.send(TOPIC, b"too late", lqFwd=1)).code == NOT_LEADER
    end = await offset_of(b1, RequestCode.GET_MAX_OFFSET, lo="false")
    decided = queue.with_segments(*queue.segments, QueueSegment(1, "b2", 1, 10_000))
    groups.topic = groups.topic.with_queue(decided)
    for name in ("b2", "b1"):
        await store(name)

    assert end == 3
    assert await send(b2, 2, start=3) == [(0, 10_000), (0, 10_001)]
    at_end = await b2.pull(TOPIC, queueOffset=3, sysFlag=SUSPEND | SUBSCRIPTION)
    assert (at_end.code, at_end.ext["nextBeginOffset"]) == (20, "10000")
    assert bodies(await b2.pull(TOPIC, queueOffset=10_000)) == [b"3", b"4"]
