"""No secret is found in answers, logs, audit, events, measurements or stored data."""

import json
import logging
import re
from functools import partial

import httpx
import pytest
import structlog
from redis.asyncio import Redis
from sqlalchemy import text

from backend.logging import configure_logging
from backend.settings import LogFormat, ServerSettings
from tests.access_table import graph_doors, rest_doors
from tests.integration.api.access import SESSIONS, TOKENS, USERS, fill
from tests.integration.api.conftest import PASSWORD
from tests.integration.api.test_access_matrix import ENDING, ROOTS, question

SESSION = "/api/v1/session"
CHOSEN = "their own long password 7"
WRONG = "a wrong password that somebody typed"


@pytest.fixture
def make_secrets(client, bare_client):
    """Do all that makes or takes a secret; give every secret there is by what it is."""
    return partial(use_secrets, client, bare_client)


@pytest.fixture
async def secrets(make_secrets):
    return await make_secrets()


async def use_secrets(client, bare_client):
    opened = await bare_client.post(
        SESSION, json={"name": "admin", "password": PASSWORD}, params={"token": "true"}
    )
    invited = (await client.post(USERS, json={"name": "anna", "role": "operator"})).json()
    cookie = await bare_client.post(SESSION, json={"name": "anna", "password": invited["password"]})
    session = cookie.cookies["regent_session"]
    change = {"old_password": invited["password"], "new_password": CHOSEN}
    headers = {"Cookie": f"regent_session={session}"}
    await bare_client.put(SESSION + "/password", json=change, headers=headers)
    scope = {"name": "deploy", "role": "viewer", "lifetime_days": 3}
    scope |= {"cluster_patterns": ["*"], "is_read_only": True}
    token = (await client.post(TOKENS, json=scope)).json()
    again = (await client.post(f"{USERS}/anna/reset-password")).json()
    await bare_client.post(SESSION, json={"name": "admin", "password": WRONG})
    for found in (opened, cookie):
        assert found.status_code < 300, found.text
    return {
        "bootstrap secret": PASSWORD,
        "one-time password": invited["password"],
        "second one-time password": again["password"],
        "chosen password": CHOSEN,
        "mistyped password": WRONG,
        "session token": opened.json()["token"],
        "session cookie": session,
        "API token": token["secret"],
    }


def found_in(secrets, content):
    """Name the secrets in a text; hexadecimal and escaped ones too."""
    spelled = {
        name: {secret, json.dumps(secret)[1:-1], secret.encode().hex()}
        for name, secret in secrets.items()
    }
    return {name for name, spellings in spelled.items() for one in spellings if one in content}


async def test_no_door_answers_a_secret(client, bare_client, secrets, ask):
    leaks = {}

    for door in rest_doors():
        if door.name in ENDING:
            continue
        answer = await client.request(door.method, fill(door.name), json={})
        leaks[door.text] = found_in(secrets, answer.text + str(answer.headers))
    for door in graph_doors():
        if door.method in ROOTS and door.name not in ENDING:
            answer = await client.post("/graphql", json={"query": question(door)})
            leaks[door.text] = found_in(secrets, answer.text)
    whole = await ask(
        "{ users { nodes { name } } sessions { nodes { id source userAgent } }"
        " apiTokens { nodes { id name prefix } } }"
    )
    leaks["whole"] = found_in(secrets, json.dumps(whole))
    for path in ("/metrics", "/healthz", "/readyz", "/", "/api/v1/openapi.json"):
        leaks[path] = found_in(secrets, (await bare_client.get(path)).text)

    assert {door: names for door, names in leaks.items() if names} == {}
    assert len(leaks) > 90


async def test_what_is_refused_does_not_repeat_a_secret(client, bare_client, secrets):
    token, cookie = secrets["API token"], secrets["session cookie"]
    asked = [
        await bare_client.get("/api/v1/clusters", headers={"Authorization": f"Bearer {token}x"}),
        await bare_client.get("/api/v1/clusters", headers={"Cookie": f"regent_session={cookie}x"}),
        await bare_client.get("/api/v1/clusters", params={"token": token}),
        await bare_client.post(SESSION, json={"name": "admin", "password": [WRONG]}),
        await bare_client.post(SESSION, content=f'{{"password": "{WRONG}"'),
        await client.post(USERS, json={"name": "eve", "role": WRONG}),
        await client.put(
            SESSION + "/password", json={"old_password": WRONG, "new_password": "short"}
        ),
    ]

    assert {answer.status_code for answer in asked} <= {400, 401, 403, 409, 422, 429}
    own = {name: secret for name, secret in secrets.items() if name != "mistyped password"}
    assert [found_in(own, answer.text) for answer in asked] == [set()] * len(asked)
    assert found_in(secrets, asked[3].text + asked[4].text + asked[6].text) == set()


@pytest.fixture
def own_logging():
    """Configure logging as a process does, and leave none of it behind."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def configure(form):
        configure_logging(form)
        # One that is kept would write to this test's output for ever.
        structlog.configure(cache_logger_on_first_use=False)

    yield configure
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.parametrize("form", LogFormat)
async def test_no_log_line_holds_a_secret(
    client, bare_client, make_secrets, capsys, own_logging, form
):
    own_logging(form)
    secrets = await make_secrets()
    for credential in ("API token", "session token"):
        headers = {"Authorization": f"Bearer {secrets[credential]}"}
        await bare_client.get("/api/v1/clusters", headers=headers)
        await bare_client.get("/api/v1/users", headers={"Authorization": f"{secrets[credential]}"})
    await client.get("/api/v1/audit")

    logged = capsys.readouterr()

    assert "clusters" in logged.out + logged.err
    assert found_in(secrets, logged.out + logged.err) == set()


async def test_neither_tables_nor_redis_hold_a_secret(secrets, database, redis: Redis):
    leaks = {}
    async with database.connect() as connection:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        for table in (await connection.execute(text(names))).scalars().all():
            rows = await connection.execute(text(f"SELECT t::text FROM {table} AS t"))
            leaks[table] = found_in(secrets, "\n".join(rows.scalars()))
    for key in await redis.keys():
        leaks[key.decode()] = found_in(secrets, key.decode() + str(await redis.dump(key)))

    assert {place: names for place, names in leaks.items() if names} == {}
    assert {"audit_entries", "events", "staged_events", "users", "sessions", "api_tokens"} <= {
        *leaks
    }


def test_settings_show_no_address_with_a_password():
    settings = ServerSettings(
        database_url="postgresql://regent:hunter2@db/regent",
        redis_url="redis://:hunter2@cache",
    )

    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump_json()}"


async def test_the_audit_names_what_was_done_with_each_secret(client, secrets):
    entries = (await client.get("/api/v1/audit")).json()["items"]

    actions = {entry["action"] for entry in entries}
    assert {"user.add", "user.change_password", "user.reset_password"} <= actions
    assert found_in(secrets, json.dumps(entries)) == set()
    assert re.search("deploy", json.dumps(entries))
    assert (await client.get(SESSIONS)).status_code == httpx.codes.OK
