"""Have the engine look after parked pulls.

The engine holds the pulls and answers them (remoting.md 2.3). A thread of it gives their
connections turns, and ends their waits at their deadlines. This module says which of them are ready
for other reasons.
"""

from collections.abc import Callable, Iterable

from regent_engine import HotPath


class LongPolling:
    """All parked pulls of a broker, and the connections that may have some."""

    def __init__(self, hot: HotPath) -> None:
        self._hot = hot
        self._connection_ids: set[int] = set()
        self._take_turns: Callable[[], None] | None = None

    def __len__(self) -> int:
        """Return the number of parked pulls."""
        return self._hot.parked_count

    def serve_by(self, take_turns: Callable[[], None]) -> None:
        """Take the function that has the thread look after parked pulls."""
        self._take_turns = take_turns

    def add(self, connection_id: int) -> None:
        """Add a connection."""
        self._connection_ids.add(connection_id)

    def is_open(self, connection_id: int) -> bool:
        """Return whether a connection is open."""
        return connection_id in self._connection_ids

    def remove(self, connection_id: int) -> None:
        """Remove a closed connection with its pulls."""
        self._connection_ids.discard(connection_id)
        self._hot.drop_parked(connection_id)

    def arrived(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        """Note that queues have grown for readers: topic, queue id and the new max offset."""
        for topic, queue_id, max_offset in arrivals:
            if self._hot.wake(topic, queue_id, max_offset):
                self.take_turns()

    def release_topic(self, topic: str) -> None:
        """Answer the pulls of a topic that is being deleted."""
        if self._hot.release_pulls(topic):
            self.take_turns()

    def release_group(self, group: str, topic: str) -> None:
        """Answer the pulls of a group whose subscription to a topic has changed."""
        if self._hot.release_pulls(topic, group):
            self.take_turns()

    def release_all(self) -> None:
        """Answer every pull, so that clients ask for the route of another master."""
        if self._hot.release_all_pulls():
            self.take_turns()

    def take_turns(self) -> None:
        """Have the connections with ready pulls served, and the next deadline found."""
        if self._take_turns is not None:
            self._take_turns()
