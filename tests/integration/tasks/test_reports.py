"""The life of a report around the Spark job: requested, made, failed, revived."""

import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from backend.clients.report_job import ReportJobFailed
from backend.clients.sample_history import SampleHistory
from backend.clients.task_queue import TaskQueueUnavailable
from backend.db import sample_files
from backend.db.sample_files import SampleFile
from backend.domain.errors import CapacityReportNotFound, InvalidPageSize
from backend.services.capacity_reports.capacity import (
    ROW_COUNT_MAX,
    describe_report,
    list_reports,
    make_report,
    request_report,
    revive_reports,
)
from tests.integration.tasks.conftest import NOON

DISK_ROW = {
    "kind": "disk",
    "cluster_name": "east",
    "broker_name": "broker-a",
    "broker_id": 0,
    "topic_name": None,
    "day": None,
    "bytes": None,
    "disk_total_bytes": 100,
    "disk_free_bytes": 50,
    "bytes_per_day": 10.0,
    "days_until_full": 5.0,
    "note": None,
}
DAY_ROW = {
    **dict.fromkeys(DISK_ROW),
    "kind": "topic_day",
    "cluster_name": "east",
    "broker_name": "broker-a",
    "broker_id": 0,
    "topic_name": "orders",
    "day": "2026-03-01",
    "bytes": 2**60,
    "note": "covers 8.3 % of the day",
}


class FakeTaskQueue:
    def __init__(self) -> None:
        self.sent: list[tuple[str, ...]] = []
        self.is_away = False

    async def send(self, task_name, *arguments):
        if self.is_away:
            raise TaskQueueUnavailable(task_name)
        self.sent.append((task_name, *arguments))


class FakeJob:
    """Write what the Spark job would."""

    def __init__(self, rows=(DISK_ROW, DAY_ROW)) -> None:
        self.rows, self.files, self.failure, self.content = list(rows), None, None, None

    async def run(self, files, output_dir):
        self.files = files
        if self.failure is not None:
            raise self.failure
        output_dir.mkdir(parents=True)
        coverage = {"from": "2026-03-01T00:00:00+00:00", "sample_count": 9}
        content = json.dumps({"coverage": coverage, "rows": self.rows})
        (output_dir / "report.json").write_text(self.content or content)


@pytest.fixture
def queue():
    return FakeTaskQueue()


@pytest.fixture
def job():
    return FakeJob()


@pytest.fixture
def request_one(database, clock, queue):
    async def run():
        return await request_report(
            database=database, clock=clock, task_queue=queue, requested_by="admin"
        )

    return run


@pytest.fixture
def make(database, clock, job, tmp_path):
    async def run(report_id: UUID):
        return await make_report(
            report_id,
            database=database,
            clock=clock,
            history=SampleHistory(tmp_path / "history"),
            job=job,
            report_dir=tmp_path / "reports",
        )

    return run


@pytest.fixture
def revive(database, clock, queue):
    async def run(*, is_one_made=False):
        async def ask():
            return is_one_made

        return await revive_reports(
            database=database, clock=clock, task_queue=queue, is_one_made=ask
        )

    return run


async def test_a_request_is_recorded_and_sent_to_the_workers(request_one, database, queue):
    report = await request_one()

    found = await describe_report(report.id, database=database)
    assert found == report
    assert (found.status, found.requested_by, found.requested_at) == ("planned", "admin", NOON)
    assert queue.sent == [("capacity.run", str(report.id))]


async def test_a_second_request_while_one_waits_is_the_same_report(request_one, queue):
    first = await request_one()

    second = await request_one()

    assert second == first
    assert len(queue.sent) == 1


async def test_a_task_queue_that_is_away_only_delays_the_report(request_one, clock, queue, revive):
    queue.is_away = True
    report = await request_one()
    queue.is_away = False
    clock.advance(seconds=31)

    outcome = await revive()

    assert report.status == "planned"
    assert (outcome.sent_count, outcome.failed_count) == (1, 0)
    assert queue.sent == [("capacity.run", str(report.id))]


async def test_a_made_report_has_rows_in_order_coverage_and_its_place(
    request_one, make, clock, tmp_path
):
    report = await request_one()
    clock.advance(seconds=5)

    made = await make(report.id)

    assert (made.status, made.error) == ("done", None)
    assert made.finished_at == NOON + timedelta(seconds=5)
    assert [row.kind for row in made.rows] == ["disk", "topic_day"]
    assert made.rows[0].days_until_full == 5.0
    assert (made.rows[1].bytes, str(made.rows[1].day)) == (2**60, "2026-03-01")
    assert made.coverage["sample_count"] == 9
    assert made.coverage["rows_left_out"] == 0
    assert made.result_path == str(tmp_path / "reports" / str(report.id))


