"""Keep users and what proves their passwords."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from backend.db.access_tables import users
from backend.db.engine import Connection
from backend.domain.access import Principal
from backend.domain.access_errors import LastAdministrator, UserNotFound
from backend.domain.cluster_scope import ALL_CLUSTERS
from backend.domain.user import Role, User


@dataclass(frozen=True, slots=True)
class StoredUser:
    """Hold a user and what proves their password."""

    user: User
    password_hash: str


async def count(connection: Connection) -> int:
    """Count all users."""
    return int(await connection.scalar(select(func.count()).select_from(users)) or 0)


async def add(
    connection: Connection,
    name: str,
    *,
    password_hash: str,
    role: Role,
    at: datetime,
    cluster_patterns: Sequence[str] = ALL_CLUSTERS,
    password_expires_at: datetime | None = None,
) -> User | None:
    """Add a user; None when the name is taken."""
    statement = (
        insert(users)
        .values(
            name=name,
            password_hash=password_hash,
            role=role,
            cluster_patterns=list(cluster_patterns),
            created_at=at,
            password_expires_at=password_expires_at,
        )
        .on_conflict_do_nothing()
        .returning(users)
    )
    row = (await connection.execute(statement)).first()
    return None if row is None else _user(row)


async def find(connection: Connection, name: str) -> StoredUser | None:
    """Find the user of a name."""
    if not _is_storable(name):
        return None
    row = (await connection.execute(select(users).where(users.c.name == name))).first()
    return None if row is None else StoredUser(_user(row), row.password_hash)


async def hold_credentials(connection: Connection, user_id: int, password_hash: str) -> bool:
    """Return whether a user still has a password and may sign in; so it stays till the end."""
    statement = (
        select(users.c.id)
        .where(
            users.c.id == user_id,
            users.c.password_hash == password_hash,
            users.c.disabled_at.is_(None),
        )
        .with_for_update(read=True)
    )
    return (await connection.execute(statement)).first() is not None


async def get_for(connection: Connection, name: str, principal: Principal) -> User:
    """Return a user whose access a principal may see: oneself, or any user for an administrator.

    Raises:
        UserNotFound: no user has the name, or the principal may not see the user.
    """
    found = await find(connection, name)
    if found is None or not principal.may_see_access_of(name):
        raise UserNotFound(name)
    return found.user


async def lock(connection: Connection, name: str) -> User:
    """Return the user of a name, who stays as they are until the transaction ends.

    Raises:
        UserNotFound: no user has the name.
    """
    statement = select(users).where(users.c.name == name).with_for_update()
    row = (await connection.execute(statement)).first() if _is_storable(name) else None
    if row is None:
        raise UserNotFound(name)
    return _user(row)


async def lock_but_not_last(connection: Connection, name: str) -> User:
    """Return a user, if another administrator of all clusters who can sign in remains.

    All who count are locked in the order of their ids, so that of two administrators who disable
    each other at once one is refused.

    Raises:
        UserNotFound: no user has the name.
        LastAdministrator: no other administrator would remain.
    """
    if not _is_storable(name):
        raise UserNotFound(name)
    able = (
        (users.c.role == Role.ADMIN)
        & users.c.cluster_patterns.contains(list(ALL_CLUSTERS))
        & users.c.disabled_at.is_(None)
        & users.c.password_expires_at.is_(None)
    )
    statement = (
        select(users, able.label("is_able"))
        .where((users.c.name == name) | able)
        .order_by(users.c.id)
        .with_for_update()
    )
    rows = (await connection.execute(statement)).all()
    chosen = next((row for row in rows if row.name == name), None)
    if chosen is None:
        raise UserNotFound(name)
    if chosen.is_able and not any(row.is_able for row in rows if row is not chosen):
        raise LastAdministrator(name)
    return _user(chosen)


async def change(connection: Connection, user_id: int, **values: Any) -> User:
    """Change columns of a user who is there."""
    statement = update(users).where(users.c.id == user_id).values(**values).returning(users)
    return _user((await connection.execute(statement)).one())


async def replace_password(
    connection: Connection, user_id: int, *, old_hash: str, new_hash: str
) -> bool:
    """Replace a password by a permanent one; return whether the old one was still valid."""
    statement = (
        update(users)
        .where(users.c.id == user_id, users.c.password_hash == old_hash)
        .values(password_hash=new_hash, password_expires_at=None)
    )
    return (await connection.execute(statement)).rowcount > 0


async def list_by_name(connection: Connection, *, after: str | None, limit: int) -> list[User]:
    """List users by name, from the first one behind `after`."""
    statement = select(users).order_by(users.c.name).limit(limit)
    if after is not None:
        statement = statement.where(users.c.name > after)
    return [_user(row) for row in await connection.execute(statement)]


def _is_storable(name: str) -> bool:
    # Postgres compares no text that holds a NUL or half a character, and no name has one.
    return "\0" not in name and name.encode("utf-8", "replace") == name.encode("utf-8", "ignore")


def _user(row: Any) -> User:
    return User(
        row.id,
        row.name,
        Role(row.role),
        row.created_at,
        row.disabled_at,
        row.password_expires_at,
        tuple(row.cluster_patterns),
    )
