"""Make API tokens over REST, and revoke them."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from backend.api.context import Context, SignedIn
from backend.api.permissions import needs
from backend.api.rest.cluster_patterns import Patterns
from backend.api.rest.errors import COMMON, NOT_FOUND, refused_with
from backend.api.rest.routers import guarded_router
from backend.api.rest.sessions import ActionAuthor
from backend.domain.access import Permission
from backend.domain.api_token import LIFETIME_DAYS_MAX, NAME_LENGTH_MAX, TokenScope
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.user import Role
from backend.services.access import api_tokens
from backend.views.access import ApiTokenOut
from backend.views.copying import copied
from backend.views.field_texts import (
    TOKEN_LIFETIME,
    TOKEN_NAME,
    TOKEN_READ_ONLY,
    TOKEN_ROLE,
    TOKEN_SECRET,
)

router = guarded_router("tokens", prefix="/tokens")


class ApiTokenIn(BaseModel):
    """Ask for a token; a pattern is the name of a cluster, with `*` for any letters."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH_MAX), TOKEN_NAME]
    role: Annotated[Role, TOKEN_ROLE]
    lifetime_days: Annotated[int, Field(ge=1, le=LIFETIME_DAYS_MAX), TOKEN_LIFETIME]
    cluster_patterns: Patterns = list(ALL_CLUSTERS)
    is_read_only: Annotated[bool, TOKEN_READ_ONLY] = False


@dataclass(frozen=True, slots=True)
class CreatedApiTokenOut(ApiTokenOut):
    """A new token; `secret` is shown this once."""

    secret: Annotated[str, TOKEN_SECRET]


@router.post("", status_code=HTTPStatus.CREATED, responses={**COMMON, **refused_with(409)})
@needs(Permission.MANAGE_OWN)
async def create_token(
    wanted: ApiTokenIn, context: Context, principal: SignedIn, author: ActionAuthor
) -> CreatedApiTokenOut:
    """Create an API token of the caller. Its role is at most that of the caller."""
    scope = TokenScope(wanted.role, tuple(wanted.cluster_patterns), wanted.is_read_only)
    created = await api_tokens.create_token(
        api_tokens.CreateApiToken(wanted.name, scope, wanted.lifetime_days),
        principal,
        author,
        database=context.database,
        clock=context.clock,
    )
    return copied(CreatedApiTokenOut, ApiTokenOut.of(created.token), secret=created.secret)


@router.delete("/{token_id}", status_code=HTTPStatus.NO_CONTENT, responses=NOT_FOUND)
@needs(Permission.MANAGE_OWN)
async def revoke_token(
    token_id: UUID, context: Context, principal: SignedIn, author: ActionAuthor
) -> None:
    """Revoke one of the caller's tokens or, as an administrator, any token."""
    await api_tokens.revoke_token(
        token_id, principal, author, database=context.database, clock=context.clock
    )
