"""Run reads that wait for the disk on separate threads, so that they delay nothing else."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal

COLD_COUNT: Final = 4
# Searches by key may take long: more at once would slow each of them down.
SEARCH_COUNT: Final = 2
# Figures of the broker must be available also while other reads wait for a hanging disk.
FIGURE_COUNT: Final = 1
# Items of a list that are read in one step: a cold disk takes some hundred milliseconds.
PIECE_COUNT: Final = 32

Found = TypeVar("Found")
Wanted = TypeVar("Wanted")


class ReadThreads:
    """The threads of one broker; flushes, changes of role and state files wait for none of them."""

    def __init__(self) -> None:
        """Create the pools; their threads start on demand."""
        self.cold = ThreadPoolExecutor(COLD_COUNT, "cold-read")
        self.searches = ThreadPoolExecutor(SEARCH_COUNT, "search")
        self.figures = ThreadPoolExecutor(FIGURE_COUNT, "figures")

    async def read(self, work: Callable[[], Found]) -> Found:
        """Read messages of a queue that are not in memory.

        Raises:
            Refusal: the broker is stopping.
        """
        return await _run(self.cold, work)

    async def read_each(
        self, work: Callable[[Wanted], Found], wanted: Iterable[Wanted]
    ) -> list[Found]:
        """Read a value of each of many items; other reads run between two steps.

        Raises:
            Refusal: the broker is stopping.
        """
        found: list[Found] = []
        rest = iter(wanted)
        while piece := list(islice(rest, PIECE_COUNT)):
            found += await self.read(partial(_each, work, piece))
        return found

    async def search(self, work: Callable[[], Found]) -> Found:
        """Search by key.

        Raises:
            Refusal: the broker is stopping.
        """
        return await _run(self.searches, work)

    async def measure(self, work: Callable[[], Found]) -> Found:
        """Compute figures of the whole broker.

        Raises:
            Refusal: the broker is stopping.
        """
        return await _run(self.figures, work)

    async def stop(self) -> None:
        """Wait for the current reads of queues, and start no more reads and searches.

        The store is closed next. Waiting reads are dropped: on a slow disk the last of many pulls
        would be read long after their clients were released. A running search ends with its next
        turn after the store is closed, and figures with their next look.
        """
        self.figures.shutdown(wait=False, cancel_futures=True)
        self.searches.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self.cold.shutdown, cancel_futures=True)


def _each(work: Callable[[Wanted], Found], piece: list[Wanted]) -> list[Found]:
    return [work(one) for one in piece]


async def _run(threads: ThreadPoolExecutor, work: Callable[[], Found]) -> Found:
    try:
        future = threads.submit(work)
    except RuntimeError as error:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.STOPPING) from error
    return await asyncio.wrap_future(future)
