"""Requests that wait for the disk, while others are served and while the world changes."""

import asyncio
from functools import partial

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.integration.broker.slow_disk import SlowDisk
from tests.integration.broker.test_fenced_changes import step
from tests.integration.broker.test_pulling import SUBSCRIPTION, SUSPEND, holding
from tests.waiting import PATIENCE_S
from workers.broker.commit_log.delayed_message import read_delayed
from workers.broker.commit_log.read_threads import COLD_COUNT
from workers.broker.commit_log.write_block import WriteBlock

QUEUE = {"topic": "T", "queueId": 0}
SEARCH = QUEUE | {"timestamp": 0}
RESET = {"topic": "T", "group": "g", "timestamp": 0, "isForce": "true"}
GROUP = {"consumerGroup": "g"}
SEND_BACK = {"group": "g", "delayLevel": 1, "originTopic": "T"}

THE_MESSAGE = "where the message lies in the log"

READS = [
    ("record", RequestCode.VIEW_MESSAGE_BY_ID, {"offset": THE_MESSAGE}),
    ("record", RequestCode.CONSUMER_SEND_MSG_BACK, SEND_BACK | {"offset": THE_MESSAGE}),
    ("offset_by_time", RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, SEARCH),
    ("offset_by_time", RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RESET),
    ("earliest_store_timestamp", RequestCode.GET_EARLIEST_MSG_STORETIME, QUEUE),
    ("entries", RequestCode.QUERY_CONSUMER_OFFSET, QUEUE | GROUP),
    ("store_timestamp", RequestCode.GET_TOPIC_STATS_INFO, {"topic": "T"}),
    ("store_timestamp", RequestCode.GET_CONSUME_STATS, {"consumerGroup": "other"}),
    ("store_timestamp", RequestCode.GET_BROKER_CONSUME_STATS, {"isOrder": "false"}),
    ("store_timestamp", RequestCode.QUERY_CONSUME_TIME_SPAN, {"topic": "T", "group": "g"}),
    ("queues", RequestCode.GET_BROKER_SAMPLE, {}),
    ("index_status", RequestCode.GET_BROKER_RUNTIME_INFO, {}),
]


@pytest.fixture
async def filled(client):
    """A client whose topic has a message, and whose groups are known."""
    await client.send("T", b"cold")
    for group in ("g", "other"):
        body = java_json.encode({"groupName": group})
        await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)
    committed = QUEUE | {"consumerGroup": "other", "commitOffset": 1}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, committed)
    return client


def position_of(broker):
    """Where the only message of the topic lies in the log."""
    ((position, _, _),) = broker.store.held_entries("T", 0, 0, 1)
    return position


def sent_back_of(broker):
    return SEND_BACK | {"offset": position_of(broker)}


@pytest.mark.parametrize(("call", "code", "fields"), READS, ids=lambda value: str(value)[:30])
async def test_a_request_that_waits_for_the_disk_delays_no_other(
    filled, broker, call, code, fields
):
    disk = broker.broker.store = SlowDisk(broker.store, call)

    at = position_of(broker)
    slow = filled.start(code, {k: at if v == THE_MESSAGE else v for k, v in fields.items()})
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)
    beat = await filled.heartbeat("g", "T")
    sent = await filled.send("T", b"hot")
    assert (beat.code, sent.code, slow.done()) == (0, 0, False)

    disk.may_answer.set()
    assert (await slow).code == 0


async def test_figures_are_given_while_all_pulls_wait_for_the_disk(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "record")
    view = {"offset": position_of(broker)}
    views = [filled.start(RequestCode.VIEW_MESSAGE_BY_ID, view) for _ in range(COLD_COUNT + 1)]
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    sample = await filled.call(RequestCode.GET_BROKER_SAMPLE)

    assert (sample.code, any(view.done() for view in views)) == (0, False)
    disk.may_answer.set()
    assert {(await view).code for view in views} == {0}


