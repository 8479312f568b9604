"""Delayed messages that are due while the master of their group is absent (D17)."""

from backend.remoting.request_code import RequestCode
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_members import figures
from tests.integration.broker.client import messages
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

ESCAPES = {"enableRemoteEscape": "true"}


async def test_a_due_message_escapes_to_another_group_once_with_its_key(fixed_group):  # S128, D17
    master, replica = await fixed_group.add_pair(**ESCAPES)
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
    master = await fixed_group.start(0)
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


async def test_a_due_message_stays_while_its_target_is_down_and_goes_when_it_returns(fixed_group):
    master, replica = await fixed_group.add_pair(**ESCAPES)
    assert (await master.send("orders", b"later", properties={"DELAY": "1"})).code == 0
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    await eventually(lambda: fixed_group.agents[1].events("delayed_delivery_refused"))
    assert (await figures(replica))["escapedCount"] == "0"
    other = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    assert (await other.send("orders", b"there")).code == 0

    await await_read(other, [b"there", b"later"])


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
    master, replica = await fixed_group.add_pair(**ESCAPES)
    other = await fixed_group.add(0, name="broker-u", defaultTopicQueueNums="1")
    await fixed_group.await_members({0}, "broker-u")
    assert (await other.send("orders", b"there")).code == 0
    delayed = [
        await master.send("orders", b"%d" % number, properties={"DELAY": "6"})
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
