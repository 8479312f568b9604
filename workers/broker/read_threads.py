"""Keep reads that wait for the disk on threads of their own, so that they hold up nothing else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

COLD_COUNT: Final = 4
# Searches by key may take long: with more of them at once each would only take longer.
SEARCH_COUNT: Final = 2


class ReadThreads:
    """The threads of one broker; flushes, changes of role and state files wait for none of them."""

    def __init__(self) -> None:
        """Make them; they start as they are needed."""
        self.cold = ThreadPoolExecutor(COLD_COUNT, "cold-read")
        self.searches = ThreadPoolExecutor(SEARCH_COUNT, "search")

    async def stop(self) -> None:
        """Let reads of queues end, and begin no search more; the store is to be closed next.

        A search that is going on ends with its next turn once that has happened.
        """
        self.searches.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self.cold.shutdown)
