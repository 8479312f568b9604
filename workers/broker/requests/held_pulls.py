"""Hold pulls that found nothing until a message arrives or their timeout.

A pure table: callers pass the time, and the table sends no answers. Deadlines share coarse slots,
so that the cost does not depend on the number of held pulls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

HELD_COUNT_MAX: Final = 100_000
SLOT_MS: Final = 100
# A client gives up after 30 s at the latest, so a longer hold is useless.
HOLD_MS_MAX: Final = 30_000

Request = TypeVar("Request")


@dataclass(slots=True, eq=False)
class HeldPull(Generic[Request]):
    """One waiting pull: its next offset, and its deadline."""

    group: str
    topic: str
    queue_id: int
    offset: int
    deadline_ms: int
    request: Request
    owner: object = field(repr=False)


class Resumable(Protocol):
    """The state to continue a held pull."""

    def resume(self, pull: "HeldPull[Resumable]", *, is_over: bool) -> None:
        """Try again; after the timeout, answer with any result."""


class HeldPulls(Generic[Request]):
    """All waiting pulls of a broker, by queue, by deadline and by owner."""

    def __init__(self, *, count_max: int = HELD_COUNT_MAX) -> None:
        self._count_max = count_max
        self._by_queue: dict[tuple[str, int], dict[HeldPull[Request], None]] = {}
        self._by_slot: dict[int, dict[HeldPull[Request], None]] = {}
        self._by_owner: dict[object, dict[HeldPull[Request], None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def next_deadline_ms(self) -> int | None:
        """Return the time of the next deadline for `expire`; None when no pull waits."""
        return (min(self._by_slot) + 1) * SLOT_MS if self._by_slot else None

    def hold(self, pull: HeldPull[Request]) -> bool:
        """Add a pull; False when the table is full and the pull must be refused."""
        if self._count >= self._count_max:
            return False
        self._by_queue.setdefault((pull.topic, pull.queue_id), {})[pull] = None
        self._by_slot.setdefault(_slot(pull), {})[pull] = None
        self._by_owner.setdefault(pull.owner, {})[pull] = None
        self._count += 1
        return True

    def wake(self, topic: str, queue_id: int, max_offset: int) -> list[HeldPull[Request]]:
        """Remove and return the pulls of a queue that now have messages."""
        waiting = self._by_queue.get((topic, queue_id))
        if not waiting:
            return []
        return self._take_out([pull for pull in waiting if pull.offset < max_offset])

    def expire(self, now_ms: int) -> list[HeldPull[Request]]:
        """Remove and return the pulls after their timeout, and those from before a clock change."""
        latest_ms = now_ms + HOLD_MS_MAX
        due = [
            slot
            for slot in self._by_slot
            if not now_ms < (slot + 1) * SLOT_MS <= latest_ms + SLOT_MS
        ]
        return self._take_out([pull for slot in sorted(due) for pull in self._by_slot[slot]])

    def drop_owner(self, owner: object) -> None:
        """Remove the pulls of a closed connection."""
        self._take_out(list(self._by_owner.get(owner, ())))

    def take_queue(self, topic: str) -> list[HeldPull[Request]]:
        """Remove and return all pulls of a topic, for example after its deletion."""
        queues = [waiting for key, waiting in self._by_queue.items() if key[0] == topic]
        return self._take_out([pull for waiting in queues for pull in waiting])

    def take_group(
        self, group: str, topic: str, queue_ids: Iterable[int]
    ) -> list[HeldPull[Request]]:
        """Remove and return the pulls of a group at some queues."""
        queues = [self._by_queue.get((topic, queue_id), ()) for queue_id in queue_ids]
        return self._take_out(
            [pull for waiting in queues for pull in waiting if pull.group == group]
        )

    def take_all(self) -> list[HeldPull[Request]]:
        """Remove and return every pull, to answer them before the broker stops."""
        return self._take_out([pull for slot in self._by_slot.values() for pull in slot])

    def _take_out(self, pulls: Iterable[HeldPull[Request]]) -> list[HeldPull[Request]]:
        taken = list(pulls)
        for pull in taken:
            _discard(self._by_queue, (pull.topic, pull.queue_id), pull)
            _discard(self._by_slot, _slot(pull), pull)
            _discard(self._by_owner, pull.owner, pull)
        self._count -= len(taken)
        return taken


Key = TypeVar("Key")


def _slot(pull: HeldPull[Request]) -> int:
    return pull.deadline_ms // SLOT_MS


def _discard(
    index: dict[Key, dict[HeldPull[Request], None]], key: Key, pull: HeldPull[Request]
) -> None:
    members = index[key]
    del members[pull]
    if not members:
        del index[key]
