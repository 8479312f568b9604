"""A master asks its members whether they are of RocketMQ, and refuses POP beside one (D30)."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from regent_engine import Decoder

from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from tests.integration.broker.popping import bodies, pop, pop_fields
from tests.waiting import eventually
from workers.broker.shares import stock_members

FRAME_SIZE_MAX = 1 << 20
STOCK, OURS, BUSY = 3, 0, 2
"""The codes of answers to a request that only ours know; RocketMQ 5.5.0 answers 3."""


@pytest.fixture
async def consumer(client):
    """A client of group `g`, with one message in topic `T`."""
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    return client


@pytest.fixture
def listed(monkeypatch, broker):
    """The members that name servers list, by id; each is asked whenever the master looks."""
    host, port = broker.broker.store_host
    members = {0: f"{host}:{port}"}

    async def ask(*_):
        return dict(members)

    monkeypatch.setattr(stock_members, "ask_members", ask)
    monkeypatch.setattr(stock_members, "KNOWN_MS", 0)
    return members


@asynccontextmanager
async def member(code, remark=" request type 7010 not supported"):
    """Run a member that answers each request with a code, which the test may change."""
    codes = [code]

    async def serve(reader, writer):
        decoder = Decoder(FRAME_SIZE_MAX)
        while data := await reader.read(1 << 16):
            for one in decoder.receive(data):
                writer.write(answer(one, code=codes[0], remark=remark))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield "{}:{}".format(*server.sockets[0].getsockname()), codes
    finally:
        server.close()


async def test_pop_is_refused_until_a_broker_of_ours_has_the_address(consumer, broker, listed):
    look = broker.broker.shares.stock_members.look
    async with member(STOCK) as (address, codes):
        listed[2] = address
        await look()
        told = await consumer.call(RequestCode.POP_MESSAGE, pop_fields())
        assert (told.code, f"its broker 2, {address}, is of RocketMQ" in told.remark) == (16, True)

        codes[0] = OURS
        await look()

        assert bodies(await pop(consumer)) == [b"x"]


@pytest.mark.parametrize("code", [BUSY, None])
async def test_a_member_that_says_nothing_of_itself_changes_nothing(consumer, broker, listed, code):
    look = broker.broker.shares.stock_members.look
    async with member(BUSY) as (address, codes):
        listed[2] = address if code else "127.0.0.1:1"
        await look()
        assert bodies(await pop(consumer)) == [b"x"]

        listed[2], codes[0] = address, STOCK
        await look()
        codes[0] = BUSY
        await look()

        assert (await consumer.call(RequestCode.POP_MESSAGE, pop_fields())).code == 16


async def test_a_consumer_that_waits_is_refused_with_the_next_message(consumer, broker, listed):
    await pop(consumer)
    waiting = consumer.start(RequestCode.POP_MESSAGE, pop_fields(pollTime=60_000))
    await eventually(lambda: broker.broker.hot.pop_count("T", -1, "g") == 1)
    async with member(STOCK) as (address, _):
        listed[2] = address
        await broker.broker.shares.stock_members.look()

        await consumer.send("T", b"y")

        assert (await waiting).code == 16
