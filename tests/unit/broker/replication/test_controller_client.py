"""What becomes of questions once a broker has left its group: over requesters that open nothing."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from backend.remoting.headers import ControllerMetadataAnswer, encode_header
from workers.broker.replication import controller_client
from workers.broker.replication.controller_client import ControllerClient
from workers.broker.replication.identity import Identity

IDENTITY = Identity("cluster", "group", 1, "code")
LEADER = ControllerMetadataAnswer(
    group="g",
    controller_leader_id="c",
    controller_leader_address="c:1",
    is_leader=True,
    peers="c:1",
)


@dataclass
class Opened:
    """A connection to the leader, which says so when the test lets it."""

    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    is_open: bool = True

    async def call(self, _code, **_given):
        await self.may_answer.wait()
        return SimpleNamespace(ext=encode_header(LEADER))

    def close(self):
        self.is_open = False


@pytest.fixture
def opened(monkeypatch):
    connections = []

    async def connect(*_address, **_given):
        connections.append(Opened())
        return connections[-1]

    monkeypatch.setattr(controller_client, "connect", connect)
    return connections


@pytest.fixture
def client():
    return ControllerClient(
        (("c", 1),), own_address="b:1", timeout_ms=1, priority=0, on_notice=lambda _state: None
    )


async def test_who_asks_on_after_the_end_opens_no_connection(client, opened):
    client.close()

    with pytest.raises(ConnectionError, match="no longer asks"):
        await client.replica_info(IDENTITY)

    assert opened == []


async def test_a_connection_that_is_being_opened_at_the_end_is_closed(client, opened, eventually):
    asking = asyncio.create_task(client.replica_info(IDENTITY))
    await eventually(lambda: opened)

    client.close()
    opened[0].may_answer.set()

    with pytest.raises(ConnectionError, match="no longer asks"):
        await asking
    assert [one.is_open for one in opened] == [False]
