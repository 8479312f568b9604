"""Answer orders that change state in the log only once they survive a crash (D7, D14, D29)."""

from collections.abc import Awaitable, Callable
from typing import Final

from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.flusher import Flusher
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Unconfirmed
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.replication.deleted_topics import DeletedTopics
from workers.broker.replication.state_journal import StateJournal

_UNCONFIRMED: Final = {
    Outcome.LATE: (
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        "this broker made the change, but not every replica holds it yet",
    ),
    Outcome.DEPOSED: (
        ResponseCode.SERVICE_NOT_AVAILABLE,
        "this broker is no longer the master, so it is unknown whether the change is kept",
    ),
}


class RecordedChanges:
    """Changes of topics, consumer groups, offsets and fences on their way into the log."""

    def __init__(
        self,
        journal: StateJournal,
        deletions: DeletedTopics,
        flusher: Flusher,
        settings: BrokerSettings,
        *,
        outcome: Callable[[int], Awaitable[Outcome]],
        safe_position: Callable[[], int],
    ) -> None:
        """Take the functions for a position's outcome, and for the position safe from a crash."""
        self._journal, self._deletions = journal, deletions
        self._flusher, self._flush_timeout_s = flusher, settings.flush_timeout_ms / 1000
        self._outcome, self._safe_position = outcome, safe_position

    @property
    def is_any_unwritten(self) -> bool:
        """Return whether any change is not in the log."""
        return self._journal.has_changes

    def append(self) -> None:
        """Append the changes to the log before any later message."""
        self._journal.write()

    async def confirmed(self) -> None:
        """Wait until all changes so far are in the log, and as safe as an acknowledged message.

        They are also waited for on this disk, in any flush mode: orders are rare, and their sender
        does not repeat them.

        Raises:
            Unconfirmed: they may be lost.
            StoreError: the store accepts none of them now.
        """
        end = self._journal.record()
        outcome = Outcome.DEPOSED if end is None else await self._outcome(end)
        if end is None or outcome is not Outcome.CONFIRMED:
            raise Unconfirmed(*_UNCONFIRMED[outcome])
        if not await self._flusher.durable(end, timeout_s=self._flush_timeout_s):
            raise Unconfirmed(ResponseCode.FLUSH_DISK_TIMEOUT, "the change is not on the disk yet")
        self._deletions.remove_confirmed(self._safe_position())

    def tick(self) -> None:
        """Do the work that no order waits for."""
        self._deletions.remove_confirmed(self._safe_position())

    def note_former(self, topic: str) -> None:
        """Note that a message of a deleted topic was delivered to it."""
        self._deletions.note_former([topic])

    def restart_topic(self, topic: str) -> None:
        """Let a topic start empty that is about to be created, on a broker without a group."""
        self._deletions.restart_topic(topic)

    def deleted_at(self, topic: str) -> int:
        """Return where in the log a topic was deleted last; 0 if that is unknown."""
        return self._deletions.positions.get(topic, 0)

    def is_being_deleted(self, topic: str) -> bool:
        """Return whether messages of a deleted topic may still be needed."""
        self._deletions.remove_confirmed(self._safe_position())
        return self._deletions.is_pending(topic)
