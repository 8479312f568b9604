"""Make files of queues on a separate thread, so that no client waits for files of another one."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal


class FileThread:
    """The thread of one broker; it makes one file after the other."""

    def __init__(self) -> None:
        """Make the thread; it starts with the first file."""
        self._thread = ThreadPoolExecutor(1, "queue-files")

    async def run(self, make: Callable[[], None]) -> None:
        """Make a file on the thread.

        Raises:
            Refusal: the broker is stopping.
        """
        try:
            future = self._thread.submit(make)
        except RuntimeError as error:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.STOPPING) from error
        await asyncio.wrap_future(future)

    async def stop(self) -> None:
        """Finish the files that were asked for; the store is to be closed next."""
        await asyncio.to_thread(self._thread.shutdown)
