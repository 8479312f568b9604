"""Deliver delayed messages when their level's time has come (storage-and-ha.md 6.1).

One queue of the schedule topic stands for each level, in order of due time. A level sleeps until
its first entry is due and wakes on an arrival; an empty level costs nothing.
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import msgspec
import structlog
from regent_engine import StoreError

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.names import SCHEDULE_TOPIC
from workers.broker.logged_table import LoggedTable, LoggedTableFile

BATCH_COUNT: Final = 64
RETRY_MS: Final = 100
ERROR_PAUSE_MS: Final = 10_000
# The wall clock may jump; no level sleeps through that for longer than this.
SLEEP_MS_MAX: Final = 1000

log = structlog.get_logger()


class DelayOffsetFile(LoggedTableFile, frozen=True, kw_only=True):
    """The stock shape of `delayOffset.json`: the next queue offset of each level."""

    offsets: dict[int, int] = msgspec.field(name="offsetTable", default_factory=dict)


class NotYet(Exception):  # noqa: N818 - named for what it says, as all errors here
    """A message can't be delivered at this moment; it is tried again soon."""


class ScheduledStore(Protocol):
    """What of a store the delivery needs."""

    def entries(
        self, topic: str, queue_id: int, offset: int, count: int
    ) -> list[tuple[int, int, int]]: ...
    def held_offsets(self, topic: str, queue_id: int) -> tuple[int, int] | None: ...


class DelayDelivery(LoggedTable[int]):
    """Moves due messages of all levels to where they belong."""

    def __init__(
        self,
        store: ScheduledStore,
        *,
        levels_ms: tuple[int, ...],
        stored: DelayOffsetFile | None,
        deliver: Callable[[int], None],
        clock: Callable[[], int],
    ) -> None:
        super().__init__(stored)
        self.data_version: DataVersion = stored.data_version if stored else DataVersion()
        self._store, self._levels_ms = store, levels_ms
        self._deliver, self._clock = deliver, clock
        self._progress = dict(stored.offsets) if stored else {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._refused_levels: set[int] = set()
        self._is_running = False

    @property
    def progress(self) -> Mapping[int, int]:
        """Give the next queue offset of each level."""
        return self._progress

    def start(self) -> None:
        """Look at every level once; called on the running loop."""
        for level in range(1, len(self._levels_ms) + 1):
            self._correct(level)
            self._schedule(level, 0)
        self._is_running = True

    def arrived(self, queue_id: int) -> None:
        """Note that a level's queue has grown."""
        level = queue_id + 1
        if self._is_running and level not in self._timers:
            self._schedule(level, 0)

    def stop(self) -> None:
        """Deliver nothing more."""
        self._is_running = False
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def adopt(self, told: DelayOffsetFile) -> None:
        """Take over how far a master of stock has delivered; for one that does not deliver."""
        self.apply(told.offsets)

    def apply(self, offsets: Mapping[int, int]) -> None:
        """Take over how far a master has delivered some levels; for one that does not deliver."""
        if not (self._is_running or offsets.items() <= self._progress.items()):
            self._progress |= offsets
            self.change_count += 1

    def replace(self, offsets: Mapping[int, int]) -> None:
        """Take over how far a master has delivered each level; for one that does not deliver."""
        if not self._is_running and self._progress != offsets:
            self._progress = dict(offsets)
            self.change_count += 1

    def delivered(self, level: int, offset: int) -> None:
        """Note that all before an offset of a level is delivered, by whomever."""
        if offset > self._progress.get(level, 0):
            self._progress[level] = offset
            self._note(level)

    def take_changes(self) -> dict[int, int]:
        """Give how far those levels are delivered of which more is since the last call."""
        return {level: self._progress[level] for level in self._take()}

    def stamp(self, now_ms: int) -> None:
        """Give the table a new version before it is saved."""
        self.data_version = self.data_version.next(now_ms)

    def as_body(self) -> bytes:
        """Give the table as replicas read it that do not know of records (45)."""
        return java_json.encode(self._document())

    def _document(self) -> dict[str, Any]:
        return {"dataVersion": self.data_version, "offsetTable": self._progress}

    def _correct(self, level: int) -> None:
        # What this log says was delivered counts, though nobody may see it yet.
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

    def _schedule(self, level: int, delay_ms: int) -> None:
        delay_s = min(delay_ms, SLEEP_MS_MAX) / 1000
        loop = asyncio.get_running_loop()
        self._timers[level] = loop.call_later(delay_s, self._run_level, level)

    def _run_level(self, level: int) -> None:
        self._timers.pop(level, None)
        try:
            next_in_ms = self.deliver_due(level)
            self._refused_levels.discard(level)
        except (StoreError, NotYet) as error:
            if level not in self._refused_levels:
                log.warning("delayed_delivery_refused", level=level, reason=str(error))
            self._refused_levels.add(level)
            next_in_ms = RETRY_MS
        except Exception:
            log.exception("delayed_delivery_failed", level=level)
            next_in_ms = ERROR_PAUSE_MS
        if next_in_ms is not None and self._is_running:
            self._schedule(level, next_in_ms)

    def deliver_due(self, level: int) -> int | None:
        """Deliver a batch of what is due and say when to look again; None when nothing waits.

        Raises:
            StoreError, NotYet: the message in question is tried again next time.
        """
        # Retention may have reached what was still waiting; the level goes on behind it.
        self._correct(level)
        offset = self._progress.get(level, 0)
        entries = self._store.entries(SCHEDULE_TOPIC, level - 1, offset, BATCH_COUNT)
        for log_position, _, due_ms in entries:
            wait_ms = due_ms - self._clock()
            # A due time beyond the level's own delay comes from a clock that was set back.
            if 0 < wait_ms <= self._levels_ms[level - 1]:
                return wait_ms
            self._deliver(log_position)
            offset += 1
            self.delivered(level, offset)
        return 0 if entries else None
