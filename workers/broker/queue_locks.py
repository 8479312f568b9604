"""Decide which client of a group may consume a queue in order (remoting.md 2.3, 41 and 42)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from backend.remoting.bodies import MessageQueue

LOCK_LIFE_MS: Final = 60_000


@dataclass(slots=True)
class _Lock:
    client_id: str
    renewed_at_ms: int


class QueueLocks:
    """The locks of all groups; a lock not renewed for a minute is free again."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[MessageQueue, _Lock]] = {}

    def lock(
        self, group: str, *, client_id: str, queues: Iterable[MessageQueue], now_ms: int
    ) -> list[MessageQueue]:
        """Take or renew the locks of queues that no other client holds, and name these queues."""
        locks = self._groups.setdefault(group, {})
        taken = []
        for queue in queues:
            held = locks.get(queue)
            if held and held.client_id != client_id and not _is_over(held, now_ms):
                continue
            locks[queue] = _Lock(client_id, now_ms)
            taken.append(queue)
        return taken

    def unlock(self, group: str, *, client_id: str, queues: Iterable[MessageQueue]) -> None:
        """Free those of the queues that this client holds."""
        locks = self._groups.get(group, {})
        for queue in queues:
            held = locks.get(queue)
            if held and held.client_id == client_id:
                del locks[queue]

    def holds_any(self, group: str, now_ms: int) -> bool:
        """Tell whether the group consumes in order at the moment."""
        locks = self._groups.get(group, {})
        return any(not _is_over(held, now_ms) for held in locks.values())

    def sweep(self, now_ms: int) -> None:
        """Drop locks that are over, so that the table does not grow."""
        for group, locks in list(self._groups.items()):
            for queue in [queue for queue, held in locks.items() if _is_over(held, now_ms)]:
                del locks[queue]
            if not locks:
                del self._groups[group]


def _is_over(lock: _Lock, now_ms: int) -> bool:
    return now_ms - lock.renewed_at_ms > LOCK_LIFE_MS
