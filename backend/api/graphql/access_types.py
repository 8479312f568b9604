"""Present invited users and new API tokens in the graph."""

from typing import Self

import strawberry

from backend.api.graphql.views import shown
from backend.domain import user as user_domain
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.services.access.api_tokens import CreatedApiToken as CreatedToken
from backend.services.access.users import InvitedUser as Invited
from backend.views.access import ApiTokenOut, UserOut
from backend.views.field_texts import (
    CLUSTER_PATTERNS,
    ONE_TIME_PASSWORD,
    TOKEN_LIFETIME,
    TOKEN_NAME,
    TOKEN_READ_ONLY,
    TOKEN_ROLE,
    TOKEN_SECRET,
)
from backend.views.graph_forms import Text


@strawberry.type
class InvitedUser:
    """Present a user with a one-time password, which is shown this once."""

    user: UserOut = shown(UserOut, Text("The user."))
    password: str = strawberry.field(description=ONE_TIME_PASSWORD.text)

    @classmethod
    def of(cls, invited: Invited) -> Self:
        """Present a user before the first sign-in."""
        return cls(user=UserOut.of(invited.user), password=invited.password)


@strawberry.type
class CreatedApiToken:
    """Present a new token; `secret` is shown this once."""

    token: ApiTokenOut = shown(ApiTokenOut, Text("Properties of the token."))
    secret: str = strawberry.field(description=TOKEN_SECRET.text)

    @classmethod
    def of(cls, created: CreatedToken) -> Self:
        """Present a token that was just made."""
        return cls(token=ApiTokenOut.of(created.token), secret=created.secret)


@strawberry.input
class ApiTokenInput:
    """Ask for a token; a pattern is the name of a cluster, with `*` for any letters."""

    name: str = strawberry.field(description=TOKEN_NAME.text)
    role: user_domain.Role = strawberry.field(description=TOKEN_ROLE.text)
    lifetime_days: int = strawberry.field(description=TOKEN_LIFETIME.text)
    cluster_patterns: list[str] = strawberry.field(
        default_factory=lambda: list(ALL_CLUSTERS), description=CLUSTER_PATTERNS.text
    )
    is_read_only: bool = strawberry.field(default=False, description=TOKEN_READ_ONLY.text)
