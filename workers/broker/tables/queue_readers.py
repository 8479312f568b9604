"""Record when each group was last seen at each queue, to explain pauses.

Kept in memory only: after a start the broker reports since when it observes.
"""

from dataclasses import dataclass
from typing import Final

READER_COUNT_MAX: Final = 200_000
"""Beyond it no new group is recorded, so that invalid names can't fill the memory."""


@dataclass(slots=True)
class QueueReader:
    """When a group last pulled, committed and advanced, by the clock that is never set."""

    pulled_at_ms: int | None = None
    committed_at_ms: int | None = None
    advanced_at_ms: int | None = None
    offset: int | None = None
    address: str | None = None
    next_offset: int | None = None
    """The next offset after its last pull: earlier messages have been delivered."""


class QueueReaders:
    """All groups at all queues."""

    def __init__(self, started_at_ms: int) -> None:
        self.started_at_ms = started_at_ms
        self._readers: dict[tuple[str, str, int], QueueReader] = {}

    def note_pull(
        self,
        group: str,
        topic: str,
        queue_id: int,
        *,
        address: str,
        now_ms: int,
        next_offset: int | None = None,
    ) -> None:
        """Record a pull of the group, and the end of its received messages."""
        reader = self._find_or_add(group, topic, queue_id)
        if reader is not None:
            reader.pulled_at_ms, reader.address = now_ms, address
            if next_offset is not None:
                reader.next_offset = next_offset

    def note_next(self, group: str, topic: str, queue_id: int, next_offset: int | None) -> None:
        """Record the next offset of the group in a queue; None when it is no longer known."""
        reader = self._readers.get((group, topic, queue_id))
        if reader is not None:
            reader.next_offset = next_offset

    def note_commit(
        self,
        group: str,
        topic: str,
        queue_id: int,
        *,
        offset: int,
        address: str,
        now_ms: int,
    ) -> None:
        """Record a commit of a client; only another offset is an advance."""
        reader = self._find_or_add(group, topic, queue_id)
        if reader is None:
            return
        if reader.offset is not None and reader.offset != offset:
            reader.advanced_at_ms = now_ms
        reader.offset, reader.committed_at_ms = offset, now_ms
        reader.address = address

    def find(self, group: str, topic: str, queue_id: int) -> QueueReader | None:
        """Return what was seen of a group at a queue; None for nothing."""
        return self._readers.get((group, topic, queue_id))

    def remove_topic(self, topic: str) -> None:
        """Drop a deleted topic."""
        for key in [key for key in self._readers if key[1] == topic]:
            del self._readers[key]

    def remove_group(self, group: str) -> None:
        """Drop a deleted consumer group."""
        for key in [key for key in self._readers if key[0] == group]:
            del self._readers[key]

    def _find_or_add(self, group: str, topic: str, queue_id: int) -> QueueReader | None:
        key = (group, topic, queue_id)
        reader = self._readers.get(key)
        if reader is None and len(self._readers) < READER_COUNT_MAX:
            reader = self._readers[key] = QueueReader()
        return reader
