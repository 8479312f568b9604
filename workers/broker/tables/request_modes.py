"""Hold how groups receive the messages of topics (`messageRequestMode.json`): PULL or POP."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import RequestModeBody, RequestModeTable
from backend.remoting.sifting import LeftOut
from workers.broker.tables.logged_table import IN_LOG, LOG_POSITION, LoggedTable

SEPARATOR: Final = "@"
"""Between topic and group in keys; neither name contains it."""


class RequestModeFile(RequestModeTable, frozen=True, kw_only=True):
    """The content of `messageRequestMode.json`."""

    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)


def decode_request_mode_file(data: bytes) -> tuple[RequestModeFile, list[LeftOut]]:
    """Read the file.

    Raises:
        InvalidJson: the document is malformed.
    """
    return java_json.decode(data, RequestModeFile), []


class RequestModes(LoggedTable[str]):
    """The modes that operators have set, by topic and group; without one the mode is PULL.

    In a group of brokers they are part of the log (D14).
    """

    def __init__(self, stored: RequestModeFile | None) -> None:
        """Start with the modes of the file."""
        super().__init__(stored)
        file = stored or RequestModeFile()
        self._modes = {
            _key(topic, group): mode
            for topic, groups in file.modes.items()
            for group, mode in groups.items()
        }

    @property
    def all(self) -> Mapping[str, RequestModeBody]:
        """Return the modes by `topic@group`."""
        return self._modes

    def find(self, topic: str, group: str) -> RequestModeBody | None:
        """Return the mode of a group in a topic; None if none is set."""
        return self._modes.get(_key(topic, group))

    def put(self, mode: RequestModeBody) -> bool:
        """Set a mode; False when nothing changed."""
        key = _key(mode.topic, mode.consumer_group)
        if self._modes.get(key) == mode:
            return False
        self._modes[key] = mode
        self._note(key)
        return True

    def remove(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Drop the modes of a topic, or of a group."""
        self._remove_where(
            lambda mode: topic in {None, mode.topic} and group in {None, mode.consumer_group}
        )

    def take_changes(self) -> dict[str, RequestModeBody | None]:
        """Return the changes since the last call: the present modes, None for dropped ones."""
        return {key: self._modes.get(key) for key in self._take()}

    def apply(self, changes: Mapping[str, RequestModeBody | None]) -> None:
        """Apply the changes of a master."""
        for key, mode in changes.items():
            if mode is not None:
                self.put(mode)
            elif self._modes.pop(key, None) is not None:
                self._note(key)

    def replace(self, modes: Mapping[str, RequestModeBody]) -> None:
        """Replace the content with a master's."""
        gone = self._modes.keys() - modes.keys()
        self.apply(dict.fromkeys(gone) | dict(modes))

    def as_body(self) -> RequestModeTable:
        """Return the table for tools."""
        modes: dict[str, dict[str, RequestModeBody]] = {}
        for mode in self._modes.values():
            modes.setdefault(mode.topic, {})[mode.consumer_group] = mode
        return RequestModeTable(modes=modes)

    def _document(self) -> dict[str, Any]:
        return {"messageRequestModeMap": self.as_body().modes}

    def _remove_where(self, is_meant: Callable[[RequestModeBody], bool]) -> None:
        for key in [key for key, mode in self._modes.items() if is_meant(mode)]:
            del self._modes[key]
            self._note(key)


def _key(topic: str, group: str) -> str:
    return topic + SEPARATOR + group
