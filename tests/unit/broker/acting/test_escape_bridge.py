"""Where a message escapes to, and what it is there (D17)."""

import asyncio
from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from tests.waiting import PATIENCE_S, eventually
from workers.broker.acting import escape_bridge, outbox
from workers.broker.acting.decisions import Decisions
from workers.broker.acting.escape_bridge import EscapeBridge
from workers.broker.acting.outbox import Entry, Kind
from workers.broker.commit_log.delay_delivery import NotYet
from workers.broker.tables.escaped import EscapedMessages

SETTINGS = SimpleNamespace(
    cluster_name="c",
    broker_name="broker-a",
    broker_id=1,
    template_queue_count=8,
    escapes=True,
)


DAMAGED = 6666


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
    asked_count = 0

    async def ask(self, _code, _ext):
        self.asked_count += 1
        return route("broker-a", "broker-b", "broker-d")


def record(**changes):
    properties = {"REAL_TOPIC": "orders", "REAL_QID": "0", "DELAY": "3", "TRAN_MSG": "true"}
    found = {
        "properties": properties | {"TIMER_DELAY_MS": "5", "TIMER_OUT_MS": "9", "KEYS": "k"},
        "body": b"b",
        "sys_flag": 8 | 1,
        "born_timestamp_ms": 5,
        "flag": 0,
        "reconsume_times": 0,
        "log_position": 4711,
        "queue_offset": 3,
    }
    return SimpleNamespace(**found | changes)


class Bridge(EscapeBridge):
    """A bridge whose targets answer as a test says."""

    def __init__(self, path, outcome=None, found=None):
        broker = SimpleNamespace(
            settings=SETTINGS,
            name_servers=NameServers(),
            store_host=("127.0.0.1", 10911),
            container=None,
            clock=lambda: 0,
            state=SimpleNamespace(
                escaped=EscapedMessages(), delays=SimpleNamespace(escape_by=lambda _: None)
            ),
            changes=SimpleNamespace(deleted_at=lambda topic: 1 << 20 if topic == "gone" else -1),
            topics=SimpleNamespace(find=lambda _: SimpleNamespace()),
            store=SimpleNamespace(held_record=lambda _: None, held_entries=lambda *_: []),
            timers=SimpleNamespace(escape_by=lambda _: None),
            read_threads=SimpleNamespace(read=run),
        )
        super().__init__(broker, Decisions(path / "decisions.json"))
        self.outcome, self.found, self.sent = outcome, found or record(), []

    async def _read(self, entry):
        return self.found if entry.log_position != DAMAGED else await super()._read(entry)

    async def _send(self, address, header, _record):
        self.sent.append((address, header.queue_id, header))
        if self.outcome is not None:
            await self.outcome()

    @property
    def escaped(self):
        return self._broker.state.escaped

    async def escape(self, position=4711, kind=Kind.DELAYED, *, turn=0, queue_id=0, topic="orders"):
        await self._escape(Entry(position, kind, topic, queue_id), turn)


async def run(work):
    return work()


def properties_of(header):
    return dict(one.split("\x01") for one in header.properties.split("\x02") if one)


async def fail():
    raise ConnectionError("the answer is lost")


async def test_each_turn_is_a_queue_of_another_group(tmp_path):
    bridge = Bridge(tmp_path, fail)

    for turn in (0, 0, 1, 2, 3):
        with pytest.raises(NotYet, match="lost"):
            await bridge.escape(turn=turn)

    targets = [one[:2] for one in bridge.sent]
    assert targets[0] == targets[1]
    assert len(set(targets)) == 4
    assert not {address for address, _ in targets} & {"broker-a:1"}
    assert 4711 not in bridge.escaped


async def test_messages_of_one_queue_go_to_one_queue_by_one_answer_about_the_route(tmp_path):
    bridge = Bridge(tmp_path)

    for position in range(3):
        await bridge.escape(position)

    assert len({one[:2] for one in bridge.sent}) == 1
    assert bridge._broker.name_servers.asked_count == 1
    assert bridge.escaped.sorted() == [0, 1, 2]


@pytest.mark.parametrize("kind", [Kind.DELAYED, Kind.TIMED])
async def test_the_escaped_message_waits_no_more_and_is_no_half_message(tmp_path, kind):
    bridge = Bridge(tmp_path)

    await bridge.escape(kind=kind)

    ((_, _, header),) = bridge.sent
    assert properties_of(header) == {
        "KEYS": "k",
        "REGENT_ESCAPED_FROM": "c/broker-a/4711",
        "UNIQ_KEY": "c/broker-a/4711",
        "WAIT": "false",
    }
    assert header.sys_flag == 1


