"""Take the numbers of logical queues that other processes show to clients.

All processes show one number. A process that has just started takes it from Postgres. So it shows
no part of the queues, and hides no topic because one broker is down.
"""

import asyncio
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.db.engine import Database
from backend.db.static_counts import listen
from backend.nameserver.route_table import RouteTable
from backend.services.topic.static_counts import list_counts

RETRY_DELAY_S: Final = 1.0
LOAD_LIMIT_S: Final = 3.0
"""How long a start waits for Postgres. Without it, routes of ordinary topics are served anyway."""

log = structlog.get_logger(__name__)


class StaticCountNotices:
    """Follow the counts of all processes."""

    def __init__(self, table: RouteTable, database: Database) -> None:
        self._table, self._database = table, database

    async def load(self) -> None:
        """Take all counts before the first request is answered, if Postgres answers in time."""
        try:
            async with asyncio.timeout(LOAD_LIMIT_S):
                for count in await list_counts(database=self._database):
                    self._table.note_count(count)
        except (psycopg.Error, SQLAlchemyError, OSError) as error:
            log.warning("static_counts_not_loaded", error=str(error) or "it takes long")

    async def follow(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                async with listen(self._database) as notices:
                    # Counts that are recorded from here on arrive as notices.
                    for count in await list_counts(database=self._database):
                        self._table.note_count(count)
                    async for count in notices:
                        self._table.note_count(count)
            except (psycopg.Error, SQLAlchemyError, OSError) as error:
                log.warning("static_count_notices_lost", error=str(error))
            await asyncio.sleep(RETRY_DELAY_S)
