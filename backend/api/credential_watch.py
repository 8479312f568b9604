"""Check that a subscriber still has a valid credential."""

from typing import Final

from backend.api.context import ApiContext
from backend.domain.access import Permission, Principal, require
from backend.domain.errors import Unauthenticated
from backend.services.access.credentials import find_principal

CHECK_INTERVAL_MS: Final = 5_000


class CredentialWatch:
    """Check the credential of a subscriber every few seconds."""

    def __init__(self, api: ApiContext, token: str) -> None:
        """Start with a credential that was checked just now."""
        self._api, self._token = api, token
        self._checked_at_ms = api.clock.now_ms()

    async def look(self) -> Principal | None:
        """Return the caller if a check was due, else None.

        Raises:
            Unauthenticated: the credential has ended. PasswordChangeRequired: the password of the
            user was reset.
        """
        now_ms = self._api.clock.now_ms()
        # A clock that was set back must not delay the next check.
        if 0 <= now_ms - self._checked_at_ms < CHECK_INTERVAL_MS:
            return None
        self._checked_at_ms = now_ms
        found = await find_principal(
            self._token, database=self._api.database, clock=self._api.clock
        )
        if found is None:
            raise Unauthenticated
        require(found, Permission.READ)
        return found
