"""Following samples and routes over a WebSocket, as the console does."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from backend.db.access_tables import users
from backend.domain.route import TopologyChange
from backend.services.access.sessions import sign_out
from backend.services.cluster.topology import announce
from tests.waiting import PATIENCE_S

PROTOCOL = "graphql-transport-ws"
SAMPLES = (
    "subscription { samples { clusterName brokerGroupName messagesInPerSecond diskFreeBytes } }"
)


def opened(port, *, token=None, origin="own"):
    headers = {"Cookie": f"regent_session={token}"} if token else {}
    if origin == "own":
        origin = f"http://127.0.0.1:{port}"
    return connect(
        f"ws://127.0.0.1:{port}/graphql",
        subprotocols=[PROTOCOL],
        additional_headers=headers,
        origin=origin,
    )


async def start(socket, query, **variables):
    await socket.send(json.dumps({"type": "connection_init"}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    payload = {"query": query, "variables": variables}
    await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))


async def follow(socket, publish):
    """Publish again and again until an item arrives: listening begins a moment later."""
    receiving = asyncio.ensure_future(socket.recv())
    async with asyncio.timeout(PATIENCE_S):
        while not receiving.done():
            await publish()
            await asyncio.wait([receiving], timeout=0.05)
    return json.loads(receiving.result())


async def test_samples_are_forwarded_as_they_come(served, token, sample):
    async with opened(served, token=token) as socket:
        await start(socket, SAMPLES)

        message = await follow(socket, lambda: sample(rate=3.5))

    assert message["type"] == "next"
    assert message["payload"]["data"]["samples"] == {
        "clusterName": "main",
        "brokerGroupName": "broker-a",
        "messagesInPerSecond": 3.5,
        "diskFreeBytes": "50",
    }


async def test_samples_of_another_cluster_are_left_out(served, token, sample):
    query = "subscription ($name: String) { samples(clusterName: $name) { clusterName } }"

    async def publish():
        await sample(cluster="other")
        await sample(cluster="main")

    async with opened(served, token=token) as socket:
        await start(socket, query, name="main")
        message = await follow(socket, publish)

    assert message["payload"]["data"]["samples"] == {"clusterName": "main"}


async def test_a_change_of_routes_is_published(served, token, redis):
    async with opened(served, token=token) as socket:
        await start(socket, "subscription { topologyChanged { clusterName routeVersion } }")

        message = await follow(socket, lambda: announce(redis, TopologyChange("main", 2**40)))

    assert message["payload"]["data"]["topologyChanged"] == {
        "clusterName": "main",
        "routeVersion": str(2**40),
    }


async def test_a_socket_without_a_session_is_not_opened(served):
    with pytest.raises(InvalidStatus) as refusal:
        async with opened(served):
            pass

    assert refusal.value.response.status_code == 401


@pytest.mark.parametrize("origin", ["http://evil.example", None])
async def test_a_page_of_another_origin_opens_no_socket(served, token, origin):
    with pytest.raises(InvalidStatus) as refusal:
        async with opened(served, token=token, origin=origin):
            pass

    assert refusal.value.response.status_code == 403


async def test_signing_out_ends_what_is_followed(served, token, database, sample, monkeypatch):
    monkeypatch.setattr("backend.api.credential_watch.CHECK_INTERVAL_MS", 0)
    async with opened(served, token=token) as socket:
        await start(socket, SAMPLES)
        await follow(socket, sample)
        await sign_out(token, database=database)

        async def until_complete():
            while True:
                await sample()
                message = json.loads(await socket.recv())
                if message["type"] == "complete":
                    return True

        async with asyncio.timeout(PATIENCE_S):
            assert await until_complete()


async def test_a_reset_password_ends_what_its_user_follows(
    served, token, database, sample, monkeypatch
):
    monkeypatch.setattr("backend.api.credential_watch.CHECK_INTERVAL_MS", 0)
    async with opened(served, token=token) as socket:
        await start(socket, SAMPLES)
        await follow(socket, sample)
        async with database.begin() as connection:
            expires_at = datetime.now(UTC) + timedelta(hours=72)
            await connection.execute(update(users).values(password_expires_at=expires_at))

        async def until_refused():
            while True:
                await sample()
                message = json.loads(await socket.recv())
                if "errors" in (message.get("payload") or {}):
                    return message["payload"]["errors"]
                if message["type"] == "error":
                    return message["payload"]

        async with asyncio.timeout(PATIENCE_S):
            [error] = await until_refused()

    assert error["extensions"]["reason"] == "password_change_required"


async def test_a_question_over_the_socket_sees_what_is_new(served, token, register):
    query = '{ overview { clusterCount } cluster(name: "main") { topics { totalCount } } }'
    await register(topics=["a"])

    async def ask(socket):
        message = {"id": "1", "type": "subscribe", "payload": {"query": query}}
        await socket.send(json.dumps(message))
        answer = json.loads(await socket.recv())
        assert json.loads(await socket.recv())["type"] == "complete"
        return answer["payload"]["data"]["cluster"]["topics"]["totalCount"]

    async with opened(served, token=token) as socket:
        await socket.send(json.dumps({"type": "connection_init"}))
        await socket.recv()
        before = await ask(socket)
        await register(topics=["a", "b"])
        after = await ask(socket)

    assert (before, after) == (1, 2)
