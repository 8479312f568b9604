"""Who follows a stream is looked at again: their credential may let them hear no more."""

import asyncio
import dataclasses
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from backend.api import credential_watch as standing
from backend.api import followed_events
from backend.db.access_tables import users
from backend.domain.errors import Unauthenticated
from backend.domain.event import EventFilter
from backend.services.access.sessions import sign_out
from backend.services.upkeep import event_feed
from tests.integration.api.event_clients import SocketClient, SseClient, write
from tests.integration.tasks.conftest import SetClock
from tests.waiting import PATIENCE_S, eventually


@pytest.mark.parametrize("kind", [SseClient, SocketClient])
async def test_a_reset_password_ends_the_streams_of_its_user_s_tokens(
    served, database, client, monkeypatch, kind
):
    wanted = {"name": "follow", "lifetime_days": 1, "role": "viewer"}
    secret = (await client.post("/api/v1/tokens", json=wanted)).json()["secret"]
    monkeypatch.setattr(standing, "CHECK_INTERVAL_MS", 0)
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


@pytest.mark.usefixtures("app")
async def test_a_clock_that_was_set_back_ends_no_watch(context, database, token, monkeypatch):
    monkeypatch.setattr(event_feed, "HEARTBEAT_INTERVAL_S", 0.05)
    clock = SetClock(datetime.now(UTC))
    api = dataclasses.replace(context, clock=clock)
    batches = followed_events.follow_events(api, token, after=None, chosen=EventFilter())

    async def follow():
        async with aclosing(batches):
            async for _ in batches:
                pass

    following = asyncio.create_task(follow())
    await eventually(lambda: context.events.subscriber_count)
    await sign_out(token, database=database)
    clock.advance(hours=-1)

    with pytest.raises(Unauthenticated):
        await asyncio.wait_for(following, PATIENCE_S)
