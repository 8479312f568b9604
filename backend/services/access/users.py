"""Manage users, their roles and their clusters.

At least one administrator of all clusters can always sign in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from backend.clients.clock import Clock
from backend.db import audit, sessions, users
from backend.db.audit import AuditedAction
from backend.db.engine import Connection, Database
from backend.domain.access import Principal
from backend.domain.access_errors import InvalidPassword, UserAlreadyExists, UserNotFound
from backend.domain.cluster_scope import ALL_CLUSTERS, check_patterns
from backend.domain.operation import Author
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.user import (
    BOOTSTRAP_USER_NAME,
    Role,
    User,
    check_new_password,
    check_user_name,
)
from backend.domain.version import check_version
from backend.services.access.passwords import (
    PasswordVerifier,
    hash_password,
    make_one_time_password,
)
from backend.services.access.sessions import NO_CLUSTER

ONE_TIME_LIFETIME: Final = timedelta(hours=72)


@dataclass(frozen=True, slots=True)
class InvitedUser:
    """Hold a user with a one-time password, which is shown this once."""

    password: str = field(repr=False)
    user: User


async def ensure_bootstrap_user(secret: str, *, database: Database, clock: Clock) -> bool:
    """Add the first administrator if there is no user yet; return whether one was added."""
    async with database.begin() as connection:
        if await users.count(connection) > 0:
            return False
        added = await users.add(
            connection,
            BOOTSTRAP_USER_NAME,
            password_hash=await hash_password(secret),
            role=Role.ADMIN,
            at=clock.now(),
        )
    return added is not None


async def list_users(*, size: int, after: str | None, database: Database) -> Page[User, str]:
    """List users by name.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await users.list_by_name(connection, after=after, limit=size + 1)
        total = await users.count(connection)
    return cut_page(found, size=size, key=lambda one: one.name, total_count=total)


async def describe_user(name: str, *, database: Database) -> User:
    """Return the user of a name.

    Raises:
        UserNotFound: no user has the name.
    """
    async with database.connect() as connection:
        found = await users.find(connection, name)
    if found is None:
        raise UserNotFound(name)
    return found.user


async def add_user(
    name: str,
    role: Role,
    author: Author,
    *,
    cluster_patterns: Sequence[str] = ALL_CLUSTERS,
    verifier: PasswordVerifier,
    database: Database,
    clock: Clock,
) -> InvitedUser:
    """Add a user with a one-time password, which the user replaces after the first sign-in.

    Raises:
        InvalidName: the name of the user is invalid. InvalidClusterPattern: a pattern names no
        cluster. UserAlreadyExists: a user has the name already.
    """
    check_user_name(name)
    patterns = check_patterns(cluster_patterns)
    password, now = make_one_time_password(), clock.now()
    password_hash = await verifier.hash(password)
    async with database.begin() as connection:
        user = await users.add(
            connection,
            name,
            password_hash=password_hash,
            role=role,
            cluster_patterns=patterns,
            at=now,
            password_expires_at=now + ONE_TIME_LIFETIME,
        )
        if user is None:
            raise UserAlreadyExists(name)
        await _enter(connection, "add", user, author, clock, _access_of(user))
    return InvitedUser(password, user)


async def change_role(
    name: str,
    role: Role,
    author: Author,
    *,
    cluster_patterns: Sequence[str] | None = None,
    version: str | None = None,
    reason: str | None,
    database: Database,
    clock: Clock,
) -> User:
    """Change the role of a user, or the clusters where it is valid; None changes nothing.

    Open sessions use the new role from their next request on.

    Raises:
        UserNotFound: no user has the name. VersionMoved: the user has changed since this version.
        InvalidClusterPattern: a pattern names no cluster. LastAdministrator: no administrator of
        all clusters could sign in any more.
    """
    wanted = None if cluster_patterns is None else check_patterns(cluster_patterns)
    async with database.begin() as connection:
        stays = role is Role.ADMIN and wanted in {None, ALL_CLUSTERS}
        lock = users.lock if stays else users.lock_but_not_last
        user = await lock(connection, name)
        check_version(f"the access of {name}", user.version, expected=version)
        patterns = user.cluster_patterns if wanted is None else wanted
        if (user.role, user.cluster_patterns) == (role, patterns):
            return user
        changed = await users.change(
            connection, user.id, role=role, cluster_patterns=list(patterns)
        )
        details = {"before": _access_of(user), "after": _access_of(changed), "reason": reason}
        await _enter(connection, "change_role", user, author, clock, details)
    return changed


