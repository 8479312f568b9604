"""Users, sessions and tokens through REST and the graph, and what the audit says of it."""

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from websockets.asyncio.client import connect

from backend.db.access_tables import api_tokens, sessions, users
from backend.db.operation_tables import audit_entries
from backend.domain.user import Role
from tests.integration.api.access import SESSIONS, TOKENS, USERS
from tests.waiting import PATIENCE_S

SESSION = "/api/v1/session"
CHOSEN = "a password of their own"
TOKEN = {"name": "ci", "role": "operator", "lifetime_days": 30}


@pytest.fixture
def audited_actions(database):
    async def read():
        columns = audit_entries.c
        statement = select(columns.action, columns.subject, columns.actor, columns.details)
        async with database.connect() as connection:
            return (await connection.execute(statement.order_by(columns.number))).all()

    return read


@pytest.fixture
def sign_in(bare_client):
    async def open_session(name, password, status=200):
        body = {"name": name, "password": password}
        answer = await bare_client.post(SESSION + "?token=true", json=body)
        assert answer.status_code == status, answer.text
        return {"Authorization": f"Bearer {answer.json().get('token')}"}

    return open_session


async def test_a_one_time_password_opens_nothing_but_its_replacement(
    client, bare_client, sign_in, audited_actions
):
    invited = (await client.post(USERS, json={"name": "anna", "role": "operator"})).json()
    headers = await sign_in("anna", invited["password"])

    refused = await bare_client.get("/api/v1/clusters", headers=headers)
    query = {"query": "{ viewer { mustChangePassword } clusters { totalCount } }"}
    in_graph = (await bare_client.post("/graphql", json=query, headers=headers)).json()
    body = {"old_password": invited["password"], "new_password": CHOSEN}
    changed = await bare_client.put(SESSION + "/password", json=body, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (
        403,
        "password_change_required",
    )
    assert in_graph["errors"][0]["extensions"]["reason"] == "password_change_required"
    assert changed.status_code == 200
    assert (await bare_client.get("/api/v1/clusters", headers=headers)).status_code == 200
    await sign_in("anna", CHOSEN)
    await sign_in("anna", invited["password"], status=401)
    found = await audited_actions()
    assert [(d.action, d.subject, d.actor) for d in found] == [
        ("user.add", "user anna", "admin"),
        ("user.change_password", "user anna", "anna"),
    ]
    assert not any(CHOSEN in d.details or invited["password"] in d.details for d in found)


async def test_a_one_time_password_expires(client, sign_in, database, context):
    invited = (await client.post(USERS, json={"name": "anna", "role": "viewer"})).json()
    async with database.begin() as connection:
        past = context.clock.now() - timedelta(seconds=1)
        await connection.execute(
            update(users).where(users.c.name == "anna").values(password_expires_at=past)
        )

    await sign_in("anna", invited["password"], status=401)


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("wrong", CHOSEN, 400),
        ("correct horse", "short", 400),
        ("correct horse", "correct horse", 400),
    ],
)
async def test_a_password_is_not_changed_by_guess_nor_to_a_bad_one(
    client, sign_in, old, new, status
):
    body = {"old_password": old, "new_password": new}

    assert (await client.put(SESSION + "/password", json=body)).status_code == status
    await sign_in("admin", "correct horse")


