"""Configure Celery: Redis carries names and ids, RedBeat keeps the schedule, all data is JSON.

Start it with `celery -A workers.celery_app worker` and `celery -A workers.celery_app beat`.
Acknowledgement is late and every task may run twice, so every task is safe to repeat.
"""

import contextlib
import gc
import importlib
import logging
import signal
import sys
from typing import Any, Final

from billiard.util import set_pdeathsig  # type: ignore[import-untyped]
from celery import Celery
from celery.signals import (
    celeryd_init,
    setup_logging,
    worker_process_init,
    worker_process_shutdown,
)
from pydantic import ValidationError

from backend.clients.task_queue import (
    MAINTENANCE_QUEUE,
    QUEUES_BY_TASK,
    REPORT_QUEUE,
    broker_url,
)
from backend.domain.maintenance import PERIODIC_TASKS, REPORT_DEADLINE
from backend.logging import configure_logging
from backend.settings import WorkerSettings, faults_of

CONCURRENCY: Final = 3
"""A report takes minutes, a step of an operation seconds; one process remains for other tasks."""
VISIBILITY_TIMEOUT_S: Final = int(REPORT_DEADLINE.total_seconds()) + 360
"""A message is delivered again when its worker is lost, but never while its task may still run."""
SCHEDULE_KEY_PREFIX: Final = "regent:beat:"
EXIT_MISUSED: Final = 2


def make_app(settings: WorkerSettings) -> Celery:
    """Build the application from a process's settings."""
    redis_url = settings.redis_url.get_secret_value()
    app = Celery("regent", broker=broker_url(redis_url))
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_track_started=False,
        task_default_queue=MAINTENANCE_QUEUE,
        task_queues={MAINTENANCE_QUEUE: {}, REPORT_QUEUE: {}},
        task_routes={name: {"queue": queue} for name, queue in QUEUES_BY_TASK.items()},
        worker_concurrency=CONCURRENCY,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_timeout": 30,
            "socket_connect_timeout": 5,
        },
        beat_scheduler="redbeat.RedBeatScheduler",
        beat_schedule=SCHEDULE,
        # The longest sleep of the scheduler; its lock ends in time for the next scheduler.
        beat_max_loop_interval=2,
        redbeat_redis_url=redis_url,
        redbeat_key_prefix=SCHEDULE_KEY_PREFIX,
        redbeat_lock_timeout=10,
        timezone="UTC",
    )
    return app


def every(seconds: float, task_name: str) -> dict[str, Any]:
    """Schedule a task; a message that waited for a whole interval expires."""
    return {"task": task_name, "schedule": seconds, "options": {"expires": seconds}}


SCHEDULE: Final = {
    "operations.reconcile": every(2, "operations.reconcile"),
    **{name: every(task.sent_every.total_seconds(), name) for name, task in PERIODIC_TASKS.items()},
}


def _configure_logging(**_: Any) -> None:
    configure_logging(WorkerSettings().log_format)
    # Each task writes its own closing line; these would be three more.
    for name in ("celery.worker.strategy", "celery.app.trace", "celery.beat"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _die_with_the_worker(**_: Any) -> None:
    # Otherwise a pool process survives a worker that was killed, together with a report's driver.
    with contextlib.suppress(OSError):
        set_pdeathsig(signal.SIGKILL)


def _import_tasks(**_: Any) -> None:
    # Only the worker needs the tasks; the scheduler would spend most of its start on the imports.
    # Frozen objects are not collected, and collections in the forked processes do not copy them.
    gc.disable()
    importlib.import_module("workers.tasks")
    gc.freeze()
    gc.enable()


def _close_runtime(**_: Any) -> None:
    importlib.import_module("workers.runtime").close_runtime()


setup_logging.connect(_configure_logging)
celeryd_init.connect(_import_tasks)
worker_process_init.connect(_die_with_the_worker)
worker_process_shutdown.connect(_close_runtime)

try:
    app = make_app(WorkerSettings())
except ValidationError as error:
    print(f"regent run: {faults_of(error)}", file=sys.stderr)  # noqa: T201 - the output
    sys.exit(EXIT_MISUSED)
