"""Store the open sessions of users."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select

from backend.db import noted_uses
from backend.db.access_tables import sessions, users
from backend.db.engine import Connection
from backend.domain.session import UserSession

SessionKey = tuple[datetime, UUID]


async def add(
    connection: Connection, token_hash: bytes, session: UserSession, *, user_id: int
) -> None:
    """Open a session, and remove ended sessions."""
    # Other transactions may lock the same rows in another order, so waiting for them could
    # deadlock.
    ended = (
        select(sessions.c.id)
        .where(sessions.c.expires_at <= session.created_at)
        .with_for_update(skip_locked=True)
    )
    await connection.execute(delete(sessions).where(sessions.c.id.in_(ended)))
    await connection.execute(
        insert(sessions).values(
            token_hash=token_hash,
            id=session.id,
            user_id=user_id,
            source=session.source,
            user_agent=session.user_agent,
            created_at=session.created_at,
            last_used_at=session.last_used_at,
            expires_at=session.expires_at,
        )
    )


async def note_use(connection: Connection, session_id: UUID, *, at: datetime) -> None:
    """Store the last use of a session."""
    await noted_uses.note_use(connection, sessions, session_id, {"last_used_at": at})


async def list_newest(
    connection: Connection,
    *,
    user_name: str | None,
    after: SessionKey | None,
    at: datetime,
    limit: int,
) -> list[UserSession]:
    """List open sessions of a user or of all, the newest first."""
    columns = sessions.c
    statement = (
        select(sessions, users.c.name)
        .select_from(sessions.join(users))
        .where(_is_open(at), *_of(user_name))
        .order_by(columns.created_at.desc(), columns.id.desc())
        .limit(limit)
    )
    if after is not None:
        opened_at, session_id = after
        statement = statement.where(
            or_(
                columns.created_at < opened_at,
                and_(columns.created_at == opened_at, columns.id < session_id),
            )
        )
    return [_session(row) for row in await connection.execute(statement)]


async def count(connection: Connection, *, user_name: str | None, at: datetime) -> int:
    """Count open sessions of a user or of all."""
    statement = (
        select(func.count()).select_from(sessions.join(users)).where(_is_open(at), *_of(user_name))
    )
    return int(await connection.scalar(statement) or 0)


async def find(connection: Connection, session_id: UUID, *, at: datetime) -> UserSession | None:
    """Find the open session of an id."""
    statement = (
        select(sessions, users.c.name)
        .select_from(sessions.join(users))
        .where(sessions.c.id == session_id, _is_open(at))
    )
    row = (await connection.execute(statement)).first()
    return None if row is None else _session(row)


async def remove(connection: Connection, session_id: UUID) -> None:
    """End a session; an ended session is no error."""
    await connection.execute(delete(sessions).where(sessions.c.id == session_id))


async def remove_by_hash(connection: Connection, token_hash: bytes) -> None:
    """End the session of a secret; an ended session is no error."""
    await connection.execute(delete(sessions).where(sessions.c.token_hash == token_hash))


async def remove_of_user(connection: Connection, user_id: int, *, but: UUID | None = None) -> int:
    """End all sessions of a user, or all except one; return their number."""
    statement = delete(sessions).where(sessions.c.user_id == user_id)
    if but is not None:
        statement = statement.where(sessions.c.id != but)
    return (await connection.execute(statement)).rowcount


def _is_open(at: datetime) -> ColumnElement[bool]:
    return and_(sessions.c.expires_at > at, users.c.disabled_at.is_(None))


def _of(user_name: str | None) -> list[ColumnElement[bool]]:
    return [] if user_name is None else [users.c.name == user_name]


def _session(row: Any) -> UserSession:
    return UserSession(
        id=row.id,
        user_name=row.name,
        source=row.source,
        user_agent=row.user_agent,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
    )
