"""Who follows a stream is looked at again: their credential may let them hear no more."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from backend.api import followed_events
from backend.db.access_tables import users
from backend.services import event_feed
from tests.integration.api.event_clients import SocketClient, SseClient, write
from tests.waiting import PATIENCE_S, eventually


@pytest.mark.parametrize("kind", [SseClient, SocketClient])
async def test_a_reset_password_ends_the_streams_of_its_user_s_tokens(
    served, database, client, monkeypatch, kind
):
    wanted = {"name": "follow", "lifetime_days": 1, "role": "viewer"}
    secret = (await client.post("/api/v1/tokens", json=wanted)).json()["secret"]
    monkeypatch.setattr(followed_events, "SESSION_CHECK_INTERVAL_MS", 0)
    monkeypatch.setattr(event_feed, "HEARTBEAT_INTERVAL_S", 0.05)
    subscriber = kind(served, secret, after=0)
    following = asyncio.create_task(subscriber.follow())
    await write(database)
    await eventually(lambda: subscriber.events)

    await reset_password(database)

    await asyncio.wait_for(following, PATIENCE_S)
    code = subscriber.end["code"] if kind is SseClient else subscriber.error["extensions"]["reason"]
    assert code == "password_change_required"


async def reset_password(database):
    expires_at = datetime.now(UTC) + timedelta(hours=72)
    async with database.begin() as connection:
        await connection.execute(update(users).values(password_expires_at=expires_at))
