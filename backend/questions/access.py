"""Ask for users, open sessions and API tokens."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Permission, Principal, Reach
from backend.domain.access_errors import UserNotFound
from backend.domain.page import Page
from backend.domain.user import USER_NAME_LENGTH_MAX
from backend.questions.question import After, Given, Limit, question
from backend.services.access.api_tokens import list_tokens
from backend.services.access.sessions import list_sessions
from backend.services.access.users import describe_user, list_users
from backend.views.access import ApiTokenOut, OpenSessionOut, UserOut, ViewerOut

CredentialKey = tuple[datetime, UUID]
UserName = Annotated[str, Given(length_max=USER_NAME_LENGTH_MAX, graph_name="name")]
OfUser = Annotated[str | None, Given("Only items of this user.", length_max=USER_NAME_LENGTH_MAX)]


@question("/sessions", field="sessions", tag="session", reach=Reach.OWN, refusals=(404,))
async def show_sessions(
    limit: Limit = 100,
    after: After[CredentialKey] = None,
    user_name: OfUser = None,
    *,
    principal: Principal,
    database: Database,
    clock: Clock,
) -> Page[OpenSessionOut, CredentialKey]:
    """List the caller's sessions, the newest first.

    An administrator sees the sessions of all users.
    """
    page = await list_sessions(
        principal, user_name=user_name, size=limit, after=after, database=database, clock=clock
    )
    return page.map(lambda one: OpenSessionOut.of(one, principal))


@question("/tokens", field="apiTokens", tag="tokens", reach=Reach.OWN, refusals=(404,))
async def show_tokens(
    limit: Limit = 100,
    after: After[CredentialKey] = None,
    user_name: OfUser = None,
    *,
    principal: Principal,
    database: Database,
) -> Page[ApiTokenOut, CredentialKey]:
    """List the caller's tokens, the newest first. An administrator sees the tokens of all users."""
    page = await list_tokens(
        principal, user_name=user_name, size=limit, after=after, database=database
    )
    return page.map(ApiTokenOut.of)


@question("/users", field="users", tag="users", permission=Permission.READ_ACCESS)
async def show_users(
    limit: Limit = 100, after: After[str] = None, *, database: Database
) -> Page[UserOut, str]:
    """List users by name."""
    return (await list_users(size=limit, after=after, database=database)).map(UserOut.of)


@question(
    "/users/{user_name}",
    field="user",
    tag="users",
    permission=Permission.READ_ACCESS,
    refusals=(404,),
    absences=(UserNotFound,),
)
async def show_user(user_name: UserName, *, database: Database) -> UserOut:
    """Describe one user."""
    return UserOut.of(await describe_user(user_name, database=database))


@question(
    None,
    field="viewer",
    tag="session",
    permission=Permission.IDENTIFY,
    reach=Reach.OWN,
    why_not="`GET /session` has it beside what they may not do",
)
async def show_viewer(*, principal: Principal) -> ViewerOut:
    """Describe the caller."""
    return ViewerOut.of(principal)
