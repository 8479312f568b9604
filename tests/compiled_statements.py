"""One cache of compiled statements for all pools of a test process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import Engine

from backend.db.engine import Database, open_database

_connected: Final[list[Engine]] = []
"""The first engine that was connected; its dialect knows the server."""


@asynccontextmanager
async def opened_database(database_url: str, *, application_name: str) -> AsyncIterator[Database]:
    """Open a pool that knows the statements which the pools before it have compiled.

    A process has one pool; here each test has one, and would spend a tenth of its time on them.
    """
    database = open_database(database_url, application_name=application_name)
    engine = database.sync_engine
    if _connected:
        # A statement is found by its dialect: the two go together.
        engine.dialect = _connected[0].dialect
        engine._compiled_cache = _connected[0]._compiled_cache
    try:
        yield database
    finally:
        await database.dispose()
        if not _connected and hasattr(engine.dialect, "server_version_info"):
            _connected.append(engine)
