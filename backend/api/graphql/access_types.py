"""Present invited users and new API tokens in the graph."""

from typing import Self

import strawberry

from backend.api.graphql.views import shown
from backend.domain import user as user_domain
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.services.access.api_tokens import CreatedApiToken as CreatedToken
from backend.services.access.users import InvitedUser as Invited
from backend.views.access import ApiTokenOut, UserOut


@strawberry.type
class InvitedUser:
    """Present a user with a one-time password, which is shown this once."""

    user: UserOut = shown(UserOut)
    password: str

    @classmethod
    def of(cls, invited: Invited) -> Self:
        """Present a user who is to sign in for the first time."""
        return cls(user=UserOut.of(invited.user), password=invited.password)


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
