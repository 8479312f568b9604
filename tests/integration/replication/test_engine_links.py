"""The engine of a member forwards POPs, and passes acknowledgements on, by itself (ADR 27)."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from backend.remoting.request_code import RequestCode
from backend.rules.broker import MASTER_ID
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, bodies, pop, pop_fields
from tests.integration.replication.share_members import CONSUMERS, TOPIC, Members
from tests.waiting import eventually

MASTER, REPLICA = 1, 2


@pytest.fixture
async def members(group):
    """A master that owns both share queues, and a replica."""
    async with AsyncExitStack() as stack:
        members = Members(group, stack)
        for broker_id in (MASTER, REPLICA):
            await members.start(broker_id)
        await members.begin(master=MASTER)
        await members.own(MASTER)
        yield members


class Served:
    """The requests that a member serves without the engine: their codes."""

    def __init__(self, member, monkeypatch):
        self.codes = []
        dispatcher = member.server.dispatcher
        dispatch = dispatcher.dispatch

        def note(caller, command):
            self.codes.append(command.code)
            return dispatch(caller, command)

        monkeypatch.setattr(dispatcher, "dispatch", note)


async def await_links(members, client):
    """Finish messages at the replica until the engine has connections to owner and sequencer."""
    links = members[REPLICA].server.broker.engine_links

    async def are_there():
        await members.send(MASTER, 1, start=9000)
        for found in await pop(client, TOPIC, CONSUMERS, pollTime=1_000):
            assert await ack(client, found) == 0
        return links._lent == {MASTER_ID, MASTER}

    await eventually(are_there)


async def test_o28_the_engine_forwards_pops_and_passes_acknowledgements_on(members, monkeypatch):
    # Q30, Q91: nothing of that is served on the event loop of the replica.
    client = await members[REPLICA].consume()
    await await_links(members, client)
    sent = await members.send(MASTER, 40)
    served = Served(members[REPLICA], monkeypatch)
    meters = members[REPLICA].server.broker.meters
    before = meters.passed_on_count

    first = await pop(client, TOPIC, CONSUMERS)
    second = await pop(client, TOPIC, CONSUMERS)
    codes = [await ack(client, one) for one in (*first, *second)]

    assert sorted(bodies([*first, *second])) == sent
    assert set(codes) == {0}
    assert served.codes == []
    await eventually(lambda: meters.passed_on_count == before + 40)
    await members.await_equal_states()
    assert await pop(await members[MASTER].consume(), TOPIC, CONSUMERS) == []


async def test_q10_messages_of_an_owner_for_a_client_that_has_left_come_again_at_once(members):
    client = await members[REPLICA].consume()
    await await_links(members, client)
    await members.send(MASTER, 2)
    replica, owner = members[REPLICA].server.sessions, members[MASTER].server.sessions
    leaving = await Client.connect(members[REPLICA].server.port)
    with owner._alone():
        # The owner has the POP, and does not answer yet.
        leaving.start(RequestCode.POP_MESSAGE, pop_fields(TOPIC, CONSUMERS))
        while not replica._clients.forwarded_count:
            await asyncio.sleep(0)
        await leaving.close()

    found = []
    while len(found) < 2:
        found += await pop(client, TOPIC, CONSUMERS, pollTime=30_000)

    assert sorted(bodies(found)) == [b"0000", b"0001"]


async def test_o21_pops_go_to_the_next_owner_after_a_hand_over(members):
    client = await members[REPLICA].consume()
    await await_links(members, client)
    await members.send(MASTER, 2)
    assert len(await pop(client, TOPIC, CONSUMERS, maxMsgNums=1)) == 1

    for name in list(members.epochs):
        await members[MASTER].shares.give_back(name, wants_again=False)
    await members.own(REPLICA)

    (last,) = await pop(client, TOPIC, CONSUMERS, pollTime=30_000)
    # Now the master forwards, and its client is served by the replica.
    assert await ack(client, last) == 0
    other = await members[MASTER].consume()
    (body,) = await members.send(MASTER, 1, start=7)
    assert bodies(await pop(other, TOPIC, CONSUMERS, pollTime=30_000)) == [body]


async def test_acknowledgements_go_on_after_the_connection_to_the_sequencer_is_lost(members):
    # An answer that is lost between members loses no acknowledgement, and repeats none (O5).
    client = await members[REPLICA].consume()
    await await_links(members, client)
    sent = await members.send(MASTER, 8)
    found = []
    while len(found) < 8:
        found += await pop(client, TOPIC, CONSUMERS, pollTime=30_000)
    owner = members[MASTER].server.sessions
    answers = []
    with owner._alone():
        answers = [asyncio.ensure_future(ack(client, one)) for one in found]
        while members[REPLICA].server.sessions._clients.forwarded_count < 8:
            await asyncio.sleep(0)
        for session in owner.all:
            session.abort()

    assert await asyncio.gather(*answers) == [0] * 8
    assert sorted(bodies(found)) == sent
    again = await Client.connect(members[MASTER].server.port)
    await again.heartbeat(CONSUMERS, TOPIC)
    assert await pop(again, TOPIC, CONSUMERS) == []
    await again.close()
