"""The members of a group by several name servers, and by one that has just begun."""

from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from workers.broker.acting import pre_online
from workers.broker.acting.group import FixedGroup
from workers.broker.acting.pre_online import PreOnline

SETTINGS = SimpleNamespace(
    cluster_name="c", broker_name="broker-a", knows_old_name_servers=False, replica_count=2
)


def answer(members, code=0):
    group = {"cluster": "c", "brokerName": "broker-a", "brokerAddrs": members}
    body = java_json.encode({"brokerMemberGroup": group})
    return SimpleNamespace(code=code, body=body)


class NameServers:
    def __init__(self, *answers):
        self.answers = list(answers)

    async def ask_each(self, _code, _ext):
        return self.answers


def group(*answers):
    broker = SimpleNamespace(settings=SETTINGS)
    membership = SimpleNamespace(own_id=0)
    return FixedGroup(broker, membership, NameServers(*answers), own_address="a:1")


async def test_a_member_counts_that_any_name_server_knows():
    found = await group(answer({}), answer({"1": "b:1"}), answer({"0": "a:1"}))._ask_members()

    assert found == {0: "a:1", 1: "b:1"}


async def test_the_first_name_server_decides_between_two_addresses():
    assert await group(answer({"0": "a:1"}), answer({"0": "z:1"}))._ask_members() == {0: "a:1"}


async def test_no_members_are_known_while_no_name_server_says_anything():
    assert await group()._ask_members() is None
    assert await group(answer({}, code=1))._ask_members() is None
    assert await group(answer({}, code=1), answer({}))._ask_members() == {}


async def list_members(*said):
    said = list(said)

    async def ask():
        return said.pop(0) if len(said) > 1 else said[0]

    membership = SimpleNamespace(own_id=0)
    broker = SimpleNamespace(settings=SETTINGS)
    rounds = PreOnline(broker, membership, own_address="a:1", ask_members=ask)
    return await rounds._list_members(), rounds


async def test_a_broker_waits_a_moment_for_members_that_are_not_listed(monkeypatch):
    """A name server that has just begun knows no member, and brokers register again soon."""
    monkeypatch.setattr(pre_online, "ABSENCE_CHECK_S", 0)

    found, _ = await list_members({}, {}, {1: "b:1"})

    assert found == {1: "b:1"}


async def test_a_broker_waits_once_only(monkeypatch):
    monkeypatch.setattr(pre_online, "ABSENCE_CHECK_S", 0)
    monkeypatch.setattr(pre_online, "MASTER_ABSENCE_S", 0.01)

    found, rounds = await list_members({})
    monkeypatch.setattr(pre_online, "MASTER_ABSENCE_S", 60)

    assert found == {}
    assert await rounds._list_members() == {}


@pytest.mark.parametrize("said", [{0: "a:1", 1: "b:1"}, {1: "b:1", 2: "c:1"}])
async def test_a_broker_does_not_wait_for_a_whole_group(said):
    found, _ = await list_members(said)

    assert found == said
