"""The engine of a member forwards POPs, and passes acknowledgements on, by itself (ADR 27)."""

import asyncio
import itertools
from contextlib import AsyncExitStack

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, bodies, pop, pop_fields
from tests.integration.replication.share_members import CONSUMERS, TOPIC, Members
from tests.waiting import PATIENCE_S, eventually

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


async def holds_soon(condition):
    """Return whether a condition holds within a second: a POP may go by the event loop as well."""
    for _ in range(100):
        if condition():
            return True
        await asyncio.sleep(0.01)
    return False


class Served:
    """The requests that the event loop of a member serves: their codes."""

    def __init__(self, member, monkeypatch):
        self.codes = []
        dispatcher = member.server.dispatcher
        dispatch = dispatcher.dispatch

        def note(caller, command):
            self.codes.append(command.code)
            return dispatch(caller, command)

        monkeypatch.setattr(dispatcher, "dispatch", note)


@pytest.fixture
async def served(members, monkeypatch):
    """What the replica serves without the engine, from when the engine has its connections on."""
    served = Served(members[REPLICA], monkeypatch)
    client = await members[REPLICA].consume()

    async def forwards():
        await members.send(MASTER, 1, start=9000)
        served.codes.clear()
        found = await pop(client, TOPIC, CONSUMERS, pollTime=1_000)
        codes = [await ack(client, one) for one in found]
        return codes == [0] and served.codes == []

    await eventually(forwards)
    return served


async def test_o28_the_engine_forwards_pops_and_passes_acknowledgements_on(members, served):
    # Q30, Q91: nothing of that is served on the event loop of the replica.
    client = members[REPLICA].client
    meters = members[REPLICA].server.broker.meters
    numbers = itertools.count(step=40)

    async def are_forwarded():
        sent = await members.send(MASTER, 40, start=next(numbers))
        served.codes.clear()
        before, found = meters.passed_on_count, []
        while len(found) < 40:
            found += await pop(client, TOPIC, CONSUMERS)
        codes = [await ack(client, one) for one in found]
        assert sorted(bodies(found)) == sent
        assert codes == [0] * 40
        await eventually(lambda: meters.passed_on_count >= before + 40)
        # A POP waits on the loop while a replica has not confirmed what it asks for.
        return served.codes == []

    await eventually(are_forwarded)
    await members.await_equal_states()
    assert await pop(await members[MASTER].consume(), TOPIC, CONSUMERS) == []


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("init_mode", ["0", "malformed"])
async def test_q10_messages_of_an_owner_for_a_client_that_has_left_come_again_at_once(
    members, init_mode
):
    client = members[REPLICA].client
    await members.send(MASTER, 2)
    replica, owner = members[REPLICA].server.sessions, members[MASTER].server.sessions
    fields = pop_fields(TOPIC, CONSUMERS, initMode=init_mode, invisibleTime=600_000)
    is_forwarded = False
    while not is_forwarded:
        leaving = await Client.connect(members[REPLICA].server.port)
        with owner._alone():
            # The owner has the POP, and does not answer yet.
            leaving.start(RequestCode.POP_MESSAGE, fields)
            # On a busy machine the POP of a turn before may be there too.
            is_forwarded = await holds_soon(lambda: replica._clients.forwarded_count >= 1)
            await leaving.close()

    found = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < 2:
            found += await pop(client, TOPIC, CONSUMERS, pollTime=2_000)

    assert sorted(bodies(found)) == [b"0000", b"0001"]


@pytest.mark.usefixtures("served")
async def test_o21_pops_go_to_the_next_owner_after_a_hand_over(members):
    client = members[REPLICA].client
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


@pytest.mark.usefixtures("served")
async def test_acknowledgements_go_on_after_the_connection_to_the_sequencer_is_lost(members):
    # An answer that is lost between members loses no acknowledgement, and repeats none (O5).
    client = members[REPLICA].client
    sent = await members.send(MASTER, 8)
    found = []
    while len(found) < 8:
        found += await pop(client, TOPIC, CONSUMERS, pollTime=30_000)
    owner = members[MASTER].server.sessions
    with owner._alone():
        answers = [asyncio.ensure_future(ack(client, one)) for one in found]
        replica = members[REPLICA].server.sessions
        await eventually(lambda: replica._clients.forwarded_count == 8)
        for session in owner.all:
            session.abort()

    assert await asyncio.gather(*answers) == [0] * 8
    assert sorted(bodies(found)) == sent
    again = await Client.connect(members[MASTER].server.port)
    await again.heartbeat(CONSUMERS, TOPIC)
    assert await pop(again, TOPIC, CONSUMERS) == []
    await again.close()
