"""The proxy drops the data that a partition would drop, and nothing else."""

import asyncio
import os
import socket
from contextlib import asynccontextmanager

import pytest

from tests.chaos.cluster import Hosts
from tests.chaos.network import Network
from tests.chaos.sockets import find_owner
from tests.waiting import PATIENCE_S

SILENCE_S = 0.2
"""After this time without data, it is assumed that none will come."""


class Peer:
    """Both ends of one connection from `a` to `b`."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.taken = asyncio.get_running_loop().create_future()

    async def says(self, data):
        self.writer.write(data)
        reader, _ = await self.taken
        return await asyncio.wait_for(reader.read(100), PATIENCE_S)

    async def hears(self, data):
        (await self.taken)[1].write(data)
        return await asyncio.wait_for(self.reader.read(100), PATIENCE_S)


@asynccontextmanager
async def two_nodes():
    hosts = Hosts.of_process(os.getpid())
    network = Network(lambda *_: "a", real=hosts.real, proxy=hosts.proxy)
    taken = asyncio.Queue()

    async def take(reader, writer):
        await taken.put((reader, writer))

    server = await asyncio.start_server(take, hosts.real, 0)
    port = server.sockets[0].getsockname()[1]
    await network.expose("b", port)
    peers = []

    async def connect():
        peer = Peer(*await asyncio.open_connection(hosts.proxy, port))
        peers.append(peer)

        async def wait():
            peer.taken.set_result(await taken.get())

        peer.waiting = asyncio.create_task(wait())
        return peer

    try:
        yield network, connect
    finally:
        for peer in peers:
            peer.waiting.cancel()
            peer.writer.close()
        await network.close()
        server.close()


async def test_what_is_sent_arrives_in_both_directions():
    async with two_nodes() as (_, connect):
        peer = await connect()

        assert await peer.says(b"to b") == b"to b"
        assert await peer.hears(b"to a") == b"to a"


async def test_a_cut_link_holds_back_one_direction_only():
    async with two_nodes() as (network, connect):
        peer = await connect()
        await peer.says(b"before")
        network.cut(["a"], ["b"])

        peer.writer.write(b"held back")

        assert await peer.hears(b"passes") == b"passes"
        reader, _ = await peer.taken
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(100), SILENCE_S)
        network.heal()
        assert await asyncio.wait_for(reader.read(100), PATIENCE_S) == b"held back"


async def test_the_end_of_a_connection_is_held_back_too():
    async with two_nodes() as (network, connect):
        peer = await connect()
        await peer.says(b"before")
        network.cut(["a"], ["b"])

        peer.writer.close()

        reader, _ = await peer.taken
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(100), SILENCE_S)
        network.heal()
        assert await asyncio.wait_for(reader.read(100), PATIENCE_S) == b""


@pytest.mark.parametrize("link", [("a", "b"), ("b", "a")])
async def test_no_connection_comes_about_over_a_link_that_is_cut_either_way(link):
    async with two_nodes() as (network, connect):
        network.cut([link[0]], [link[1]])

        peer = await connect()

        await asyncio.wait([peer.taken], timeout=SILENCE_S)
        assert not peer.taken.done()
        network.heal()
        assert await peer.says(b"now") == b"now"


async def test_a_heal_with_resets_breaks_connections_and_loses_what_was_held_back():
    async with two_nodes() as (network, connect):
        peer = await connect()
        await peer.says(b"before")
        network.cut(["a"], ["b"])
        peer.writer.write(b"lost")

        network.heal(resets=True)

        reader, _ = await peer.taken
        assert await _read_to_end(reader) == b""
        assert await _read_to_end(peer.reader) == b""


async def test_a_heal_with_resets_leaves_links_alone_that_were_whole():
    async with two_nodes() as (network, connect):
        peer = await connect()
        await peer.says(b"before")
        network.cut(["a"], ["c"])

        network.heal(resets=True)

        assert await peer.says(b"after") == b"after"


async def test_nothing_of_a_dropped_node_is_delivered():
    async with two_nodes() as (network, connect):
        peer = await connect()
        await peer.says(b"before")
        network.cut(["b"], ["a"])
        (await peer.taken)[1].write(b"an answer")

        network.drop("b")
        network.heal()

        assert await _read_to_end(peer.reader) == b""


async def _read_to_end(reader):
    try:
        return await asyncio.wait_for(reader.read(100), PATIENCE_S)
    except ConnectionError:
        return b""


def test_the_kernel_knows_which_process_a_connection_comes_from():
    host = Hosts.of_process(os.getpid()).real
    with socket.create_server((host, 0)) as server, socket.socket() as own:
        own.connect(server.getsockname())

        owner = find_owner(own.getsockname(), host, [1, os.getppid(), os.getpid()])

        assert owner == os.getpid()
    assert find_owner((host, 1), host, [os.getpid()]) is None
