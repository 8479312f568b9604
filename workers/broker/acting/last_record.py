"""Compare the ends of two logs without epochs: the last record of one must be in the other.

A master that lost the end of its log, and took new messages since, would otherwise be continued.
"""

import zlib

from regent_engine import Store, StoreError

NO_RECORD = 0


def find_last_record(store: Store) -> int | None:
    """Return the log position of the newest record that is in a queue; None without any.

    It looks at the end of each queue, so it belongs to no event loop.
    """
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
