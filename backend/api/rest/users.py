"""Change users over REST, and the password of the caller."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from backend.api.context import Context, SignedIn
from backend.api.password_changes import change_own_password
from backend.api.permissions import needs
from backend.api.rest.cluster_patterns import Patterns
from backend.api.rest.errors import COMMON, NOT_FOUND, Responses, refused_with
from backend.api.rest.models import view_model
from backend.api.rest.routers import guarded_router
from backend.api.rest.sessions import ActionAuthor, EndedOut
from backend.api.rest.versions import TAGGED, IfMatch, expected_version, put_tag
from backend.domain.access import Permission
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.operation import REASON_LENGTH_MAX
from backend.domain.user import PASSWORD_LENGTH_MAX, USER_NAME_LENGTH_MAX, Role
from backend.services.access import users
from backend.views.access import UserOut
from backend.views.copying import copied
from backend.views.field_texts import CLUSTER_PATTERNS, ONE_TIME_PASSWORD, USER_NAME, USER_ROLE
from backend.views.graph_forms import Text

router = guarded_router("users")

CHANGED: Responses = {**NOT_FOUND, **refused_with(409)}
UserName = Annotated[str, Path(max_length=USER_NAME_LENGTH_MAX)]
Password = Annotated[SecretStr, Field(max_length=PASSWORD_LENGTH_MAX)]
Reason = Annotated[
    str | None,
    Field(max_length=REASON_LENGTH_MAX),
    Text("Reason for the change, for the audit."),
]


@dataclass(frozen=True, slots=True)
class InvitedUserOut(UserOut):
    """A user with a one-time password, which is shown this once."""

    password: Annotated[str, ONE_TIME_PASSWORD]


class UserIn(BaseModel):
    """Ask to add a user."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=USER_NAME_LENGTH_MAX), USER_NAME]
    role: Annotated[Role, USER_ROLE]
    cluster_patterns: Patterns = list(ALL_CLUSTERS)


class RoleIn(BaseModel):
    """Ask for another role or other clusters; absent values do not change."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[Role, USER_ROLE]
    cluster_patterns: Annotated[Patterns | None, CLUSTER_PATTERNS] = None
    reason: Reason = None


class ReasonIn(BaseModel):
    """The reason for a change, for the audit."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = None


class PasswordIn(BaseModel):
    """The present password and the new password."""

    model_config = ConfigDict(extra="forbid")

    old_password: Annotated[Password, Text("Present password.")]
    new_password: Annotated[Password, Text("New password.")]


@router.put("/session/password", responses={**COMMON, **refused_with(429)})
@needs(Permission.SIGN)
async def change_password(
    given: PasswordIn, request: Request, context: Context, principal: SignedIn
) -> EndedOut:
    """Change the caller's password. The caller's other sessions end."""
    count = await change_own_password(
        principal,
        request,
        "rest",
        old_password=given.old_password.get_secret_value(),
        new_password=given.new_password.get_secret_value(),
        context=context,
    )
    return EndedOut(ended_count=count)


@router.post(
    "/users",
    status_code=HTTPStatus.CREATED,
    responses={**COMMON, **refused_with(409)},
    response_model=view_model(InvitedUserOut),
)
@needs(Permission.MANAGE_ACCESS)
async def add_user(wanted: UserIn, context: Context, author: ActionAuthor) -> InvitedUserOut:
    """Add a user with a one-time password."""
    invited = await users.add_user(
        wanted.name,
        wanted.role,
        author,
        cluster_patterns=wanted.cluster_patterns,
        verifier=context.verifier,
        database=context.database,
        clock=context.clock,
    )
    return _invited(invited)


@router.put(
    "/users/{user_name}/role",
    responses={**CHANGED, **refused_with(412), 200: TAGGED},
    response_model=view_model(UserOut),
)
@needs(Permission.MANAGE_ACCESS)
async def change_role(
    user_name: UserName,
    wanted: RoleIn,
    context: Context,
    author: ActionAuthor,
    response: Response,
    if_match: IfMatch = None,
) -> UserOut:
    """Change the role of a user, or the clusters where it is valid.

    The last administrator stays one.
    """
    user = await users.change_role(
        user_name,
        wanted.role,
        author,
        cluster_patterns=wanted.cluster_patterns,
        version=expected_version(if_match),
        reason=wanted.reason,
        database=context.database,
        clock=context.clock,
    )
    put_tag(response, user.version)
    return UserOut.of(user)


@router.post("/users/{user_name}/disable", responses=CHANGED, response_model=view_model(UserOut))
@needs(Permission.MANAGE_ACCESS)
async def disable_user(
    user_name: UserName, given: ReasonIn, context: Context, author: ActionAuthor
) -> UserOut:
    """Disable a user. The last administrator can not be disabled."""
    user = await users.disable_user(
        user_name, author, reason=given.reason, database=context.database, clock=context.clock
    )
    return UserOut.of(user)


@router.post("/users/{user_name}/enable", responses=CHANGED, response_model=view_model(UserOut))
@needs(Permission.MANAGE_ACCESS)
async def enable_user(
    user_name: UserName, given: ReasonIn, context: Context, author: ActionAuthor
) -> UserOut:
    """Enable a user again."""
    user = await users.enable_user(
        user_name, author, reason=given.reason, database=context.database, clock=context.clock
    )
    return UserOut.of(user)


@router.post(
    "/users/{user_name}/reset-password",
    responses=CHANGED,
    response_model=view_model(InvitedUserOut),
)
@needs(Permission.MANAGE_ACCESS)
async def reset_password(
    user_name: UserName, context: Context, author: ActionAuthor
) -> InvitedUserOut:
    """Replace the password of a user with a one-time password."""
    invited = await users.reset_password(
        user_name,
        author,
        verifier=context.verifier,
        database=context.database,
        clock=context.clock,
    )
    return _invited(invited)


def _invited(invited: users.InvitedUser) -> InvitedUserOut:
    return copied(InvitedUserOut, UserOut.of(invited.user), password=invited.password)
