"""Create, list and revoke API tokens of programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from backend.clients.clock import Clock
from backend.db import api_tokens, audit, users
from backend.db.api_tokens import TokenKey
from backend.db.audit import AuditedAction
from backend.db.engine import Database
from backend.domain.access import Credential, Principal
from backend.domain.access_errors import (
    ApiTokenAlreadyExists,
    ApiTokenNotFound,
    TooManyApiTokens,
)
from backend.domain.api_token import (
    PREFIX_LENGTH,
    TOKENS_PER_USER_MAX,
    ApiToken,
    TokenScope,
    check_lifetime,
    check_scope,
    check_token_name,
)
from backend.domain.operation import Author
from backend.domain.page import Page, check_page_size, cut_page
from backend.services.access.credentials import hash_secret, make_secret
from backend.services.access.sessions import NO_CLUSTER


@dataclass(frozen=True, slots=True)
class CreateApiToken:
    """Ask for a token of the caller."""

    name: str
    scope: TokenScope
    lifetime_days: int


@dataclass(frozen=True, slots=True)
class CreatedApiToken:
    """Hold a new token with its secret, which is shown this once."""

    secret: str = field(repr=False)
    token: ApiToken


async def create_token(
    command: CreateApiToken,
    principal: Principal,
    author: Author,
    *,
    database: Database,
    clock: Clock,
) -> CreatedApiToken:
    """Create a token of the caller, limited to its scope.

    Raises:
        InvalidName: the name is invalid. InvalidTokenScope: its role is higher than that of the
        owner, or its lifetime is too long. InvalidClusterPattern: a pattern names no cluster.
        ApiTokenAlreadyExists: the owner has a token of this name. TooManyApiTokens: the owner has
        the maximum number of tokens.
    """
    secret, now = make_secret(Credential.TOKEN), clock.now()
    token = ApiToken(
        id=uuid4(),
        user_name=principal.user_name,
        name=check_token_name(command.name),
        prefix=secret[:PREFIX_LENGTH],
        scope=check_scope(command.scope, principal.role),
        created_at=now,
        expires_at=now + timedelta(days=check_lifetime(command.lifetime_days)),
        last_used_at=None,
        last_used_from=None,
    )
    async with database.begin() as connection:
        # One at a time for each owner. Otherwise two requests could both create the last allowed
        # token.
        await users.lock(connection, principal.user_name)
        if await api_tokens.count(connection, user_name=token.user_name) >= TOKENS_PER_USER_MAX:
            raise TooManyApiTokens(TOKENS_PER_USER_MAX)
        if not await api_tokens.add(
            connection, token, token_hash=hash_secret(secret), user_id=principal.user_id
        ):
            raise ApiTokenAlreadyExists(token.name)
        details = {
            "prefix": token.prefix,
            "role": token.scope.role,
            "clusters": list(token.scope.cluster_patterns),
            "is_read_only": token.scope.is_read_only,
            "expires_at": token.expires_at.isoformat(),
        }
        await audit.append(connection, _audited("create", token, author, details), at=now)
    return CreatedApiToken(secret, token)


async def list_tokens(
    principal: Principal,
    *,
    user_name: str | None,
    size: int,
    after: TokenKey | None,
    database: Database,
) -> Page[ApiToken, TokenKey]:
    """List tokens, the newest first: those of the caller, or for administrators of all users.

    Raises:
        InvalidPageSize: the page is empty or too large. UserNotFound: no user has the name, or it
        is another user and the caller is no administrator.
    """
    check_page_size(size)
    whose = user_name
    if whose is None and not principal.sees_all_access:
        whose = principal.user_name
    async with database.connect() as connection:
        if whose is not None:
            await users.get_for(connection, whose, principal)
        found = await api_tokens.list_newest(
            connection, user_name=whose, after=after, limit=size + 1
        )
        total = await api_tokens.count(connection, user_name=whose)
    return cut_page(found, size=size, key=lambda one: (one.created_at, one.id), total_count=total)


async def revoke_token(
    token_id: UUID, principal: Principal, author: Author, *, database: Database, clock: Clock
) -> None:
    """Revoke a token of the caller, or as an administrator of any user.

    Raises:
        ApiTokenNotFound: no such token has the id.
    """
    async with database.begin() as connection:
        token = await api_tokens.find(connection, token_id)
        if token is None or not principal.may_see_access_of(token.user_name):
            raise ApiTokenNotFound(token_id)
        if not await api_tokens.remove(connection, token_id):
            raise ApiTokenNotFound(token_id)
        details = {"prefix": token.prefix}
        await audit.append(connection, _audited("revoke", token, author, details), at=clock.now())


def _audited(
    verb: str, token: ApiToken, author: Author, details: Mapping[str, object]
) -> AuditedAction:
    subject = f"token {token.name} of {token.user_name}"
    return AuditedAction(author, f"token.{verb}", NO_CLUSTER, subject, details)
