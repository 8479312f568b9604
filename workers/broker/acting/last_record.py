"""Compare the ends of two logs without epochs: the last record of one must be in the other.

A master that lost the end of its log, and took new messages since, would otherwise be continued.
"""

import zlib
from dataclasses import dataclass

from regent_engine import Store, StoreError

NO_RECORD = 0


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Hold where a log ends, in bytes, and the position of its newest record that is in a queue."""

    position: int
    last_record: int | None
    """None without any."""


def find_log_end(store: Store) -> LogEnd:
    """Return the end of a log; it looks at the end of each queue, so it belongs to no event loop.

    A replica finds it before it asks its master, whose log is longer by then.
    """
    position = store.max_position
    return LogEnd(position, _find_last_record(store))


def _find_last_record(store: Store) -> int | None:
    newest: int | None = None
    for topic, queue_id, _, _ in store.queues():
        low, end = store.held_offsets(topic, queue_id) or (0, 0)
        if end <= low:
            continue
        for position, _, _ in store.held_entries(topic, queue_id, end - 1, 1):
            newest = position if newest is None else max(newest, position)
    return newest


def crc_of_record(store: Store, position: int) -> int:
    """Return the checksum of a record, 0 if none begins at a log position or it can't be read.

    It may read the disk, so it belongs to no event loop.
    """
    if position < 0:
        return NO_RECORD
    try:
        content = store.held_record(position)
    except StoreError:
        return NO_RECORD
    return NO_RECORD if content is None else zlib.crc32(content)
