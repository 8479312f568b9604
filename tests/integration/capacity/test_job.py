"""The whole job over a generated history, against results worked out by hand."""

import asyncio
import json
import random
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from backend.clients.report_job import ROOT, ReportFiles, ReportJobFailed, SparkReportJob
from backend.clients.sample_history import SampleHistory
from backend.clients.sample_schemas import SCHEMAS
from tests.integration.capacity.conftest import at
from tests.waiting import eventually
from workers.capacity.job import InputMissing, ReportInput, run_job

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

START = at("2026-03-01T00:00:00")
HOURS = 16 * 24
RESTART_HOUR = 10 * 24
GIB = 2**30


def generate(history: SampleHistory) -> ReportInput:
    """Write sixteen days of one broker that takes 100 bytes an hour and restarts once.

    It stands for a clean week and a half, a restart half an hour before a sample, and a disk that
    a second broker shares. The rows of a day are shuffled: files promise no order.
    """
    paths: dict[str, list[str]] = {"broker_samples": [], "topic_samples": []}
    for day in range(HOURS // 24 + 1):
        rows: dict[str, list[dict]] = {"broker_samples": [], "topic_samples": []}
        for hour in range(day * 24, min(day * 24 + 24, HOURS + 1)):
            rows["broker_samples"].append(broker_row(hour))
            rows["topic_samples"].append(topic_row(hour))
        for dataset, found in rows.items():
            random.Random(day).shuffle(found)
            written = history.write(
                dataset,
                found,
                cluster_name="east",
                day=START.date() + timedelta(days=day),
                name=f"part-{day}",
            )
            paths[dataset].append(str(history.absolute(written.path)))
    return ReportInput(tuple(paths["broker_samples"]), tuple(paths["topic_samples"]))


def identity(hour: int) -> dict:
    restart = START + timedelta(hours=RESTART_HOUR - 0.5)
    observed = START + timedelta(hours=hour)
    return {
        "cluster_name": "east",
        "broker_name": "broker-a",
        "broker_id": 0,
        "observed_at": observed,
        "reported_at": observed,
        "booted_at": START if hour < RESTART_HOUR else restart,
    }


def broker_row(hour: int) -> dict:
    whole = dict.fromkeys(SCHEMAS["broker_samples"].names)
    sizes = {"store_bytes": GIB + hour * 100, "disk_total_bytes": GIB, "disk_free_bytes": 240_000}
    return {**whole, **identity(hour), **sizes}


def topic_row(hour: int) -> dict:
    whole = dict.fromkeys(SCHEMAS["topic_samples"].names)
    counted = hour * 100 if hour < RESTART_HOUR else (hour - RESTART_HOUR) * 100 + 50
    return {**whole, **identity(hour), "topic_name": "orders", "bytes_in": counted}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> ReportInput:
    return generate(SampleHistory(tmp_path_factory.mktemp("history")))


@pytest.fixture(scope="module")
def outputs(spark, files, tmp_path_factory) -> list[Path]:
    """Make the same report twice."""
    directory = tmp_path_factory.mktemp("reports")
    for name in ("first", "second"):
        run_job(spark, files, directory / name)
    return [directory / "first", directory / "second"]


@pytest.fixture(scope="module")
def result(outputs) -> dict:
    return json.loads((outputs[0] / "report.json").read_text())


def test_the_disk_comes_first_with_its_days(result):
    disk = result["rows"][0]

    assert disk == {
        "kind": "disk",
        "cluster_name": "east",
        "broker_name": "broker-a",
        "broker_id": 0,
        "topic_name": None,
        "day": None,
        "bytes": None,
        "disk_total_bytes": GIB,
        "disk_free_bytes": 240_000,
        "bytes_per_day": 2_400.0,
        "days_until_full": 100.0,
        "note": None,
    }


def test_every_day_has_its_bytes_newest_first(result):
    days = [(row["day"], row["bytes"], row["note"]) for row in result["rows"][1:]]

    # The restart at 23:30 of the tenth day loses the last half hour before it.
    expected = {
        (START.date() + timedelta(days=day)).isoformat(): (2_400, None) for day in range(16)
    }
    lossy = date(2026, 3, 10).isoformat()
    expected[lossy] = (2_350, "covers 97.9 % of the day; at least: counters began again 1 times")
    assert days == [(day, *values) for day, values in sorted(expected.items(), reverse=True)]


def test_the_coverage_says_how_much_was_seen(result):
    assert result["coverage"] == {
        "from": "2026-03-01T00:00:00+00:00",
        "to": "2026-03-17T00:00:00+00:00",
        "sample_count": HOURS + 1,
        "broker_count": 1,
        "gap_count": HOURS,
        "gap_seconds": HOURS * 3_600,
        "file_count": 34,
    }


def test_the_same_history_gives_the_same_bytes(outputs):
    first, second = outputs

    assert (first / "report.json").read_bytes() == (second / "report.json").read_bytes()
    assert parquet_of(first) == parquet_of(second)


def test_a_file_that_the_manifest_names_and_the_disk_lacks_is_an_error(files, tmp_path):
    listed = ReportFiles([*map(Path, files.broker_samples), Path("/gone/a.parquet")], [])
    (tmp_path / "files.json").write_text(listed.to_json())

    with pytest.raises(InputMissing, match=r"1 files .* missing, the first is /gone/a\.parquet"):
        ReportInput.read(tmp_path / "files.json")


def test_no_history_gives_an_empty_report(spark, tmp_path):
    run_job(spark, ReportInput((), ()), tmp_path / "report")

    result = json.loads((tmp_path / "report" / "report.json").read_text())
    assert result["rows"] == []
    assert result["coverage"]["sample_count"] == 0
    assert result["coverage"]["from"] is None


async def test_the_process_of_a_job_says_why_it_fails(tmp_path):
    # One that does not fail runs in `test_pages`, started by a worker.
    job = SparkReportJob(deadline=timedelta(seconds=300), master="local[1]")

    with pytest.raises(ReportJobFailed, match="the first is /gone"):
        await job.run(ReportFiles([Path("/gone")], []), tmp_path / "failed")

    assert not (tmp_path / "failed").exists()


async def test_a_job_past_its_deadline_is_ended_with_its_jvm(files, tmp_path):
    job = SparkReportJob(deadline=timedelta(seconds=1), master="local[1]")
    inputs = ReportFiles([Path(path) for path in files.broker_samples], [])

    with pytest.raises(ReportJobFailed, match="no result within 1 s"):
        await job.run(inputs, tmp_path / "report")

    await asyncio.sleep(0)
    assert not processes_of(tmp_path)


STARTER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from backend.clients.report_job import ReportFiles, SparkReportJob

job = SparkReportJob(deadline=timedelta(seconds=300), master="local[1]")
files = [Path(path) for path in sys.argv[2:]]
asyncio.run(job.run(ReportFiles(files, []), Path(sys.argv[1])))
"""


async def test_a_driver_and_its_jvm_end_with_the_process_that_started_them(files, tmp_path):
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, str(tmp_path / "report"), *files.broker_samples), cwd=ROOT
    )
    [driver] = await eventually(
        lambda: [pid for pid in processes_of(tmp_path) if pid != starter.pid]
    )
    await eventually(lambda: "java" in session_of(driver).values())
    starter.kill()
    await starter.wait()

    await eventually(lambda: not session_of(driver))

    # Nor had it just come to its end.
    assert not (tmp_path / "report").exists()


def session_of(leader: int) -> dict[int, str]:
    """Name the living processes of a session by their ids."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:
            continue
        pid, _, name = head.partition(" (")
        state, _parent, _group, session, *_ = tail.split()
        if int(session) == leader and state != "Z":
            found[int(pid)] = name
    return found


def parquet_of(output_dir: Path) -> bytes:
    [part] = (output_dir / "rows.parquet").glob("part-*.parquet")
    return part.read_bytes()


def processes_of(directory: Path) -> list[int]:
    """List the processes that name a directory in their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(directory).encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
