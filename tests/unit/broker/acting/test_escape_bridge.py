"""Where a message escapes to, and what it is there (D17)."""

import asyncio
from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from workers.broker.acting.escape_bridge import TRIES_PER_TARGET, EscapeBridge
from workers.broker.commit_log.delay_delivery import NotYet

SETTINGS = SimpleNamespace(
    cluster_name="c", broker_name="broker-a", broker_id=1, template_queue_count=8
)


def route(*names):
    body = {
        "brokerDatas": [
            {"cluster": "c", "brokerName": name, "brokerAddrs": {"0": f"{name}:1"}}
            for name in names
        ],
        "queueDatas": [
            {"brokerName": n, "readQueueNums": 2, "writeQueueNums": 2, "perm": 6} for n in names
        ],
    }
    return SimpleNamespace(code=0, body=java_json.encode(body))


class NameServers:
    async def ask(self, _code, _ext):
        return route("broker-a", "broker-b", "broker-d")


def record(**changes):
    properties = {"REAL_TOPIC": "orders", "REAL_QID": "0", "DELAY": "3", "TRAN_MSG": "true"}
    found = {
        "properties": properties | {"TIMER_DELAY_MS": "5", "KEYS": "k"},
        "body": b"b",
        "sys_flag": 8 | 1,
        "born_timestamp_ms": 5,
        "flag": 0,
        "reconsume_times": 0,
    }
    return SimpleNamespace(**found | changes)


class Bridge(EscapeBridge):
    """A bridge whose targets answer as a test says."""

    def __init__(self, outcome=None):
        super().__init__(SimpleNamespace(settings=SETTINGS, name_servers=NameServers()))
        self.outcome, self.sent = outcome, []

    async def _send(self, address, header, _record):
        self.sent.append((address, header.queue_id, header))
        if self.outcome is not None:
            await self.outcome()


async def fail():
    raise ConnectionError("the answer is lost")


async def test_a_message_whose_answer_is_lost_goes_to_the_same_queue_again_then_to_another():
    bridge = Bridge(fail)

    for _ in range(2 * TRIES_PER_TARGET):
        with pytest.raises(NotYet, match="lost"):
            await bridge.send(4711, record())

    targets = [one[:2] for one in bridge.sent]
    assert len(set(targets[:TRIES_PER_TARGET])) == 1
    assert len(set(targets)) == 2
    assert not {address for address, _ in targets} & {"broker-a:1"}


async def test_the_escaped_message_waits_no_more_and_is_no_half_message():
    bridge = Bridge()

    await bridge.send(4711, record())

    ((_, _, header),) = bridge.sent
    pairs = dict(one.split("\x01") for one in header.properties.split("\x02") if one)
    assert pairs == {
        "KEYS": "k",
        "REGENT_ESCAPED_FROM": "c/broker-a/4711",
        "UNIQ_KEY": "c/broker-a/4711",
        "WAIT": "false",
    }
    assert header.sys_flag == 1


async def test_a_pause_waits_for_the_message_that_is_on_its_way():
    begun, answered = asyncio.Event(), asyncio.Event()

    async def wait():
        begun.set()
        await answered.wait()

    bridge = Bridge(wait)
    sending = asyncio.create_task(bridge.send(4711, record()))
    async with asyncio.timeout(5):
        await begun.wait()

    pausing = asyncio.create_task(bridge.pause())
    await asyncio.sleep(0)
    assert not pausing.done()
    answered.set()
    await asyncio.gather(sending, pausing)

    assert bridge.escaped_count == 1
    with pytest.raises(NotYet, match="about to serve"):
        await bridge.send(4712, record())
