"""Sign people in and out, and tell who is signed in.

A session's token is random and opaque; only its hash is kept. A password is compared in constant
time by argon2, off the event loop and by few at once, also when no user has the name.
"""

import asyncio
import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backend.clients.clock import Clock
from backend.db import sessions
from backend.db.engine import Database
from backend.domain.errors import InvalidCredentials
from backend.domain.session import (
    BOOTSTRAP_USER_NAME,
    PASSWORD_LENGTH_MAX,
    USER_NAME_LENGTH_MAX,
    Role,
    Session,
)

TOKEN_BYTES: Final = 32
TOKEN_LENGTH_MAX: Final = 128
VERIFICATIONS_AT_ONCE_MAX: Final = 2

_hasher: Final = PasswordHasher()


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """Hold a new session with its token, which is shown this once."""

    token: str = field(repr=False)
    session: Session


class PasswordVerifier:
    """Compare passwords few at a time: each comparison takes 64 MiB and a core."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(VERIFICATIONS_AT_ONCE_MAX)

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """Tell whether a password fits; without a hash take as long and say no."""
        async with self._turns:
            return await asyncio.to_thread(_verify, password, password_hash)


async def ensure_bootstrap_user(secret: str, *, database: Database, clock: Clock) -> bool:
    """Add the first administrator when nobody can sign in yet; tell whether that was so."""
    async with database.begin() as connection:
        if await sessions.count_users(connection) > 0:
            return False
        password_hash = await asyncio.to_thread(_hasher.hash, secret)
        return await sessions.add_user(
            connection,
            BOOTSTRAP_USER_NAME,
            password_hash=password_hash,
            role=Role.ADMIN,
            at=clock.now(),
        )


async def sign_in(
    *,
    user_name: str,
    password: str,
    lifetime: timedelta,
    verifier: PasswordVerifier,
    database: Database,
    clock: Clock,
) -> OpenedSession:
    """Open a session for whoever knows a user's password.

    Raises:
        InvalidCredentials: the name and the password do not belong together.
    """
    if len(user_name) > USER_NAME_LENGTH_MAX or len(password) > PASSWORD_LENGTH_MAX:
        raise InvalidCredentials
    is_storable = "\0" not in user_name
    async with database.connect() as connection:
        user = await sessions.find_user(connection, user_name) if is_storable else None
    fits = await verifier.verify(password, None if user is None else user.password_hash)
    if user is None or not fits:
        raise InvalidCredentials
    token = secrets.token_urlsafe(TOKEN_BYTES)
    now = clock.now()
    session = Session(user.name, user.role, now + lifetime)
    async with database.begin() as connection:
        await sessions.add(
            connection,
            _token_hash(token),
            user_id=user.id,
            created_at=now,
            expires_at=session.expires_at,
        )
    return OpenedSession(token, session)


async def find_session(token: str, *, database: Database, clock: Clock) -> Session | None:
    """Find who holds a token, unless the session has ended."""
    if not token or len(token) > TOKEN_LENGTH_MAX:
        return None
    async with database.connect() as connection:
        return await sessions.find(connection, _token_hash(token), at=clock.now())


async def sign_out(token: str, *, database: Database) -> None:
    """End the session of a token; ending it twice is no error."""
    async with database.begin() as connection:
        await sessions.remove(connection, _token_hash(token))


def _token_hash(token: str) -> bytes:
    # The token is random and long, so a fast hash keeps it as well as a slow one would.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _verify(password: str, password_hash: str | None) -> bool:
    try:
        return _hasher.verify(
            password_hash if password_hash is not None else _nobodys_hash(), password
        )
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe(TOKEN_BYTES))