async def test_a_message_is_not_sent_back_by_who_may_not_write_any_more(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "record")
    end = broker.store.max_position
    sent_back = filled.start(RequestCode.CONSUMER_SEND_MSG_BACK, sent_back_of(broker))
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    broker.broker.block_writes(WriteBlock.NOT_MASTER)
    disk.may_answer.set()

    assert (await sent_back).code == 16
    assert broker.store.max_position == end


async def test_no_message_is_sent_back_to_a_group_that_is_gone(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "record")
    sent_back = filled.start(RequestCode.CONSUMER_SEND_MSG_BACK, sent_back_of(broker))
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    await filled.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"})
    disk.may_answer.set()

    assert (await sent_back).code == 26
    assert broker.store.offsets("SCHEDULE_TOPIC_XXXX", 0) is None


async def test_an_offset_is_not_reset_in_a_topic_that_was_created_again_meanwhile(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "offset_by_time")
    reset = filled.start(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RESET)
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    await filled.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    await filled.send("T", b"anew")
    disk.may_answer.set()

    told = await reset
    assert (told.code, "try again" in told.remark) == (2, True)
    assert broker.broker.offsets.find("g", "T", 0) is None


async def test_an_offset_is_not_reset_by_who_may_change_nothing_any_more(
    filled, broker, monkeypatch
):
    disk = broker.broker.store = SlowDisk(broker.store, "offset_by_time")
    reset = filled.start(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RESET)
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    broker.broker.block_writes(WriteBlock.NOT_MASTER)
    # In a group changes are refused as messages are.
    monkeypatch.setattr(broker.broker, "check_changeable", broker.broker.check_writable)
    disk.may_answer.set()

    assert (await reset).code == 14
    assert broker.broker.offsets.find("g", "T", 0) is None


async def test_what_a_group_commits_while_the_disk_is_read_is_where_it_left_off(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "entries")
    asked = filled.start(RequestCode.QUERY_CONSUMER_OFFSET, QUEUE | GROUP)
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    await filled.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | GROUP | {"commitOffset": 1})
    disk.may_answer.set()

    assert (await asked).ext["offset"] == "1"


async def test_a_view_that_waits_for_the_disk_at_a_stop_is_answered(filled, broker):
    disk = broker.broker.store = SlowDisk(broker.store, "record")
    view = filled.start(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": position_of(broker)})
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)

    stop = asyncio.ensure_future(broker.close())
    await asyncio.sleep(0)
    disk.may_answer.set()
    await stop

    assert bodies(await view) == [b"cold"]


async def test_a_delayed_message_on_a_slow_disk_delays_no_request(filled, broker):
    delays = broker.broker.state.delays
    disk = SlowDisk(broker.store, "record")
    delays._read = partial(read_delayed, disk)
    await filled.send("Late", b"late", properties={"DELAY": "1"})

    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)
    sent = await filled.send("T", b"hot")
    pull = filled.start_pull("Late", sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    disk.may_answer.set()
    assert (sent.code, bodies(await pull)) == (0, [b"late"])


@pytest.mark.parametrize(
    ("code", "body", "fields"),
    [
        (RequestCode.GET_BROKER_PROPERTIES, b"", {}),
        (RequestCode.UPDATE_BROKER_CONFIG, b"fileReservedTime=7", {}),
        (RequestCode.UPDATE_BROKER_CONFIG, b"fileReservedTime=7", step(0, fence=1)),
    ],
)
async def test_a_settings_file_on_a_slow_disk_delays_no_request(filled, broker, code, body, fields):
    disk = broker.broker.config_file = SlowDisk(broker.broker.config_file, "read")

    slow = filled.start(code, fields, body)
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)
    beat = await filled.heartbeat("g", "T")
    assert (beat.code, slow.done()) == (0, False)

    disk.may_answer.set()
    assert (await slow).code == 0


async def test_the_heartbeat_of_a_new_master_does_not_wait_until_its_epoch_is_written(start_broker):
    server = await start_broker(enableControllerMode="true", controllerAddr="127.0.0.1:1")
    membership = server.broker.membership
    disk = membership._store = membership.marks._store = SlowDisk(server.store, "epochs")
    membership.master.elect(3)

    facts = membership.heartbeat_facts()

    assert (facts.epoch, disk.is_asked.is_set()) == (3, False)
