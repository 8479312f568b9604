"""Share one source among many listeners: one task listens, and each listener has a bounded queue.

A slow listener misses the oldest items, never the newest. After an error of the source, the task
listens again after a pause, and the listeners stay.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Final, Generic, TypeVar

import structlog
from redis.exceptions import RedisError

QUEUE_SIZE: Final = 256
RETRY_DELAY_S: Final = 1.0

ItemT = TypeVar("ItemT")

log = structlog.get_logger(__name__)


class Feed(Generic[ItemT]):
    """Distribute the items of a source."""

    def __init__(self, name: str, open_source: Callable[[], AsyncIterator[ItemT]]) -> None:
        self._name, self._open_source = name, open_source
        self._queues: set[asyncio.Queue[ItemT]] = set()

    async def run(self) -> None:
        """Listen to the source until cancelled."""
        while True:
            try:
                async for item in self._open_source():
                    self._spread(item)
            except (RedisError, OSError) as error:
                log.warning("feed_interrupted", feed=self._name, error=str(error))
            await asyncio.sleep(RETRY_DELAY_S)

    async def listen(self) -> AsyncGenerator[ItemT, None]:
        """Yield items from now on; close the generator to stop."""
        queue: asyncio.Queue[ItemT] = asyncio.Queue(QUEUE_SIZE)
        self._queues.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._queues.discard(queue)

    @property
    def listener_count(self) -> int:
        """Return the number of listeners."""
        return len(self._queues)

    def _spread(self, item: ItemT) -> None:
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(item)
