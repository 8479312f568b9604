"""Signing in, staying in and going out."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import OperationalError

from backend.db import users as user_rows
from backend.db.access_tables import sessions, users

PASSWORD = "correct horse"
CREDENTIALS = {"name": "admin", "password": PASSWORD}
PATH = "/api/v1/session"


async def test_the_bootstrap_secret_signs_the_first_administrator_in(stranger):
    answer = await stranger.post(PATH, json=CREDENTIALS)

    assert answer.status_code == 200
    assert {key: answer.json()[key] for key in ("name", "role")} == {
        "name": "admin",
        "role": "admin",
    }
    assert "token" not in answer.json()
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert (await stranger.get(PATH)).json()["name"] == "admin"


async def test_only_a_hash_of_the_token_is_kept(stranger, database):
    token = (await stranger.post(PATH + "?token=true", json=CREDENTIALS)).json()["token"]

    async with database.connect() as connection:
        stored = (await connection.execute(select(sessions.c.token_hash))).scalars().all()
        password_hash = await connection.scalar(select(users.c.password_hash))
    assert token.encode() not in stored
    assert password_hash.startswith("$argon2id$")


async def test_a_bearer_token_is_as_good_as_a_cookie(stranger):
    token = (await stranger.post(PATH + "?token=true", json=CREDENTIALS)).json()["token"]
    stranger.cookies.clear()

    answer = await stranger.get(PATH, headers={"Authorization": f"Bearer {token}"})

    assert answer.status_code == 200


async def test_a_sign_in_and_another_that_forget_the_same_sessions_do_not_wait_for_each_other(
    stranger, database
):
    for _ in range(2):
        await stranger.post(PATH, json=CREDENTIALS)
    ended = update(sessions).values(expires_at=func.now() - timedelta(days=1))
    async with database.begin() as connection:
        await connection.execute(ended)
        newest = select(sessions.c.id).order_by(sessions.c.created_at.desc()).limit(1)
        newest_id = await connection.scalar(newest)

    async with database.begin() as other:
        await other.execute(delete(sessions).where(sessions.c.id == newest_id))
        answer = await stranger.post(PATH, json=CREDENTIALS)
        await other.execute(delete(sessions).where(sessions.c.expires_at < func.now()))

    assert answer.status_code == 200
    async with database.connect() as connection:
        assert await connection.scalar(select(func.count()).select_from(sessions)) == 1


async def test_signing_out_ends_the_session(stranger):
    await stranger.post(PATH, json=CREDENTIALS)
    cookies = dict(stranger.cookies)

    answer = await stranger.delete(PATH)

    stranger.cookies.update(cookies)
    assert answer.status_code == 204
    assert (await stranger.get(PATH)).status_code == 401


async def test_a_session_ends_with_its_time(client, database, context):
    async with database.begin() as connection:
        past = context.clock.now() - timedelta(seconds=1)
        await connection.execute(update(sessions).values(expires_at=past))

    assert (await client.get(PATH)).status_code == 401


@pytest.mark.parametrize(
    "credentials",
    [
        {"name": "admin", "password": "wrong"},
        {"name": "nobody", "password": PASSWORD},
        {"name": "admin\0", "password": PASSWORD},
        {"name": "admin", "password": "\ud800"},
    ],
)
async def test_wrong_credentials_are_refused_alike(stranger, credentials):
    body = str(credentials).replace("'", '"').replace("\\x00", "\\u0000").encode()

    answer = await stranger.post(PATH, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 401
    assert answer.json()["code"] == "invalid_credentials"


async def test_guessing_is_slowed_down_even_with_the_right_password(stranger):
    for _ in range(5):
        await stranger.post(PATH, json={"name": "admin", "password": "wrong"})

    answer = await stranger.post(PATH, json=CREDENTIALS)

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


async def test_who_tries_while_the_database_is_away_has_guessed_nothing(stranger, monkeypatch):
    async def lose(*_):
        raise OperationalError("SELECT", None, ConnectionResetError())

    with monkeypatch.context() as outage:
        outage.setattr(user_rows, "find", lose)
        tries = [await stranger.post(PATH, json=CREDENTIALS) for _ in range(7)]

    assert {answer.status_code for answer in tries} == {503}
    assert (await stranger.post(PATH, json=CREDENTIALS)).status_code == 200


@pytest.mark.parametrize("body", [{}, {"name": "", "password": ""}, {"name": "a" * 200}, []])
async def test_a_malformed_sign_in_is_code_422_and_repeats_no_password(stranger, body):
    answer = await stranger.post(PATH, json=body)

    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 204),
        ({"Origin": "http://test"}, 204),
        ({"Origin": "https://console.example"}, 204),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://test.evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
async def test_a_cookie_changes_nothing_for_a_page_of_another_origin(stranger, headers, status):
    await stranger.post(PATH, json=CREDENTIALS)

    assert (await stranger.delete(PATH, headers=headers)).status_code == status


async def test_another_page_can_not_sign_a_browser_in(stranger):
    answer = await stranger.post(PATH, json=CREDENTIALS, headers={"Origin": "http://evil.example"})

    assert answer.status_code == 403


async def test_a_viewer_may_look_and_ask_for_nothing(client, database, ask):
    async with database.begin() as connection:
        await connection.execute(update(users).values(role="viewer"))

    rest = await client.post("/api/v1/capacity/reports")
    graph = await ask("mutation { requestCapacityReport { id } }", errors=True)

    assert rest.status_code == 403
    assert graph["errors"][0]["extensions"]["code"] == "forbidden"
    assert (await client.get("/api/v1/clusters")).status_code == 200


@pytest.mark.parametrize("change", [{"disabled_at": func.now()}, {"password_hash": "another"}])
async def test_who_is_kept_out_while_their_password_is_compared_is_not_let_in(
    stranger, database, context, monkeypatch, change
):
    verify = context.verifier.verify

    async def change_meanwhile(password, password_hash):
        fits = await verify(password, password_hash)
        async with database.begin() as connection:
            await connection.execute(update(users).values(**change))
        return fits

    monkeypatch.setattr(context.verifier, "verify", change_meanwhile)

    answer = await stranger.post(PATH, json=CREDENTIALS)

    assert answer.status_code == 401
    async with database.connect() as connection:
        assert await connection.scalar(select(func.count()).select_from(sessions)) == 0
