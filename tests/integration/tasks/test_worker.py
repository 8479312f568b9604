"""A real worker process and a real scheduler, over Redis on a unix socket."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete

from backend.clients.task_queue import CeleryTaskQueue
from backend.db.maintenance_tables import maintenance_runs
from backend.services.samples import latest_samples
from backend.settings import WorkerSettings
from tests.integration.tasks.conftest import register
from tests.waiting import PATIENCE_S, eventually
from workers.runtime import LockLost, Runtime

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def environment(database_url, redis_url, tmp_path) -> dict[str, str]:
    return {
        **os.environ,
        "REGENT_DATABASE_URL": database_url,
        "REGENT_REDIS_URL": redis_url,
        "REGENT_HISTORY_DIR": str(tmp_path / "history"),
        "REGENT_REPORT_DIR": str(tmp_path / "reports"),
        "REGENT_LOG_FORMAT": "json",
    }


@contextmanager
def celery(environment, *arguments: str) -> Iterator[Path]:
    """Run a Celery process and give the place of its log."""
    log_path = Path(environment["REGENT_HISTORY_DIR"]).with_name(f"{arguments[0]}.log")
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "workers.celery_app", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        yield log_path
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)


async def test_a_worker_keeps_its_loop_and_connections_from_task_to_task(
    environment, broker, database, redis, redis_url, clock
):
    await register(database, clock, broker.address)
    queue = CeleryTaskQueue(redis_url)

    with celery(environment, "worker", "--concurrency", "1") as log_path:
        for count in range(1, 4):
            async with database.begin() as connection:
                await connection.execute(delete(maintenance_runs))
            await queue.send("samples.collect")
            await eventually(
                lambda: log_path.read_text().count('"outcome": "done"') == count,  # noqa: B023
            )

    [sample] = await latest_samples(redis, "east")
    assert sample.messages_in == 100
    assert (broker.request_count, broker.connection_count) == (3, 1)


async def test_the_schedule_reaches_the_worker_and_the_archive(
    environment, broker, database, redis, clock
):
    await register(database, clock, broker.address)

    with (
        celery(environment, "worker", "--concurrency", "1"),
        celery(environment, "beat", "--pidfile", ""),
    ):
        await eventually(lambda: broker.request_count >= 2)

    assert await latest_samples(redis, "east")
    assert await redis.exists("regent:beat:samples.archive")


async def test_a_run_that_is_at_work_is_not_joined_by_a_second(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    runtime, started, finish = _runtime(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def slow(_clients):
        loop.call_soon_threadsafe(started.set)
        await asyncio.to_thread(finish.wait, PATIENCE_S)
        return "first"

    first = asyncio.create_task(asyncio.to_thread(_alone, runtime, slow))
    await asyncio.wait_for(started.wait(), PATIENCE_S)
    while_running = await asyncio.to_thread(_alone, runtime, quick)
    finish.set()
    outcome = await first
    afterwards = await asyncio.to_thread(_alone, runtime, quick)
    await asyncio.to_thread(runtime.close)

    assert (outcome, while_running, afterwards) == ("first", None, "next")


async def test_a_use_case_past_its_deadline_is_cancelled_and_frees_its_name(
    environment, monkeypatch
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    runtime = _runtime()
    cancelled = []

    async def endless(_clients):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    with pytest.raises(TimeoutError):
        await asyncio.to_thread(_alone, runtime, endless, seconds=0.1)
    following = await asyncio.to_thread(_alone, runtime, quick)
    await asyncio.to_thread(runtime.close)

    assert cancelled == [True]
    assert following == "next"


HOLDER = """
import asyncio
from datetime import timedelta
from backend.settings import WorkerSettings
from workers.runtime import Runtime

async def endless(_clients):
    print("at work", flush=True)
    await asyncio.Event().wait()

runtime = Runtime(WorkerSettings(), lock_life=timedelta(seconds=5))
runtime.run_alone("test", endless, deadline=timedelta(minutes=20))
"""


async def test_the_name_of_a_run_whose_process_was_killed_is_soon_free(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    runtime = _runtime()
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDER), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    await holder.stdout.readline()
    before = await asyncio.to_thread(_alone, runtime, quick)
    holder.kill()
    await holder.wait()

    await eventually(lambda: asyncio.to_thread(_alone, runtime, quick), interval_s=0.1)

    await asyncio.to_thread(runtime.close)
    assert before is None


async def test_a_run_that_lasts_longer_than_its_lock_keeps_it(environment, monkeypatch, redis):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    runtime, finish = _runtime(lock_life=timedelta(seconds=3)), threading.Event()
    left_ms, extended_count = 0, 0

    async def slow(_clients):
        await asyncio.to_thread(finish.wait, PATIENCE_S)
        return "whole"

    async def has_been_extended():
        nonlocal left_ms, extended_count
        before_ms, left_ms = left_ms, await redis.pttl("regent:running:test")
        extended_count += 0 < before_ms < left_ms
        return extended_count == 4

    run = asyncio.create_task(asyncio.to_thread(_alone, runtime, slow))
    await eventually(has_been_extended)
    finish.set()

    assert await run == "whole"
    await asyncio.to_thread(runtime.close)


async def test_a_run_that_has_lost_its_lock_is_ended(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    runtime = _runtime(lock_life=timedelta(seconds=1))
    cancelled = []

    async def endless(clients):
        await clients.redis.delete("regent:running:test")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    with pytest.raises(LockLost, match="test"):
        await asyncio.to_thread(_alone, runtime, endless)
    await asyncio.to_thread(runtime.close)

    assert cancelled == [True]


async def quick(_clients):
    return "next"


def _runtime(**values) -> Runtime:
    return Runtime(WorkerSettings(), **values)


def _alone(runtime: Runtime, use_case, *, seconds: float = PATIENCE_S):
    return runtime.run_alone("test", use_case, deadline=timedelta(seconds=seconds))
