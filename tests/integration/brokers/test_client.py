"""Requests to peers over real sockets: answers, deadlines, bounds, and peers that misbehave."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.errors import BrokerRefused, BrokerUnreachable
from backend.brokers.requests.figures import GetBrokerSample
from backend.remoting.request_code import RequestCode
from tests.integration.tasks.conftest import FakeBroker
from tests.waiting import PATIENCE_S, eventually

SAMPLE = RequestCode.GET_BROKER_SAMPLE


@pytest.fixture
async def peer():
    fake = FakeBroker()
    await fake.start()
    yield fake
    await fake.stop()


@pytest.fixture
async def client():
    made = RemotingClient(deadline=timedelta(seconds=PATIENCE_S))
    yield made
    await made.aclose()


async def test_many_callers_of_one_address_share_one_connection(client, peer):
    answers = await asyncio.gather(*(client.request(peer.address, SAMPLE) for _ in range(100)))

    assert {response.code for response in answers} == {0}
    assert (peer.connection_count, peer.request_count) == (1, 100)


async def test_a_mute_peer_costs_its_deadline_and_no_more(peer):
    hasty = RemotingClient(deadline=timedelta(milliseconds=100))
    peer.is_mute = True

    with pytest.raises(BrokerUnreachable, match=r"no answer within 0\.1 s"):
        await hasty.request(peer.address, SAMPLE)

    peer.is_mute = False

    async def is_answered():
        # A busy machine may take as long as it has.
        with suppress(BrokerUnreachable):
            return (await hasty.request(peer.address, SAMPLE)).code == 0

    await eventually(is_answered)
    await hasty.aclose()


async def test_an_address_without_a_listener_is_an_error(client):
    with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1 gave no answer"):
        await client.request("127.0.0.1:1", SAMPLE)


@pytest.mark.parametrize(
    "address", ["no-port", "host:port", "", "127.0.0.1:70000", "x" * 70 + ".:1"]
)
async def test_an_address_that_is_invalid_is_an_error(client, address):
    with pytest.raises(BrokerUnreachable):
        await client.request(address, SAMPLE)


async def test_too_many_open_requests_are_refused_at_once(peer):
    client = RemotingClient(deadline=timedelta(seconds=PATIENCE_S), in_flight_count_max=2)
    peer.is_mute = True
    asked = [asyncio.create_task(client.request(peer.address, SAMPLE)) for _ in range(3)]

    [refused], waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)

    assert "open on one connection" in str(refused.exception())
    assert len(waiting) == 2
    await client.aclose()
    await asyncio.wait(waiting)


async def test_a_closed_connection_fails_its_callers_and_the_next_call_opens_another(client, peer):
    peer.is_mute = True
    waiting = asyncio.create_task(client.request(peer.address, SAMPLE))
    await eventually(lambda: peer.request_count == 1)

    peer.drop_connections()

    with pytest.raises(BrokerUnreachable):
        await waiting
    peer.is_mute = False
    assert (await client.request(peer.address, SAMPLE)).code == 0
    assert peer.connection_count == 2


@pytest.mark.parametrize("garbage", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x7f\xff\xff\xff" * 4])
async def test_garbage_ends_the_connection_and_not_the_client(client, peer, garbage):
    peer.garbage = garbage

    with pytest.raises(BrokerUnreachable):
        await client.request(peer.address, SAMPLE)

    peer.garbage = None
    assert (await client.request(peer.address, SAMPLE)).code == 0


async def test_beyond_the_bound_the_connection_idle_longest_makes_room():
    client = RemotingClient(deadline=timedelta(seconds=PATIENCE_S), connection_count_max=2)
    peers = [FakeBroker() for _ in range(3)]
    for peer in peers:
        await peer.start()

    for peer in (*peers, peers[0], peers[2]):
        await client.request(peer.address, SAMPLE)

    assert [peer.connection_count for peer in peers] == [2, 1, 1]
    await client.aclose()
    for peer in peers:
        await peer.stop()


async def test_closing_ends_callers_that_wait(client, peer):
    peer.is_mute = True
    waiting = asyncio.create_task(client.request(peer.address, SAMPLE))
    await eventually(lambda: peer.request_count == 1)

    await client.aclose()

    with pytest.raises(BrokerUnreachable, match="closed by us"):
        await waiting


async def test_a_broker_that_knows_no_samples_refuses(client, peer):
    peer.sample = None

    with pytest.raises(BrokerRefused, match="RocketMQ brokers do not report it"):
        await Brokers(client).ask(peer.address, GetBrokerSample())


async def test_a_cancelled_call_leaves_the_connection_usable(client, peer):
    peer.is_mute = True
    waiting = asyncio.create_task(client.request(peer.address, SAMPLE))
    await eventually(lambda: peer.request_count == 1)

    waiting.cancel()
    await asyncio.wait([waiting])

    peer.is_mute = False
    assert (await client.request(peer.address, SAMPLE)).code == 0
    assert peer.connection_count == 1
