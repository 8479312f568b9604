"""Keep what consumers finished of share queues while the master of their group was absent (S130).

A replica that acts appends nothing to its log. So all that is finished of a share queue is in a
file until the master has it. It is there before a client gets the answer to its acknowledgement.
Several such states of one share queue are united. Their order does not matter, and a repeated one
changes nothing.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.shares import FinishedShareBody, FinishedSharesBody
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.tables.state_file import StateFile, StateSaver

PAGE_RANGE_COUNT: Final = 100_000
"""The ranges of one page, each of two numbers; a share queue has about 2,000 at most."""

PAGE_SHARE_COUNT: Final = 5_000
"""The share queues of one page, each with two names."""

ShareName = tuple[str, int, str]
"""Topic, queue and consumer group."""

OffsetRanges = Sequence[tuple[int, int]]
"""Rising ranges, each a first offset and the offset behind the last one."""


def finished_path(settings: BrokerSettings) -> Path:
    """Return where one broker keeps what consumers finished."""
    return settings.config_dir / "regentFinished.json"


def name_of(share: FinishedShareBody) -> ShareName:
    """Return the name of a share queue."""
    return share.topic, share.queue_id, share.consumer_group


def united(one: OffsetRanges, other: OffsetRanges) -> list[tuple[int, int]]:
    """Return the offsets that are in one of two lists of ranges, as ranges that don't touch."""
    found: list[tuple[int, int]] = []
    for start, end in sorted([*one, *other]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


class FinishedShares:
    """What the log lacks of share queues; belongs to the loop's thread."""

    def __init__(self, path: Path) -> None:
        """Load what a former process kept.

        Raises:
            StateFileUnreadable: the content of the file is invalid.
        """
        file = StateFile(path)
        stored = file.load(FinishedSharesBody)
        self._kept = {name_of(one): one for one in stored.shares} if stored is not None else {}
        self._change_count = 0
        self._saver = StateSaver(file, self._snapshot, count=lambda: self._change_count)

    @property
    def kept(self) -> Mapping[ShareName, FinishedShareBody]:
        """Return what is finished of each share queue, by its name."""
        return self._kept

    def keep(self, share: FinishedShareBody) -> None:
        """Add what is finished of a share queue.

        What was finished before a reset, or before the group was made again, says nothing now.
        """
        name = name_of(share)
        known = self._kept.get(name)
        if known is not None and _generation(known) > _generation(share):
            return
        if known is not None and _generation(known) == _generation(share):
            share = msgspec.structs.replace(share, ranges=united(known.ranges, share.ranges))
        if share != known:
            self._kept[name] = share
            self._change_count += 1

    def page(self, after: ShareName) -> list[FinishedShareBody]:
        """Return the share queues behind a name, as many as fit an answer; none at the end."""
        names = sorted(self._kept)
        page: list[FinishedShareBody] = []
        range_count = 0
        for name in names[bisect_right(names, after) :]:
            share = self._kept[name]
            range_count += len(share.ranges)
            if page and (range_count > PAGE_RANGE_COUNT or len(page) == PAGE_SHARE_COUNT):
                break
            page.append(share)
        return page

    async def forget(self, shares: Iterable[FinishedShareBody]) -> None:
        """Drop share queues that have not changed since the log has what was finished of them.

        Raises:
            OSError: the disk refused; the master gets the same again, which changes nothing.
        """
        for share in shares:
            if self._kept.get(name_of(share)) == share:
                del self._kept[name_of(share)]
                self._change_count += 1
        await self.save()

    async def save(self) -> None:
        """Return once all that is finished is on the disk.

        Raises:
            OSError: the disk refused.
        """
        await self._saver.save()

    def _snapshot(self) -> bytes:
        return java_json.encode(FinishedSharesBody(shares=list(self._kept.values())))


def _generation(share: FinishedShareBody) -> tuple[int, int]:
    return share.number, share.reset_epoch
