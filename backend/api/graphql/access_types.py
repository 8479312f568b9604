"""Present users, sessions and API tokens in the graph."""

from datetime import datetime
from typing import Self

import strawberry

from backend.domain import api_token as token_domain
from backend.domain import session as session_domain
from backend.domain import user as user_domain
from backend.domain.access import Principal
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.services.api_tokens import CreatedApiToken as CreatedToken
from backend.services.users import InvitedUser as Invited

Role = strawberry.enum(user_domain.Role, description=None)


@strawberry.type
class User:
    """Present a user, whose role holds in clusters of these patterns.

    A one-time password stands until `passwordExpiresAt`.
    """

    name: str
    role: user_domain.Role
    cluster_patterns: list[str]
    created_at: datetime
    disabled_at: datetime | None
    password_expires_at: datetime | None
    version: str

    @classmethod
    def of(cls, user: user_domain.User) -> Self:
        """Present a user."""
        return cls(
            name=user.name,
            role=user.role,
            cluster_patterns=list(user.cluster_patterns),
            created_at=user.created_at,
            disabled_at=user.disabled_at,
            password_expires_at=user.password_expires_at,
            version=user.version,
        )


@strawberry.type
class InvitedUser:
    """Present a user with a one-time password, which is shown this once."""

    user: User
    password: str

    @classmethod
    def of(cls, invited: Invited) -> Self:
        """Present a user who is to sign in for the first time."""
        return cls(user=User.of(invited.user), password=invited.password)


@strawberry.type
class OpenSession:
    """Present an open session; `isOwn` marks the one that asks. Use is noted to the minute."""

    id: strawberry.ID
    user_name: str
    source: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    is_own: bool

    @classmethod
    def of(cls, session: session_domain.Session, principal: Principal) -> Self:
        """Present a session to who asks for it."""
        return cls(
            id=strawberry.ID(str(session.id)),
            user_name=session.user_name,
            source=session.source,
            user_agent=session.user_agent,
            created_at=session.created_at,
            last_used_at=session.last_used_at,
            expires_at=session.expires_at,
            is_own=session.id == principal.credential_id,
        )


@strawberry.type
class ApiToken:
    """Present a token, without what it is used by but its beginning."""

    id: strawberry.ID
    user_name: str
    name: str
    prefix: str
    role: user_domain.Role
    cluster_patterns: list[str]
    is_read_only: bool
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_from: str | None

    @classmethod
    def of(cls, token: token_domain.ApiToken) -> Self:
        """Present a token."""
        return cls(
            id=strawberry.ID(str(token.id)),
            user_name=token.user_name,
            name=token.name,
            prefix=token.prefix,
            role=token.scope.role,
            cluster_patterns=list(token.scope.cluster_patterns),
            is_read_only=token.scope.is_read_only,
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used_at=token.last_used_at,
            last_used_from=token.last_used_from,
        )


@strawberry.type
class CreatedApiToken:
    """Present a new token; `secret` is shown this once."""

    token: ApiToken
    secret: str

    @classmethod
    def of(cls, created: CreatedToken) -> Self:
        """Present a token that was just made."""
        return cls(token=ApiToken.of(created.token), secret=created.secret)


@strawberry.input
class ApiTokenInput:
    """Ask for a token; a pattern is a cluster's name, with `*` for any letters."""

    name: str
    role: user_domain.Role
    lifetime_days: int
    cluster_patterns: list[str] = strawberry.field(default_factory=lambda: list(ALL_CLUSTERS))
    is_read_only: bool = False
