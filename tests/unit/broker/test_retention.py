"""When old segments go, and when messages are no longer taken (storage-and-ha.md 5.6)."""

import asyncio
import threading
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.waiting import eventually
from workers.broker.commit_log.retention import Cleaner, plan_round
from workers.broker.configuration.declaration import InvalidSetting
from workers.broker.configuration.settings import parse_settings
from workers.broker.metrics.resources import Disk

HOUR_MS = 3_600_000
NOON_MS = int(datetime(2026, 11, 21, 12, 30).timestamp() * 1000)  # noqa: DTZ001 - local, as deleteWhen
FOUR_MS = int(datetime(2026, 11, 21, 4, 30).timestamp() * 1000)  # noqa: DTZ001


def disk(used_percent):
    return Disk(
        path=Path("/store"), total_bytes=100, used_bytes=used_percent, free_bytes=100 - used_percent
    )


def settings(**properties):
    return parse_settings({name: str(value) for name, value in properties.items()}).settings


def planned(used_percent, *, hour=12, on_demand=False, **properties):
    return plan_round(settings(**properties), disk(used_percent), hour=hour, on_demand=on_demand)


class StoreDouble:
    """Holds so many segments and notes how each call asked."""

    def __init__(self, segments=0):
        self.segments = segments
        self.calls = []

    def expire(self, now_ms, **retention):
        self.calls.append((now_ms, retention))
        count = min(self.segments, retention["segment_count_max"])
        self.segments -= count
        return SimpleNamespace(segment_count=count, byte_count=count, queue_file_count=0)


def cleaner_of(store, *, used_percent=lambda: 10, now_ms=NOON_MS, reported=None, **properties):
    return Cleaner(
        store,
        settings(deleteCommitLogFilesInterval=10, **properties),
        clock=lambda: now_ms,
        measure=lambda: disk(used_percent()),
        set_full=(reported if reported is not None else []).append,
    )


@pytest.mark.parametrize(
    ("used_percent", "hour", "by_age", "is_forced", "is_full"),
    [
        (10, 12, False, False, False),
        (10, 4, True, False, False),
        (75, 12, False, False, False),
        (76, 12, True, False, False),
        (86, 12, True, True, False),
        (91, 12, True, True, True),
    ],
)
def test_clock_and_disk_decide(used_percent, hour, by_age, is_forced, is_full):
    found = planned(used_percent, hour=hour)

    assert (found.by_age, found.is_forced, found.is_full) == (by_age, is_forced, is_full)


def test_an_operator_may_ask_and_may_forbid_force():
    assert planned(10, on_demand=True).by_age
    assert not planned(95, cleanFileForciblyEnable="false").is_forced
    assert planned(95, cleanFileForciblyEnable="false").is_full


@pytest.mark.parametrize("ratio", ["diskSpaceWarningLevelRatio", "diskSpaceCleanForciblyRatio"])
def test_past_either_of_the_upper_ratios_a_round_comes_whatever_the_other_ratios_are(ratio):
    ratios = {"diskMaxUsedSpaceRatio": 95, ratio: 35}

    assert [planned(used, **ratios).is_forced for used in (35, 36)] == [False, True]
    unforced = planned(36, cleanFileForciblyEnable="false", **ratios)
    assert (unforced.by_age, unforced.is_forced) == (True, False)


def test_several_hours_may_be_named():
    assert [planned(10, hour=hour, deleteWhen="02;4;23").by_age for hour in (2, 3, 4, 23)] == [
        True,
        False,
        True,
        True,
    ]


def test_ratios_stay_within_stocks_bounds():
    found = settings(
        diskMaxUsedSpaceRatio=99, diskSpaceWarningLevelRatio=99, diskSpaceCleanForciblyRatio=5
    )

    assert found.disk_max_used_percent == 95
    assert found.disk_warning_percent == 90
    assert found.disk_forcible_percent == 30


@pytest.mark.parametrize("hours", ["25", "4,5", "", "x"])
def test_hours_that_are_none_are_refused(hours):
    with pytest.raises(InvalidSetting, match="deleteWhen"):
        settings(deleteWhen=hours)


async def test_by_age_everything_old_goes_segment_by_segment():
    store = StoreDouble(segments=5)

    count = await cleaner_of(store, now_ms=FOUR_MS, fileReservedTime=48).clean()

    assert count == 5
    assert len(store.calls) == 6
    now_ms, retention = store.calls[0]
    assert now_ms == FOUR_MS
    assert retention["age_ms"] == 48 * HOUR_MS
    assert not retention["is_forced"]


async def test_force_ends_as_soon_as_the_disk_has_room():
    store = StoreDouble(segments=50)

    count = await cleaner_of(
        store, used_percent=lambda: 80 if len(store.calls) >= 3 else 88
    ).clean()

    # Three with force; the fourth asks by age again, and this double would give it.
    assert [call["is_forced"] for _, call in store.calls[:4]] == [True, True, True, False]
    assert count == 50


async def test_a_limit_on_the_size_holds_at_any_hour():
    store = StoreDouble()

    await cleaner_of(store, fileReservedSize=1 << 30).clean()

    assert store.calls[0][1]["log_bytes_max"] == 1 << 30
    assert store.calls[0][1]["age_ms"] is None


async def test_a_full_disk_is_logged_once_and_its_end_once():
    reported, used = [], [92]
    cleaner = cleaner_of(StoreDouble(), used_percent=lambda: used[0], reported=reported)

    for percent in (92, 93, 89, 80):
        used[0] = percent
        await cleaner.clean()

    assert reported == [True, False]


async def test_a_disk_is_measured_where_its_silence_delays_nothing():
    threads = []

    def measure():
        threads.append(threading.current_thread())
        return disk(10)

    cleaner = Cleaner(
        StoreDouble(), settings(), clock=lambda: 0, measure=measure, set_full=lambda _: None
    )
    await cleaner.clean()

    assert threading.main_thread() not in threads


async def test_a_disk_that_cannot_be_measured_does_not_end_the_cleaner():
    asked = []

    def measure():
        asked.append(1)
        raise OSError("gone")

    cleaner = Cleaner(
        StoreDouble(), settings(cleanResourceInterval=10), clock=lambda: 0, measure=measure,
        set_full=lambda _: None,
    )  # fmt: skip
    task = asyncio.create_task(cleaner.run())
    await eventually(lambda: len(asked) >= 3)
    task.cancel()


@pytest.mark.parametrize(
    ("used_percent", "on_demand", "needed_from"),
    [(10, False, 700), (80, False, 700), (86, False, None), (91, False, None), (10, True, None)],
)
@pytest.mark.parametrize("forces", ["true", "false"])
async def test_what_replicas_need_is_kept_unless_the_disk_is_too_full_or_an_operator_asks(
    used_percent, on_demand, needed_from, forces
):
    store = StoreDouble()
    cleaner = cleaner_of(store, used_percent=lambda: used_percent, cleanFileForciblyEnable=forces)
    cleaner.keep_from(lambda: 700)

    await cleaner.clean(on_demand=on_demand)

    ((_, asked),) = store.calls
    assert asked["needed_from"] == needed_from
