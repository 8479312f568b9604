"""Remember where in the log topics were deleted, and have their queues go (D14, D10).

A topic that is made again begins anew, while the records of its former life stay in the log until
they expire. So it is the place of a deletion that travels in the log: what lies before it is gone
wherever queues were made from the log, also where that is done later.

Queues go once the deletion is confirmed, so that a log which is cut never has to bring them back;
until then nobody makes the topic again.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Protocol

import structlog
from regent_engine import StoreError

log = structlog.get_logger()


class QueueStore(Protocol):
    """What of a store is needed."""

    @property
    def min_position(self) -> int:
        """Give where the log begins."""

    @property
    def max_position(self) -> int:
        """Give where the log ends."""

    @property
    def confirmed_position(self) -> int:
        """Give up to where readers see the log."""

    def delete_topic(self, topic: str, *, before: int | None = None) -> None:
        """Remove the queues of a topic all of whose messages lie before a position."""


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
        """Give the log positions of deletions by topic."""
        return self._positions

    def is_pending(self, name: str) -> bool:
        """Return whether the queues of a topic still have to go."""
        return name in self._pending

    def note_former(self, names: Iterable[str]) -> None:
        """Hear of deleted topics that have queues: by a former version, or of delayed messages.

        The queues stay, so that their messages can be looked at, until such a topic is made again.
        """
        self._former.update(names)

    @property
    def has_changes(self) -> bool:
        """Return whether a topic has begun anew that no record tells of yet."""
        return bool(self._unsent)

    def restart_topic(self, name: str) -> None:
        """Have a topic begin empty that is about to be made."""
        if name in self._former:
            self._former.discard(name)
            self._positions[name] = self._store.max_position
            self._pending.add(name)
            self._unsent.add(name)
            self._remove(name)

    def take_unsent(self) -> dict[str, int]:
        """Give where topics began anew since the last call, for records about to be appended."""
        positions = {name: self._positions[name] for name in self._unsent}
        self._unsent.clear()
        return positions

    def add(self, names: Iterable[str]) -> dict[str, int]:
        """Note that a master deletes topics with the record it is about to append."""
        positions = dict.fromkeys(names, self._store.max_position)
        self._positions |= positions
        self._pending |= positions.keys()
        return positions

    def for_snapshot(self) -> dict[str, int]:
        """Give all of them for a snapshot that is about to be appended.

        What it may be the first to say is deleted there; what the log no longer holds is left out.
        """
        self.add(self._pending)
        low = self._store.min_position
        self._positions = {name: at for name, at in self._positions.items() if at >= low}
        return dict(self._positions)

    def apply(self, positions: Mapping[str, int]) -> None:
        """Take over what a master has deleted."""
        self._positions |= positions
        self._pending |= positions.keys()

    def revive(self, names: Iterable[str]) -> None:
        """Hear that topics are there which were deleted before: that was confirmed by then."""
        for name in names:
            if name in self._pending:
                self._remove(name)

    def replace(self, positions: Mapping[str, int], *, living: Container[str]) -> None:
        """Take over all deletions that a master knows of, and which topics there are now."""
        news = {name for name, at in positions.items() if self._positions.get(name) != at}
        self._pending = {name for name in self._pending | news if name in positions}
        self._positions = dict(positions)
        self.revive([name for name in self._pending if name in living])

    def forget(self) -> None:
        """Know nothing before the next snapshot; nothing unconfirmed was done."""
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
