"""Transactions of a producer: what consumers see, and what a broker asks and forgets."""

import time

import pytest
from regent_engine import decode_records, offset_message_id, parse_offset_message_id

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC, TRANSACTION_CHECK_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages
from tests.waiting import eventually

COMMIT, ROLL_BACK = 8, 12
HELD = {"sysFlag": 6}
"""A pull that waits for messages."""

IMPATIENT = {"transactionTimeOut": "10", "transactionCheckInterval": "50"}
"""Settings with which a producer is asked at once."""


async def send_half(client, body, *, topic="T", queue_id=1, **properties):
    """Send a half message, and return what ends its transaction."""
    marks = {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": f"K{body.decode()}"}
    fields = {"f": 4, "g": time.time_ns() // 1_000_000}
    given = marks | properties
    sent = await client.send(topic, body, queue_id=queue_id, properties=given, **fields)
    assert sent.code == 0, sent.remark
    return {
        "producerGroup": "pg",
        "tranStateTableOffset": sent.ext["queueOffset"],
        "commitLogOffset": parse_offset_message_id(sent.ext["msgId"])[2],
        "msgId": sent.ext["transactionId"],
    }


async def end(client, half, decision, **more):
    fields = half | {"commitOrRollback": decision} | more
    return await client.call(RequestCode.END_TRANSACTION, fields)


async def asked(client, count=1):
    """Wait for checks, and return the newest one with its message."""
    code = RequestCode.CHECK_TRANSACTION_STATE

    def checks():
        found = [one for one in client.notices if one.code == code]
        return found if len(found) >= count else None

    check = (await eventually(checks))[-1]
    return check, decode_records(check.body)[0]


async def left_alone(client):
    """Wait for the message that was given up: its topic is created for it."""

    async def found():
        return messages(await client.pull(TRANSACTION_CHECK_TOPIC))

    return (await eventually(found))[0]


def answer_to(check):
    names = ("tranStateTableOffset", "commitLogOffset", "msgId")
    half = {name: check.ext[name] for name in names}
    return half | {"producerGroup": "pg", "fromTransactionCheck": "true"}


async def test_consumers_see_a_message_once_it_is_committed(agent):
    client = await agent.start()
    half = await send_half(client, b"m", TAGS="A", KEYS="k")
    early = await client.pull("T", queueId=1)

    committed = await end(client, half, COMMIT)
    (message,) = messages(await client.pull("T", queueId=1, **HELD))

    assert (bodies(early), committed.code) == ([], 0)
    assert (message.body, message.queue_offset) == (b"m", 0)
    assert message.sys_flag & 12 == COMMIT
    assert message.prepared_transaction_offset == half["commitLogOffset"]
    kept = {"PGROUP": "pg", "TRAN_MSG": "true", "TAGS": "A"}
    assert kept.items() <= message.properties.items()
    assert message.properties["__transactionId__"] == "Km"


async def test_a_half_message_and_its_decision_are_stored_as_by_stock(agent):
    client = await agent.start()
    half = await send_half(client, b"m")
    await end(client, half, COMMIT)

    (stored,) = messages(await client.pull(HALF_TOPIC))
    (operation,) = messages(await client.pull(HALF_OPERATION_TOPIC))

    assert (stored.sys_flag & 12, stored.queue_id, stored.body) == (0, 0, b"m")
    assert (operation.body, operation.properties["TAGS"]) == (b"0,", "d")


async def test_a_message_that_is_rolled_back_is_never_seen(agent):
    client = await agent.start(**IMPATIENT, transactionCheckMax="1000")
    dropped, kept = await send_half(client, b"dropped"), await send_half(client, b"kept")

    assert (await end(client, dropped, ROLL_BACK)).code == 0
    assert (await end(client, kept, COMMIT)).code == 0

    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"kept"]


async def test_the_end_of_a_transaction_is_taken_once(agent):
    client = await agent.start()
    half = await send_half(client, b"m")

    ends = [(await end(client, half, one)).code for one in (COMMIT, COMMIT, ROLL_BACK)]

    assert ends == [0, 1, 1]
    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"m"]


async def test_a_producer_that_does_not_know_yet_decides_nothing(agent):
    client = await agent.start()
    half = await send_half(client, b"m")

    client.notify(RequestCode.END_TRANSACTION, half | {"commitOrRollback": 0})
    committed = await end(client, half, COMMIT)

    assert committed.code == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"producerGroup": "other"},
        {"tranStateTableOffset": 1},
        {"commitLogOffset": 7},
        {"commitLogOffset": 10**15},
        {"commitLogOffset": -1},
    ],
)
async def test_an_end_that_names_another_message_is_refused(agent, wrong):
    client = await agent.start()
    half = await send_half(client, b"m")

    refused = await end(client, half | wrong, COMMIT)

    assert (refused.code, bool(refused.remark)) == (1, True)
    assert bodies(await client.pull("T", queueId=1)) == []
    assert (await end(client, half, COMMIT)).code == 0


