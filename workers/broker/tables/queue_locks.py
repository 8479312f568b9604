"""Decide which client of a group may consume a queue in order (remoting.md 2.3, 41 and 42)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from backend.remoting.bodies import MessageQueue

LOCK_LIFE_MS: Final = 60_000


@dataclass(slots=True)
class QueueLock:
    """Hold the owner of a lock and its time; milliseconds of the clock that is never set.

    A holder and its `locked_at_ms` name one hold: a new lock after a release is another hold.
    """

    client_id: str
    locked_at_ms: int
    renewed_at_ms: int

    def expires_in_ms(self, now_ms: int) -> int:
        """Return the rest of the lock's lifetime without a renewal; negative after its end."""
        return self.renewed_at_ms + LOCK_LIFE_MS - now_ms


class QueueLocks:
    """The locks of all groups; a lock ends one minute after its last renewal."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[MessageQueue, QueueLock]] = {}

    def lock(
        self, group: str, *, client_id: str, queues: Iterable[MessageQueue], now_ms: int
    ) -> list[MessageQueue]:
        """Take or renew the locks of queues that no other client holds, and return these queues."""
        locks = self._groups.setdefault(group, {})
        taken = []
        for queue in queues:
            held = locks.get(queue)
            if held is None or held.expires_in_ms(now_ms) < 0:
                locks[queue] = QueueLock(client_id, now_ms, now_ms)
            elif held.client_id == client_id:
                held.renewed_at_ms = now_ms
            else:
                continue
            taken.append(queue)
        return taken

    def adopt(
        self, group: str, queue: MessageQueue, *, client_id: str, expires_in_ms: int, now_ms: int
    ) -> None:
        """Take over a lock of another broker, unless this one has given the lock meanwhile."""
        locks = self._groups.setdefault(group, {})
        held = locks.get(queue)
        if held is None or held.expires_in_ms(now_ms) < 0:
            locks[queue] = QueueLock(client_id, now_ms, now_ms + expires_in_ms - LOCK_LIFE_MS)

    def clear(self) -> None:
        """Forget all locks, before those of another broker are taken over."""
        self._groups.clear()

    def unlock(self, group: str, *, client_id: str, queues: Iterable[MessageQueue]) -> None:
        """Unlock those of the queues that this client holds."""
        locks = self._groups.get(group, {})
        for queue in queues:
            held = locks.get(queue)
            if held and held.client_id == client_id:
                del locks[queue]

    def release(
        self, group: str, queue: MessageQueue, *, client_id: str, locked_at_ms: int
    ) -> bool:
        """Unlock a queue if this hold of this client still exists; return whether it did."""
        held = self._groups.get(group, {}).get(queue)
        if held is None or (held.client_id, held.locked_at_ms) != (client_id, locked_at_ms):
            return False
        del self._groups[group][queue]
        return True

    def find(self, group: str, queue: MessageQueue, now_ms: int) -> QueueLock | None:
        """Return the lock of a queue; None after its end."""
        held = self._groups.get(group, {}).get(queue)
        return None if held is None or held.expires_in_ms(now_ms) < 0 else held

    def all(
        self, now_ms: int, *, group: str | None = None
    ) -> Iterator[tuple[str, MessageQueue, QueueLock]]:
        """Yield the current locks of one group or of all, by group."""
        names = sorted(self._groups) if group is None else [group]
        for name in names:
            for queue, held in self._groups.get(name, {}).items():
                if held.expires_in_ms(now_ms) >= 0:
                    yield name, queue, held

    def holds_any(self, group: str, now_ms: int) -> bool:
        """Return whether the group consumes in order now."""
        return any(True for _ in self.all(now_ms, group=group))

    def sweep(self, now_ms: int) -> None:
        """Drop ended locks, so that the table does not grow.

        A lock with a renewal in the future, after the clock was set back, is treated as renewed
        now.
        """
        for group, locks in list(self._groups.items()):
            for held in locks.values():
                held.renewed_at_ms = min(held.renewed_at_ms, now_ms)
            for queue in [q for q, held in locks.items() if held.expires_in_ms(now_ms) < 0]:
                del locks[queue]
            if not locks:
                del self._groups[group]
