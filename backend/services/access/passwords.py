"""Hash and compare passwords in constant time, outside the event loop, few at a time."""

import asyncio
import secrets
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

VERIFICATIONS_AT_ONCE_MAX: Final = 2
ONE_TIME_BYTES: Final = 18

_hasher: Final = PasswordHasher()


class PasswordVerifier:
    """Compare passwords, few at a time: each comparison takes 64 MiB and a core."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(VERIFICATIONS_AT_ONCE_MAX)

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """Return whether a password is correct; without a hash take as long and return False."""
        async with self._turns:
            return await asyncio.to_thread(_verify, password, password_hash)

    async def hash(self, password: str) -> str:
        """Hash a password; this takes as long as a comparison."""
        async with self._turns:
            return await hash_password(password)


async def hash_password(password: str) -> str:
    """Hash a password."""
    return await asyncio.to_thread(_hasher.hash, password)


def make_one_time_password() -> str:
    """Create a one-time password."""
    return secrets.token_urlsafe(ONE_TIME_BYTES)


def _verify(password: str, password_hash: str | None) -> bool:
    try:
        return _hasher.verify(
            password_hash if password_hash is not None else _dummy_hash(), password
        )
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


@cache
def _dummy_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe(ONE_TIME_BYTES))
