"""Ask which sessions are open, and which API tokens there are."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Principal, Reach
from backend.domain.page import Page
from backend.domain.user import USER_NAME_LENGTH_MAX
from backend.questions.question import After, Given, Limit, question
from backend.services.api_tokens import list_tokens
from backend.services.sessions import list_sessions
from backend.views.access import ApiTokenOut, OpenSessionOut

CredentialKey = tuple[datetime, UUID]
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
    """List the caller's sessions, the newest first; an administrator sees those of all users."""
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
    """List the caller's tokens, the newest first; an administrator sees those of all users."""
    page = await list_tokens(
        principal, user_name=user_name, size=limit, after=after, database=database
    )
    return page.map(ApiTokenOut.of)
