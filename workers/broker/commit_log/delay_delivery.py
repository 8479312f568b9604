"""Deliver delayed messages when their delay has passed (storage-and-ha.md 6.1).

The schedule topic has one queue for each level, in the order of due time. A level sleeps until its
first entry is due, and wakes on an arrival; an empty level costs nothing. Due messages are read on
a thread, because the disk may be slow; the loop decides whether and where to deliver them.

A level that was removed from the settings is served until its messages are delivered. If a level
becomes shorter, its messages keep their due time.
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import msgspec
import structlog
from regent_engine import Record, StoreError

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.integers import Int32, Int64
from backend.remoting.names import SCHEDULE_TOPIC
from backend.remoting.sifting import LeftOut, decode_items
from workers.broker.configuration.settings import DELAY_LEVEL_COUNT_MAX
from workers.broker.tables.escaped import EscapedMessages
from workers.broker.tables.logged_table import LoggedTable, LoggedTableFile

BATCH_COUNT: Final = 64
# A batch stays in memory until it is delivered.
BATCH_BYTES_MAX: Final = 1 << 20
RETRY_MS: Final = 100
ERROR_PAUSE_MS: Final = 10_000
# The wall clock may jump; no level sleeps longer than this.
SLEEP_MS_MAX: Final = 1000

log = structlog.get_logger()


class DelayOffsetFile(LoggedTableFile, frozen=True, kw_only=True):
    """The stock form of `delayOffset.json`: the next queue offset of each level."""

    offsets: dict[Int32, Int64] = msgspec.field(name="offsetTable", default_factory=dict)


def decode_delay_file(data: bytes) -> tuple[DelayOffsetFile, list[LeftOut]]:
    """Read the file; unreadable levels are left out and named.

    Raises:
        InvalidJson: the document is malformed.
    """
    return decode_items(data, DelayOffsetFile, "offsetTable")


class EscapeDelayed(Protocol):
    """The way of due messages to other broker groups."""

    async def __call__(
        self, level: int, log_position: int, record: Record | None, gone: Callable[[], None]
    ) -> None:
        """Take a message as soon as there is room for it; call back once it is done with."""


class NotYet(Exception):
    """A message can't be delivered now; it is retried soon."""


@dataclass(frozen=True, slots=True)
class Due:
    """The due part of a level: log positions, and the messages read there."""

    messages: list[tuple[int, Record | None]]
    next_at_ms: int | None
    """When the next message is due, None when none waits."""


class ScheduledStore(Protocol):
    """The operations of a store that the delivery needs."""

    def entries(
        self, topic: str, queue_id: int, offset: int, count: int
    ) -> list[tuple[int, int, int]]: ...
    def held_offsets(self, topic: str, queue_id: int) -> tuple[int, int] | None: ...


