"""Delete old segments of the log, and stop accepting messages before the disk is full.

If the log has its own disk, the fuller one of the two decides, since queues need space as well. The
rules are stock's (storage-and-ha.md 5.6). Segments are deleted by age at the hours of `deleteWhen`,
or as soon as the disk passes `diskMaxUsedSpaceRatio`. Beyond `diskSpaceCleanForciblyRatio` or
`diskSpaceWarningLevelRatio` they are deleted at any age. Beyond the latter, messages are refused
until there is space again. `fileReservedSize` is ours: a limit of the log's size.

Segments that a replica still needs are kept twice as long, and up to twice the size. If the disk is
too full, or an operator orders the deletion, they are deleted (adr/0015).
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import structlog
from regent_engine import Expired, StoreError

from workers.broker.configuration.settings import BrokerSettings
from workers.broker.metrics.resources import Disk

HOUR_MS: Final = 3_600_000

log = structlog.get_logger()


class ExpiringStore(Protocol):
    """The operations of a store that the cleaner needs."""

    def expire(
        self,
        now_ms: int,
        *,
        age_ms: int | None = None,
        log_bytes_max: int | None = None,
        needed_from: int | None = None,
        is_forced: bool = False,
        segment_count_max: int = 10,
    ) -> Expired: ...


@dataclass(frozen=True, slots=True)
class Round:
    """The result of one look at clock and disk."""

    by_age: bool
    is_forced: bool
    is_full: bool
    heeds_replicas: bool


def plan_round(settings: BrokerSettings, disk: Disk, *, hour: int, on_demand: bool) -> Round:
    """Decide which segments may be deleted now, and whether messages are accepted."""
    used = disk.used_percent
    is_full = used > settings.disk_warning_percent
    # A disk that is full for messages must get space, even if only that ratio was lowered.
    is_pressed = is_full or used > settings.disk_forcible_percent
    is_time = hour in settings.delete_hours
    return Round(
        by_age=on_demand or is_time or is_pressed or used > settings.disk_max_used_percent,
        is_forced=is_pressed and settings.clean_forcibly,
        is_full=is_full,
        heeds_replicas=not (on_demand or is_pressed),
    )


class Cleaner:
    """Looks periodically; owned by the loop, deletes on a thread."""

    def __init__(
        self,
        store: ExpiringStore,
        settings: BrokerSettings,
        *,
        clock: Callable[[], int],
        measure: Callable[[], Disk],
        set_full: Callable[[bool], None],
    ) -> None:
        self._store, self._settings = store, settings
        self._clock, self._measure, self._set_full = clock, measure, set_full
        self._is_full = False
        self._woken = asyncio.Event()
        self._is_asked = False
        self._needed_from: Callable[[], int | None] = lambda: None

    def keep_from(self, needed_from: Callable[[], int | None]) -> None:
        """Keep segments longer from a position on, which is queried at each look."""
        self._needed_from = needed_from

    def use_settings(self, settings: BrokerSettings) -> None:
        """Use other settings from the next look on, which follows at once."""
        self._settings = settings
        self._woken.set()

    def ask(self) -> None:
        """Delete old segments now, at any hour."""
        self._is_asked = True
        self._woken.set()

    async def run(self) -> None:
        """Clean on the interval, and on request, until cancelled."""
        while True:
            is_asked, self._is_asked = self._is_asked, False
            self._woken.clear()
            try:
                await self.clean(on_demand=is_asked)
            except (StoreError, OSError) as error:
                log.warning("cleaning_failed", reason=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.clean_interval_ms / 1000):
                    await self._woken.wait()

    async def clean(self, *, on_demand: bool = False) -> int:
        """Delete expired segments now, and return their number.

        Raises:
            StoreError: a file cannot be removed, or the log is damaged.
            OSError: the usage of the disk cannot be read.
        """
        segment_count = 0
        while True:
            disk = await asyncio.to_thread(self._measure)
            now_ms = self._clock()
            # Local time, as in stock: operators know their quiet hours.
            hour = datetime.fromtimestamp(now_ms / 1000).hour  # noqa: DTZ006
            planned = plan_round(self._settings, disk, hour=hour, on_demand=on_demand)
            self._report_full(disk, is_full=planned.is_full)
            needed_from = self._needed_from() if planned.heeds_replicas else None
            expired = await asyncio.to_thread(self._expire, planned, now_ms, needed_from)
            segment_count += expired.segment_count
            if expired.segment_count == 0:
                return segment_count
            log.info(
                "segments_deleted",
                count=expired.segment_count,
                bytes=expired.byte_count,
                forced=planned.is_forced,
            )
            await asyncio.sleep(self._settings.delete_interval_ms / 1000)

    def _expire(self, planned: Round, now_ms: int, needed_from: int | None) -> Expired:
        settings = self._settings
        return self._store.expire(
            now_ms,
            age_ms=settings.file_reserved_hours * HOUR_MS if planned.by_age else None,
            log_bytes_max=settings.file_reserved_bytes,
            needed_from=needed_from,
            is_forced=planned.is_forced,
            # One at a time: a forced round must not delete more than needed.
            segment_count_max=1,
        )

    def _report_full(self, disk: Disk, *, is_full: bool) -> None:
        if is_full == self._is_full:
            return
        self._is_full = is_full
        facts = {
            "path": str(disk.path),
            "used_percent": disk.used_percent,
            "free_bytes": disk.free_bytes,
        }
        if is_full:
            log.critical("disk_full", **facts)
        else:
            log.info("disk_has_room", **facts)
        self._set_full(is_full)
