"""Go without what only Redis holds where that is away: it is unknown then, and all else is not."""

from collections.abc import Awaitable
from typing import TypeVar

import structlog
from redis.exceptions import RedisError

AnswerT = TypeVar("AnswerT")

log = structlog.get_logger(__name__)


async def read_losable(reading: Awaitable[AnswerT], *, unknown: AnswerT) -> AnswerT:
    """Return a value from Redis, or the value that means unknown (D21)."""
    try:
        return await reading
    except (RedisError, OSError, TimeoutError) as error:
        log.warning("losable_unread", reason=str(error))
        return unknown
