"""Pools and pipelines whose tests share connections and compiled statements.

A process of Regent has one pool and two pipelines for its life; here each test has them. A new
connection reads the catalog and prepares its statements, which a kept one has done. To compile
statements would take a tenth of the tests' time.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import URL, Engine
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DisconnectionError

from backend.db import pipeline
from backend.db.engine import Database, open_database, refuse_closed
from backend.db.pipeline import Pipeline, _Lane

_connected: Final[list[Engine]] = []
"""The first engine that was connected; its dialect knows the server."""


@dataclass(frozen=True, slots=True)
class UnusedLane:
    """A connection of a closed pipeline."""

    driver_connection: psycopg.AsyncConnection
    prepared: set[bytes]
    """The names of the statements that the server has prepared for the connection."""


class KeptConnections:
    """Connections of closed pools and pipelines, by database and name of the application."""

    def __init__(self) -> None:
        self._unused: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)

    def take(self, pool: tuple[str, str]) -> Any:
        """Give a connection that the server has not closed, if there is one."""
        unused = self._unused[pool]
        while unused:
            connection = unused.pop()
            try:
                refuse_closed(connection)
            except DisconnectionError:
                connection.driver_connection.pgconn.finish()
                continue
            # Tests have loops of events, and a lock belongs to one.
            connection.driver_connection.lock = asyncio.Lock()
            connection.driver_connection._notice_handlers.clear()
            return connection
        return None

    def keep(self, pool: tuple[str, str], connection: Any) -> bool:
        """Keep a connection that is idle; False if it has to be closed."""
        driver = connection.driver_connection
        if driver.closed or driver.info.transaction_status != TransactionStatus.IDLE:
            return False
        self._unused[pool].append(connection)
        return True

    def process_ids(self, database_name: str) -> Iterable[int]:
        """Give the server's processes of the connections to a database."""
        for pool, unused in self._unused.items():
            if pool[0] == database_name:
                yield from (one.driver_connection.info.backend_pid for one in unused)

    def close(self, database_name: str) -> None:
        """Close the connections to a database."""
        for pool in [pool for pool in self._unused if pool[0] == database_name]:
            for connection in self._unused.pop(pool):
                connection.driver_connection.pgconn.finish()


kept: Final = KeptConnections()


class KeepingPipeline(Pipeline):
    """A pipeline that takes over what the pipelines before it have."""

    def __init__(self, database_url: URL) -> None:
        super().__init__(database_url)
        self._pool = database_url.database or "", "regent-pipeline"

    async def _connect(self) -> _Lane:
        unused: UnusedLane | None = kept.take(self._pool)
        if unused is None:
            return await super()._connect()
        unused.driver_connection.pgconn.exit_pipeline_mode()
        lane = _Lane(unused.driver_connection)
        lane._prepared = unused.prepared
        return lane

    def close(self) -> None:
        for lane in self._lanes:
            connection = UnusedLane(lane._connection, lane._prepared)
            if lane.is_open and not lane.count() and kept.keep(self._pool, connection):
                lane._detach()
        super().close()


@asynccontextmanager
async def opened_database(database_url: str, *, application_name: str) -> AsyncIterator[Database]:
    """Open a pool that takes over what the pools before it have."""
    database = open_database(database_url, application_name=application_name)
    engine = database.sync_engine
    pool = engine.url.database or "", application_name
    _take_kept_connections(engine, pool)
    lanes = [KeepingPipeline(engine.url) for _ in range(2)]
    pipeline._pipelines[engine], pipeline._patient_pipelines[engine] = lanes
    if _connected:
        # A statement is found by its dialect: the two go together.
        engine.dialect = _connected[0].dialect
        engine._compiled_cache = _connected[0]._compiled_cache
    try:
        yield database
    finally:
        for one in lanes:
            one.close()
        _keep_connections(engine, pool)
        await database.dispose()
        if not _connected and hasattr(engine.dialect, "server_version_info"):
            _connected.append(engine)


def _take_kept_connections(engine: Engine, pool: tuple[str, str]) -> None:
    connect = engine.pool._creator

    def take_or_connect(connection_record: Any = None) -> DBAPIConnection:
        return kept.take(pool) or connect(connection_record)

    engine.pool._creator = take_or_connect


def _keep_connections(engine: Engine, pool: tuple[str, str]) -> None:
    """Keep the connections that the engine closes from now on."""
    dialect = engine.pool._dialect
    close = dialect.do_close

    def keep_or_close(connection: DBAPIConnection) -> None:
        if not kept.keep(pool, connection):
            close(connection)

    dialect.do_close = keep_or_close
