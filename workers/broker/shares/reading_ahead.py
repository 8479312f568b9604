"""Read the next messages of a share queue into memory, by threads, while others are served."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from workers.broker.commit_log.message_filters import PASS_ALL, MessageFilter
from workers.broker.shares.finished_shares import ShareName, united

if TYPE_CHECKING:
    from workers.broker.broker import Broker


async def read_ahead(
    broker: "Broker",
    share: ShareName,
    *,
    count_max: int,
    bytes_max: int,
    passing: MessageFilter = PASS_ALL,
) -> None:
    """Read what a POP of so many messages may deliver of a share queue.

    Raises:
        StoreError: the store can't read there.
    """
    topic, queue_id, _ = share
    for offset, count in list(_reads(broker, share, count_max)):
        wanted = topic, queue_id, offset, count, bytes_max, passing.tag_hashes, passing.properties
        await broker.read_threads.read(partial(broker.store.read, *wanted))


def _reads(broker: "Broker", share: ShareName, count_max: int) -> Iterator[tuple[int, int]]:
    """Yield offsets, each with a number of messages: first those that are delivered again."""
    topic, queue_id, group = share
    now_ms = broker.elapsed_ms()
    first = broker.hot.next_of_share(*share, now_ms)
    if first is None:
        yield broker.offsets.find(group, topic, queue_id) or 0, count_max
        return
    held = broker.hot.share_messages(*share, now_ms)
    again = [one.offset for one in held if one.connection_id is None and one.due_ms <= now_ms]
    for start, end in united([(one, one + 1) for one in again[:count_max]], ()):
        yield start, end - start
    behind = held[-1].offset + 1 if held else first
    yield from ((offset, count_max) for offset in sorted({first, behind} - set(again)))
