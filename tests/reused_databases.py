"""Hand out migrated databases, and use them again: to empty one takes a tenth of a copy's time.

A database whose schema or settings a test has changed is dropped. So is one that was used often,
since deleted rows make tables grow. One connection to each database is kept for as long as it is
used: a new one reads the catalog first, which takes two thirds of the time to empty it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from tests.migrated_postgres import MIGRATED, named
from tests.pools import kept

USE_COUNT_MAX: Final = 50
ENDED_WITHIN_MS: Final = 10_000
SCHEMA: Final = """
WITH tables AS (SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace)
SELECT md5(string_agg(part, ',' ORDER BY part)) FROM (
    SELECT concat(oid, relname) FROM tables
    UNION ALL SELECT concat(attrelid, attname, attnum, atttypid, attisdropped) FROM pg_attribute
        WHERE attrelid IN (SELECT oid FROM tables)
    UNION ALL SELECT concat(oid, conname) FROM pg_constraint
    UNION ALL SELECT concat(oid, tgname, tgenabled) FROM pg_trigger
    UNION ALL SELECT concat(oid, proname, md5(prosrc)) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT array_to_string(setconfig, ';') FROM pg_db_role_setting
        WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
) AS parts (part)
"""
"""A digest of all that a test may change beside rows."""


@dataclass
class _Used:
    """A database that no test has at the moment."""

    name: str
    connection: psycopg.Connection
    """Empties the database; it holds no lock while a test runs."""

    use_count: int = 0


@dataclass
class ReusedDatabases:
    """The databases of one server."""

    server_url: str
    _free: list[_Used] = field(default_factory=list)
    _made_count: int = 0
    _emptying: sql.Composed | None = None
    _first_rows: dict[str, bytes] = field(default_factory=dict)
    _schema: str = ""
    _connection: psycopg.Connection | None = None

    def prepare(self) -> None:
        """Note the rows that migrations have written."""
        with psycopg.connect(named(self.server_url, MIGRATED), autocommit=True) as connection:
            self._schema = _digest(connection)
            tables = _names(connection, "SELECT tablename FROM pg_tables")
            sequences = _names(connection, "SELECT sequencename FROM pg_sequences")
            for table in tables:
                if connection.execute(_about("SELECT 1 FROM {} LIMIT 1", table)).fetchone():
                    copied = _about("COPY {} TO STDOUT (FORMAT binary)", table)
                    with connection.cursor().copy(copied) as rows:
                        self._first_rows[table] = b"".join(map(bytes, rows))
        deletions = [_about("DELETE FROM {}", name) for name in tables]
        # A restart by ALTER SEQUENCE would make a file for each.
        restarts = [sql.SQL("SELECT setval({}, 1, false)").format(name) for name in sequences]
        self._emptying = sql.SQL("; ").join(
            # Deletes neither fire triggers nor follow references.
            [sql.SQL("SET session_replication_role = replica"), *deletions, *restarts]
        )

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """Give the address of a migrated database without other rows."""
        database = self._free.pop() if self._free else self._make()
        try:
            yield named(self.server_url, database.name)
        finally:
            self._end_connections(database)
            database.use_count += 1
            if database.use_count < USE_COUNT_MAX and self._is_emptied(database):
                self._free.append(database)
            else:
                database.connection.close()
                kept.close(database.name)
                self._execute(_about("DROP DATABASE {} WITH (FORCE)", database.name))

    def _make(self) -> _Used:
        self._made_count += 1
        name = f"regent_test_{self._made_count}"
        copy = f"CREATE DATABASE {{}} TEMPLATE {MIGRATED} STRATEGY FILE_COPY"
        self._execute(_about(copy, name))
        return _Used(name, self._connect(name))

    def _connect(self, name: str) -> psycopg.Connection:
        return psycopg.connect(named(self.server_url, name), autocommit=True)

    def close(self) -> None:
        """End the connections to the server."""
        for database in self._free:
            database.connection.close()
        if self._connection is not None:
            self._connection.close()

    def _execute(self, statement: sql.Composed) -> None:
        if self._connection is None:
            self._connection = psycopg.connect(self.server_url, autocommit=True)
        self._connection.execute(statement)

    def _end_connections(self, database: _Used) -> None:
        """End what a test has left: it must write nothing more."""
        end = (
            "SELECT pg_terminate_backend(pid, {}) FROM pg_stat_activity"
            " WHERE datname = {} AND pid <> ALL({})"
        )
        left = [database.connection.info.backend_pid, *kept.process_ids(database.name)]
        values = (ENDED_WITHIN_MS, database.name, left)
        self._execute(sql.SQL(end).format(*map(sql.Literal, values)))

    def _is_emptied(self, database: _Used) -> bool:
        """Remove what a test has written; False if it has changed more than rows."""
        assert self._emptying is not None, "prepared before databases are used"
        try:
            database.connection.execute("SELECT 1")
        except psycopg.OperationalError:
            # A test has ended all connections, this one with them.
            database.connection = self._connect(database.name)
        connection = database.connection
        with connection.transaction():
            if _digest(connection) != self._schema:
                return False
            connection.execute(self._emptying)
            for table, rows in self._first_rows.items():
                copied = _about("COPY {} FROM STDIN (FORMAT binary)", table)
                with connection.cursor().copy(copied) as copy:
                    copy.write(rows)
        return True


def _digest(connection: psycopg.Connection) -> str:
    (digest,) = connection.execute(SCHEMA).fetchone() or ("",)
    return str(digest)


def _about(statement: LiteralString, name: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(name))


def _names(connection: psycopg.Connection, query: LiteralString) -> list[str]:
    return [name for (name,) in connection.execute(query + " WHERE schemaname = 'public'")]