async def test_guessing_the_old_password_is_slowed_down(client):
    body = {"old_password": "wrong", "new_password": CHOSEN}

    answers = [await client.put(SESSION + "/password", json=body) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [400] * 5 + [429]


async def test_who_tries_many_names_is_slowed_down_by_address(stranger):
    for number in range(20):
        await stranger.post(SESSION, json={"name": f"user-{number}", "password": "wrong"})

    answer = await stranger.post(SESSION, json={"name": "admin", "password": "correct horse"})

    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 61


@pytest.mark.parametrize(
    ("verb", "method", "body"),
    [
        ("disable", "POST", {}),
        ("role", "PUT", {"role": "operator"}),
        ("reset-password", "POST", None),
    ],
)
async def test_the_last_administrator_stays(client, verb, method, body, audited_actions):
    # Anna is an administrator too, and can't sign in before she has replaced her password.
    await client.post(USERS, json={"name": "anna", "role": "admin"})

    answer = await client.request(method, f"{USERS}/admin/{verb}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")
    assert [audited.action for audited in await audited_actions()] == ["user.add"]
    assert (await client.get("/api/v1/clusters")).status_code == 200


async def test_of_two_administrators_who_disable_each_other_one_stays(
    bare_client, credentials, database
):
    first = await credentials("session", Role.ADMIN)
    second = await credentials("session", Role.ADMIN)
    names = [(await bare_client.get(SESSION, headers=h)).json()["name"] for h in (first, second)]
    await bare_client.post(f"{USERS}/admin/disable", json={}, headers=first)

    await asyncio.gather(
        bare_client.post(f"{USERS}/{names[1]}/disable", json={}, headers=first),
        bare_client.post(f"{USERS}/{names[0]}/disable", json={}, headers=second),
    )

    async with database.connect() as connection:
        able = select(users.c.name).where(users.c.disabled_at.is_(None))
        assert len((await connection.execute(able)).all()) == 1


async def test_a_disabled_user_is_out_at_once_and_their_tokens_rest(
    client, bare_client, credentials, audited_actions
):
    headers = await credentials("token", Role.OPERATOR)
    name = (await bare_client.get(SESSION, headers=headers)).json()["name"]

    await client.post(f"{USERS}/{name}/disable", json={"reason": "left"})
    while_out = await bare_client.get(SESSION, headers=headers)
    await client.post(f"{USERS}/{name}/enable", json={})
    afterwards = await bare_client.get(SESSION, headers=headers)

    assert (while_out.status_code, afterwards.status_code) == (401, 200)
    [disabled, enabled] = await audited_actions()
    assert json.loads(disabled.details)["reason"] == "left"
    assert enabled.action == "user.enable"


async def test_a_token_is_shown_once_and_kept_as_a_hash(
    client, bare_client, database, audited_actions
):
    created = (await client.post(TOKENS, json=TOKEN)).json()
    headers = {"Authorization": f"Bearer {created['secret']}"}

    asked = (await bare_client.get(SESSION, headers=headers)).json()
    listed = await client.get(TOKENS)

    assert (asked["role"], asked["credential"]) == ("operator", "token")
    assert created["secret"] not in listed.text
    [item] = listed.json()["items"]
    assert created["secret"].startswith(item["prefix"])
    assert item["last_used_at"] is not None
    assert item["last_used_from"] == "127.0.0.1"
    async with database.connect() as connection:
        row = (await connection.execute(select(api_tokens))).one()
    assert created["secret"] not in str(tuple(row))
    [audited] = await audited_actions()
    assert (audited.action, audited.subject) == ("token.create", "token ci of admin")
    assert created["secret"] not in audited.details


async def test_a_revoked_token_opens_nothing(client, bare_client, audited_actions):
    created = (await client.post(TOKENS, json=TOKEN)).json()
    headers = {"Authorization": f"Bearer {created['secret']}"}

    revoked = await client.delete(f"{TOKENS}/{created['id']}")

    assert revoked.status_code == 204
    assert (await bare_client.get(SESSION, headers=headers)).status_code == 401
    assert (await client.delete(f"{TOKENS}/{created['id']}")).status_code == 404
    assert [audited.action for audited in await audited_actions()] == [
        "token.create",
        "token.revoke",
    ]


async def test_a_token_is_never_above_its_owner(client, bare_client, credentials):
    headers = await credentials("token", Role.ADMIN)
    name = (await bare_client.get(SESSION, headers=headers)).json()["name"]

    await client.put(f"{USERS}/{name}/role", json={"role": "viewer"})

    assert (await bare_client.get(SESSION, headers=headers)).json()["role"] == "viewer"
    assert (await bare_client.get(USERS, headers=headers)).status_code == 403


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"role": "admin"}, 400),
        ({"lifetime_days": 0}, 422),
        ({"lifetime_days": None}, 422),
        ({"lifetime_days": 367}, 422),
        ({"cluster_patterns": []}, 422),
        ({"cluster_patterns": ["a/b"]}, 400),
        ({"cluster_patterns": ["[a-z]"]}, 400),
        ({"name": "a b"}, 400),
    ],
)
async def test_a_token_beyond_the_rules_is_not_made(bare_client, credentials, wish, status):
    headers = await credentials("session", Role.OPERATOR)

    answer = await bare_client.post(TOKENS, json={**TOKEN, **wish}, headers=headers)

    assert answer.status_code == status
    assert (await bare_client.get(TOKENS, headers=headers)).json()["items"] == []


async def test_a_token_in_a_cookie_opens_nothing(client, bare_client):
    secret = (await client.post(TOKENS, json=TOKEN)).json()["secret"]

    answer = await bare_client.get(SESSION, headers={"Cookie": f"regent_session={secret}"})

    assert answer.status_code == 401


async def test_sessions_say_where_they_come_from_and_end_one_by_one(
    client, bare_client, sign_in, audited_actions
):
    other = await sign_in("admin", "correct horse")
    listed = (await client.get(SESSIONS)).json()["items"]
    [chosen] = [one for one in listed if not one["is_own"]]

    ended = await client.delete(f"{SESSIONS}/{chosen['id']}")

    assert (chosen["source"], chosen["user_agent"][:12]) == ("127.0.0.1", "python-httpx")
    assert ended.status_code == 204
    assert (await bare_client.get(SESSION, headers=other)).status_code == 401
    assert (await client.get(SESSION)).status_code == 200
    assert [(d.action, d.subject) for d in await audited_actions()] == [
        ("session.end", "user admin")
    ]