async def disable_user(
    name: str, author: Author, *, reason: str | None, database: Database, clock: Clock
) -> User:
    """Disable a user: the sessions end, and the tokens are invalid until the user is enabled again.

    Raises:
        UserNotFound: no user has the name. LastAdministrator: no administrator could sign in any
        more.
    """
    async with database.begin() as connection:
        user = await users.lock_but_not_last(connection, name)
        if user.is_disabled:
            return user
        changed = await users.change(connection, user.id, disabled_at=clock.now())
        count = await sessions.remove_of_user(connection, user.id)
        details = {"ended_session_count": count, "reason": reason}
        await _enter(connection, "disable", user, author, clock, details)
    return changed


async def enable_user(
    name: str, author: Author, *, reason: str | None, database: Database, clock: Clock
) -> User:
    """Enable a disabled user again.

    Raises:
        UserNotFound: no user has the name.
    """
    async with database.begin() as connection:
        user = await users.lock(connection, name)
        if not user.is_disabled:
            return user
        changed = await users.change(connection, user.id, disabled_at=None)
        await _enter(connection, "enable", user, author, clock, {"reason": reason})
    return changed


async def reset_password(
    name: str,
    author: Author,
    *,
    verifier: PasswordVerifier,
    database: Database,
    clock: Clock,
) -> InvitedUser:
    """Replace the password of a user with a one-time password; the user's sessions end.

    Raises:
        UserNotFound: no user has the name. LastAdministrator: no other administrator could sign in
        if the one-time password expired.
    """
    password = make_one_time_password()
    password_hash = await verifier.hash(password)
    async with database.begin() as connection:
        user = await users.lock_but_not_last(connection, name)
        changed = await users.change(
            connection,
            user.id,
            password_hash=password_hash,
            password_expires_at=clock.now() + ONE_TIME_LIFETIME,
        )
        count = await sessions.remove_of_user(connection, user.id)
        details = {"ended_session_count": count}
        await _enter(connection, "reset_password", user, author, clock, details)
    return InvitedUser(password, changed)


async def change_password(
    principal: Principal,
    author: Author,
    *,
    old_password: str,
    new_password: str,
    verifier: PasswordVerifier,
    database: Database,
    clock: Clock,
) -> int:
    """Replace the password of the caller; end the other sessions, and return their number.

    Raises:
        InvalidPassword: the old password is wrong, or the new password is the same or invalid.
    """
    check_new_password(new_password)
    if new_password == old_password:
        raise InvalidPassword("the new password is the old one")
    async with database.connect() as connection:
        stored = await users.find(connection, principal.user_name)
    old_hash = None if stored is None else stored.password_hash
    if not await verifier.verify(old_password, old_hash) or stored is None:
        raise InvalidPassword("the old password is wrong")
    new_hash = await verifier.hash(new_password)
    async with database.begin() as connection:
        if not await users.replace_password(
            connection, stored.user.id, old_hash=stored.password_hash, new_hash=new_hash
        ):
            raise InvalidPassword("the password was changed meanwhile")
        count = await sessions.remove_of_user(
            connection, stored.user.id, but=principal.credential_id
        )
        details = {"ended_session_count": count}
        await _enter(connection, "change_password", stored.user, author, clock, details)
    return count


def _access_of(user: User) -> dict[str, Any]:
    return {"role": user.role, "clusters": list(user.cluster_patterns)}


async def _enter(
    connection: Connection,
    verb: str,
    user: User,
    author: Author,
    clock: Clock,
    details: dict[str, Any],
) -> None:
    audited = AuditedAction(author, f"user.{verb}", NO_CLUSTER, f"user {user.name}", details)
    await audit.append(connection, audited, at=clock.now())
