"""Decide which client of a group may consume a queue in order (remoting.md 2.3, 41 and 42).

In a group with a controller the holders are in the log (D14), so a failover gives no lock to a
second client (I11). Renewals are not: a new master gives each holder the whole time again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from backend.remoting.bodies import MessageQueue

LOCK_LIFE_MS: Final = 60_000

LoggedLocks = dict[str, dict[str, str | None]]
"""Holders by consumer group and queue; None for a lock that was released or has ended."""


@dataclass(slots=True)
class QueueLock:
    """Hold the owner of a lock and its time; milliseconds of the clock that is never set.

    A holder and its `locked_at_ms` name one hold: a new lock after a release is another hold.
    """

    client_id: str
    locked_at_ms: int
    renewed_at_ms: int
    is_kept: bool = True
    """Whether every possible next master knows the holder."""

    def expires_in_ms(self, now_ms: int) -> int:
        """Return the rest of the lock's lifetime without a renewal; negative after its end."""
        return self.renewed_at_ms + LOCK_LIFE_MS - now_ms


class QueueLocks:
    """The locks of all groups; a lock ends one minute after its last renewal."""

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        """Take the clock if the log keeps the holders."""
        self._groups: dict[str, dict[MessageQueue, QueueLock]] = {}
        self.unlock_count = 0
        """The unlocks so far. A list of another broker that is older than an unlock is outdated."""

        self._clock = clock
        # None if this broker does not write the log of its group.
        self._changed: dict[tuple[str, MessageQueue], None] | None = None

    def lock(
        self, group: str, *, client_id: str, queues: Iterable[MessageQueue], now_ms: int
    ) -> list[MessageQueue]:
        """Take or renew the locks of queues that no other client holds, and return these queues."""
        locks = self._groups.setdefault(group, {})
        taken = []
        for queue in queues:
            held = locks.get(queue)
            if held is None or held.expires_in_ms(now_ms) < 0:
                is_kept = self._clock is None
                locks[queue] = QueueLock(client_id, now_ms, now_ms, is_kept)
                self._note(group, queue)
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
            self._note(group, queue)

    def clear(self) -> None:
        """Forget all locks, before those of another broker are taken over."""
        self._groups.clear()

    def unlock(self, group: str, *, client_id: str, queues: Iterable[MessageQueue]) -> None:
        """Unlock those of the queues that this client holds."""
        self.unlock_count += 1
        locks = self._groups.get(group, {})
        for queue in queues:
            held = locks.get(queue)
            if held and held.client_id == client_id:
                del locks[queue]
                self._note(group, queue)

    def release(
        self, group: str, queue: MessageQueue, *, client_id: str, locked_at_ms: int
    ) -> bool:
        """Unlock a queue if this hold of this client still exists; return whether it did."""
        held = self._groups.get(group, {}).get(queue)
        if held is None or (held.client_id, held.locked_at_ms) != (client_id, locked_at_ms):
            return False
        self.unlock_count += 1
        del self._groups[group][queue]
        self._note(group, queue)
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
        now. A broker that follows its master does not know when locks were renewed.
        """
        if self._clock is not None and self._changed is None:
            return
        for group, locks in list(self._groups.items()):
            for held in locks.values():
                held.renewed_at_ms = min(held.renewed_at_ms, now_ms)
            for queue in [q for q, held in locks.items() if held.expires_in_ms(now_ms) < 0]:
                del locks[queue]
                self._note(group, queue)
            if not locks:
                del self._groups[group]

    # The log.

    def unkept(
        self, group: str, *, client_id: str, queues: Iterable[MessageQueue]
    ) -> dict[MessageQueue, QueueLock]:
        """Return the locks that this client has here, and may lose in a failover."""
        locks = self._groups.get(group, {})
        found = {queue: locks[queue] for queue in queues if queue in locks}
        return {
            queue: held
            for queue, held in found.items()
            if held.client_id == client_id and not held.is_kept
        }

    def keep(self, group: str, holds: Mapping[MessageQueue, QueueLock]) -> list[MessageQueue]:
        """Note that every possible next master knows these holds, and return those that ended."""
        locks = self._groups.get(group, {})
        for held in holds.values():
            held.is_kept = True
        return [queue for queue, held in holds.items() if locks.get(queue) is not held]

    def end_unkept(self, group: str, holds: Mapping[MessageQueue, QueueLock]) -> None:
        """End those of the holds that no other request of their client has made safe meanwhile."""
        locks = self._groups.get(group, {})
        for queue, held in holds.items():
            if locks.get(queue) is held and not held.is_kept:
                del locks[queue]
                self._note(group, queue)

    @property
    def has_changes(self) -> bool:
        """Return whether there are changes since the last call that took them."""
        return bool(self._changed)

    def lead(self) -> None:
        """Give every known holder the whole time, and collect changes for records."""
        if self._clock is None:
            return
        now_ms, self._changed = self._clock(), {}
        for locks in self._groups.values():
            for held in locks.values():
                held.locked_at_ms = held.renewed_at_ms = now_ms
                held.is_kept = True

    def follow(self) -> None:
        """Accept only changes from records."""
        self._changed = None

    def take_changes(self) -> LoggedLocks:
        """Return the changes since the last call."""
        changes: LoggedLocks = {}
        for group, queue in self._changed or ():
            held = self._groups.get(group, {}).get(queue)
            changes.setdefault(group, {})[_spelled(queue)] = (
                None if held is None else held.client_id
            )
        if self._changed is not None:
            self._changed.clear()
        return changes

    @property
    def table(self) -> LoggedLocks:
        """Return all holders, if the log keeps them."""
        if self._clock is None:
            return {}
        return {
            group: {_spelled(queue): held.client_id for queue, held in locks.items()}
            for group, locks in self._groups.items()
        }

    def apply(self, changes: LoggedLocks) -> None:
        """Apply the changes of a master."""
        if self._clock is None:
            return
        now_ms = self._clock()
        for group, queues in changes.items():
            locks = self._groups.setdefault(group, {})
            for name, client_id in queues.items():
                if client_id is None:
                    locks.pop(_queue(name), None)
                else:
                    locks[_queue(name)] = QueueLock(client_id, now_ms, now_ms)

    def replace(self, table: LoggedLocks) -> None:
        """Replace all locks with a master's."""
        if self._clock is not None:
            self._groups.clear()
            self.apply(table)

    def _note(self, group: str, queue: MessageQueue) -> None:
        if self._changed is not None:
            self._changed[group, queue] = None


def _spelled(queue: MessageQueue) -> str:
    """Name a queue in a record; topics have no such sign."""
    return f"{queue.queue_id}@{queue.topic}@{queue.broker_name}"


def _queue(name: str) -> MessageQueue:
    queue_id, topic, broker_name = name.split("@", 2)
    return MessageQueue(broker_name=broker_name, queue_id=int(queue_id), topic=topic)
