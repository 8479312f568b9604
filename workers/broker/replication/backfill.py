"""Fetch the older segments of a log that began with the newest one (ADR 25).

A new member copies the end of its master's log at once, from the sync point on: the beginning of
the master's newest segment (Q41, Q47). It has the newest messages then, and the state of the group,
since each segment contains a snapshot. Afterwards it fetches what lies before, the newest segment
first, and puts each in front of its log (Q48, Q52). Until the last one is there it is a learner: in
no set, not electable, and it serves no client (OI-9, Q58).

What consumers finish meanwhile is a record of the tail. It names its message by queue and offset,
whether or not that message is here yet (Q51). The broker reads these records when it becomes master
(Q53).

A mark in the directory of the store says that segments are missing. The log itself shows which: a
segment that is in front is whole and checked, and is not fetched again, whichever side was killed
(Q44, Q49). Segments that expire at the master meanwhile are not needed any more (Q57).
"""

import asyncio
import zlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

import structlog
from regent_engine import FrontSegment, Store, StoreError

from backend.durable_files import sync_directory
from backend.remoting.address import split_address
from backend.remoting.errors import RemotingError
from backend.remoting.headers import InvalidHeader, decode_header, encode_header
from backend.remoting.headers.replication import UpdateFetchAnswer, UpdateFetchHeader
from backend.remoting.request_code import RequestCode
from backend.requester import Requester, connect
from workers.broker.replication.verification import Verification, put_mark
from workers.broker.requests.finishing import finish

MARK_NAME: Final = ".backfill"
UPDATE_VERSION: Final = 1
"""The version of 4104, which a master names in its answer to 906."""

CHUNK_BYTES: Final = 128 << 10
"""The size of a part: the event loop of the master is busy with one for some tenths of a
millisecond."""

CHUNKS_IN_FLIGHT: Final = 4
RETRY_S: Final = 0.5

log = structlog.get_logger()


class Backfill:
    """The segments that this log lacks at its front; belongs to the loop's thread."""

    def __init__(
        self,
        store: Store,
        root: Path,
        verification: Verification,
        *,
        segment_size: int,
        on_whole: Callable[[], None],
    ) -> None:
        """Take the function that reads the state of the log again once the log is whole."""
        self._store, self._verification = store, verification
        self._mark, self._segment_size = root / MARK_NAME, segment_size
        self._on_whole = on_whole
        self._lowest: int | None = None
        self.is_under_way = self._mark.exists()
        self.sync_point: int | None = None
        """The log position at which this log began, since the start of this process."""

    def begin(self) -> None:
        """Note that the log is about to begin with its newest segment.

        Raises:
            OSError: the disk refused; the log must not begin then.
        """
        put_mark(self._mark, "")
        # Until it has all data of its master, it must not be elected (D11).
        self._verification.doubt("this log begins with its newest segment: older ones follow")
        self.is_under_way, self._lowest, self.sync_point = True, None, None

    def drop(self) -> None:
        """Note that the log lacks nothing at its front.

        Raises:
            OSError: the disk refused.
        """
        if self.is_under_way:
            self._mark.unlink(missing_ok=True)
            sync_directory(self._mark.parent)
            self.is_under_way = False

    async def run(self, master_address: str) -> None:
        """Fetch what is missing from a master, however often it fails; cancelled in between."""
        self.sync_point = self.sync_point or self._store.min_position
        log.info("backfill_begun", master=master_address, sync_point=self.sync_point)
        reported = ""
        while True:
            try:
                await self._fetch_all(master_address)
                await finish(self.end())
            except (OSError, TimeoutError, RemotingError, StoreError) as error:
                reason = str(error) or type(error).__name__
                if reason != reported:
                    log.warning("backfill_interrupted", master=master_address, reason=reason)
                reported = reason
                await asyncio.sleep(RETRY_S)
            else:
                return

    async def end(self) -> None:
        """Derive what depends on the whole log, and remove the mark.

        Raises:
            StoreError, OSError: files can't be removed: call again.
        """
        await asyncio.to_thread(self._store.restart_followers)
        # Deletions of topics are applied to the queues of older messages as well (D14).
        self._on_whole()
        self.drop()
        log.info("backfill_done", begins_at=self._store.min_position)

    async def _fetch_all(self, master_address: str) -> None:
        requester = await connect(split_address(master_address), peer_name="master")
        try:
            while (base := self._next_base()) is not None:
                if not await self._fetch(requester, base):
                    log.info("older_segments_expired", before=self._store.min_position)
                    return
                self._lowest = base
                log.info("older_segment_held", position=base)
        finally:
            requester.close()

    def _next_base(self) -> int | None:
        """Return the position of the next older segment; None if there is none."""
        begin = self._store.min_position
        if self._lowest is not None and begin > self._lowest:
            # What was fetched has expired here already.
            return None
        return begin - self._segment_size if begin >= self._segment_size else None

    async def _fetch(self, requester: Requester, base: int) -> bool:
        """Fetch one segment and put it in front; False if the master does not hold it any more."""
        segment = await asyncio.to_thread(self._store.begin_front, base)
        places = count(0, CHUNK_BYTES)
        is_held = True

        async def fetch_chunks() -> None:
            nonlocal is_held
            while is_held and (at := next(places)) < self._segment_size:
                # Another one may have found meanwhile that the master does not hold the segment.
                if not await self._fetch_chunk(requester, segment, base, at):
                    is_held = False

        tasks = [asyncio.create_task(fetch_chunks()) for _ in range(CHUNKS_IN_FLIGHT)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if is_held:
            await finish(asyncio.to_thread(segment.insert))
        return is_held

    async def _fetch_chunk(
        self, requester: Requester, segment: FrontSegment, base: int, at: int
    ) -> bool:
        size = min(CHUNK_BYTES, self._segment_size - at)
        header = UpdateFetchHeader(position=base + at, size=size)
        answer = await requester.call(RequestCode.SHARE_UPDATE_FETCH, ext=encode_header(header))
        if answer.code:
            raise ConnectionError(f"the master sends no older segments: {answer.remark}")
        try:
            told = decode_header(UpdateFetchAnswer, answer.ext)
        except InvalidHeader as error:
            raise ConnectionError(f"the master's answer cannot be read: {error}") from error
        if not answer.body:
            return False
        if not await asyncio.to_thread(_write, segment, at, answer.body, size, told.crc):
            raise ConnectionError(f"the part of the log at {base + at} was damaged on its way")
        return True


def _write(segment: FrontSegment, at: int, part: bytes, size: int, crc: int) -> bool:
    """Write a part of a segment; return whether it has the size and the checksum it must have."""
    is_whole = len(part) == size and zlib.crc32(part) == crc
    if is_whole:
        segment.write(at, part)
    return is_whole
