"""What a broker of stock and one of ours answer, store and report of the same messages."""

import struct

import pytest
import pytest_asyncio

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.timers import GetTimers
from backend.domain.timer import TopicTimers
from backend.remoting import java_json
from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC, TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import messages
from tests.integration.broker.test_transactions import COMMIT, end, send_half
from tests.interop.java import build
from tests.interop.lone_stock import LoneStock
from tests.interop.test_timers import due_in, send
from tests.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def brokers(tmp_path_factory):
    """A client and the port of a broker of stock, and of one of ours."""
    build()
    root = tmp_path_factory.mktemp("brokers")
    stock = LoneStock(root)
    try:
        theirs = await stock.start()
        (root / "ours").mkdir()
        with Agent(root / "ours") as agent:
            ours = await agent.start()
            yield (theirs, stock.broker.port), (ours, agent.port)
            agent.stop()
        await theirs.close()
    finally:
        await stock.kill()


async def test_a_producer_gets_the_same_codes_from_both(brokers):
    answers = [
        [
            (await client.send("codes", b"m", properties={"TIMER_DELAY_SEC": text})).code
            for text in ("x", "259300", "-5")
        ]
        for client, _ in brokers
    ]

    assert answers[0] == answers[1]


async def test_waiting_messages_look_the_same_and_both_report_their_number(brokers):
    due = due_in(3600)
    seen, answers, progress, reports = [], [], [], []
    asking = Brokers(RemotingClient())
    for client, port in brokers:
        sent = await send(client, b"m", UNIQ_KEY="K", **due)
        (waiting,) = messages(await client.pull(TIMER_TOPIC))
        names = ("TIMER_OUT_MS", "REAL_TOPIC", "REAL_QID", "TIMER_DELIVER_MS", "UNIQ_KEY")
        kept = {name: waiting.properties[name] for name in names}
        seen.append((kept, waiting.queue_id, waiting.body, sent.ext["recallHandle"]))
        await send(client, b"m", **due_in(3600))
        answers.append(await counted(client, 2))

        async def flushed(client=client):
            body = (await client.call(RequestCode.GET_TIMER_CHECK_POINT)).body
            numbers = struct.unpack(">7q", body)
            return numbers if numbers[2] == 2 else None

        progress.append(await eventually(flushed, interval_s=0.2))
        reports.append(await asking.ask(f"127.0.0.1:{port}", GetTimers()))
    await asking.client.aclose()

    assert seen[0] == seen[1]
    assert [sorted(one) for one in answers] == [["dataVersion", "timingCount"]] * 2
    assert [sorted(one["timingCount"]["T"]) for one in answers] == [["count", "timeStamp"]] * 2
    assert [one[2:4] for one in progress] == [(2, 2)] * 2
    assert abs(progress[0][0] - progress[1][0]) < 60_000
    assert [(one.waiting_count, one.topics) for one in reports] == [(2, (TopicTimers("T", 2),))] * 2
    assert [one.hours is None for one in reports] == [True, False]


async def counted(client, count):
    """Wait until a broker reports some waiting messages of a topic; give its whole answer (61)."""

    async def metrics():
        body = java_json.loads((await client.call(RequestCode.GET_TIMER_METRICS)).body)
        counts = body["timingCount"]
        return body if counts.get("T", {"count": 0})["count"] == count else None

    return await eventually(metrics, interval_s=0.2)


async def test_the_records_of_a_transaction_look_the_same_in_both_logs(brokers):
    seen = []
    for client, _ in brokers:
        half = await send_half(client, b"m", TAGS="A")
        await end(client, half, COMMIT)
        seen.append([await _described(client, topic) for topic in (HALF_TOPIC, "T")])
        operation = await _first(client, HALF_OPERATION_TOPIC)
        seen[-1].append((operation.body, operation.properties["TAGS"], operation.queue_id))

    assert seen[0] == seen[1]


async def _first(client, topic):
    queue_id = 1 if topic == "T" else 0

    async def found():
        return messages(await client.pull(topic, queueId=queue_id))

    return (await eventually(found, interval_s=0.2))[0]


async def _described(client, topic):
    one = await _first(client, topic)
    varying = {"MSG_REGION", "TRACE_ON", "CLUSTER"}
    kept = {name: value for name, value in one.properties.items() if name not in varying}
    return kept, one.queue_id, one.queue_offset, one.sys_flag, one.body, one.flag