async def test_only_files_of_the_manifest_are_read_and_only_recent_ones(
    request_one, make, job, database, tmp_path
):
    async with database.begin() as connection:
        await sample_files.add(
            connection,
            [
                manifest_row("broker_samples", days_ago=1),
                manifest_row("topic_samples", days_ago=90),
                manifest_row("topic_samples", days_ago=91),
            ],
            at=NOON,
        )
    report = await request_one()

    await make(report.id)

    assert job.files.broker_samples == [tmp_path / "history" / "broker_samples-1.parquet"]
    assert job.files.topic_samples == [tmp_path / "history" / "topic_samples-90.parquet"]


@pytest.mark.parametrize("failure", [ReportJobFailed("no Java"), OSError(28, "No space left")])
async def test_a_failed_job_fails_the_report_and_says_why(request_one, make, job, failure):
    job.failure = failure
    report = await request_one()

    made = await make(report.id)

    assert made.status == "failed"
    assert made.error == str(failure)


async def test_a_result_that_is_unreadable_fails_the_report(request_one, make, job):
    job.content = "{}"
    report = await request_one()

    made = await make(report.id)

    assert made.status == "failed"
    assert "coverage" in made.error


async def test_making_a_finished_report_again_changes_nothing(request_one, make, job):
    report = await request_one()
    done = await make(report.id)
    job.files = None

    again = await make(report.id)

    assert again.status == done.status
    assert job.files is None


async def test_a_report_whose_worker_died_is_made_when_it_is_delivered_again(
    request_one, make, job
):
    report = await request_one()
    job.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        await make(report.id)
    job.failure = None

    made = await make(report.id)

    assert made.status == "done"


@pytest.mark.parametrize("is_one_made", [False, True])
async def test_a_report_that_no_worker_makes_any_more_is_given_up_at_once(
    request_one, make, job, database, revive, *, is_one_made
):
    report = await request_one()
    job.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        await make(report.id)

    outcome = await revive(is_one_made=is_one_made)

    found = await describe_report(report.id, database=database)
    assert outcome.failed_count == (0 if is_one_made else 1)
    assert found.status == ("running" if is_one_made else "failed")
    assert found.error == (None if is_one_made else "its worker was lost before there was a result")


async def test_the_next_report_gives_up_one_that_a_lost_worker_left(
    request_one, make, job, database
):
    lost = await request_one()
    job.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        await make(lost.id)
    job.failure = None
    following = await request_one()

    made = await make(following.id)

    found = await describe_report(lost.id, database=database)
    assert (made.status, found.status) == ("done", "failed")
    assert found.error == "its worker was lost before there was a result"


async def test_rows_beyond_the_bound_are_counted_not_kept(request_one, make, job):
    job.rows = [DISK_ROW] * (ROW_COUNT_MAX + 3)
    report = await request_one()

    made = await make(report.id)

    assert len(made.rows) == ROW_COUNT_MAX
    assert made.coverage["rows_left_out"] == 3


async def test_an_unknown_report_is_not_found(database, make):
    unknown = uuid4()

    with pytest.raises(CapacityReportNotFound):
        await describe_report(unknown, database=database)
    with pytest.raises(CapacityReportNotFound):
        await make(unknown)


async def test_reports_are_listed_page_by_page_newest_first(request_one, make, database, clock):
    ids = []
    for _ in range(3):
        report = await request_one()
        await make(report.id)
        ids.append(report.id)
        clock.advance(seconds=1)

    first = await list_reports(database=database, size=2, after=None)
    rest = await list_reports(database=database, size=2, after=first.next_key)

    assert [report.id for report in (*first.items, *rest.items)] == ids[::-1]
    assert (first.total_count, rest.next_key) == (3, None)


async def test_a_page_of_nothing_is_refused(database):
    with pytest.raises(InvalidPageSize):
        await list_reports(database=database, size=0, after=None)


def manifest_row(dataset: str, *, days_ago: int) -> SampleFile:
    return SampleFile(
        dataset=dataset,
        cluster_name="east",
        day=(NOON - timedelta(days=days_ago)).date(),
        path=f"{dataset}-{days_ago}.parquet",
        row_count=1,
        size_bytes=1,
        sampled_from=NOON,
        sampled_to=NOON,
    )
