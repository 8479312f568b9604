"""Requests to other broker groups: where their masters are, and when they are not asked."""

import asyncio

import pytest
from regent_engine import Decoder

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup, BrokerMembers
from backend.remoting.command import request
from tests.ports import free_port
from workers.broker.errors import Refusal
from workers.broker.routing.peers import ADDRESS_LIFE_MS, PAUSE_MS, NotSent, Peers


class Directory:
    """Answers where a master is, and notes each question."""

    def __init__(self, *addresses):
        self.addresses, self.asked, self.code, self.remark = list(addresses), [], 0, None

    @property
    def body(self):
        address = self.addresses[0]
        members = BrokerMembers(
            cluster="C", broker_name="b", addresses={0: address} if address else {}
        )
        return java_json.encode(BrokerMemberGroup(members=members))

    async def ask(self, _code, ext):
        self.asked.append(ext["brokerName"])
        return self


class Clock:
    now_ms = 1_000_000

    def __call__(self):
        return self.now_ms


async def refusal_of(peers):
    with pytest.raises(Refusal) as raised:
        await peers.ask("b", 30, {"topic": "T"}, place="segment [g0 b:q0]")
    return raised.value


async def test_a_segment_whose_broker_group_has_no_master_is_named():
    for directory in (None, Directory(""), Directory(f"127.0.0.1:{free_port()}")):
        peers = Peers("C", lambda directory=directory: directory, Clock())

        refusal = await refusal_of(peers)

        assert (refusal.code, "[g0 b:q0]" in str(refusal)) == (2, True)


async def test_a_master_that_fails_twice_is_not_asked_for_a_moment():
    directory, clock = Directory(f"127.0.0.1:{free_port()}"), Clock()
    peers = Peers("C", lambda: directory, clock)

    for _ in range(2):
        await refusal_of(peers)
    assert len(directory.asked) == 2
    assert "a moment ago" in str(await refusal_of(peers))
    assert len(directory.asked) == 2
    clock.now_ms += PAUSE_MS
    assert "a moment ago" not in str(await refusal_of(peers))

    assert len(directory.asked) == 3
    assert PAUSE_MS < ADDRESS_LIFE_MS


async def test_requests_that_the_pause_refuses_do_not_prolong_it():
    """A client that repeats its request faster than the pause ends must not keep it up."""
    directory, clock = Directory(f"127.0.0.1:{free_port()}"), Clock()
    peers = Peers("C", lambda: directory, clock)
    for _ in range(2):
        await refusal_of(peers)

    for _ in range(PAUSE_MS // 100):
        assert "a moment ago" in str(await refusal_of(peers))
        with pytest.raises(NotSent, match="a moment ago"):
            await passed_on_to(peers)
        clock.now_ms += 100

    assert "a moment ago" not in str(await refusal_of(peers))


async def passed_on_to(peers):
    command = Decoder().receive(request(310, opaque=1, ext={"b": "T"}))[0]
    return await peers.pass_on("b", command, {"lqFwd": "1"})


async def test_a_request_that_was_not_sent_differs_from_one_without_an_answer():
    received = []

    async def leave(reader, writer):
        received.append(await reader.read(1 << 16))
        writer.close()

    server = await asyncio.start_server(leave, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    absent = Peers("C", lambda: Directory(f"127.0.0.1:{free_port()}"), Clock())
    silent = Peers("C", lambda: Directory(f"127.0.0.1:{port}"), Clock())

    with pytest.raises(NotSent):
        await passed_on_to(absent)
    with pytest.raises(OSError) as raised:
        await passed_on_to(silent)
    server.close()

    assert not isinstance(raised.value, NotSent)
    assert b"lqFwd" in received[0]
