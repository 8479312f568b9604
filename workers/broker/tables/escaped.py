"""Keep which messages wait no more, since a replica let them escape while it acted (D17).

A recall that an acting replica took is such an end, too. The queue of a message that waits has only
one offset as its progress. This table has what is done with beyond that. The master that returns
takes it over, and forgets a message once its progress is beyond it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from backend.remoting.integers import Int64
from workers.broker.tables.logged_table import LoggedTable, LoggedTableFile


class EscapedFile(LoggedTableFile, frozen=True, kw_only=True):
    """The file `regentEscaped.json`: log positions of messages."""

    positions: list[Int64] = msgspec.field(default_factory=list)


class EscapedMessages(LoggedTable[int]):
    """The log positions of messages that must not be delivered; belongs to the loop's thread."""

    def __init__(self, stored: EscapedFile | None = None) -> None:
        """Begin with the content of the file."""
        super().__init__(stored)
        # In the order of their ends.
        self._positions = dict.fromkeys(stored.positions if stored is not None else ())

    def __contains__(self, log_position: int) -> bool:
        """Return whether a message must not be delivered."""
        return log_position in self._positions

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self._positions)

    @property
    def all(self) -> dict[int, bool]:
        """Return the log positions for a record of the log."""
        return dict.fromkeys(self._positions, True)

    def of(self, log_positions: Iterable[int]) -> set[int]:
        """Return those of some messages that must not be delivered."""
        return {one for one in log_positions if one in self._positions}

    def sorted(self) -> list[int]:
        """Return the log positions in their order."""
        return sorted(self._positions)

    def add(self, log_position: int) -> None:
        """Note that a message must not be delivered."""
        if log_position not in self._positions:
            self._positions[log_position] = None
            self._note(log_position)

    def drop(self, log_position: int) -> None:
        """Forget a message that the progress of its queue covers."""
        if log_position in self._positions:
            del self._positions[log_position]
            self._note(log_position)

    def expire(self, min_position: int) -> None:
        """Forget messages that the log does not hold any more."""
        for one in [one for one in self._positions if one < min_position]:
            self.drop(one)

    def take_over(self, log_positions: Iterable[int]) -> int:
        """Take over what another member let escape; return how many were not known."""
        former_count = len(self._positions)
        for one in log_positions:
            self.add(one)
        return len(self._positions) - former_count

    def take_changes(self) -> dict[int, bool]:
        """Return the changes since the last call: True for an added position."""
        return {one: one in self._positions for one in self._take()}

    def apply(self, changes: Mapping[int, bool]) -> None:
        """Take over changes of a master."""
        for one, is_added in changes.items():
            if is_added:
                self.add(one)
            else:
                self.drop(one)

    def replace(self, positions: Iterable[int]) -> None:
        """Take over the whole table of a master."""
        wanted = dict.fromkeys(positions)
        if wanted.keys() != self._positions.keys():
            self._positions = wanted
            self.change_count += 1

    def _document(self) -> dict[str, Any]:
        return {"positions": list(self._positions)}
