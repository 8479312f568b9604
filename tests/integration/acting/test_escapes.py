"""Delayed messages that are due while the master of their group is absent (D17)."""

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
