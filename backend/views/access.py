"""Show open sessions and API tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from backend.domain.access import Principal
from backend.domain.api_token import ApiToken
from backend.domain.session import Session
from backend.domain.user import Role
from backend.views.copying import copied


@dataclass(frozen=True, slots=True)
class OpenSessionOut:
    """An open session; `is_own` marks the session of the caller. Its use is exact to a minute."""

    id: UUID
    user_name: str
    source: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    is_own: bool = False

    @classmethod
    def of(cls, session: Session, principal: Principal) -> Self:
        """Show a session to who asks for it."""
        return copied(cls, session, is_own=session.id == principal.credential_id)


@dataclass(frozen=True, slots=True)
class ApiTokenOut:
    """A token, without what it is used by but its beginning."""

    id: UUID
    user_name: str
    name: str
    prefix: str
    role: Role
    cluster_patterns: list[str]
    is_read_only: bool
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_from: str | None

    @classmethod
    def of(cls, token: ApiToken) -> Self:
        """Show a token."""
        return copied(
            cls,
            token,
            role=token.scope.role,
            cluster_patterns=list(token.scope.cluster_patterns),
            is_read_only=token.scope.is_read_only,
        )
