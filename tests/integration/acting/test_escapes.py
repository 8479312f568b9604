"""Messages that are due while the master of their group is absent (D17)."""

import signal
import time

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.outbox import OutboxFilter
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.services.message.outbox import list_outbox
from tests.integration.acting.conftest import LONG_DELAY_MS, LONG_DELAYS, SHORT_DELAYS
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_members import figures
from tests.integration.broker.client import messages
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

ESCAPES = {"enableRemoteEscape": "true"}
TIMED = {"TIMER_DELAY_MS": str(LONG_DELAY_MS)}
LATE_MS = 30_000
"""The time of a message that its master delivers, since no replica acts for so long."""


async def add_target(group, topic="orders", name="broker-u"):
    """Start the master of another group, which has a topic with one message."""
    target = await group.add(0, name=name, defaultTopicQueueNums="1")
    await group.await_members({0}, name)
    assert (await target.send(topic, b"there")).code == 0
    return target


async def outbox(client):
    answer = await client.call(RequestCode.GET_OUTBOX)
    assert answer.code == 0
    return java_json.loads(answer.body)


async def let_act(group):
    """Kill the master, and wait until the replica acts for it."""
    await group.await_copy(1)
    group.kill(0)
    await group.await_acting(1)


async def await_drained(client):
    async def is_empty():
        return (await outbox(client))["entryCount"] == 0

    await eventually(is_empty)


async def test_a_due_message_escapes_to_another_group_once_with_its_key(fixed_group):  # S128, D17
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    other = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    assert (await master.send("orders", b"now")).code == 0
    assert (await other.send("orders", b"there")).code == 0
    delayed = await master.send("orders", b"later", properties={"DELAY": "6", "UNIQ_KEY": "K"})
    assert delayed.code == 0
    await fixed_group.await_copy(1)

    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    await await_read(other, [b"there", b"later"])
    escaped = messages(await other.pull("orders"))[1].properties
    master = await fixed_group.start(0, **SHORT_DELAYS)
    await fixed_group.await_members({0, 1})

    assert escaped["REGENT_ESCAPED_FROM"].startswith("TestCluster/broker-t/")
    assert escaped["UNIQ_KEY"] == "K"
    assert not {"DELAY", "REAL_TOPIC", "REAL_QID"} & escaped.keys()
    assert (await figures(replica))["escapedCount"] == "1"
    # A message of the same level is delivered by the master again, and the escaped one is not.
    again = await master.send("orders", b"again", properties={"DELAY": "6"})
    assert again.code == 0
    await await_read(master, [b"now", b"again"])
    assert sorted(await read_all(other)) == [b"later", b"there"]


async def listed_outbox(database):
    """Return the only entry of all outboxes, as the control plane lists them."""
    client = RemotingClient()

    async def entries():
        found = await list_outbox(
            OutboxFilter(topic="orders"),
            size=10,
            after=None,
            database=database,
            brokers=Brokers(client),
            clock=SystemClock(),
        )
        return found.page.items

    try:
        (entry,) = await eventually(entries)
    finally:
        await client.aclose()
    return entry


async def test_a_due_message_stays_while_its_target_is_down_and_goes_when_it_returns(
    fixed_group, database
):
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    assert (await master.send("orders", b"later", properties={"DELAY": "1"})).code == 0
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    await eventually(lambda: fixed_group.agents[1].events("message_not_escaped"))
    assert (await figures(replica))["escapedCount"] == "0"
    waiting = await outbox(replica)
    assert (waiting["isOpen"], waiting["entryCount"]) == (True, 1)
    (topic,) = waiting["topics"]
    assert (topic["kind"], topic["topic"], topic["entryCount"]) == ("delayed", "orders", 1)
    assert "no other broker group takes messages of the topic orders" in topic["lastFailure"]
    assert topic["failureCount"] >= 1
    assert topic["oldestAgeMs"] >= 0
    listed = await listed_outbox(database)
    assert (listed.broker.broker_group_name, listed.broker.address) == (
        "broker-t",
        fixed_group.address(1),
    )
    assert (listed.waiting.topic, listed.waiting.entry_count) == ("orders", 1)
    other = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    assert (await other.send("orders", b"there")).code == 0

    await await_read(other, [b"there", b"later"])
    await await_drained(replica)


async def test_a_message_for_a_time_escapes_once_and_not_early(fixed_group):  # D17, I13
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    target = await add_target(fixed_group)
    begun_ms = time.time_ns() // 1_000_000
    soon = TIMED | {"UNIQ_KEY": "K"}
    assert (await master.send("orders", b"soon", properties=soon)).code == 0
    late = {"TIMER_DELAY_MS": str(LATE_MS)}
    assert (await master.send("orders", b"late", properties=late)).code == 0
    await let_act(fixed_group)

    await await_read(target, [b"there", b"soon"])
    escaped = messages(await target.pull("orders"))[1]
    await await_drained(replica)
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    again = await master.send("orders", b"again", properties={"TIMER_DELAY_MS": "1"})

    assert escaped.store_timestamp_ms >= begun_ms + LONG_DELAY_MS
    assert escaped.properties["REGENT_ESCAPED_FROM"].startswith("TestCluster/broker-t/")
    assert escaped.properties["UNIQ_KEY"] == "K"
    assert not {"TIMER_DELAY_MS", "TIMER_OUT_MS", "REAL_TOPIC"} & escaped.properties.keys()
    assert again.code == 0
    await await_read(master, [b"again", b"late"])
    assert messages(await master.pull("orders"))[-1].store_timestamp_ms >= begun_ms + LATE_MS
    assert sorted(await read_all(target)) == [b"soon", b"there"]


