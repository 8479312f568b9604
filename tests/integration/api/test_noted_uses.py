"""The last use of a credential is recorded to the minute, and no request waits for that."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from backend.db.access_tables import api_tokens, sessions
from backend.services.access.credentials import find_principal
from tests.integration.api.access import TOKENS
from tests.waiting import PATIENCE_S

SESSION = "/api/v1/session"
TOKEN = {"name": "ci", "role": "operator", "lifetime_days": 30}


async def test_the_use_of_a_session_is_noted_to_the_minute(client, database, context):
    async with database.begin() as connection:
        past = context.clock.now() - timedelta(minutes=5)
        await connection.execute(update(sessions).values(last_used_at=past))

    await client.get(SESSION)

    async with database.connect() as connection:
        used_at = await connection.scalar(select(sessions.c.last_used_at))
    assert context.clock.now() - used_at < timedelta(minutes=1)


async def test_who_follows_a_stream_keeps_where_a_token_came_from(
    client, bare_client, context, database
):
    secret = (await client.post(TOKENS, json=TOKEN)).json()["secret"]
    await bare_client.get(SESSION, headers={"Authorization": f"Bearer {secret}"})
    async with database.begin() as connection:
        past = context.clock.now() - timedelta(minutes=5)
        await connection.execute(update(api_tokens).values(last_used_at=past))

    assert await find_principal(secret, database=context.database, clock=context.clock)

    [token] = (await client.get(TOKENS)).json()["items"]
    assert token["last_used_from"] == "127.0.0.1"
    used_at = datetime.fromisoformat(token["last_used_at"])
    assert context.clock.now() - used_at < timedelta(minutes=1)


@pytest.mark.parametrize("table", [sessions, api_tokens], ids=["session", "token"])
async def test_no_request_waits_for_the_use_that_another_request_notes(
    client, bare_client, database, context, table
):
    made = (await client.post(TOKENS, json=TOKEN)).json()
    past = context.clock.now() - timedelta(minutes=5)
    async with database.begin() as connection:
        await connection.execute(update(table).values(last_used_at=past))
    asker, headers = client, {}
    if table is api_tokens:
        asker, headers = bare_client, {"Authorization": f"Bearer {made['secret']}"}

    # As long as another one notes it, which a busy disk makes long.
    async with database.begin() as other:
        await other.execute(update(table).values(last_used_at=past))
        async with asyncio.timeout(PATIENCE_S):
            answers = await asyncio.gather(
                *(asker.get("/api/v1/clusters", headers=headers) for _ in range(20))
            )

    assert {one.status_code for one in answers} == {200}