async def test_a_message_of_a_topic_cannot_be_committed_as_a_half_message(agent):
    client = await agent.start()
    sent = await client.send("T", b"m", queue_id=1, properties={"PGROUP": "pg"})
    position = parse_offset_message_id(sent.ext["msgId"])[2]
    half = {"producerGroup": "pg", "tranStateTableOffset": 0, "commitLogOffset": position}

    assert (await end(client, half, COMMIT, msgId="K")).code == 1


async def test_a_producer_is_asked_and_its_answer_decides(agent):
    client = await agent.start(**IMPATIENT)
    await client.heartbeat("g", "T")
    half = await send_half(client, b"m", TAGS="A")

    check, message = await asked(client)
    committed = await end(client, answer_to(check), COMMIT)
    late = await end(client, half, COMMIT)

    assert (message.topic, message.queue_id, message.body) == ("T", 1, b"m")
    assert (message.properties["PGROUP"], message.properties["TAGS"]) == ("pg", "A")
    assert (check.ext["transactionId"], check.ext["topic"]) == ("Km", HALF_TOPIC)
    assert (committed.code, late.code) == (0, 1)
    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"m"]


async def test_an_end_that_names_the_record_before_a_check_decides_too(agent):
    client = await agent.start(**IMPATIENT)
    await client.heartbeat("g", "T")
    half = await send_half(client, b"m")
    await asked(client, count=2)

    assert (await end(client, half, COMMIT)).code == 0

    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"m"]


async def test_a_message_of_which_no_producer_knows_goes_to_a_named_topic(agent):
    client = await agent.start(**IMPATIENT, transactionCheckMax="2")
    half = await send_half(client, b"m")

    given_up = await left_alone(client)
    refused = await end(client, half, COMMIT)

    assert (given_up.body, given_up.properties["REAL_TOPIC"]) == (b"m", "T")
    assert given_up.properties["TRANSACTION_CHECK_TIMES"] == "2"
    assert refused.code == 1


async def test_the_checks_of_a_message_that_was_given_up_are_resumed_once(agent):
    client = await agent.start(**IMPATIENT, transactionCheckMax="1")
    await send_half(client, b"m")
    given_up = await left_alone(client)
    host, port = given_up.store_host
    position = given_up.log_position
    await client.heartbeat("g", "T")
    message_id = {"msgId": offset_message_id(host, port, position)}
    resumed = await client.call(RequestCode.RESUME_CHECK_HALF_MESSAGE, message_id)
    check, _ = await asked(client)
    committed = await end(client, answer_to(check), COMMIT)
    again = await client.call(RequestCode.RESUME_CHECK_HALF_MESSAGE, message_id)

    assert (resumed.code, committed.code, again.code) == (0, 0, 1)
    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"m"]


async def test_a_committed_message_with_a_delay_waits_first(agent):
    client = await agent.start(messageDelayLevel="1s")
    half = await send_half(client, b"m", DELAY="1")
    await end(client, half, COMMIT)
    early = await client.pull("T", queueId=1)

    (message,) = messages(await client.pull("T", queueId=1, **HELD))

    assert (bodies(early), message.body) == ([], b"m")


async def test_what_is_pending_is_known_after_a_kill(agent):
    client = await agent.start()
    halves = {name: await send_half(client, name) for name in (b"a", b"b", b"c")}
    await end(client, halves[b"a"], COMMIT)
    await end(client, halves[b"b"], ROLL_BACK)
    agent.kill()

    client = await agent.start(**IMPATIENT)
    await client.heartbeat("g", "T")
    check, message = await asked(client)
    ends = [(await end(client, halves[one], COMMIT)).code for one in (b"a", b"b", b"c")]

    assert message.body == b"c"
    assert ends == [1, 1, 0]
    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"a", b"c"]
    assert (await end(client, answer_to(check), COMMIT)).code == 1


async def test_a_message_that_waits_long_for_its_first_check_holds_up_no_progress(agent):
    client = await agent.start(transactionCheckInterval="50")
    await client.heartbeat("g", "T")
    half = await send_half(client, b"m", CHECK_IMMUNITY_TIME_IN_SECONDS="3600")
    progress = {"consumerGroup": "CID_RMQ_SYS_TRANS", "topic": HALF_TOPIC, "queueId": 0}

    async def has_moved():
        found = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, progress)
        return found.code == 0 and int(found.ext["offset"]) > 1

    await eventually(has_moved)
    committed = await end(client, half, COMMIT)

    assert RequestCode.CHECK_TRANSACTION_STATE not in [one.code for one in client.notices]
    assert committed.code == 0
    assert bodies(await client.pull("T", queueId=1, **HELD)) == [b"m"]


async def test_transactions_that_are_switched_off_refuse_half_messages(agent):
    client = await agent.start(rejectTransactionMessage="true")

    refused = await client.send("T", b"m", properties={"TRAN_MSG": "true", "PGROUP": "pg"})

    assert refused.code == 16


async def test_a_mark_without_the_property_is_refused(agent):
    client = await agent.start()

    assert (await client.send("T", b"m", f=4)).code == 13
