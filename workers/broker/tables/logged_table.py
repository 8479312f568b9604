"""Define the common part of the tables that are kept in the log (D14, D29).

Their files are still written, for tools and for a stock broker. A file says whether the log
contains its content; if so, a restart uses the log, which is newer. A file without that mark was
written without the log, by stock or by a former version, and is used. A file of a broker without a
group is also used if the log ends before the log position in the file: the log lost its end.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.bodies.base import Body
from backend.remoting.sifting import LeftOut, put_back

K = TypeVar("K")

IN_LOG: Final = "isInLog"
"""Our fields in such a file; stock ignores them, and drops them when it writes."""


LOG_POSITION: Final = "logPosition"
"""The log position of the last record that the file contains."""


class LoggedFile(Protocol):
    """The common fields of all these files."""

    @property
    def is_in_log(self) -> bool:
        """Return whether the log contains the content of the file."""

    @property
    def log_position(self) -> int:
        """Return the log position of the last record that the file contains; 0 if unknown."""


class LoggedTableFile(Body, frozen=True, kw_only=True):
    """A stock file that also has a version."""

    data_version: DataVersion = DataVersion()
    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)


class LoggedTable(ABC, Generic[K]):
    """A table with a count of its changes, and a file; in a group only its master changes it.

    Before `lead` or `follow` is called, changes are not collected for records.
    """

    def __init__(self, stored: LoggedFile | None, left_out: Iterable[LeftOut] = ()) -> None:
        """Start with the stored content; items that were left out of it stay in the file."""
        self._left_out = {one.path: one for one in left_out}
        self.is_log_newer = stored is None or stored.is_in_log
        self.stored_position = 0 if stored is None else stored.log_position
        """The log position of the last record in the file."""

        self.log_position = 0
        """The log position of the last record in this table."""

        self.change_count = 0
        self.is_following = False
        """Whether requests of clients change nothing here: another broker is master, if any."""

        self._is_in_log = False
        # In the order of the latest changes; None if changes are not collected.
        self._changed: dict[K, None] | None = None

    @property
    def is_in_log(self) -> bool:
        """Return whether the log contains the whole table."""
        return self._is_in_log

    @is_in_log.setter
    def is_in_log(self, value: bool) -> None:
        if value != self._is_in_log:
            self._is_in_log = value
            # The file must be marked so.
            self.change_count += 1

    @property
    def has_changes(self) -> bool:
        """Return whether there are changes since the last call that took them."""
        return bool(self._changed)

    def lead(self) -> None:
        """Accept changes, and collect them for records."""
        self.is_following = False
        self._changed = {}

    def follow(self) -> None:
        """Accept only changes of another master: this broker makes none."""
        self.is_following = True
        self._changed = None

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the items that can't be served, from the file or from a master."""
        return tuple(self._left_out.values())

    def keep_aside(self, left_out: Iterable[LeftOut]) -> None:
        """Keep items that can't be served in the file."""
        self._left_out.update((one.path, one) for one in left_out)

    def as_file(self) -> bytes:
        """Return the content of the file."""
        mark = {IN_LOG: True, LOG_POSITION: self.log_position} if self._is_in_log else {}
        return java_json.encode(put_back(self._document() | mark, self.left_out))

    def _note(self, key: K) -> None:
        """Count a change, and record what it changed."""
        self.change_count += 1
        if self._changed is not None:
            self._changed.pop(key, None)
            self._changed[key] = None

    def _take(self) -> list[K]:
        """Return the changes since the last call, the latest change last."""
        changed = list(self._changed or ())
        if self._changed is not None:
            self._changed.clear()
        return changed

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Return the table in the form of its file."""
