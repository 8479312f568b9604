"""Hold the new positions of groups until their consumers know them (remoting.md 2.8: 222).

A consumer keeps its own position, and commits it again and again. So its commits are ignored until
its next pull of the queue, which is answered with the new position.
"""

from collections.abc import Callable


class OffsetResets:
    """Queue offsets that wait for a pull, by group and topic; a restart drops them."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """Take the function to call before a reset waits for a pull."""
        self._on_change = on_change
        self._pending: dict[tuple[str, str], dict[int, int]] = {}

    def add(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Let the next pull of a queue be answered with an offset."""
        self._on_change()
        self._pending.setdefault((group, topic), {})[queue_id] = offset

    def is_pending(self, group: str, topic: str, queue_id: int | None = None) -> bool:
        """Return whether a reset of a queue, or of any queue of the topic, waits for its pull."""
        waiting = self._pending.get((group, topic), {})
        return bool(waiting) if queue_id is None else queue_id in waiting

    def take(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the offset for the answer to a pull, once."""
        waiting = self._pending.get((group, topic))
        if waiting is None:
            return None
        offset = waiting.pop(queue_id, None)
        if not waiting:
            del self._pending[group, topic]
        return offset

    def forget_queue(self, topic: str, queue_id: int) -> None:
        """Drop the waiting resets of all groups in one queue."""
        for group in [group for group, name in self._pending if name == topic]:
            self.take(group, topic, queue_id)

    def clear(self) -> None:
        """Drop all waiting resets: groups continue elsewhere, and would be moved back later."""
        self._pending.clear()

    def forget(self, *, group: str | None = None, topic: str | None = None) -> None:
        """Drop the waiting resets of a deleted group or topic."""
        for key in [key for key in self._pending if key[0] == group or key[1] == topic]:
            del self._pending[key]
