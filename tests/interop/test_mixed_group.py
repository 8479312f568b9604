"""A stock 5.5.0 broker and one of ours in one group: each follows the other and takes over."""

import asyncio
import re

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from tests.integration.broker.agent import Agent
from tests.interop.java import build
from tests.interop.mixed_group import PATIENCE, Journal, MixedGroup, OurBroker, log_bytes
from tests.interop.stock_broker import StockBroker
from tests.long_form import long_form_only
from tests.ports import free_port

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]
START_TIMEOUT_S = 150


@pytest.fixture
async def group(database, redis, tmp_path):
    build()
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores) as server:
        (tmp_path / "ours").mkdir()
        ours = OurBroker(Agent(tmp_path / "ours"), free_port(), server.address)
        stock = StockBroker(free_port(), server.address, tmp_path / "stock", properties=PATIENCE)
        group = MixedGroup(server.port, ours, stock)
        yield group
        group.close()
        for broker in (ours, stock):
            await broker.kill()


@pytest.fixture
def await_state(group, eventually):
    """Wait until the controller has a master, an epoch and a SyncStateSet."""

    async def wait(master, *state):
        async def is_so():
            return await group.state() == (master.address, *state)

        try:
            await eventually(is_so, timeout_s=START_TIMEOUT_S, interval_s=0.05)
        except AssertionError:
            logs = f"{group.ours.log()[-6000:]}\n{group.stock.log()[-6000:]}"
            pytest.fail(f"the group is {await group.state()}\n{logs}")

    return wait


async def test_stock_and_we_follow_each_other_and_take_over_without_loss(
    group, await_state, eventually
):
    ours, stock = group.ours, group.stock

    async def await_commit(broker, offset):
        async def is_so():
            return await group.held_offset(broker) == offset

        await eventually(is_so, interval_s=0.1)

    # A stock replica follows our master.
    await ours.start()
    await await_state(ours, 1, {1})
    journal = Journal(group)
    sending = asyncio.create_task(journal.run())
    await journal.grow(50)
    await group.commit(ours, 10)
    await stock.start()
    await await_state(ours, 1, {1, 2})
    await journal.grow(50)
    await await_commit(stock, 10)
    await eventually(lambda: group.refuses_pop(ours), interval_s=0.1)

    # It takes over, and ours comes back as its replica (S48, S70).
    await group.append_tail(ours, stock)
    await await_state(stock, 2, {2})
    await journal.grow(50)
    await journal.check(stock)
    await ours.start()
    await await_state(stock, 2, {1, 2})
    assert "log_truncated" in ours.log()
    await journal.grow(50)
    await group.commit(stock, 20)
    await await_commit(ours, 20)

    # Ours takes over, and stock's comes back.
    stock_end = await group.append_tail(stock, ours)
    await await_state(ours, 3, {1})
    await journal.grow(50)
    await journal.check(ours)
    assert await group.committed(ours) == 20
    await stock.start()
    await await_state(ours, 3, {1, 2})
    *_, cut_at = re.findall(r"truncateOffset is (\d+)", stock.log("store"))
    assert int(cut_at) < stock_end
    await journal.grow(50)

    journal.is_over = True
    await sending
    epochs, end = await group.history(ours)
    assert [epoch for epoch, _ in epochs] == [1, 2, 3]

    async def are_alike():
        return await group.history(stock) == (epochs, end)

    await eventually(are_alike, interval_s=0.05)
    our_log, stock_log = log_bytes(ours.log_folder, end), log_bytes(stock.log_folder, end)
    assert len(our_log) == end
    assert our_log == stock_log


@long_form_only
async def test_our_replica_follows_stock_in_an_epoch_that_stock_did_not_record(
    group, await_state, eventually
):
    ours, stock = group.ours, group.stock
    await ours.start()
    await await_state(ours, 1, {1})
    journal = Journal(group)
    sending = asyncio.create_task(journal.run())
    await journal.grow(20)
    journal.is_over = True
    await sending
    await stock.start()
    await await_state(ours, 1, {1, 2})
    await eventually(lambda: group.knows_topic(stock), interval_s=0.1)
    await group.elect(stock)
    await await_state(stock, 2, {1, 2})
    await ours.kill()
    await await_state(stock, 2, {2})
    await stock.kill()
    await stock.start()
    # Its log has not grown since the epoch before, so that stock drops this one.
    await await_state(stock, 3, {2})

    await ours.start()

    await await_state(stock, 3, {1, 2})
    epochs, _ = await group.history(stock)
    assert epochs[-1][0] < 3
    await journal.check(stock)
