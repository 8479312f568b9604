"""Make the secrets that sessions and API tokens are, and find out who comes with one.

They are random and opaque, and only their hashes are kept. Whatever else may prove who somebody is
one day ends in a session (`sessions.open_session`) or here.
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
# Often enough to see what is in use, and no write for every request.
USE_NOTED_EVERY: Final = timedelta(minutes=1)


def make_secret(credential: Credential) -> str:
    """Make up what somebody will come with; its beginning says which kind it is."""
    mark = TOKEN_MARK if credential is Credential.TOKEN else SESSION_MARK
    return mark + secrets.token_urlsafe(SECRET_BYTES)


def hash_secret(secret: str) -> bytes:
    """Return what is kept of a secret: 32 bytes."""
    # It is random and long, so a fast hash keeps it as well as a slow one would.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


async def find_principal(
    secret: str, *, database: Database, clock: Clock, source: str | None = None
) -> Principal | None:
    """Find who comes with a session's secret or an API token, unless that has ended.

    `source` is the address they come from; it is kept with the time, to the minute.

    Raises:
        OperationalError: Postgres does not answer.
        TimeoutError: it has not done so within five seconds.
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
