"""Keep users and the sessions they have open."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.tables import sessions, users
from backend.domain.session import Role, Session


@dataclass(frozen=True, slots=True)
class StoredUser:
    """Hold a user and what proves their password."""

    id: int
    name: str
    role: Role
    password_hash: str


async def count_users(connection: Connection) -> int:
    """Count all users."""
    return int(await connection.scalar(select(func.count()).select_from(users)) or 0)


async def add_user(
    connection: Connection, name: str, *, password_hash: str, role: Role, at: datetime
) -> bool:
    """Add a user; tell whether the name was free."""
    statement = (
        insert(users)
        .values(name=name, password_hash=password_hash, role=role, created_at=at)
        .on_conflict_do_nothing()
        .returning(users.c.id)
    )
    return (await connection.execute(statement)).first() is not None


async def find_user(connection: Connection, name: str) -> StoredUser | None:
    """Find the user of a name."""
    statement = select(users).where(users.c.name == name)
    row = (await connection.execute(statement)).first()
    if row is None:
        return None
    return StoredUser(row.id, row.name, Role(row.role), row.password_hash)


async def add(
    connection: Connection,
    token_hash: bytes,
    *,
    user_id: int,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    """Open a session, and forget those that have ended by then."""
    await connection.execute(delete(sessions).where(sessions.c.expires_at <= created_at))
    await connection.execute(
        insert(sessions).values(
            token_hash=token_hash, user_id=user_id, created_at=created_at, expires_at=expires_at
        )
    )


async def find(connection: Connection, token_hash: bytes, *, at: datetime) -> Session | None:
    """Find the session of a token that has not ended by an instant."""
    statement = (
        select(users.c.name, users.c.role, sessions.c.expires_at)
        .select_from(sessions.join(users))
        .where(sessions.c.token_hash == token_hash, sessions.c.expires_at > at)
    )
    row = (await connection.execute(statement)).first()
    return None if row is None else Session(row.name, Role(row.role), row.expires_at)


async def remove(connection: Connection, token_hash: bytes) -> None:
    """End a session; one that has ended already is no error."""
    await connection.execute(delete(sessions).where(sessions.c.token_hash == token_hash))
