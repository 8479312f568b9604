"""Hold where groups shall go on reading, until their consumers were told (remoting.md 2.8: 222).

A consumer keeps its own place, and commits it again and again. So what it commits is passed over
until its next pull of the queue, which is answered with the place it shall go on from.
"""

from collections.abc import Callable


class OffsetResets:
    """Queue offsets that wait for a pull, by group and topic; a restart forgets them."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """Take whom to call before a reset waits for a pull."""
        self._on_change = on_change
        self._pending: dict[tuple[str, str], dict[int, int]] = {}

    def add(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Have the next pull of a queue answered with an offset."""
        self._on_change()
        self._pending.setdefault((group, topic), {})[queue_id] = offset

    def is_pending(self, group: str, topic: str, queue_id: int | None = None) -> bool:
        """Return whether a queue waits for its pull, or any queue of the topic."""
        waiting = self._pending.get((group, topic), {})
        return bool(waiting) if queue_id is None else queue_id in waiting

    def take(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give the offset that a pull is to be answered with, once."""
        waiting = self._pending.get((group, topic))
        if waiting is None:
            return None
        offset = waiting.pop(queue_id, None)
        if not waiting:
            del self._pending[group, topic]
        return offset

    def clear(self) -> None:
        """Drop all that waits: groups go on at another broker, and would be thrown back later."""
        self._pending.clear()

    def forget(self, *, group: str | None = None, topic: str | None = None) -> None:
        """Drop what waits of a group or a topic that is gone."""
        for key in [key for key in self._pending if key[0] == group or key[1] == topic]:
            del self._pending[key]
