"""Store API tokens: their hashes, their first characters and their scopes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from backend.db import noted_uses
from backend.db.access_tables import api_tokens, users
from backend.db.engine import Connection
from backend.domain.api_token import ApiToken, TokenScope
from backend.domain.user import Role

TokenKey = tuple[datetime, UUID]


async def add(connection: Connection, token: ApiToken, *, token_hash: bytes, user_id: int) -> bool:
    """Add a token; return whether its user had no token of this name."""
    statement = (
        insert(api_tokens)
        .values(
            id=token.id,
            user_id=user_id,
            name=token.name,
            prefix=token.prefix,
            token_hash=token_hash,
            role=token.scope.role,
            cluster_patterns=list(token.scope.cluster_patterns),
            is_read_only=token.scope.is_read_only,
            created_at=token.created_at,
            expires_at=token.expires_at,
        )
        .on_conflict_do_nothing()
        .returning(api_tokens.c.id)
    )
    return (await connection.execute(statement)).first() is not None


async def note_use(
    connection: Connection, token_id: UUID, *, source: str | None, at: datetime
) -> None:
    """Store the time and the source of the last use of a token."""
    values: dict[str, object] = {"last_used_at": at}
    if source is not None:
        values["last_used_from"] = source
    await noted_uses.note_use(connection, api_tokens, token_id, values)


async def list_newest(
    connection: Connection, *, user_name: str | None, after: TokenKey | None, limit: int
) -> list[ApiToken]:
    """List tokens of a user or of all, the newest first; expired ones too."""
    columns = api_tokens.c
    statement = (
        select(api_tokens, users.c.name.label("user_name"))
        .select_from(api_tokens.join(users))
        .where(*_of(user_name))
        .order_by(columns.created_at.desc(), columns.id.desc())
        .limit(limit)
    )
    if after is not None:
        created_at, token_id = after
        statement = statement.where(
            or_(
                columns.created_at < created_at,
                and_(columns.created_at == created_at, columns.id < token_id),
            )
        )
    return [_token(row) for row in await connection.execute(statement)]


async def count(connection: Connection, *, user_name: str | None) -> int:
    """Count tokens of a user or of all."""
    statement = select(func.count()).select_from(api_tokens.join(users)).where(*_of(user_name))
    return int(await connection.scalar(statement) or 0)


async def find(connection: Connection, token_id: UUID) -> ApiToken | None:
    """Find the token of an id."""
    statement = (
        select(api_tokens, users.c.name.label("user_name"))
        .select_from(api_tokens.join(users))
        .where(api_tokens.c.id == token_id)
    )
    row = (await connection.execute(statement)).first()
    return None if row is None else _token(row)


async def remove(connection: Connection, token_id: UUID) -> bool:
    """Revoke a token; return whether it existed."""
    statement = delete(api_tokens).where(api_tokens.c.id == token_id)
    return (await connection.execute(statement)).rowcount > 0


def _of(user_name: str | None) -> list[ColumnElement[bool]]:
    return [] if user_name is None else [users.c.name == user_name]


def _token(row: Any) -> ApiToken:
    return ApiToken(
        id=row.id,
        user_name=row.user_name,
        name=row.name,
        prefix=row.prefix,
        scope=TokenScope(Role(row.role), tuple(row.cluster_patterns), row.is_read_only),
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        last_used_from=row.last_used_from,
    )
