"""Keep one event loop, one engine and one set of clients for the lifetime of a worker process.

Celery calls tasks from its own threads. The loop has a separate thread, so a task that is
interrupted does not leave the loop in an invalid state. The use cases run there, and the task
waits.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from socket import gethostname
from typing import Any, Final, TypeVar
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import Clock, SystemClock
from backend.clients.report_job import SparkReportJob
from backend.clients.sample_history import SampleHistory
from backend.clients.task_queue import CeleryTaskQueue, TaskQueue
from backend.db.engine import Database, open_database
from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport
from backend.domain.maintenance import REPORT_DEADLINE
from backend.operations.engine.engine import LEASE_WATCH_S
from backend.operations.engine.kind import OperationContext
from backend.services.controller.group_changes import Controller
from backend.settings import WorkerSettings

SAMPLE_DEADLINE: Final = timedelta(seconds=2)
POOL_SIZE: Final = 4
REDIS_TIMEOUT_S: Final = 5
CANCEL_PATIENCE_S: Final = 5
LOCK_LIFE: Final = timedelta(seconds=30)
"""How long the name of a run stays taken after its process was killed."""
LOCK_KEY_PREFIX: Final = "regent:running:"

OutcomeT = TypeVar("OutcomeT")
UseCase = Callable[["Clients"], Awaitable[OutcomeT]]

log = structlog.get_logger(__name__)


class LockLost(Exception):
    """The run was stopped: Redis lost its lock, so another run may have started."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the lock of {name!r} was lost")
        self.name = name


@dataclass(frozen=True, slots=True)
class Clients:
    """Hold the clients of use cases, built once per process."""

    settings: WorkerSettings
    database: Database
    redis: Redis
    brokers: Brokers
    task_queue: TaskQueue
    history: SampleHistory
    report_job: SparkReportJob
    clock: Clock
    opened_at: datetime
    operations: OperationContext


class NoHeartbeats:
    """Return no heartbeat: a worker only knows the reports in the database."""

    def __init__(self) -> None:
        self.id = uuid4()

    def reports_of(self, _cluster_name: str, _group_name: str) -> Mapping[int, ReplicaReport]:
        """Return no heartbeat."""
        return {}

    def promise_lease(self, _key: ReplicaKey) -> int:
        """Return no lease: the first heartbeat of a new master starts its lease."""
        return 0


class Runtime:
    """Run use cases on the process's event loop."""

    def __init__(self, settings: WorkerSettings, *, lock_life: timedelta = LOCK_LIFE) -> None:
        self._lock_life_s = lock_life.total_seconds()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="use-cases", daemon=True
        )
        self._thread.start()
        self._stack = AsyncExitStack()
        self._clients = self._call(_open_clients(settings, self._stack), None)

    def run(self, use_case: UseCase[OutcomeT], *, deadline: timedelta) -> OutcomeT:
        """Run a use case and return its outcome; after the deadline it is cancelled.

        Raises:
            TimeoutError: the deadline passed.
        """
        return self._call(_awaited(use_case, self._clients, deadline), deadline)

    def run_alone(
        self, name: str, use_case: UseCase[OutcomeT], *, deadline: timedelta
    ) -> OutcomeT | None:
        """Run a use case; return None if a run of that name is in progress in any process.

        The lock is short and extended during the run, so that it ends soon after its process.

        Raises:
            TimeoutError: the deadline passed.
            LockLost: the lock expired, or Redis lost it.
        """

        async def alone(clients: Clients) -> OutcomeT | None:
            lock = clients.redis.lock(
                LOCK_KEY_PREFIX + name, timeout=self._lock_life_s, blocking=False
            )
            if not await lock.acquire():
                return None
            try:
                return await self._while_locked(name, lock, use_case(clients))
            finally:
                try:
                    await lock.release()
                except RedisError as error:
                    # It expires.
                    log.warning("lock_not_released", lock=name, reason=str(error))

        return self.run(alone, deadline=deadline)

    async def _while_locked(self, name: str, lock: Lock, work: Awaitable[OutcomeT]) -> OutcomeT:
        working = asyncio.ensure_future(work)
        extending = asyncio.create_task(self._extend(name, lock))
        try:
            await asyncio.wait((working, extending), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise LockLost(name)
            return await working
        finally:
            working.cancel()
            extending.cancel()
            await asyncio.wait((working, extending))

    async def _extend(self, name: str, lock: Lock) -> None:
        """Extend a lock until it is lost."""
        while True:
            await asyncio.sleep(self._lock_life_s / 3)
            try:
                await lock.reacquire()
            except LockError:
                return
            except RedisError as error:
                # No other process can take it now either; the next attempt shows whether it exists.
                log.warning("lock_not_extended", lock=name, reason=str(error))

    def close(self) -> None:
        """Close the clients and end the loop."""
        self._call(self._stack.aclose(), None)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CANCEL_PATIENCE_S)

    def _call(self, awaitable: Awaitable[OutcomeT], deadline: timedelta | None) -> OutcomeT:
        future = asyncio.run_coroutine_threadsafe(_coroutine(awaitable), self._loop)
        patience_s = deadline.total_seconds() + CANCEL_PATIENCE_S if deadline else None
        try:
            return future.result(patience_s)
        except BaseException:
            # After the deadline, or an interruption by Celery, the use case must not continue.
            future.cancel()
            concurrent.futures.wait([future], CANCEL_PATIENCE_S)
            raise


