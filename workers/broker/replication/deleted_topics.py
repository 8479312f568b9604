"""Record where in the log topics were deleted, and remove their queues (D14, D10).

A topic that is created again starts empty, while records of the former topic stay in the log until
they expire. So the log contains the position of each deletion. Earlier messages of the topic are
invalid wherever queues are built from the log, also later.

Queues are removed once the deletion is confirmed, so that a truncated log never has to restore
them. Until then the topic can't be created again.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Protocol

import structlog
from regent_engine import StoreError

log = structlog.get_logger()


class QueueStore(Protocol):
    """The operations of a store that are needed."""

    @property
    def min_position(self) -> int:
        """Return the begin of the log."""

    @property
    def max_position(self) -> int:
        """Return the end of the log."""

    @property
    def confirmed_position(self) -> int:
        """Return the position up to which readers see the log."""

    def delete_topic(self, topic: str, *, before: int | None = None) -> None:
        """Remove the queues of a topic if all of their messages lie before a position."""


class DeletedTopics:
    """The latest deletion of each topic whose messages the log may still hold."""

    def __init__(self, store: QueueStore) -> None:
        self._store = store
        self._positions: dict[str, int] = {}
        self._pending: set[str] = set()
        self._former: set[str] = set()
        self._unsent: set[str] = set()
        self._is_refused = False

    @property
    def positions(self) -> Mapping[str, int]:
        """Return the log positions of deletions by topic."""
        return self._positions

    def is_pending(self, name: str) -> bool:
        """Return whether queues of a topic must still be removed."""
        return name in self._pending

    def note_former(self, names: Iterable[str]) -> None:
        """Add deleted topics that have queues: from a former version, or of delayed messages.

        The queues stay readable until such a topic is created again.
        """
        self._former.update(names)

    @property
    def has_changes(self) -> bool:
        """Return whether a topic has started again without a record of it yet."""
        return bool(self._unsent)

    def restart_topic(self, name: str) -> None:
        """Let a topic start empty that is about to be created."""
        if name in self._former:
            self._former.discard(name)
            self._positions[name] = self._store.max_position
            self._pending.add(name)
            self._unsent.add(name)
            self._remove(name)

    def take_unsent(self) -> dict[str, int]:
        """Return where topics started again since the last call, for the next records."""
        positions = {name: self._positions[name] for name in self._unsent}
        self._unsent.clear()
        return positions

    def add(self, names: Iterable[str]) -> dict[str, int]:
        """Note that a master deletes topics with the record that it is about to append."""
        positions = dict.fromkeys(names, self._store.max_position)
        self._positions |= positions
        self._pending |= positions.keys()
        return positions

    def for_snapshot(self) -> dict[str, int]:
        """Return all deletions for a snapshot that is about to be appended.

        Pending deletions get the position of the snapshot; expired ones are left out.
        """
        self.add(self._pending)
        low = self._store.min_position
        self._positions = {name: at for name, at in self._positions.items() if at >= low}
        return dict(self._positions)

    def apply(self, positions: Mapping[str, int]) -> None:
        """Take over the deletions of a master."""
        self._positions |= positions
        self._pending |= positions.keys()

    def revive(self, names: Iterable[str]) -> None:
        """Note that topics exist which were deleted before: their deletion is confirmed."""
        for name in names:
            if name in self._pending:
                self._remove(name)

    def replace(self, positions: Mapping[str, int], *, living: Container[str]) -> None:
        """Take over all deletions of a master, and its present topics."""
        news = {name for name, at in positions.items() if self._positions.get(name) != at}
        self._pending = {name for name in self._pending | news if name in positions}
        self._positions = dict(positions)
        self.revive([name for name in self._pending if name in living])

    def forget(self) -> None:
        """Drop everything until the next snapshot; nothing unconfirmed was done."""
        self._positions.clear()
        self._pending.clear()
        self._unsent.clear()

    def remove_confirmed(self, confirmed: int | None = None) -> None:
        """Remove the queues of topics whose deletion is confirmed, or lies before a position."""
        if self._pending:
            if confirmed is None:
                confirmed = self._store.confirmed_position
            for name in [one for one in self._pending if self._positions[one] < confirmed]:
                self._remove(name)

    def _remove(self, name: str) -> None:
        try:
            self._store.delete_topic(name, before=self._positions[name])
        except StoreError as error:
            if not self._is_refused:
                log.warning("deleted_topic_not_removed", topic=name, reason=str(error))
            self._is_refused = True
        else:
            self._is_refused = False
            self._pending.discard(name)
