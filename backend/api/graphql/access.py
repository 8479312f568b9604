"""Change access in the graph: users, sessions and tokens. `guard` checks permissions."""

from typing import Annotated

import strawberry

from backend.api.graphql.access_types import (
    ApiTokenInput,
    CreatedApiToken,
    InvitedUser,
)
from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Id, Version, read_id
from backend.api.graphql.views import answers
from backend.api.password_changes import change_own_password
from backend.domain import user as user_domain
from backend.domain.api_token import TokenScope
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.errors import InvalidName
from backend.domain.operation import REASON_LENGTH_MAX
from backend.services.access import api_tokens, sessions, users
from backend.views.access import UserOut
from backend.views.field_texts import CLUSTER_PATTERNS

Patterns = Annotated[
    list[str] | None,
    strawberry.argument(description=CLUSTER_PATTERNS.text),
]


@strawberry.type
class AccessMutation:
    """Change access."""

    @answers(int)
    async def change_password(self, info: Info, old_password: str, new_password: str) -> int:
        """Change the caller's password, and return how many other sessions of the caller ended."""
        request = info.context.request
        assert request is not None, "mutations come with a request"
        return await change_own_password(
            info.context.principal,
            request,
            "graphql",
            old_password=old_password,
            new_password=new_password,
            context=info.context.api,
        )

    @answers(bool)
    async def end_session(self, info: Info, session_id: Id) -> bool:
        """End one of the caller's sessions or, as an administrator, any session."""
        api = info.context.api
        await sessions.end_session(
            read_id(session_id),
            info.context.principal,
            info.context.author,
            database=api.database,
            clock=api.clock,
        )
        return True

    @answers(int)
    async def end_sessions(self, info: Info, user_name: str | None = None) -> int:
        """End all sessions of the caller or, as an administrator, of any user."""
        principal, api = info.context.principal, info.context.api
        return await sessions.end_sessions(
            user_name or principal.user_name,
            principal,
            info.context.author,
            database=api.database,
            clock=api.clock,
        )

    @answers(CreatedApiToken)
    async def create_api_token(self, info: Info, wanted: ApiTokenInput) -> CreatedApiToken:
        """Create an API token of the caller. Its role is at most that of the caller."""
        api = info.context.api
        # graphql-core passes an enum argument as its value, a plain string.
        scope = TokenScope(
            user_domain.Role(wanted.role), tuple(wanted.cluster_patterns), wanted.is_read_only
        )
        created = await api_tokens.create_token(
            api_tokens.CreateApiToken(wanted.name, scope, wanted.lifetime_days),
            info.context.principal,
            info.context.author,
            database=api.database,
            clock=api.clock,
        )
        return CreatedApiToken.of(created)

    @answers(bool)
    async def revoke_api_token(self, info: Info, token_id: Id) -> bool:
        """Revoke one of the caller's tokens or, as an administrator, any token."""
        api = info.context.api
        await api_tokens.revoke_token(
            read_id(token_id),
            info.context.principal,
            info.context.author,
            database=api.database,
            clock=api.clock,
        )
        return True

    @answers(InvitedUser)
    async def add_user(
        self,
        info: Info,
        name: str,
        role: user_domain.Role,
        cluster_patterns: Patterns = None,
    ) -> InvitedUser:
        """Add a user with a one-time password. Without patterns the role is valid everywhere."""
        api = info.context.api
        invited = await users.add_user(
            name,
            user_domain.Role(role),
            info.context.author,
            cluster_patterns=ALL_CLUSTERS if cluster_patterns is None else cluster_patterns,
            verifier=api.verifier,
            database=api.database,
            clock=api.clock,
        )
        return InvitedUser.of(invited)

    @answers(UserOut)
    async def change_user_role(
        self,
        info: Info,
        name: str,
        role: user_domain.Role,
        reason: str | None = None,
        cluster_patterns: Patterns = None,
        version: Version = None,
    ) -> UserOut:
        """Change the role of a user, or the clusters where it is valid.

        The last administrator stays one.
        """
        api = info.context.api
        user = await users.change_role(
            name,
            user_domain.Role(role),
            info.context.author,
            cluster_patterns=cluster_patterns,
            version=version,
            reason=_checked(reason),
            database=api.database,
            clock=api.clock,
        )
        return UserOut.of(user)

    @answers(UserOut)
    async def disable_user(self, info: Info, name: str, reason: str | None = None) -> UserOut:
        """Disable a user. The last administrator can not be disabled."""
        api = info.context.api
        user = await users.disable_user(
            name,
            info.context.author,
            reason=_checked(reason),
            database=api.database,
            clock=api.clock,
        )
        return UserOut.of(user)

    @answers(UserOut)
    async def enable_user(self, info: Info, name: str, reason: str | None = None) -> UserOut:
        """Enable a user again."""
        api = info.context.api
        user = await users.enable_user(
            name,
            info.context.author,
            reason=_checked(reason),
            database=api.database,
            clock=api.clock,
        )
        return UserOut.of(user)

    @answers(InvitedUser)
    async def reset_password(self, info: Info, name: str) -> InvitedUser:
        """Replace the password of a user with a one-time password."""
        api = info.context.api
        invited = await users.reset_password(
            name,
            info.context.author,
            verifier=api.verifier,
            database=api.database,
            clock=api.clock,
        )
        return InvitedUser.of(invited)


def _checked(reason: str | None) -> str | None:
    if reason is not None and len(reason) > REASON_LENGTH_MAX:
        problem = f"is longer than {REASON_LENGTH_MAX} characters"
        raise InvalidName(kind="reason", name=reason, reason=problem)
    return reason
