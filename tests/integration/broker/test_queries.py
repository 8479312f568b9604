"""Finding messages by key (request 12), through the index that the agent builds."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from regent_engine import parse_offset_message_id

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, bodies, messages
from tests.waiting import PATIENCE_S, eventually
from workers.broker.commit_log.indexer import Indexer
from workers.broker.commit_log.read_threads import SEARCH_COUNT
from workers.broker.processors import inspection
from workers.broker.server import BrokerServer

EVER = {"beginTimestamp": 0, "endTimestamp": 2**63 - 1}
UNIQUE = {"_UNIQUE_KEY_QUERY": "true"}


async def query(client: Client, key: str, topic: str = "T", **fields: object):
    given = {"topic": topic, "key": key, "maxNum": 10} | EVER | fields
    return await client.call(RequestCode.QUERY_MESSAGE, given)


def indexed(server: BrokerServer) -> None:
    """Take the index thread's turn at once."""
    while server.store.advance_followers(time.time_ns() // 1_000_000, 0) > 0:
        pass


async def test_messages_are_found_by_their_keys_the_oldest_first(broker, client):
    await client.send("T", b"one", properties={"KEYS": "k1 k2", "UNIQ_KEY": "U1"})
    await client.send("T", b"two", properties={"KEYS": "k2", "UNIQ_KEY": "U2"})
    await client.send("Other", b"three", properties={"KEYS": "k2", "UNIQ_KEY": "U2"})
    indexed(broker)

    both, one, unique = [await query(client, key) for key in ("k2", "k1", "U2")]
    newest = await query(client, "k2", maxNum=1)

    assert [bodies(answer) for answer in (both, one, unique)] == [
        [b"one", b"two"],
        [b"one"],
        [b"two"],
    ]
    assert bodies(newest) == [b"two"]
    status = broker.store.index_status()
    assert int(both.ext["indexLastUpdatePhyoffset"]) == status.end_position
    assert int(both.ext["indexLastUpdateTimestamp"]) == status.end_timestamp_ms


async def test_a_query_by_unique_key_sees_only_those_and_as_many_as_stock_gives(broker, client):
    await client.send("T", b"keys", properties={"KEYS": "U1", "UNIQ_KEY": "other"})
    for number in range(34):
        await client.send("T", b"%d" % number, properties={"UNIQ_KEY": "U1"})
    indexed(broker)

    found = await query(client, "U1", maxNum=1, **UNIQUE)

    assert bodies(found) == [b"%d" % number for number in range(2, 34)]


async def test_a_key_given_by_the_broker_is_indexed_too(broker, client):
    sent = await client.send("T", b"x")
    indexed(broker)

    found = await query(client, sent.ext["transactionId"], **UNIQUE)

    assert bodies(found) == [b"x"]


async def test_messages_are_found_by_tags(broker, client):
    await client.send("T", b"red", properties={"TAGS": "red"})
    await client.send("T", b"blue", properties={"TAGS": "blue"})
    indexed(broker)

    found = await query(client, "red", indexType="T")
    as_key = await query(client, "red")

    assert bodies(found) == [b"red"]
    assert as_key.code == 22


@pytest.fixture
async def not_indexing(start_broker, monkeypatch):
    """A broker whose index gets nothing by itself."""
    monkeypatch.setattr(Indexer, "start", lambda _: None)
    return await start_broker()


async def test_a_message_is_found_right_after_its_acknowledgement(not_indexing, connect):
    # Case C7.
    client = await connect(not_indexing)
    await client.send("T", b"one", properties={"KEYS": "k1 k2", "TAGS": "red", "UNIQ_KEY": "U1"})
    await client.send("T", b"two", properties={"KEYS": "k2", "UNIQ_KEY": "U2"})
    await client.send("Other", b"three", properties={"KEYS": "k2", "UNIQ_KEY": "U2"})
    stored_at_ms = bodies_and_times(await query(client, "k1"))[0][1]

    assert bodies(await query(client, "k2")) == [b"one", b"two"]
    assert bodies(await query(client, "k2", maxNum=1)) == [b"two"]
    assert bodies(await query(client, "U2", **UNIQUE)) == [b"two"]
    assert bodies(await query(client, "U2", indexType="U")) == [b"two"]
    assert (await query(client, "k2", **UNIQUE)).code == 22
    assert bodies(await query(client, "red", indexType="T")) == [b"one"]
    assert (await query(client, "k1", endTimestamp=stored_at_ms - 1)).code == 22
    assert (await query(client, "k1", beginTimestamp=stored_at_ms + 60_000)).code == 22
    assert not_indexing.store.index_status().position == 0


async def test_what_is_indexed_and_what_is_not_are_found_together(not_indexing, connect):
    # Case C7.
    client = await connect(not_indexing)
    for number in range(4):
        await client.send("T", b"%d" % number, properties={"KEYS": "k"})
        if number == 1:
            indexed(not_indexing)

    everything = await query(client, "k")
    newest = await query(client, "k", maxNum=3)
    indexed(not_indexing)

    assert bodies(everything) == [b"0", b"1", b"2", b"3"]
    assert bodies(newest) == [b"1", b"2", b"3"]
    assert bodies(await query(client, "k")) == [b"0", b"1", b"2", b"3"]


def bodies_and_times(answer):
    return [(record.body, record.store_timestamp_ms) for record in messages(answer)]


async def test_what_is_not_there_is_answered_as_not_found(broker, client):
    await client.send("T", b"x", properties={"KEYS": "k"})
    indexed(broker)

    answers = [
        await query(client, "absent"),
        await query(client, "k", topic="Other"),
        await query(client, "k", maxNum=0),
        await query(client, "k", maxNum=-1),
        await query(client, "k", beginTimestamp=0, endTimestamp=1),
    ]

    assert {answer.code for answer in answers} == {22}
    assert answers[0].remark == "can not find message, maybe time range not correct"


async def test_a_search_that_takes_too_long_is_answered_with_what_helps(
    broker, client, monkeypatch
):
    monkeypatch.setattr(inspection, "SEARCH_TIMEOUT_MS", 0)
    for _ in range(10):
        # "Aa" has the same hash, so that each of these is looked at.
        await client.send("T", b"x", properties={"KEYS": "BB"})
    indexed(broker)

    refused = await query(client, "Aa")

    assert refused.code == 1
    assert refused.remark.startswith("search_too_long: the search was given up after ")
    assert refused.remark.endswith("narrow its range of times")


async def test_a_search_that_others_kept_waiting_too_long_says_so(broker, client, monkeypatch):
    monkeypatch.setattr(inspection, "SEARCH_WAIT_MAX_MS", 20)
    is_over = threading.Event()
    others = [
        broker.broker.read_threads.searches.submit(is_over.wait, PATIENCE_S)
        for _ in range(SEARCH_COUNT)
    ]
    waiting = asyncio.ensure_future(query(client, "k"))
    # Its time runs from when it joins those that wait for a thread.
    await eventually(broker.broker.read_threads.searches._work_queue.qsize)
    await asyncio.sleep(0.1)
    assert not waiting.done()

    is_over.set()

    refused = await waiting
    assert all(other.result() for other in others)
    assert refused.code == 2
    assert refused.remark.startswith("other searches by key kept this one waiting for ")


async def test_searches_have_threads_of_their_own(broker, client):
    await client.send("T", b"x", properties={"KEYS": "k"})
    indexed(broker)
    release = threading.Event()
    loop = asyncio.get_running_loop()
    # All threads that other work goes to are busy.
    loop.set_default_executor(ThreadPoolExecutor(1))
    other = loop.run_in_executor(None, release.wait)
    try:
        async with asyncio.timeout(PATIENCE_S):
            found = await query(client, "k")
    finally:
        release.set()
        await other

    assert bodies(found) == [b"x"]


async def test_searches_that_do_not_end_hold_up_nothing_else(broker, client, connect):
    release = threading.Event()
    waiting = [broker.broker.read_threads.searches.submit(release.wait) for _ in range(4)]
    searching = asyncio.create_task(query(await connect(broker), "k"))
    try:
        async with asyncio.timeout(PATIENCE_S):
            await client.send("T", b"x")
            info = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
            await asyncio.to_thread(broker.store.advance_followers, 1, 0)
        assert not searching.done()
    finally:
        release.set()

    assert info.code == 0
    assert (await searching).code == 22
    assert all(one.result() for one in waiting)


async def test_a_broker_that_stops_waits_for_no_search(broker):
    threads, release = broker.broker.read_threads, threading.Event()
    running = [threads.searches.submit(release.wait) for _ in range(2)]
    queued = threads.searches.submit(release.wait)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await broker.close()
    finally:
        release.set()

    assert queued.cancelled()
    assert all(one.result() for one in running)


async def test_a_query_without_its_fields_is_refused(client):
    refused = await client.call(RequestCode.QUERY_MESSAGE, {"topic": "T", "key": "k"})

    assert refused.code == 1


async def test_an_answer_stays_within_a_frame(start_broker, connect):
    server = await start_broker(mappedFileSizeCommitLog=str(32 << 20))
    client = await connect(server)
    for number in range(5):
        body = b"%d" % number + bytes(4_000_000)
        sent = await client.send("T", body, properties={"KEYS": "large"})
        assert sent.code == 0
    indexed(server)

    found = await query(client, "large")

    assert [body[:1] for body in bodies(found)] == [b"2", b"3", b"4"]


async def test_the_index_survives_a_restart(start_broker, connect):
    server = await start_broker()
    client = await connect(server)
    sent = await client.send("T", b"kept", properties={"KEYS": "k"})
    # Nothing waits for the index: stopping completes it.
    await server.close()
    names = [path.name for path in (server.settings.root_dir / "index").iterdir()]

    again = await start_broker()
    found = await query(await connect(again), "k")

    assert bodies(found) == [b"kept"]
    _, _, position = parse_offset_message_id(sent.ext["msgId"])
    assert again.store.index_status().end_position == position
    assert [(len(name), name.isdecimal()) for name in names] == [(17, True)]


async def test_a_disabled_index_finds_nothing_and_costs_no_file(start_broker, connect):
    server = await start_broker(messageIndexEnable="false")
    client = await connect(server)
    await client.send("T", b"x", properties={"KEYS": "k"})
    indexed(server)

    found = await query(client, "k")

    assert found.code == 22
    assert not (server.settings.root_dir / "index").exists()
