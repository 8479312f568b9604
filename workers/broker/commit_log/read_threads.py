"""Keep reads that wait for the disk on threads of their own, so that they hold up nothing else."""

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
# Searches by key may take long: with more of them at once each would only take longer.
SEARCH_COUNT: Final = 2
# Figures of the broker are to come also while everything else waits for a disk that hangs.
FIGURE_COUNT: Final = 1
# What is read at once of many: a cold disk takes some hundred milliseconds for it.
PIECE_COUNT: Final = 32

Found = TypeVar("Found")
Wanted = TypeVar("Wanted")


class ReadThreads:
    """The threads of one broker; flushes, changes of role and state files wait for none of them."""

    def __init__(self) -> None:
        """Make them; they start as they are needed."""
        self.cold = ThreadPoolExecutor(COLD_COUNT, "cold-read")
        self.searches = ThreadPoolExecutor(SEARCH_COUNT, "search")
        self.figures = ThreadPoolExecutor(FIGURE_COUNT, "figures")

    async def read(self, work: Callable[[], Found]) -> Found:
        """Read of a queue what is not in memory.

        Raises:
            Refusal: the broker is stopping.
        """
        return await _run(self.cold, work)

    async def read_each(
        self, work: Callable[[Wanted], Found], wanted: Iterable[Wanted]
    ) -> list[Found]:
        """Read something of each of many, with other reads between a few and the next few.

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
        """Find figures of the whole broker.

        Raises:
            Refusal: the broker is stopping.
        """
        return await _run(self.figures, work)

    async def stop(self) -> None:
        """Let the reads of queues end that are going on, and begin no read or search more.

        The store is to be closed next. What waits for a thread is given up: on a slow disk the last
        of many pulls would be read long after their clients were let go. A search that is going on
        ends with its next turn once the store is closed, figures with their next look.
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
