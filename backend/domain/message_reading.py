"""Merge the queues of a topic by store times, page by page."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.message import StoredMessage

QueueName = tuple[str, int]
"""A broker group and the number of a queue there."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """Hold the messages of a pull, the next offset, and the ends of the queue."""

    messages: tuple[StoredMessage, ...]
    next_offset: int
    low: int
    high: int


def merge_queues(
    pulled: Mapping[QueueName, Pulled],
    positions: Mapping[QueueName, int],
    *,
    size: int,
    end_ms: int | None = None,
) -> tuple[list[StoredMessage], dict[QueueName, int], bool]:
    """Take the oldest messages of the queues; return the next offsets, and whether more follow.

    Within a queue the order is that of the offsets, even if the clock of its broker was set back,
    so no message is skipped. If all pulled messages of a queue are taken and more are left, the
    page ends: the next messages there may be older than those of other queues. A queue is read up
    to its first message that was stored at `end_ms` or later.
    """
    moved, page = dict(positions), list[StoredMessage]()
    heads: list[tuple[tuple[int, str, int, int], QueueName, int]] = []
    has_more = False
    for name, queues in pulled.items():
        if queues.messages:
            heapq.heappush(heads, (queues.messages[0].order, name, 0))
            continue
        # The offset was outside the queue, or its messages were deleted: it is corrected.
        moved[name] = min(queues.next_offset, queues.high)
        has_more |= moved[name] != positions[name] and moved[name] < queues.high
    while heads:
        _, name, index = heapq.heappop(heads)
        queues = pulled[name]
        message = queues.messages[index]
        if end_ms is not None and message.stored_at_ms >= end_ms:
            continue
        if len(page) == size:
            return page, moved, True
        page.append(message)
        moved[name] = message.queue_offset + 1
        if index + 1 < len(queues.messages):
            heapq.heappush(heads, (queues.messages[index + 1].order, name, index + 1))
        elif queues.next_offset < queues.high:
            return page, moved, True
    return page, moved, has_more
