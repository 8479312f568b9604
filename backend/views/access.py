"""Show users, open sessions and API tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from backend.domain.access import Principal
from backend.domain.api_token import ApiToken
from backend.domain.session import UserSession
from backend.domain.user import Role, User
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    CLUSTER_LIMITS,
    CLUSTER_PATTERNS,
    CREDENTIAL,
    CREDENTIAL_EXPIRES_AT,
    MUST_CHANGE_PASSWORD,
    TOKEN_NAME,
    TOKEN_READ_ONLY,
    TOKEN_ROLE,
    USER_NAME,
    USER_ROLE,
)
from backend.views.graph_forms import Text, Version


@dataclass(frozen=True, slots=True)
class UserOut(Copied[User]):
    """A user, whose role is valid in clusters of these patterns.

    A one-time password is valid until `password_expires_at`. A chosen password does not expire.
    """

    name: Annotated[str, USER_NAME]
    role: Annotated[Role, USER_ROLE]
    cluster_patterns: Annotated[list[str], CLUSTER_PATTERNS]
    created_at: Annotated[datetime, Text("Time when the user was added.")]
    disabled_at: Annotated[
        datetime | None, Text("Time when the user was disabled. Null if the user is enabled.")
    ]
    password_expires_at: Annotated[
        datetime | None,
        Text("Time when the one-time password expires. Null if the user chose the password."),
    ]
    version: Annotated[Version, Text("Version of the user. A change can require it.")]


@dataclass(frozen=True, slots=True)
class OpenSessionOut:
    """An open session; `is_own` marks the session of the caller."""

    id: Annotated[UUID, Text("Id of the session.")]
    user_name: Annotated[str, USER_NAME]
    source: Annotated[str, Text("Address that the user signed in from.")]
    user_agent: Annotated[str, Text("Program that the user signed in with.")]
    created_at: Annotated[datetime, Text("Time of the sign-in.")]
    last_used_at: Annotated[datetime, Text("Time of the last request, exact to a minute.")]
    expires_at: Annotated[datetime, Text("Time when the session expires.")]
    is_own: Annotated[bool, Text("Whether this is the session of the caller.")] = False

    @classmethod
    def of(cls, session: UserSession, principal: Principal) -> Self:
        """Show a session to a caller."""
        return copied(cls, session, is_own=session.id == principal.credential_id)


@dataclass(frozen=True, slots=True)
class ApiTokenOut:
    """A token, of which only the first characters are shown."""

    id: Annotated[UUID, Text("Id of the token.")]
    user_name: Annotated[str, Text("Name of the user who owns the token.")]
    name: Annotated[str, TOKEN_NAME]
    prefix: Annotated[str, Text("First characters of the token, to recognise it by.")]
    role: Annotated[Role, TOKEN_ROLE]
    cluster_patterns: Annotated[list[str], CLUSTER_PATTERNS]
    is_read_only: Annotated[bool, TOKEN_READ_ONLY]
    created_at: Annotated[datetime, Text("Time when the token was created.")]
    expires_at: Annotated[datetime, Text("Time when the token expires.")]
    last_used_at: Annotated[
        datetime | None, Text("Time of the last request with the token. Null if there was none.")
    ]
    last_used_from: Annotated[
        str | None, Text("Address of the last request with the token. Null if there was none.")
    ]

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
    """The caller with role and credential, and when the credential expires.

    A cluster is within reach if its name fits a pattern of each list of `cluster_limits`: those of
    the user, and those of the token. Without lists, all clusters are.
    """

    name: Annotated[str, USER_NAME]
    role: Annotated[str, USER_ROLE]
    cluster_limits: Annotated[list[list[str]], CLUSTER_LIMITS]
    expires_at: Annotated[datetime, CREDENTIAL_EXPIRES_AT]
    credential: Annotated[str, CREDENTIAL]
    must_change_password: Annotated[bool, MUST_CHANGE_PASSWORD]

    @classmethod
    def of(cls, principal: Principal) -> Self:
        """Show the caller."""
        return copied(
            cls,
            principal,
            name=principal.user_name,
            cluster_limits=[list(limit) for limit in principal.clusters.limits],
        )
