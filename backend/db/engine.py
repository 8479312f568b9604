"""Open the pool of Postgres connections.

The only driver is psycopg 3.
"""

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg
from sqlalchemy import URL, event
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.exc import DisconnectionError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from backend.db.address import driver_url

Connection = AsyncConnection

CONNECT_TIMEOUT_S: Final = 5
POOL_TIMEOUT_S: Final = 5
STATEMENT_TIMEOUT_MS: Final = 10_000
LOCK_TIMEOUT_MS: Final = 5_000
IDLE_TRANSACTION_TIMEOUT_MS: Final = 5_000
"""The maximum time that a process which is paused within a transaction blocks others."""


class Database(AsyncEngine):
    """A pool of connections.

    Each statement of a connection (`connect`) is separate. In a transaction it would read the same
    (READ COMMITTED), so this saves the round trips of a transaction. Changes belong into a
    transaction (`begin`).
    """

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Provide a connection for one transaction: commit at the end, roll back on an error."""
        async with self.connect() as connection:
            await connection.execution_options(isolation_level="READ COMMITTED")
            async with connection.begin():
                yield connection


def open_database(
    database_url: str, *, application_name: str = "regent", pool_size: int = 8
) -> Database:
    """Make a pool; no connection is opened before the first statement.

    Every wait has a deadline: for a connection, a lock and a statement.
    """
    engine = create_async_engine(
        driver_url(database_url),
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        # Errors are logged, and parameters can contain hashes of tokens and passwords.
        hide_parameters=True,
        connect_args=_connect_arguments(application_name),
    )
    event.listen(engine.sync_engine, "checkout", refuse_closed)
    event.listen(engine.sync_engine, "handle_error", _report_standstill, retval=True)
    return Database(engine.sync_engine)


async def connect(database_url: URL, *, application_name: str) -> psycopg.AsyncConnection:
    """Open a connection outside the pool; the caller closes it.

    Raises:
        psycopg.Error: the database does not answer.
    """
    url = database_url.set(drivername="postgresql")
    return await psycopg.AsyncConnection.connect(
        url.render_as_string(hide_password=False),
        autocommit=True,
        **_connect_arguments(application_name),
    )


def refuse_closed(connection: DBAPIConnection, *_pooled: object) -> None:
    """Make the pool replace a connection that its server has closed.

    A server that stops sends a message, and sends nothing else to an unused connection: only then
    there are bytes to read. A check by request (`pool_pre_ping`) would take two more round trips
    for each use.

    Raises:
        DisconnectionError: the connection is closed, or about to be.
    """
    driver = connection.driver_connection
    if driver is None or driver.closed:
        raise DisconnectionError("the connection is closed")
    unread = select.poll()
    unread.register(driver.fileno(), select.POLLIN)
    if unread.poll(0):
        raise DisconnectionError("the server has closed the connection")


def _report_standstill(context: ExceptionContext) -> OperationalError | None:
    """Report a transaction that the server ended after a pause as a lost connection.

    The driver reports it as an internal error.
    """
    error = context.original_exception
    if not isinstance(error, psycopg.errors.IdleInTransactionSessionTimeout):
        return None
    context.is_disconnect = True
    return OperationalError(context.statement, None, error, hide_parameters=True)


def _connect_arguments(application_name: str) -> dict[str, Any]:
    return {
        "connect_timeout": CONNECT_TIMEOUT_S,
        "application_name": application_name,
        "tcp_user_timeout": STATEMENT_TIMEOUT_MS,
        # A connection that only listens sends nothing, and would not notice the loss of the server.
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        # Each statement reads the data that is committed at its beginning, whatever the default of
        # the server is.
        "options": r"-c default_transaction_isolation=read\ committed"
        f" -c statement_timeout={STATEMENT_TIMEOUT_MS}"
        f" -c lock_timeout={LOCK_TIMEOUT_MS}"
        f" -c idle_in_transaction_session_timeout={IDLE_TRANSACTION_TIMEOUT_MS} -c timezone=UTC",
    }
