"""Show users, open sessions and API tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from backend.domain.access import Principal
from backend.domain.api_token import ApiToken
from backend.domain.session import UserSession
from backend.domain.user import Role, User
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Version


@dataclass(frozen=True, slots=True)
class UserOut(Copied[User]):
    """A user, whose role holds in clusters of these patterns.

    A one-time password stands until `password_expires_at`, a chosen one for good.
    """

    name: str
    role: Role
    cluster_patterns: list[str]
    created_at: datetime
    disabled_at: datetime | None
    password_expires_at: datetime | None
    version: Version


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
    def of(cls, session: UserSession, principal: Principal) -> Self:
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


@dataclass(frozen=True, slots=True)
class ViewerOut:
    """Who asks, in which role and with what, and until when.

    A cluster is within reach when its name fits a pattern of each of `cluster_limits`: the user's
    own, and those of their token. Without any, all are.
    """

    name: str
    role: str
    cluster_limits: list[list[str]]
    expires_at: datetime
    credential: str
    must_change_password: bool

    @classmethod
    def of(cls, principal: Principal) -> Self:
        """Show who asks."""
        return copied(
            cls,
            principal,
            name=principal.user_name,
            cluster_limits=[list(limit) for limit in principal.clusters.limits],
        )
