"""Make API tokens over REST, list and revoke them."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from backend.api.context import Context, SignedIn
from backend.api.cursors import decode_cursor
from backend.api.permissions import needs, reaches
from backend.api.rest.cluster_patterns import Patterns
from backend.api.rest.errors import COMMON, NOT_FOUND, refused_with
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.api.rest.sessions import DeedAuthor, OfUser
from backend.domain.access import Permission, Reach
from backend.domain.api_token import LIFETIME_DAYS_MAX, NAME_LENGTH_MAX, ApiToken, TokenScope
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.user import Role
from backend.services import api_tokens

router = APIRouter(prefix="/tokens", tags=["tokens"])


class ApiTokenIn(BaseModel):
    """Ask for a token; a pattern is a cluster's name, with `*` for any letters."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH_MAX)]
    role: Role
    lifetime_days: Annotated[int, Field(ge=1, le=LIFETIME_DAYS_MAX)]
    cluster_patterns: Patterns = list(ALL_CLUSTERS)
    is_read_only: bool = False


class ApiTokenOut(BaseModel):
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


class CreatedApiTokenOut(ApiTokenOut):
    """A new token; `secret` is shown this once."""

    secret: str


@router.post("", status_code=HTTPStatus.CREATED, responses={**COMMON, **refused_with(409)})
@needs(Permission.MANAGE_OWN)
async def create_token(
    wanted: ApiTokenIn, context: Context, principal: SignedIn, author: DeedAuthor
) -> CreatedApiTokenOut:
    """Make a token of one's own, with a role of one's own at most."""
    scope = TokenScope(wanted.role, tuple(wanted.cluster_patterns), wanted.is_read_only)
    created = await api_tokens.create_token(
        api_tokens.CreateApiToken(wanted.name, scope, wanted.lifetime_days),
        principal,
        author,
        database=context.database,
        clock=context.clock,
    )
    return CreatedApiTokenOut(**_out(created.token).model_dump(), secret=created.secret)


@router.get("", responses=NOT_FOUND)
@reaches(Reach.OWN)
async def show_tokens(
    context: Context,
    principal: SignedIn,
    limit: Limit = 100,
    after: After = None,
    user_name: OfUser = None,
) -> PageOut[ApiTokenOut]:
    """List tokens, the newest first: one's own, and to administrators everybody's."""
    page = await api_tokens.list_tokens(
        principal,
        user_name=user_name,
        size=limit,
        after=decode_cursor(after, tuple[datetime, UUID]),
        database=context.database,
    )
    return page_out(page, _out)


@router.delete("/{token_id}", status_code=HTTPStatus.NO_CONTENT, responses=NOT_FOUND)
@needs(Permission.MANAGE_OWN)
async def revoke_token(
    token_id: UUID, context: Context, principal: SignedIn, author: DeedAuthor
) -> None:
    """Revoke a token: one's own, or as an administrator anybody's."""
    await api_tokens.revoke_token(
        token_id, principal, author, database=context.database, clock=context.clock
    )


def _out(token: ApiToken) -> ApiTokenOut:
    return ApiTokenOut(
        id=token.id,
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
