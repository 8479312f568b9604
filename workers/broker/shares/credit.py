"""Say whether consumers of a share queue can take more messages: its credit (queue-ownership.md 1).

A consumer can take more while its POP waits. A busy consumer seldom waits: its POPs get messages at
once. So a delivery since the last look is credit too.
"""

from typing import Final

from regent_engine import HotPath

from workers.broker.shares.member_shares import ShareName

ANY_QUEUE: Final = -1


class Credit:
    """What consumers do with the share queues that this member owns."""

    def __init__(self, hot: HotPath) -> None:
        """Take the engine, which has the POPs that wait."""
        self._hot = hot
        self._looked: dict[ShareName, int] = {}
        self._reported: dict[ShareName, int] = {}

    def has(self, name: ShareName) -> bool:
        """Return whether a POP waits for a share queue, or got a message since the last call."""
        topic, queue_id, group = name
        if any(self._hot.pop_count(topic, one, group) for one in (queue_id, ANY_QUEUE)):
            return True
        return self._has_moved(name, self._looked)

    def was_used(self, name: ShareName) -> bool:
        """Return whether a consumer got a message of a share queue since the last call."""
        return self._has_moved(name, self._reported)

    def forget(self, name: ShareName) -> None:
        """Keep nothing of a share queue that this member owns no more."""
        self._looked.pop(name, None)
        self._reported.pop(name, None)

    def _has_moved(self, name: ShareName, known: dict[ShareName, int]) -> bool:
        count = self._hot.share_delivered_count(*name)
        former, known[name] = known.get(name), count
        return former is not None and former != count
