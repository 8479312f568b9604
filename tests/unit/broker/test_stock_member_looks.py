"""Which members of the group pass for brokers of RocketMQ, while name servers list them or not."""

from types import SimpleNamespace

import pytest

from workers.broker.errors import Refusal
from workers.broker.shares import stock_members as module
from workers.broker.shares.stock_members import KNOWN_MS, StockMembers

STOCK = "10.0.0.7:10911"


@pytest.fixture
def group(monkeypatch):
    """Members by id, those of them that are of RocketMQ, and the addresses that were asked."""
    group = SimpleNamespace(members={2: STOCK}, stock={STOCK}, asked=[], now_ms=0)

    async def ask_members(*_):
        return dict(group.members)

    async def is_stock(address):
        group.asked.append(address)
        return address in group.stock

    monkeypatch.setattr(module, "ask_members", ask_members)
    monkeypatch.setattr(module, "_is_stock", is_stock)
    broker = SimpleNamespace(
        name_servers=object(),
        settings=None,
        store_host=("10.0.0.1", 10911),
        elapsed_ms=lambda: group.now_ms,
        hot=SimpleNamespace(facts_changed=lambda: None),
    )
    group.found = StockMembers(broker)
    return group


async def test_a_member_that_name_servers_leave_out_for_a_moment_is_asked_again(group):
    await group.found.look()
    group.members = {}
    await group.found.look()
    group.found.check()

    group.members, group.now_ms = {2: STOCK}, KNOWN_MS - 1
    await group.found.look()

    with pytest.raises(Refusal):
        group.found.check()
    assert group.asked == [STOCK, STOCK]


async def test_a_member_is_not_asked_with_each_look(group):
    for now_ms in (0, KNOWN_MS - 1, KNOWN_MS):
        group.now_ms = now_ms
        await group.found.look()

    assert group.asked == [STOCK, STOCK]
    assert group.found.found == {2: STOCK}
