"""Days until a disk is full, and when that cannot be said.

Each scenario is a separate cluster in one frame, so that Spark computes all of them at once.
"""

from datetime import timedelta
from zlib import crc32

import pytest

from tests.integration.capacity.conftest import at
from workers.capacity.coverage import coverage
from workers.capacity.disks import disks

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

END = at("2026-03-21T00:00:00")


def hourly(cluster_name: str, days: float, *, bytes_per_day: int, until=END, **values) -> list:
    """Give a sample an hour of a store that grows evenly until the end."""
    hours = int(days * 24)
    return [
        {
            "cluster_name": cluster_name,
            "observed_at": until - timedelta(hours=hours - hour),
            "store_bytes": 900_000 + bytes_per_day * hour // 24,
            # A distinct size keeps a scenario's disk from looking like another's.
            "disk_total_bytes": 1_000_000 + crc32(cluster_name.encode()) % 1_000_000,
            "disk_free_bytes": 480_000,
            **values,
        }
        for hour in range(hours + 1)
    ]


@pytest.fixture(scope="module")
def found(frames) -> dict[str, dict]:
    frame = frames.brokers(
        *hourly("steady", 16, bytes_per_day=24_000),
        *hourly("three days", 3, bytes_per_day=24_000),
        *hourly("half a day", 0.5, bytes_per_day=24_000),
        *hourly("one sample only", 0, bytes_per_day=0),
        *hourly("constant", 15, bytes_per_day=0),
        *hourly("shrinking", 15, bytes_per_day=-24_000),
        *hourly("a full disk", 2, bytes_per_day=24_000, disk_free_bytes=0),
        *hourly("fell silent too soon", 15, bytes_per_day=24_000, until=END - timedelta(days=2)),
        *hourly("a", 0, bytes_per_day=0, disk_total_bytes=77_000),
        *hourly("b", 0, bytes_per_day=0, disk_total_bytes=77_000, disk_free_bytes=480_010),
        *hourly("c", 0, bytes_per_day=0, disk_total_bytes=77_000, disk_free_bytes=70_000),
    )
    return {row["cluster_name"]: row.asDict() for row in disks(frame).collect()}


@pytest.fixture(scope="module")
def failed_over(frames) -> list[dict]:
    """Report of a group whose master died a day ago, and whose replica then took its place."""
    death = END - timedelta(days=1)
    pace = {"bytes_per_day": 24_000, "disk_total_bytes": 99_000}
    frame = frames.brokers(
        *hourly("east", 15, until=death, own_id=1, broker_id=0, disk_free_bytes=7, **pace),
        *(
            {**row, "own_id": 2, "broker_id": 0 if row["observed_at"] > death else 2}
            for row in hourly("east", 16, bytes_per_day=12_000)
        ),
        *hourly("east", 16, own_id=3, broker_id=3, bytes_per_day=1_000),
    )
    return [row.asDict() for row in disks(frame).orderBy("broker_id").collect()]


def test_a_steady_store_fills_its_free_space_at_its_pace(found):
    disk = found["steady"]

    assert disk["bytes_per_day"] == 24_000
    assert disk["days_until_full"] == 20.0
    assert disk["note"] is None


def test_less_than_two_weeks_carry_a_warning(found):
    disk = found["three days"]

    assert disk["days_until_full"] == 20.0
    assert disk["note"] == "warning: extrapolated from 3.0 days, under 2 weeks"


def test_less_than_a_day_gives_no_date(found):
    disk = found["half a day"]

    assert (disk["bytes_per_day"], disk["days_until_full"]) == (None, None)
    assert disk["note"] == "too little history: 0.5 days, at least 1 needed"


def test_a_single_sample_gives_no_date(found):
    disk = found["one sample only"]

    assert (disk["bytes_per_day"], disk["days_until_full"]) == (None, None)


@pytest.mark.parametrize(("scenario", "pace"), [("constant", 0), ("shrinking", -24_000)])
def test_a_store_that_does_not_grow_has_no_date(found, scenario, pace):
    disk = found[scenario]

    assert disk["bytes_per_day"] == pace
    assert disk["days_until_full"] is None
    assert disk["note"] == "no growth in 15.0 days"


def test_a_full_disk_is_full_now(found):
    disk = found["a full disk"]

    assert disk["days_until_full"] == 0.0
    assert disk["note"].startswith("the disk is full")


def test_brokers_on_what_looks_like_one_disk_say_so(found):
    shared = {name for name in found if "if shared" in (found[name]["note"] or "")}

    assert shared == {"a", "b"}


def test_a_broker_that_fell_silent_is_reported_as_last_seen(found):
    assert found["fell silent too soon"]["note"] == "last seen 2.0 days before"
    assert found["fell silent too soon"]["days_until_full"] is None


def test_each_broker_has_one_disk_whatever_roles_it_had(failed_over):
    # Case B2: a new master has its own history as replica, and the dead one keeps its name.
    assert [disk["broker_id"] for disk in failed_over] == [1, 2, 3]
    assert [disk["bytes_per_day"] for disk in failed_over] == [24_000, 12_000, 1_000]
    assert failed_over[1]["days_until_full"] == 40.0


def test_coverage_counts_samples_brokers_and_gaps(frames):
    brokers = frames.brokers(
        {"observed_at": END},
        {"observed_at": END + timedelta(seconds=5)},
        {"observed_at": END + timedelta(seconds=305)},
        {"observed_at": END, "broker_name": "broker-b"},
    )

    [row] = coverage(brokers).collect()

    assert (row["sample_count"], row["broker_count"]) == (4, 2)
    assert (row["gap_count"], row["gap_seconds"]) == (1, 300)


def test_coverage_includes_a_broker_once_whatever_its_role(frames):
    brokers = frames.brokers(
        {"observed_at": END, "own_id": 2, "broker_id": 2},
        {"observed_at": END + timedelta(seconds=5), "own_id": 2, "broker_id": 0},
        {"observed_at": END + timedelta(seconds=305), "own_id": 1, "broker_id": 0},
    )

    [row] = coverage(brokers).collect()

    assert (row["broker_count"], row["gap_count"]) == (2, 0)
