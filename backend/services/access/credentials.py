"""Create the secrets of sessions and API tokens, and find their users.

Secrets are random and opaque, and only their hashes are stored. Every other way of authentication
must end in a session (`sessions.open_session`) or here.
"""

import asyncio
import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from backend.clients.clock import Clock
from backend.db import api_tokens, principals, sessions
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.domain.access import Credential, Principal
from backend.domain.api_token import TOKEN_MARK

SESSION_MARK: Final = "rgs_"
SECRET_BYTES: Final = 32
SECRET_LENGTH_MAX: Final = 128
ANSWER_TIMEOUT_S: Final = 5.0
# Often enough to see which credentials are used, without a write for every request.
USE_NOTED_EVERY: Final = timedelta(minutes=1)


def make_secret(credential: Credential) -> str:
    """Create a secret; its first characters identify its kind."""
    mark = TOKEN_MARK if credential is Credential.TOKEN else SESSION_MARK
    return mark + secrets.token_urlsafe(SECRET_BYTES)


def hash_secret(secret: str) -> bytes:
    """Return the stored hash of a secret: 32 bytes."""
    # The secret is random and long, so a fast hash is as safe as a slow one.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


async def find_principal(
    secret: str, *, database: Database, clock: Clock, source: str | None = None
) -> Principal | None:
    """Find the user of a session's secret or of an API token that is still valid.

    `source` is the address of the peer; it is stored with the time, exact to a minute.

    Raises:
        OperationalError: Postgres does not answer. TimeoutError: Postgres has not answered within
        five seconds.
    """
    if not secret or len(secret) > SECRET_LENGTH_MAX:
        return None
    now = clock.now()
    is_token = secret.startswith(TOKEN_MARK)
    credential = Credential.TOKEN if is_token else Credential.SESSION
    async with asyncio.timeout(ANSWER_TIMEOUT_S):
        found = await principals.find(
            pipeline_of(database), credential, hash_secret(secret), at=now
        )
    if found is None:
        return None
    principal, last_used_at = found
    if last_used_at is None or now - last_used_at >= USE_NOTED_EVERY:
        await _note_use(principal, database=database, source=source, at=now)
    return principal


async def _note_use(
    principal: Principal, *, database: Database, source: str | None, at: datetime
) -> None:
    async with database.begin() as connection:
        if principal.credential is Credential.TOKEN:
            await api_tokens.note_use(connection, principal.credential_id, source=source, at=at)
        else:
            await sessions.note_use(connection, principal.credential_id, at=at)
