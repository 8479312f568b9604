"""The workload continues, in any state of the brokers."""

import asyncio
import os

from tests.chaos.cluster import Hosts
from tests.chaos.journal import Journal
from tests.chaos.workload import Address, Workload


async def test_a_broker_that_comes_back_is_offered_messages_again(tmp_path, eventually):
    hosts = Hosts.of_process(os.getpid())
    taken = []

    async def take(reader, writer):
        taken.append(writer)
        while await reader.read(1000):
            pass

    server = await asyncio.start_server(take, hosts.real, 0)
    port = server.sockets[0].getsockname()[1]
    workload = Workload({1: Address(hosts.real, port, hosts.client)}, Journal(tmp_path / "j"))
    workload.start()
    try:
        await eventually(lambda: taken)
        server.close()
        taken.pop().write_eof()
        await asyncio.sleep(0)

        server = await asyncio.start_server(take, hosts.real, port)

        await eventually(lambda: taken)
    finally:
        await workload.close()
        server.close()
