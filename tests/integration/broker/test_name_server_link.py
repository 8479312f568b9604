"""The connection to one name server before the broker registers."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest

from backend import requester
from tests.waiting import eventually
from workers.broker.routing.name_server_link import NameServerLink


async def test_a_name_server_that_stops_to_answer_is_connected_again(monkeypatch):
    """Its host may be gone, which the kernel notices after a quarter of an hour only."""
    monkeypatch.setattr(requester, "ANSWER_TIMEOUT_S", 0.05)
    connections = []
    server = await asyncio.start_server(lambda *pair: connections.append(pair), "127.0.0.1", 0)
    link = NameServerLink(
        *server.sockets[0].getsockname(),
        registration_source=SimpleNamespace(),
        released=asyncio.Event(),
        on_registered=lambda: None,
        on_outdated=lambda: None,
    )
    running = asyncio.create_task(link.run())
    await eventually(lambda: link.is_connected)

    with pytest.raises(TimeoutError):
        await link.ask(901, {})

    await eventually(lambda: len(connections) == 2)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    for _, writer in connections:
        writer.close()
    server.close()