async def test_no_message_waits_for_one_whose_topic_is_missing(fixed_group):  # D17
    """The master delivers what did not escape, and none of those that passed it."""
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    target = await add_target(fixed_group)
    for topic, body in (("missing", b"stays"), ("orders", b"passes"), ("orders", b"too")):
        for waits in ({"DELAY": "1"}, TIMED):
            assert (await master.send(topic, body, properties=waits)).code == 0
    await let_act(fixed_group)

    await await_read(target, [b"there", *(2 * [b"passes", b"too"])])

    async def only_stay():
        topics = (await outbox(replica))["topics"]
        waiting = {(one["kind"], one["topic"]): one["entryCount"] for one in topics}
        return waiting == {("delayed", "missing"): 1, ("timed", "missing"): 1}

    await eventually(only_stay)
    master = await fixed_group.start(0, **SHORT_DELAYS)
    await fixed_group.await_members({0, 1})

    async def has_rest():
        return await read_all(master, "missing") == 2 * [b"stays"]

    await eventually(has_rest)
    for waits in ({"DELAY": "1"}, {"TIMER_DELAY_MS": "1"}):
        assert (await master.send("orders", b"again", properties=waits)).code == 0
    await await_read(master, 2 * [b"again"])
    await await_drained(replica)


async def test_a_slow_target_delays_no_other_target_and_its_messages_come_once(fixed_group):
    # D17: the answers come too late, so the messages are sent again.
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    slow = await add_target(fixed_group)
    quick = await add_target(fixed_group, "others", "broker-v")
    for topic in ("orders", "others", "orders", "others"):
        for waits in ({"DELAY": "1"}, TIMED):
            assert (await master.send(topic, b"m", properties=waits)).code == 0
    await fixed_group.await_copy(1)
    await fixed_group.pause("broker-u")
    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    async def are_read():
        return await read_all(quick, "others") == [b"there", *(4 * [b"m"])]

    await eventually(are_read)
    await eventually(lambda: fixed_group.agents[1].events("message_not_escaped"))
    fixed_group.agents["broker-u"].process.send_signal(signal.SIGCONT)

    await await_read(slow, [b"there", *(4 * [b"m"])])
    await await_drained(replica)
    keys = [
        one.properties["REGENT_ESCAPED_FROM"] for one in messages(await slow.pull("orders"))[1:]
    ]
    assert len(set(keys)) == 4


async def test_copies_at_a_target_without_an_index_have_the_same_key(fixed_group):
    # D17: a target that can't look for the message stores it again when it gets it again.
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    target = await add_target(fixed_group)
    fixed_group.kill("broker-u")
    target = await fixed_group.start("broker-u", messageIndexEnable="false")
    await fixed_group.await_members({0}, "broker-u")
    assert (await master.send("orders", b"m", properties={"DELAY": "1"})).code == 0
    await fixed_group.await_copy(1)
    await fixed_group.pause("broker-u")
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    await eventually(lambda: fixed_group.agents[1].events("message_not_escaped"))

    fixed_group.agents["broker-u"].process.send_signal(signal.SIGCONT)

    await await_drained(replica)
    _, *copies = messages(await target.pull("orders"))
    assert {one.body for one in copies} == {b"m"}
    assert len({one.properties["REGENT_ESCAPED_FROM"] for one in copies}) == 1
    assert (await figures(replica))["escapedCount"] == "1"


def escape(body, position, *, unique_key="K", is_escape=True):
    """The fields of a send as an acting master sends it, with short names."""
    key = f"TestCluster/broker-t/{position}"
    properties = f"UNIQ_KEY\x01{unique_key}\x02REGENT_ESCAPED_FROM\x01{key}\x02"
    ext = {"a": "p", "b": "orders", "c": "TBW102", "d": 1, "e": 0, "f": 0, "g": 1, "h": 0}
    ext |= {"i": properties, "j": 0, "k": "false"}
    return (ext | {"regentEscapes": "true"} if is_escape else ext), body


async def test_a_target_stores_an_escaped_message_once(fixed_group):  # D17
    target = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    code = RequestCode.SEND_MESSAGE_V2

    first = await target.call(code, *escape(b"one", 100))
    again = await target.call(code, *escape(b"one", 100))
    other = await target.call(code, *escape(b"two", 200))
    fixed_group.kill("broker-u")
    target = await fixed_group.start("broker-u", skipPreOnline="true")
    await fixed_group.await_members({0}, "broker-u")
    late = await target.call(code, *escape(b"one", 100))

    assert [one.code for one in (first, again, other, late)] == [0] * 4
    assert {one.ext["msgId"] for one in (first, again, late)} == {first.ext["msgId"]}
    assert {one.ext["queueOffset"] for one in (first, again, late)} == {"0"}
    # Another send of the same message, such as its second retry, is another message.
    copy = await target.call(code, *escape(b"copy", 100, is_escape=False))
    assert copy.code == 0
    await await_read(target, [b"one", b"two", b"copy"])


async def test_a_lost_answer_makes_no_second_message(fixed_group):  # D17, I13
    """The target is stopped with the answer, so the acting master sends again."""
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS, **ESCAPES)
    other = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    assert (await other.send("orders", b"there")).code == 0
    delayed = [
        await master.send(
            "orders",
            b"%d" % number,
            properties={"DELAY": "6"} if number % 2 else TIMED,
        )
        for number in range(8)
    ]
    assert [one.code for one in delayed] == [0] * 8
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    for _ in range(3):
        await await_some(other, 2)
        fixed_group.kill("broker-u")
        other = await fixed_group.start("broker-u")

    await await_read(other, [b"there", *(b"%d" % number for number in range(8))])
    assert (await figures(replica))["escapedCount"] == "8"


async def await_some(client, count):
    async def are_read():
        return len(await read_all(client)) >= count

    await eventually(are_read)
