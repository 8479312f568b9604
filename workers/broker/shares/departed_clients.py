"""Remember which clients left, since messages that they have name their connection only."""

from collections import OrderedDict
from typing import Final

DEPARTED_COUNT_MAX: Final = 10_000
"""The clients that are remembered: those that left last."""


class DepartedClients:
    """The clients of consumer groups that left, by connection."""

    def __init__(self) -> None:
        self._client_ids: OrderedDict[tuple[int, str], str] = OrderedDict()

    def note(self, connection_id: int, group: str, client_id: str | None) -> None:
        """Remember a client that leaves a group; without an id there is nothing to remember."""
        if not client_id:
            return
        self._client_ids[connection_id, group] = client_id
        self._client_ids.move_to_end((connection_id, group))
        if len(self._client_ids) > DEPARTED_COUNT_MAX:
            self._client_ids.popitem(last=False)

    def find(self, connection_id: int, group: str) -> str | None:
        """Return the id of the client that left a group by a connection; None if it is unknown."""
        return self._client_ids.get((connection_id, group))
