"""The connections of the engine to other members: made when it asks, and again after a moment."""

import asyncio
import os
import socket
from types import SimpleNamespace

import pytest

from tests.waiting import eventually
from workers.broker.shares.engine_links import EngineLinks

SEQUENCER, OWNER = 0, 2


class Clients:
    """What the engine is given: a copy of each connection, and which it uses no more."""

    def __init__(self):
        self.used, self.retired = [], []

    def use_link(self, member, descriptor):
        self.used.append((member, socket.socket(fileno=os.dup(descriptor))))

    def retire_link(self, member):
        self.retired.append(member)

    def close(self):
        for _, connected in self.used:
            connected.close()


class Owners:
    """Where members are."""

    def __init__(self, address):
        self.address, self.forgotten_count = address, 0

    async def find(self, broker_id):
        if broker_id != OWNER:
            raise ConnectionError("no name server knows it")
        return SimpleNamespace(address=self.address)

    def forget_addresses(self):
        self.forgotten_count += 1


@pytest.fixture
async def listening():
    accepted = []

    async def serve(_reader, writer):
        accepted.append(writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield SimpleNamespace(address=f"127.0.0.1:{port}", accepted=accepted)
    server.close()
    for writer in accepted:
        writer.transport.abort()


@pytest.fixture
def engine():
    engine = Clients()
    yield engine
    engine.close()


@pytest.fixture
async def links(listening, engine):
    owners = Owners(listening.address)
    broker = SimpleNamespace(
        settings=SimpleNamespace(passes_on=True), shared_pops=SimpleNamespace(links=owners)
    )
    links = EngineLinks(broker)
    links.serve_by(engine)
    yield links
    links.close()


async def test_the_engine_gets_a_connection_to_the_owner_that_it_asks_for(links, engine, listening):
    links.want(OWNER)
    links.want(OWNER)

    await eventually(lambda: engine.used and listening.accepted)

    assert [member for member, _ in engine.used] == [OWNER]
    assert not os.get_blocking(engine.used[0][1].fileno())
    assert engine.retired == []


async def test_the_connection_to_the_sequencer_ends_with_the_change_of_the_master(
    links, engine, listening
):
    links.follow(listening.address)
    links.want(SEQUENCER)
    await eventually(lambda: engine.used)
    links.follow(listening.address)
    assert engine.retired == []

    links.follow(None)

    assert engine.retired == [SEQUENCER]


async def test_a_member_that_can_not_be_reached_is_asked_for_again_after_a_moment(links, engine):
    # There is no master.
    links.want(SEQUENCER)
    assert engine.retired == []

    await eventually(lambda: engine.retired)

    assert (engine.retired, engine.used) == ([SEQUENCER], [])


async def test_nothing_is_passed_on_by_a_broker_that_shall_not(links, engine, listening):
    links._broker.settings.passes_on = False
    links.follow(listening.address)

    links.want(SEQUENCER)

    await eventually(lambda: engine.retired)
    assert engine.used == []


async def test_the_address_of_a_member_is_looked_up_again_after_its_connection_is_lost(
    links, engine
):
    links.want(OWNER)
    await eventually(lambda: engine.used)

    links.lost(OWNER, "the member closed the connection")

    assert links._broker.shared_pops.links.forgotten_count == 1
    await eventually(lambda: engine.retired == [OWNER])
    links.want(OWNER)
    await eventually(lambda: len(engine.used) == 2)


async def test_a_broker_that_stops_makes_no_connection(links, engine):
    links.want(OWNER)
    await eventually(lambda: engine.used)

    links.close()
    links.want(OWNER)

    assert (engine.retired, len(engine.used)) == ([OWNER], 1)
    assert not links._tasks
