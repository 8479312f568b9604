"""Present users and new API tokens in the graph."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.views import shown
from backend.domain import user as user_domain
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.services.api_tokens import CreatedApiToken as CreatedToken
from backend.services.users import InvitedUser as Invited
from backend.views.access import ApiTokenOut

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
class CreatedApiToken:
    """Present a new token; `secret` is shown this once."""

    token: ApiTokenOut = shown(ApiTokenOut)
    secret: str

    @classmethod
    def of(cls, created: CreatedToken) -> Self:
        """Present a token that was just made."""
        return cls(token=ApiTokenOut.of(created.token), secret=created.secret)


@strawberry.input
class ApiTokenInput:
    """Ask for a token; a pattern is a cluster's name, with `*` for any letters."""

    name: str
    role: user_domain.Role
    lifetime_days: int
    cluster_patterns: list[str] = strawberry.field(default_factory=lambda: list(ALL_CLUSTERS))
    is_read_only: bool = False
