"""Messages for a time that a broker of stock and one of ours leave to each other in one store.

`make test` has one direction here, and the other one in `test_transactions`.
"""

import struct
import time

from tests.integration.broker.agent import Agent
from tests.integration.broker.client import bodies, messages
from tests.interop.lone_stock import stock
from tests.long_form import long_form_only
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


@long_form_only
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