async def test_a_committed_message_begins_its_delay_at_the_target(tmp_path):
    bridge = Bridge(tmp_path)

    await bridge.escape(kind=Kind.COMMITTED)

    ((_, _, header),) = bridge.sent
    found = properties_of(header)
    assert (found["DELAY"], found["TIMER_DELAY_MS"]) == ("3", "5")
    assert not {"TRAN_MSG", "REAL_TOPIC", "REAL_QID"} & found.keys()
    assert header.sys_flag == 1
    assert bridge.escaped.sorted() == [4711]


async def test_a_half_message_escapes_as_one(tmp_path):  # S131, D18
    half = record(sys_flag=1)
    half.properties |= {"PGROUP": "pg", "TRANSACTION_CHECK_TIMES": "2"}
    bridge = Bridge(tmp_path, found=half)

    await bridge.escape(kind=Kind.UNDECIDED)

    ((_, _, header),) = bridge.sent
    found = properties_of(header)
    assert (header.sys_flag, header.producer_group, header.topic) == (1 | 4, "pg", "orders")
    assert found["TRAN_MSG"] == "true"
    assert not {"REAL_TOPIC", "REAL_QID", "TRANSACTION_CHECK_TIMES"} & found.keys()


async def test_a_pause_waits_for_the_message_that_is_on_its_way(tmp_path):
    begun, answered = asyncio.Event(), asyncio.Event()

    async def wait():
        begun.set()
        await answered.wait()

    bridge = Bridge(tmp_path, wait)
    sending = asyncio.create_task(bridge.escape())
    async with asyncio.timeout(PATIENCE_S):
        await begun.wait()

    pausing = asyncio.create_task(bridge.pause())
    await asyncio.sleep(0)
    assert not pausing.done()
    answered.set()
    await asyncio.gather(sending, pausing)

    assert bridge.escaped_count == 1
    with pytest.raises(NotYet, match="about to serve"):
        await bridge.escape(4712)


async def test_a_message_that_is_damaged_here_waits_for_its_master(tmp_path):  # I1
    bridge, gone = Bridge(tmp_path), []

    with pytest.raises(NotYet, match="damaged"):
        await bridge.escape(DAMAGED)
    await bridge._take_delayed(3, DAMAGED, None, lambda: gone.append(DAMAGED))

    assert (bridge.escaped.sorted(), bridge.sent, gone) == ([], [], [])


async def test_a_message_of_a_deleted_topic_waits_no_more(tmp_path):
    bridge = Bridge(tmp_path)

    await bridge.escape(topic="gone")

    assert (bridge.escaped.sorted(), bridge.sent) == ([4711], [])


async def test_committed_and_undecided_messages_wait_until_the_outbox_has_room(
    tmp_path, monkeypatch
):  # D17
    monkeypatch.setattr(outbox, "ENTRY_COUNT_MAX", 2)
    monkeypatch.setattr(escape_bridge, "read_or_report", lambda _, at: record(log_position=at))
    answered = asyncio.Event()
    bridge = Bridge(tmp_path, answered.wait)
    for position in range(5):
        await bridge._decisions.keep(position, {"commitOrRollback": "8"})

    bridge.begin()
    await bridge._decisions.keep(5, {"commitOrRollback": "8"})
    bridge.take_decision(5)
    taken = [bridge.take_half(record(log_position=position)) for position in (7, 8, 9)]

    assert taken == [True] * 3
    assert len(bridge) == 2 + 2
    answered.set()

    def have_escaped():
        bridge.tick()
        return set(range(6)) <= set(bridge.escaped.sorted())

    await eventually(have_escaped)
    bridge.end()
    assert len(bridge) == 0


async def test_a_pause_goes_on_while_the_master_is_heard(tmp_path, monkeypatch):
    bridge = Bridge(tmp_path)
    bridge.prolong_pause()
    await bridge.escape(1)
    await bridge.pause()
    begun_s = bridge._paused_until_s
    monkeypatch.setattr(escape_bridge, "PAUSE_S", 300.0)

    bridge.prolong_pause()

    assert bridge._paused_until_s > begun_s + 200
    assert bridge.escaped.sorted() == [1]
