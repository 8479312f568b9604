"""Share what the tables have in common that travel in the log of a group (D14).

Their stock files are still written. A file says whether the log knows all that it does, so that a
restart believes the log, which is newer; where it does not say so, the file was written without the
log, by stock or outside of controller mode, and is believed.
"""

from abc import ABC, abstractmethod
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.bodies.base import Body

_IN_LOG: Final = "isInLog"


class LoggedTableFile(Body, frozen=True, kw_only=True):
    """What is ours in such a file; stock passes it over, and leaves it out when it writes."""

    data_version: DataVersion = DataVersion()
    is_in_log: bool = msgspec.field(name=_IN_LOG, default=False)


class LoggedTable(ABC):
    """A table with a version, a count of its changes, and a file in stock's shape."""

    def __init__(self, stored: LoggedTableFile | None) -> None:
        self.is_log_newer = stored is None or stored.is_in_log
        self.data_version: DataVersion = stored.data_version if stored else DataVersion()
        self.change_count = 0
        self._is_in_log = False

    @property
    def is_in_log(self) -> bool:
        """Tell whether the log knows all of this."""
        return self._is_in_log

    @is_in_log.setter
    def is_in_log(self, value: bool) -> None:
        if value != self._is_in_log:
            self._is_in_log = value
            # The file is to say so.
            self.change_count += 1

    def stamp(self, now_ms: int) -> None:
        """Give the table a new version before it is saved."""
        self.data_version = self.data_version.next(now_ms)

    def as_file(self) -> bytes:
        """Give the content of the file."""
        mark = {_IN_LOG: True} if self._is_in_log else {}
        return java_json.encode(self._document() | mark)

    def as_body(self) -> bytes:
        """Give the table as replicas read it that do not know of records (43, 45)."""
        return java_json.encode(self._document())

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Give the table in stock's shape."""
