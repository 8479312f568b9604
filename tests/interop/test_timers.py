"""Messages for a time that a broker of stock and one of ours leave to each other in one store."""

import struct
import time

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.timers import GetTimers
from backend.domain.timer import TopicTimers
from backend.remoting import java_json
from backend.remoting.names import TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import bodies, messages
from tests.interop.lone_stock import stock
from tests.waiting import eventually

__all__ = ["stock"]


def due_in(seconds):
    return {"TIMER_DELIVER_MS": str(time.time_ns() // 1_000_000 + seconds * 1000)}


async def send(client, body, **properties):
    sent = await client.send("T", body, properties=properties)
    assert sent.code == 0, sent
    return sent


async def delivered(client, count):
    """Wait until a queue has some messages, and give their bodies and how late each is."""

    async def all_of_them():
        pulled = await client.pull("T")
        return messages(pulled) if len(bodies(pulled)) >= count else None

    found = await eventually(all_of_them, interval_s=0.2)
    late_ms = [one.store_timestamp_ms - int(one.properties["TIMER_DELIVER_MS"]) for one in found]
    return [one.body for one in found], late_ms


async def taken(store, count):
    """Wait until the files of a broker name some messages of the timer topic."""

    async def offset():
        path = store / "config" / "timercheck"
        numbers = struct.unpack(">7q", path.read_bytes()[:56]) if path.exists() else (0,) * 7
        return numbers[2] >= count

    await eventually(offset, interval_s=0.2)


async def test_messages_that_stock_left_waiting_are_delivered_once(tmp_path, stock):
    client = await stock.start()
    # The first message of a new broker takes seconds, and is to wait all the same.
    await send(client, b"delivered", **due_in(8))
    await delivered(client, 1)
    await send(client, b"waiting", UNIQ_KEY="W", **due_in(25))
    await taken(tmp_path / "store", 2)
    await client.close()
    await stock.stop()

    with Agent(tmp_path) as agent:
        ours = await agent.start()
        await send(ours, b"ours", **due_in(1))
        found, late_ms = await delivered(ours, 3)
        agent.stop()

    assert found == [b"delivered", b"ours", b"waiting"]
    assert all(0 <= late <= 10_000 for late in late_ms[1:])


async def test_messages_that_we_left_waiting_are_delivered_once_by_stock(tmp_path, stock):
    with Agent(tmp_path) as agent:
        ours = await agent.start()
        await send(ours, b"delivered", **due_in(3))
        await delivered(ours, 1)
        await send(ours, b"waiting", **due_in(25))
        await taken(tmp_path / "store", 2)
        agent.stop()

    client = await stock.start()
    found, late_ms = await delivered(client, 2)
    await client.close()

    assert found == [b"delivered", b"waiting"]
    assert 0 <= late_ms[1] <= 10_000


async def test_a_producer_gets_the_same_codes_from_both(tmp_path, stock):
    theirs = await stock.start()
    (tmp_path / "ours").mkdir()
    with Agent(tmp_path / "ours") as agent:
        ours = await agent.start()
        answers = [
            [
                (await client.send("T", b"m", properties={"TIMER_DELAY_SEC": text})).code
                for text in ("x", "259300", "-5")
            ]
            for client in (theirs, ours)
        ]
        agent.stop()

    assert answers[0] == answers[1]


async def test_a_waiting_message_looks_the_same_in_both_logs(tmp_path, stock):
    due = due_in(3600)
    seen = []
    theirs = await stock.start()
    (tmp_path / "ours").mkdir()
    with Agent(tmp_path / "ours") as agent:
        ours = await agent.start()
        for client in (theirs, ours):
            sent = await send(client, b"m", UNIQ_KEY="K", **due)
            (waiting,) = messages(await client.pull(TIMER_TOPIC))
            names = ("TIMER_OUT_MS", "REAL_TOPIC", "REAL_QID", "TIMER_DELIVER_MS", "UNIQ_KEY")
            kept = {name: waiting.properties[name] for name in names}
            seen.append((kept, waiting.queue_id, waiting.body, sent.ext["recallHandle"]))
        agent.stop()

    assert seen[0] == seen[1]


async def counted(client, count):
    """Wait until a broker counts some waiting messages of a topic; give its whole answer (61)."""

    async def metrics():
        body = java_json.loads((await client.call(RequestCode.GET_TIMER_METRICS)).body)
        counts = body["timingCount"]
        return body if counts.get("T", {"count": 0})["count"] == count else None

    return await eventually(metrics, interval_s=0.2)


async def test_both_give_replicas_and_operators_the_number_of_waiting_messages(tmp_path, stock):
    theirs = await stock.start()
    (tmp_path / "ours").mkdir()
    brokers = Brokers(RemotingClient())
    with Agent(tmp_path / "ours") as agent:
        ours = await agent.start()
        answers, progress, seen = [], [], []
        for client, port in ((theirs, stock.broker.port), (ours, agent.port)):
            for _ in range(2):
                await send(client, b"m", **due_in(3600))
            answers.append(await counted(client, 2))

            async def flushed(client=client):
                body = (await client.call(RequestCode.GET_TIMER_CHECK_POINT)).body
                numbers = struct.unpack(">7q", body)
                return numbers if numbers[2] == 2 else None

            progress.append(await eventually(flushed, interval_s=0.2))
            seen.append(await brokers.ask(f"127.0.0.1:{port}", GetTimers()))
        await brokers.client.aclose()
        agent.stop()

    assert [sorted(one) for one in answers] == [["dataVersion", "timingCount"]] * 2
    assert [sorted(one["timingCount"]["T"]) for one in answers] == [["count", "timeStamp"]] * 2
    assert [one[2:4] for one in progress] == [(2, 2)] * 2
    assert abs(progress[0][0] - progress[1][0]) < 60_000
    assert [(one.waiting_count, one.topics) for one in seen] == [(2, (TopicTimers("T", 2),))] * 2
    assert [one.hours is None for one in seen] == [True, False]
