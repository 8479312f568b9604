"""Sign users in and out, and list and end sessions."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from backend.clients.clock import Clock
from backend.db import audit, sessions, users
from backend.db.audit import AuditedAction
from backend.db.engine import Connection, Database
from backend.db.sessions import SessionKey
from backend.domain.access import Credential, Principal
from backend.domain.access_errors import SessionNotFound
from backend.domain.errors import InvalidCredentials
from backend.domain.operation import Author
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.session import USER_AGENT_LENGTH_MAX, UserSession
from backend.domain.user import PASSWORD_LENGTH_MAX, USER_NAME_LENGTH_MAX, User
from backend.services.access.credentials import hash_secret, make_secret
from backend.services.access.passwords import PasswordVerifier

NO_CLUSTER: Final = ""
"""The cluster name in the audit for an action without a cluster."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Hold the source and the lifetime of a sign-in."""

    lifetime: timedelta
    source: str = "unknown"
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """Hold a new session with its secret, which is shown this once."""

    token: str = field(repr=False)
    session: UserSession
    user: User


async def sign_in(
    *,
    user_name: str,
    password: str,
    visit: Visit,
    verifier: PasswordVerifier,
    database: Database,
    clock: Clock,
) -> OpenedSession:
    """Open a session for a user with the correct password.

    Raises:
        InvalidCredentials: the name or the password is wrong, the user is disabled, or a one-time
        password has expired. The error does not say which.
    """
    if len(user_name) > USER_NAME_LENGTH_MAX or len(password) > PASSWORD_LENGTH_MAX:
        raise InvalidCredentials
    async with database.connect() as connection:
        stored = await users.find(connection, user_name)
    fits = await verifier.verify(password, None if stored is None else stored.password_hash)
    if stored is None or not fits:
        raise InvalidCredentials
    expires_at = stored.user.password_expires_at
    if stored.user.is_disabled or (expires_at is not None and expires_at <= clock.now()):
        raise InvalidCredentials
    async with database.begin() as connection:
        # Verifying a password takes a while. If the password is replaced or the user is disabled
        # meanwhile, that change comes first, or ends this session.
        if not await users.hold_credentials(connection, stored.user.id, stored.password_hash):
            raise InvalidCredentials
        return await open_session(connection, stored.user, visit, clock=clock)


async def open_session(
    connection: Connection, user: User, visit: Visit, *, clock: Clock
) -> OpenedSession:
    """Open a session for an authenticated user."""
    secret = make_secret(Credential.SESSION)
    now = clock.now()
    session = UserSession(
        id=uuid4(),
        user_name=user.name,
        source=visit.source,
        user_agent=_printable(visit.user_agent),
        created_at=now,
        last_used_at=now,
        expires_at=now + visit.lifetime,
    )
    await sessions.add(connection, hash_secret(secret), session, user_id=user.id)
    return OpenedSession(secret, session, user)


async def sign_out(secret: str, *, database: Database) -> None:
    """End the session of a secret; a second call is no error."""
    async with database.begin() as connection:
        await sessions.remove_by_hash(connection, hash_secret(secret))


async def list_sessions(
    principal: Principal,
    *,
    user_name: str | None,
    size: int,
    after: SessionKey | None,
    database: Database,
    clock: Clock,
) -> Page[UserSession, SessionKey]:
    """List open sessions, the newest first: of the caller, or for administrators of all users.

    Raises:
        InvalidPageSize: the page is empty or too large. UserNotFound: no user has the name, or it
        is another user and the caller is no administrator.
    """
    check_page_size(size)
    whose = user_name
    if whose is None and not principal.sees_all_access:
        whose = principal.user_name
    now = clock.now()
    async with database.connect() as connection:
        if whose is not None:
            await users.get_for(connection, whose, principal)
        found = await sessions.list_newest(
            connection, user_name=whose, after=after, at=now, limit=size + 1
        )
        total = await sessions.count(connection, user_name=whose, at=now)
    return cut_page(found, size=size, key=lambda one: (one.created_at, one.id), total_count=total)


async def end_session(
    session_id: UUID, principal: Principal, author: Author, *, database: Database, clock: Clock
) -> None:
    """End one open session of the caller, or as an administrator of any user.

    Raises:
        SessionNotFound: no such open session has the id.
    """
    now = clock.now()
    async with database.begin() as connection:
        session = await sessions.find(connection, session_id, at=now)
        if session is None or not principal.may_see_access_of(session.user_name):
            raise SessionNotFound(session_id)
        await sessions.remove(connection, session_id)
        details = {"session": str(session_id), "opened_from": session.source}
        audited = AuditedAction(
            author, "session.end", NO_CLUSTER, f"user {session.user_name}", details
        )
        await audit.append(connection, audited, at=now)


async def end_sessions(
    user_name: str, principal: Principal, author: Author, *, database: Database, clock: Clock
) -> int:
    """End all sessions of a user, including that of the caller; return their number.

    Raises:
        UserNotFound: no user has the name, or it is another user and the caller is no
        administrator.
    """
    async with database.begin() as connection:
        user = await users.get_for(connection, user_name, principal)
        count = await sessions.remove_of_user(connection, user.id)
        details = {"ended_count": count}
        audited = AuditedAction(author, "session.end_all", NO_CLUSTER, f"user {user_name}", details)
        await audit.append(connection, audited, at=clock.now())
    return count


def _printable(text: str) -> str:
    shown = "".join(character for character in text if character.isprintable())
    return shown[:USER_AGENT_LENGTH_MAX]