async def is_at_work(redis: Redis, name: str) -> bool:
    """Return whether a run of that name is in progress anywhere, or was just killed."""
    return bool(await redis.exists(LOCK_KEY_PREFIX + name))


_lock: Final = threading.Lock()
_runtime: Runtime | None = None


def runtime() -> Runtime:
    """Return this process's runtime, created on first use, which is after the fork."""
    global _runtime  # noqa: PLW0603 - one per process is the point
    with _lock:
        if _runtime is None:
            # All values come from the environment.
            _runtime = Runtime(WorkerSettings())
        return _runtime


def close_runtime(**_: Any) -> None:
    """Close this process's runtime, if it exists."""
    global _runtime  # noqa: PLW0603
    with _lock:
        if _runtime is not None:
            _runtime.close()
            _runtime = None


async def _open_clients(settings: WorkerSettings, stack: AsyncExitStack) -> Clients:
    redis_url = settings.redis_url.get_secret_value()
    database = open_database(
        settings.database_url.get_secret_value(),
        application_name="regent-worker",
        pool_size=POOL_SIZE,
    )
    stack.push_async_callback(database.dispose)
    redis = Redis.from_url(redis_url, socket_timeout=REDIS_TIMEOUT_S)
    stack.push_async_callback(redis.aclose)
    remoting = RemotingClient(deadline=SAMPLE_DEADLINE)
    stack.push_async_callback(remoting.aclose)
    brokers, clock, task_queue = Brokers(remoting), SystemClock(), CeleryTaskQueue(redis_url)
    controller = Controller(database, clock, NoHeartbeats(), brokers=brokers)
    return Clients(
        settings=settings,
        database=database,
        redis=redis,
        brokers=brokers,
        task_queue=task_queue,
        history=SampleHistory(settings.history_dir),
        report_job=SparkReportJob(deadline=REPORT_DEADLINE),
        clock=clock,
        opened_at=clock.now(),
        operations=OperationContext(
            database,
            clock,
            task_queue,
            controller,
            process_name=f"worker {gethostname()}",
            lease_watch_s=LEASE_WATCH_S,
        ),
    )


async def _awaited(use_case: UseCase[OutcomeT], clients: Clients, deadline: timedelta) -> OutcomeT:
    async with asyncio.timeout(deadline.total_seconds()):
        return await use_case(clients)


async def _coroutine(awaitable: Awaitable[OutcomeT]) -> OutcomeT:
    return await awaitable
