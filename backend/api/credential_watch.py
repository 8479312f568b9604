"""See to it that whoever follows something may still hear of it."""

from typing import Final

from backend.api.context import ApiContext
from backend.domain.access import Permission, Principal, require
from backend.domain.errors import Unauthenticated
from backend.services.access.credentials import find_principal

CHECK_INTERVAL_MS: Final = 5_000


class CredentialWatch:
    """Look every few seconds at the credential of one who follows."""

    def __init__(self, api: ApiContext, token: str) -> None:
        """Begin with a credential that was looked at just now."""
        self._api, self._token = api, token
        self._checked_at_ms = api.clock.now_ms()

    async def look(self) -> Principal | None:
        """Return who it is where it was time to look, else nothing.

        Raises:
            Unauthenticated: the credential has ended.
            PasswordChangeRequired: their password was reset.
        """
        now_ms = self._api.clock.now_ms()
        # Also at once where the clock was set back, which would put the next look off.
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
