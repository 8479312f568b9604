"""Open what a process works with, once, and close it in the opposite order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from backend.clients.clock import Clock, SystemClock
from backend.clients.task_queue import CeleryTaskQueue, TaskQueue
from backend.db.engine import Database, open_database
from backend.services.access.users import ensure_bootstrap_user
from backend.settings import ServerSettings

REDIS_CONNECT_TIMEOUT_S: Final = 2.0
REDIS_HEALTH_INTERVAL_S: Final = 15

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Resources:
    """Hold the connections to what lies behind a process, and its clock."""

    database: Database
    redis: Redis
    clock: Clock
    task_queue: TaskQueue


@asynccontextmanager
async def open_resources(settings: ServerSettings) -> AsyncIterator[Resources]:
    """Open the resources of a control plane; nothing is connected before it is used."""
    redis_url = settings.redis_url.get_secret_value()
    database = open_database(
        settings.database_url.get_secret_value(), application_name="regent-server"
    )
    redis = Redis.from_url(
        redis_url,
        socket_connect_timeout=REDIS_CONNECT_TIMEOUT_S,
        health_check_interval=REDIS_HEALTH_INTERVAL_S,
        retry=Retry(NoBackoff(), 1),
    )
    try:
        yield Resources(
            database=database,
            redis=redis,
            clock=SystemClock(),
            task_queue=CeleryTaskQueue(redis_url),
        )
    finally:
        await redis.aclose()
        await database.dispose()


async def add_bootstrap_user(secret_file: Path | None, resources: Resources) -> None:
    """Let the first administrator sign in with the content of the bootstrap secret file.

    Raises:
        OSError: the file can't be read.
    """
    if secret_file is None:
        return
    secret = (await asyncio.to_thread(secret_file.read_text, encoding="utf-8")).strip()
    if not secret:
        log.warning("bootstrap_secret_empty", file=str(secret_file))
        return
    was_added = await ensure_bootstrap_user(
        secret, database=resources.database, clock=resources.clock
    )
    if was_added:
        log.info("bootstrap_user_added")
