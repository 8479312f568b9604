"""Remove deleted topics from the routes of this process, whichever process deleted them.

A registration without a topic does not remove the topic from the routes. A deletion that is missed
while the connection is lost stays in the routes until its brokers leave. These brokers refuse
requests for the topic.
"""

import asyncio
from typing import Final

import psycopg
import structlog

from backend.db.engine import Database
from backend.db.topic_notices import listen
from backend.nameserver.route_table import RouteTable
from backend.nameserver.write_behind import WriteBehind

RETRY_DELAY_S: Final = 1.0

log = structlog.get_logger(__name__)


class TopicNotices:
    """Follow deletions of topics."""

    def __init__(self, table: RouteTable, write_behind: WriteBehind, database: Database) -> None:
        self._table, self._write_behind, self._database = table, write_behind, database

    async def follow(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                async with listen(self._database) as notices:
                    async for notice in notices:
                        place = (notice.cluster_name, notice.topic_name, notice.broker_group_names)
                        self._write_behind.note_placements_removed(*place)
                        self._table.remove_topic(
                            notice.topic_name,
                            cluster_name=notice.cluster_name,
                            broker_group_names=notice.broker_group_names,
                        )
            except (psycopg.Error, OSError) as error:
                log.warning("topic_notices_lost", error=str(error))
            await asyncio.sleep(RETRY_DELAY_S)
