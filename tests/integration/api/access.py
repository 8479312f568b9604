"""What the tests of access share: what to put into paths, and who there is."""

from datetime import timedelta
from itertools import count
from uuid import uuid4

from sqlalchemy import update

from backend.db import api_tokens, users
from backend.db.access_tables import sessions
from backend.db.access_tables import users as user_table
from backend.domain.access import Credential
from backend.domain.api_token import ApiToken, TokenScope
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.services.access.credentials import hash_secret, make_secret
from backend.services.access.sessions import Visit, open_session

VALUES = {
    "{cluster_name}": "main",
    "{broker_group_name}": "broker-a",
    "{topic_name}": "orders",
    "{broker_id}": "0",
    "{broker_name}": "broker-a-0",
    "{consumer_group_name}": "billing",
    "{client_id}": "10.0.0.7@412",
    "{message_id}": "0A00000100002A9F0000000000000000",
    "{report_id}": "00000000-0000-0000-0000-000000000000",
    "{operation_id}": "00000000-0000-0000-0000-000000000000",
    "{session_id}": "00000000-0000-0000-0000-000000000000",
    "{token_id}": "00000000-0000-0000-0000-000000000000",
    "{user_name}": "anna",
    "{path:path}": "topics",
}
USERS = "/api/v1/users"
SESSIONS = "/api/v1/sessions"
TOKENS = "/api/v1/tokens"

_names = count()


def fill(path):
    for placeholder, value in VALUES.items():
        path = path.replace(placeholder, value)
    assert "{" not in path, f"say here what to put into {path}"
    return path


async def make_credentials(context, kind, role, *, patterns=ALL_CLUSTERS):
    """Return the headers of a new user's credential; `kind` may also say what it lacks.

    The patterns are those of the token, or of the user when there is none.
    """
    if kind == "nothing":
        return {}
    now = context.clock.now()
    async with context.database.begin() as connection:
        name = f"{role}-{next(_names)}"
        user = await users.add(
            connection,
            name,
            password_hash="none",
            role=role,
            cluster_patterns=ALL_CLUSTERS if "token" in kind else patterns,
            at=now,
        )
    expires_at = now - timedelta(seconds=1) if "expired" in kind else now + timedelta(hours=1)
    if "token" in kind:
        secret = make_secret(Credential.TOKEN)
        scope = TokenScope(role, tuple(patterns), is_read_only=kind == "read-only token")
        token = ApiToken(uuid4(), name, "t", secret[:12], scope, now, expires_at, None, None)
        async with context.database.begin() as connection:
            await api_tokens.add(connection, token, token_hash=hash_secret(secret), user_id=user.id)
        return {"Authorization": f"Bearer {secret}"}
    async with context.database.begin() as connection:
        opened = await open_session(
            connection, user, Visit(timedelta(hours=1)), clock=context.clock
        )
        await connection.execute(
            update(sessions).where(sessions.c.user_id == user.id).values(expires_at=expires_at)
        )
        if "disabled" in kind:
            disabling = update(user_table).where(user_table.c.id == user.id)
            await connection.execute(disabling.values(disabled_at=now))
    return {"Cookie": f"regent_session={opened.token}"}


async def make_token_of(context, user_name, role):
    """Return the headers of a token of a user who is there."""
    now = context.clock.now()
    secret = make_secret(Credential.TOKEN)
    scope = TokenScope(role, tuple(ALL_CLUSTERS), is_read_only=False)
    until = now + timedelta(hours=1)
    token = ApiToken(uuid4(), user_name, "t", secret[:12], scope, now, until, None, None)
    async with context.database.begin() as connection:
        found = await users.find(connection, user_name)
        assert found is not None
        hashed = hash_secret(secret)
        await api_tokens.add(connection, token, token_hash=hashed, user_id=found.user.id)
    return {"Authorization": f"Bearer {secret}"}