async def test_signing_out_everywhere_ends_all_sessions_of_a_user_alone(
    client, bare_client, credentials, sign_in, audited_actions
):
    stranger = await credentials("session", Role.VIEWER)
    other = await sign_in("admin", "correct horse")

    ended = await client.delete(SESSIONS, params={"everywhere": "true"})

    assert ended.json() == {"ended_count": 2}
    assert (await client.get(SESSION)).status_code == 401
    assert (await bare_client.get(SESSION, headers=other)).status_code == 401
    assert (await bare_client.get(SESSION, headers=stranger)).status_code == 200
    assert [audited.action for audited in await audited_actions()] == ["session.end_all"]


async def test_others_sessions_and_tokens_are_for_administrators(client, bare_client, credentials):
    headers = await credentials("session", Role.OPERATOR)
    token = (await client.post(TOKENS, json=TOKEN)).json()
    [mine] = (await client.get(SESSIONS + "?user_name=admin")).json()["items"]

    own = (await bare_client.get(SESSIONS, headers=headers)).json()["items"]
    refused = [
        await bare_client.get(SESSIONS + "?user_name=admin", headers=headers),
        await bare_client.get(TOKENS + "?user_name=admin", headers=headers),
        await bare_client.delete(SESSIONS + "?everywhere=true&user_name=admin", headers=headers),
        await bare_client.delete(f"{SESSIONS}/{mine['id']}", headers=headers),
        await bare_client.delete(f"{TOKENS}/{token['id']}", headers=headers),
    ]

    assert [one["is_own"] for one in own] == [True]
    assert [answer.status_code for answer in refused] == [404] * 5
    assert (await client.get(SESSION)).status_code == 200


async def test_the_graph_changes_access_as_rest_does(client, ask):
    invited = await ask('mutation { addUser(name: "anna", role: VIEWER) { password } }')
    made = await ask(
        "mutation { createApiToken(wanted: "
        '{name: "ci", role: VIEWER, lifetimeDays: 1}) { secret token { id } } }'
    )
    role = await ask('mutation { changeUserRole(name: "anna", role: OPERATOR) { role } }')
    listed = await ask("{ users { nodes { name role } } apiTokens { nodes { id } } }")
    in_rest = (await client.get(USERS)).json()["items"]
    token_id = made["createApiToken"]["token"]["id"]

    assert invited["addUser"]["password"]
    assert role["changeUserRole"]["role"] == "OPERATOR"
    assert [(u["name"], u["role"].lower()) for u in listed["users"]["nodes"]] == [
        (u["name"], u["role"]) for u in in_rest
    ]
    assert (await client.get(TOKENS)).json()["items"][0]["id"] == token_id
    assert await ask("mutation ($id: ID!) { revokeApiToken(id: $id) }", id=token_id)
    assert (await ask("mutation { endSessions }")) == {"endSessions": 1}


@pytest.mark.usefixtures("f3")
async def test_an_operation_of_another_cluster_is_out_of_a_limited_tokens_reach(
    bare_client, credentials, plan
):
    planned = await plan("elect_master", broker_id=2)
    path = f"/api/v1/operations/{planned['id']}"
    elsewhere = await credentials("token", Role.OPERATOR, patterns=("d*",))
    here = await credentials("token", Role.OPERATOR, patterns=("c",))

    order = {"kind": "elect_master", "parameters": planned["parameters"]}
    refused = [
        await bare_client.get(path, headers=elsewhere),
        await bare_client.post(path + "/cancel", headers=elsewhere),
        await bare_client.post("/api/v1/operations", json=order, headers=elsewhere),
    ]
    passed = await bare_client.post(path + "/cancel", headers=here)

    assert [answer.status_code for answer in refused] == [403] * 3
    assert passed.status_code == 200


@pytest.mark.usefixtures("bootstrap_user")
async def test_a_websocket_is_worth_what_its_credential_is_worth_now(served, credentials, database):
    headers = await credentials("session", Role.ADMIN)
    address, origin = f"ws://127.0.0.1:{served}/graphql", f"http://127.0.0.1:{served}"
    asked = {}

    async with connect(
        address, subprotocols=["graphql-transport-ws"], additional_headers=headers, origin=origin
    ) as socket:
        await socket.send('{"type": "connection_init"}')
        await socket.recv()
        asked["before"] = await ask_socket(socket, "{ overview { topicCount } }")
        asked["change"] = await ask_socket(socket, "mutation { requestCapacityReport { id } }")
        async with database.begin() as connection:
            await connection.execute(sessions.delete())
        asked["after"] = await ask_socket(socket, "{ overview { topicCount } }")
        asked["followed"] = await ask_socket(
            socket, "subscription { topologyChanged { clusterName } }"
        )

    assert asked == {
        "before": None,
        "change": "forbidden",
        "after": "unauthenticated",
        "followed": "unauthenticated",
    }


async def ask_socket(socket, query):
    """Ask over a WebSocket; give the code of the error, if it is one."""
    await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": query}}))
    code = None
    while True:
        message = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))
        if message["type"] == "complete":
            return code
        errors = (
            message["payload"] if message["type"] == "error" else message["payload"].get("errors")
        )
        code = errors[0]["extensions"]["code"] if errors else None
        if message["type"] == "error":
            return code
