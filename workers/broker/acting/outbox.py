"""Keep what is due at an acting master until another broker group has it (D17).

An entry is a log position: the log of this replica has the message. Entries of one origin and one
queue leave in their order, and those of other queues pass them. Attempts are repeated without a
limit. An entry is done with once its target has acknowledged it, and only then. After a restart the
queues of waiting messages fill the outbox again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import structlog

from workers.broker.commit_log.delay_delivery import NotYet

ENTRY_COUNT_MAX: Final = 100_000
"""The entries of one origin that wait here; its next ones wait in their queue."""

FIRST_PAUSE_S: Final = 0.1
PAUSE_S_MAX: Final = 5.0
ERROR_PAUSE_S: Final = 10.0

TRIES_PER_TARGET: Final = 4
"""A target that lost an answer has the message: it must get it again, and not another one."""

ATTEMPT_COUNT_MAX: Final = 8
"""The attempts for one topic at a time, so that a slow target of a topic delays no other topic."""

log = structlog.get_logger()


class Kind(StrEnum):
    """What a message waited for before it came into the outbox."""

    DELAYED = "delayed"
    TIMED = "timed"
    COMMITTED = "committed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that is due: where it is, and where its sender wanted it."""

    log_position: int
    kind: Kind
    topic: str
    queue_id: int
    level: int = 0
    """The delay level; 0 for another kind."""

    gone: Callable[[], object] = field(default=lambda: None, compare=False)
    """Called once another broker group has the message, or none needs it."""


Origin = tuple[Kind, int]
LaneKey = tuple[Kind, int, str, int]


@dataclass(slots=True)
class Lane:
    """The entries of one origin and one queue."""

    topic: str
    entries: OrderedDict[int, tuple[Entry, int]] = field(default_factory=OrderedDict)
    """Each entry by its log position, and when it came, in milliseconds."""

    failure_count: int = 0
    """The failed attempts for the first entry."""

    turn: int = 0
    """Which queue of which broker group is tried: the next one after some failures."""

    failure: str | None = None
    next_at_ms: int | None = None
    task: asyncio.Task[None] | None = None

    @property
    def first(self) -> tuple[Entry, int]:
        """Return the entry that leaves next, and when it came; there is one."""
        return next(iter(self.entries.values()))

    def fail(self, reason: str, now_ms: int) -> float:
        """Note a failed attempt; return how long to wait for the next one."""
        pause_s = min(FIRST_PAUSE_S * (1 << min(self.failure_count, 16)), PAUSE_S_MAX)
        self.failure_count += 1
        if self.failure_count % TRIES_PER_TARGET == 0:
            self.turn += 1
        self.failure, self.next_at_ms = reason, now_ms + round(pause_s * 1000)
        return pause_s

    def succeed(self) -> None:
        """Note that the first entry has left."""
        self.failure_count, self.failure, self.next_at_ms = 0, None, None


Send = Callable[[Entry, int], Awaitable[None]]
"""Sends a message to the target whose turn it is; raises `NotYet` if no target has it now."""


class Outbox:
    """The entries of one acting master; belongs to the loop's thread."""

    def __init__(self, send: Send, *, clock: Callable[[], int]) -> None:
        self._send, self._clock = send, clock
        self._lanes: dict[LaneKey, Lane] = {}
        self._by_position: dict[int, Lane] = {}
        self._sent: set[int] = set()
        self._counts: dict[Origin, int] = {}
        self._attempts: dict[str, asyncio.Semaphore] = {}
        self._has_room = asyncio.Event()

    def __contains__(self, log_position: int) -> bool:
        """Return whether a message is in the outbox."""
        return log_position in self._by_position

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._by_position)

    def lanes(self) -> Iterable[tuple[Kind, Lane]]:
        """Return the lanes with entries, and what their messages waited for."""
        return [(key[0], lane) for key, lane in self._lanes.items() if lane.entries]

    def has_room(self, kind: Kind, level: int = 0) -> bool:
        """Return whether there is room for an entry of an origin."""
        return self._counts.get((kind, level), 0) < ENTRY_COUNT_MAX

    async def room(self, kind: Kind, level: int) -> None:
        """Return once there is room for an entry of an origin."""
        while not self.has_room(kind, level):
            self._has_room.clear()
            await self._has_room.wait()

    def add(self, entry: Entry) -> None:
        """Send a message as soon as possible; one that is in the outbox is not added again."""
        if entry.log_position in self._by_position:
            return
        origin = (entry.kind, entry.level)
        self._counts[origin] = self._counts.get(origin, 0) + 1
        lane = self._lanes.setdefault((*origin, entry.topic, entry.queue_id), Lane(entry.topic))
        self._by_position[entry.log_position] = lane
        lane.entries[entry.log_position] = entry, self._clock()
        if lane.task is None:
            lane.task = asyncio.create_task(self._serve(lane), name=f"escape to {entry.topic}")

    def withdraw(self, log_position: int) -> bool:
        """Take an entry out, if it is here; return False if it is being sent."""
        if log_position in self._sent:
            return False
        lane = self._by_position.get(log_position)
        if lane is not None:
            self._take_out(lane.entries[log_position][0])
        return True

    def clear(self) -> None:
        """Forget all entries: this replica acts no more."""
        for lane in self._lanes.values():
            if lane.task is not None:
                lane.task.cancel()
            lane.entries.clear()
        self._lanes.clear()
        self._by_position.clear()
        self._counts.clear()
        self._attempts.clear()
        self._has_room.set()

    async def _serve(self, lane: Lane) -> None:
        """Send the entries of a lane, one behind the other."""
        room = self._attempts.setdefault(lane.topic, asyncio.Semaphore(ATTEMPT_COUNT_MAX))
        while lane.entries:
            async with room:
                # The first one may have been withdrawn meanwhile.
                pause_s = await self._try(lane) if lane.entries else 0
            await asyncio.sleep(pause_s)
        lane.task = None

    async def _try(self, lane: Lane) -> float:
        """Send the first message of a lane once; return how long to wait before the next try."""
        entry, _ = lane.first
        self._sent.add(entry.log_position)
        try:
            await self._send(entry, lane.turn)
        except NotYet as error:
            if lane.failure is None:
                log.warning("message_not_escaped", topic_name=lane.topic, reason=str(error))
            return lane.fail(str(error), self._clock())
        except Exception as error:
            log.exception("message_not_escaped", topic_name=lane.topic)
            lane.fail(str(error), self._clock())
            return ERROR_PAUSE_S
        finally:
            self._sent.discard(entry.log_position)
        lane.succeed()
        self._take_out(entry)
        entry.gone()
        return 0

    def _take_out(self, entry: Entry) -> None:
        lane = self._by_position.pop(entry.log_position, None)
        if lane is not None:
            del lane.entries[entry.log_position]
            self._counts[entry.kind, entry.level] -= 1
            self._has_room.set()