class DelayDelivery(LoggedTable[int]):
    """Moves due messages of all levels to their topics."""

    def __init__(
        self,
        store: ScheduledStore,
        *,
        levels_ms: tuple[int, ...],
        stored: DelayOffsetFile | None,
        read: Callable[[int], Record | None],
        deliver: Callable[[int, Record | None], None],
        on_thread: Callable[[Callable[[], Due]], Awaitable[Due]],
        clock: Callable[[], int],
        escaped: EscapedMessages,
        stored_at_ms: Callable[[int, int], int] = lambda _level, _offset: -1,
    ) -> None:
        """Start with the stored offsets; `on_thread` reads messages.

        The store time of the message at an offset may be unknown: -1.
        """
        super().__init__(stored)
        self.data_version: DataVersion = stored.data_version if stored else DataVersion()
        self._store, self._levels_ms = store, levels_ms
        self._read, self._deliver, self._clock = read, deliver, clock
        self._on_thread, self._stored_at_ms = on_thread, stored_at_ms
        self._progress = dict(stored.offsets) if stored else {}
        self._arrivals: dict[int, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._refused_levels: set[int] = set()
        self._escaped = escaped
        self._escape: EscapeDelayed | None = None
        # Of each level: the next offset to take, and what is done with beyond the progress.
        self._taken: dict[int, int] = {}
        self._gone: dict[int, dict[int, int]] = {}
        self._is_running = False

    def escape_by(self, escape: EscapeDelayed | None) -> None:
        """Let due messages go to another broker group from now on; None delivers them here."""
        self._escape = escape

    @property
    def progress(self) -> Mapping[int, int]:
        """Return the next queue offset of each level."""
        return self._progress

    def start(self) -> None:
        """Serve every level; called on the running loop."""
        loop = asyncio.get_running_loop()
        self._taken.clear()
        self._gone.clear()
        removed = self._removed_levels()
        for level in (*range(1, len(self._levels_ms) + 1), *removed):
            self._correct(level)
            self._arrivals[level] = asyncio.Event()
            self._tasks.append(loop.create_task(self._serve(level), name=f"delay-level-{level}"))
        self._is_running = True
        if removed:
            log.warning(
                "removed_levels_served",
                waiting=removed,
                reason="messages wait in levels that messageDelayLevel no longer has;"
                " each is delivered when it is due",
            )

    def _removed_levels(self) -> dict[int, int]:
        """Count the waiting messages in levels that the settings no longer contain."""
        waiting = {}
        for level in range(len(self._levels_ms) + 1, DELAY_LEVEL_COUNT_MAX + 1):
            low, end = self._store.held_offsets(SCHEDULE_TOPIC, level - 1) or (0, 0)
            count = end - max(low, self._progress.get(level, 0))
            if count > 0:
                waiting[level] = count
        return waiting

    def arrived(self, queue_id: int) -> None:
        """Note that a level's queue has grown."""
        if self._is_running and (arrival := self._arrivals.get(queue_id + 1)) is not None:
            arrival.set()

    def stop(self) -> None:
        """Deliver nothing more, not even messages that are being read."""
        self._is_running = False
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()

    def adopt(self, file: DelayOffsetFile) -> None:
        """Take over the offsets of a stock master; for a broker that does not deliver."""
        self.apply(file.offsets)

    def apply(self, offsets: Mapping[int, int]) -> None:
        """Take over a master's offsets of some levels; for a broker that does not deliver."""
        if not (self._is_running or offsets.items() <= self._progress.items()):
            self._progress |= offsets
            self.change_count += 1

    def replace(self, offsets: Mapping[int, int]) -> None:
        """Take over a master's offsets of all levels; for a broker that does not deliver."""
        if not self._is_running and self._progress != offsets:
            self._progress = dict(offsets)
            self.change_count += 1

    def delivered(self, level: int, offset: int) -> None:
        """Note that all messages before an offset of a level are delivered, by any broker."""
        if offset > self._progress.get(level, 0):
            self._progress[level] = offset
            self._note(level)

    def take_over(self, offsets: Mapping[int, int]) -> int:
        """Take over the progress of levels in which a replica is ahead; return their number."""
        ahead = {level: at for level, at in offsets.items() if at > self._progress.get(level, 0)}
        for level, offset in ahead.items():
            self.delivered(level, offset)
        return len(ahead)

    def take_changes(self) -> dict[int, int]:
        """Return the offsets of the levels that advanced since the last call."""
        return {level: self._progress[level] for level in self._take()}

    def stamp(self, now_ms: int) -> None:
        """Raise the version of the table before it is saved."""
        self.data_version = self.data_version.next(now_ms)

    def as_body(self) -> bytes:
        """Return the table for replicas that do not support records (45)."""
        return java_json.encode(self._document())

    def _document(self) -> dict[str, Any]:
        return {"dataVersion": self.data_version, "offsetTable": self._progress}

    def _correct(self, level: int) -> None:
        # A delivery in this log is valid, even before readers may see it.
        low, high = self._store.held_offsets(SCHEDULE_TOPIC, level - 1) or (0, 0)
        stored = self._progress.get(level)
        if stored is not None or low > 0:
            corrected = min(max(stored or 0, low), high)
            if self._is_running and corrected > (stored or 0):
                log.warning(
                    "delayed_messages_expired", level=level, count=corrected - (stored or 0)
                )
            if corrected != stored:
                self._progress[level] = corrected
                self._note(level)

    async def _serve(self, level: int) -> None:
        """Deliver due messages, until cancelled."""
        arrival = self._arrivals[level]
        while True:
            # Messages that arrive during the look at the queue cause another look.
            arrival.clear()
            next_in_ms = await self._try_to_deliver(level)
            if next_in_ms is None:
                await arrival.wait()
            else:
                await asyncio.sleep(min(next_in_ms, SLEEP_MS_MAX) / 1000)

    async def _try_to_deliver(self, level: int) -> int | None:
        try:
            offset = self.next_offset(level)
            if self._escape is not None:
                offset = max(offset, self._taken.get(level, 0))
            due = await self._on_thread(partial(self.read_due, level, offset))
            if self._escape is not None:
                await self._let_escape(level, offset, due, self._escape)
                next_in_ms = self._rest_of(due)
            else:
                next_in_ms = self.deliver(level, due)
            self._refused_levels.discard(level)
        except (StoreError, NotYet) as error:
            if level not in self._refused_levels:
                log.warning("delayed_delivery_refused", level=level, reason=str(error))
            self._refused_levels.add(level)
            return RETRY_MS
        except Exception:
            log.exception("delayed_delivery_failed", level=level)
            return ERROR_PAUSE_MS
        return next_in_ms

    def next_offset(self, level: int) -> int:
        """Return the next offset of a level: retention may have deleted waiting messages."""
        self._correct(level)
        return self._progress.get(level, 0)

    def read_due(self, level: int, offset: int) -> Due:
        """Read a batch of due messages from an offset on; on any thread.

        Raises:
            StoreError: the read can be retried.
        """
        # After a refusal, one message is enough to see whether the store accepts again.
        count = 1 if level in self._refused_levels else BATCH_COUNT
        entries = self._store.entries(SCHEDULE_TOPIC, level - 1, offset, count)
        if not entries:
            low, _ = self._store.held_offsets(SCHEDULE_TOPIC, level - 1) or (0, 0)
            return Due([], 0 if offset < low else None)
        messages: list[tuple[int, Record | None]] = []
        size = 0
        for at, (log_position, record_size, due_ms) in enumerate(entries, offset):
            if self._is_waiting(level, at, due_ms):
                return Due(messages, due_ms)
            size += record_size
            if messages and size > BATCH_BYTES_MAX:
                break
            messages.append((log_position, self._read(log_position)))
        return Due(messages, 0)

    def _is_waiting(self, level: int, offset: int, due_ms: int) -> bool:
        """Return whether a message must wait longer.

        A due time beyond the level's delay is from an earlier setting of the level, or from before
        the clock was set back. In the second case the message was stored in the future, and is
        delivered.
        """
        now_ms = self._clock()
        if due_ms <= now_ms:
            return False
        delay_ms = self._levels_ms[level - 1] if level <= len(self._levels_ms) else 0
        if due_ms - now_ms <= delay_ms:
            return True
        return 0 <= self._stored_at_ms(level, offset) <= now_ms

    def deliver(self, level: int, due: Due) -> int | None:
        """Deliver the messages that were read, and return when to look again; None when none waits.

        Raises:
            StoreError, NotYet: the message is retried next time.
        """
        offset = self._progress.get(level, 0)
        for log_position, record in due.messages:
            if log_position not in self._escaped:
                self._deliver(log_position, record)
            offset += 1
            self.delivered(level, offset)
            self._escaped.drop(log_position)
        return self._rest_of(due)

    async def _let_escape(self, level: int, offset: int, due: Due, escape: EscapeDelayed) -> None:
        """Put the messages into the outbox, where none waits for one of another queue."""
        for at, (log_position, record) in enumerate(due.messages, offset):
            await escape(level, log_position, record, partial(self._left, level, at, log_position))
            self._taken[level] = at + 1

    def _left(self, level: int, offset: int, log_position: int) -> None:
        """Advance behind the messages that are done with, without a gap."""
        gone = self._gone.setdefault(level, {})
        gone[offset] = log_position
        end = self._progress.get(level, 0)
        covered: list[int] = []
        while end in gone:
            covered.append(gone.pop(end))
            end += 1
        self.delivered(level, end)
        for one in covered:
            self._escaped.drop(one)

    def _rest_of(self, due: Due) -> int | None:
        return None if due.next_at_ms is None else max(0, due.next_at_ms - self._clock())
