"""Share what the tables have in common that are kept in the log (D14, D29).

Their files are still written, for tools and for a broker of stock. A file says whether the log
knows all that it does, so that a restart believes the log, which is newer. A file without that mark
was written without the log, by stock or by a former version, and is believed. A file of a broker
that is alone is also believed where the log ends before the log position in the file: the log lost
its end.
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
"""What is ours in such a file; stock passes it over, and leaves it out when it writes."""


LOG_POSITION: Final = "logPosition"
"""Up to where in the log the file knows what is recorded."""


class LoggedFile(Protocol):
    """What all these files say."""

    @property
    def is_in_log(self) -> bool:
        """Return whether the log knows all that the file does."""

    @property
    def log_position(self) -> int:
        """Give up to where in the log the file knows what is recorded; 0 if it does not say."""


class LoggedTableFile(Body, frozen=True, kw_only=True):
    """A file of stock's that says its version besides."""

    data_version: DataVersion = DataVersion()
    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)


class LoggedTable(ABC, Generic[K]):
    """A table with a count of its changes, and a file; in a group its master alone changes it.

    Before `lead` or `follow` is called, changes are not noted for records.
    """

    def __init__(self, stored: LoggedFile | None, left_out: Iterable[LeftOut] = ()) -> None:
        """Begin with what is stored; items that were left out of it stay in the file."""
        self._left_out = {one.path: one for one in left_out}
        self.is_log_newer = stored is None or stored.is_in_log
        self.stored_position = 0 if stored is None else stored.log_position
        """Up to where in the log the file knew what is recorded."""

        self.log_position = 0
        """Up to where in the log this table knows what is recorded."""

        self.change_count = 0
        self.is_following = False
        """Whether what clients ask for changes nothing here: another broker is master, if any."""

        self._is_in_log = False
        # In the order of the latest changes; None where nobody asks for them.
        self._changed: dict[K, None] | None = None

    @property
    def is_in_log(self) -> bool:
        """Return whether the log knows all of this."""
        return self._is_in_log

    @is_in_log.setter
    def is_in_log(self, value: bool) -> None:
        if value != self._is_in_log:
            self._is_in_log = value
            # The file is to say so.
            self.change_count += 1

    @property
    def has_changes(self) -> bool:
        """Return whether anything changed since changes were taken last."""
        return bool(self._changed)

    def lead(self) -> None:
        """Take changes from now on, and note them for records."""
        self.is_following = False
        self._changed = {}

    def follow(self) -> None:
        """Take no changes but those of another master: nobody here is to make any."""
        self.is_following = True
        self._changed = None

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Give the items that can't be served, from the file or from a master."""
        return tuple(self._left_out.values())

    def keep_aside(self, left_out: Iterable[LeftOut]) -> None:
        """Keep items that can't be served in the file."""
        self._left_out.update((one.path, one) for one in left_out)

    def as_file(self) -> bytes:
        """Give the content of the file."""
        mark = {IN_LOG: True, LOG_POSITION: self.log_position} if self._is_in_log else {}
        return java_json.encode(put_back(self._document() | mark, self.left_out))

    def _note(self, key: K) -> None:
        """Count a change, and note what it changed."""
        self.change_count += 1
        if self._changed is not None:
            self._changed.pop(key, None)
            self._changed[key] = None

    def _take(self) -> list[K]:
        """Give what changed since the last call, the latest change last."""
        changed = list(self._changed or ())
        if self._changed is not None:
            self._changed.clear()
        return changed

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Give the table in the shape of its file."""
