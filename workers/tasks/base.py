"""Give every task its log context, one closing line, and an exclusive run or one run per slot."""

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, ParamSpec, cast

import structlog
from celery import shared_task

from backend.domain.maintenance import PERIODIC_TASKS
from backend.services.upkeep.maintenance import describe_outcome, run_in_slot
from workers.runtime import Clients, runtime

TIME_LIMIT_S: Final = 60
"""Celery kills a task that still runs then; its own deadline comes long before."""

Parameters = ParamSpec("Parameters")

log = structlog.get_logger(__name__)


def task(
    name: str, *, time_limit_s: int = TIME_LIMIT_S
) -> Callable[[Callable[Parameters, None]], Callable[Parameters, None]]:
    """Make a function a Celery task of that name; a call remains a plain call."""

    def register(function: Callable[Parameters, None]) -> Callable[Parameters, None]:
        registered = shared_task(name=name, time_limit=time_limit_s)(function)
        return cast("Callable[Parameters, None]", registered)

    return register


def run_alone(
    name: str,
    use_case: Callable[[Clients], Awaitable[Any]],
    *,
    deadline: timedelta,
    **facts: str,
) -> None:
    """Call a use case unless a run of that name is in progress, and log the outcome in one line.

    A failure is logged and raised, so that Celery counts it; the next schedule or the row of the
    request causes the next attempt.
    """
    _run_logged(name, lambda: runtime().run_alone(name, use_case, deadline=deadline), facts)


def run_periodic(name: str, use_case: Callable[[Clients], Awaitable[Any]]) -> None:
    """Call the use case of a periodic task, once in each of its slots."""
    periodic = PERIODIC_TASKS[name]

    async def in_slot(clients: Clients) -> Any:
        return await run_in_slot(
            periodic, lambda: use_case(clients), database=clients.database, clock=clients.clock
        )

    _run_logged(name, lambda: runtime().run(in_slot, deadline=periodic.deadline), {})


def run_at_once(
    name: str,
    use_case: Callable[[Clients], Awaitable[Any]],
    *,
    deadline: timedelta,
    **facts: str,
) -> None:
    """Call a use case that handles concurrent runs itself.

    A lock of Redis would survive a worker that was killed, and block its successor.
    """
    _run_logged(name, lambda: runtime().run(use_case, deadline=deadline), facts)


def _run_logged(name: str, call: Callable[[], Any], facts: dict[str, str]) -> None:
    started = time.monotonic()
    with structlog.contextvars.bound_contextvars(task=name, **facts):
        outcome, described = "failed", {}
        try:
            result = call()
            outcome = "skipped" if result is None else "done"
            described = describe_outcome(result)
        finally:
            duration_ms = round((time.monotonic() - started) * 1000)
            # Each slot has two messages, so half of the runs find the work done.
            write = log.debug if outcome == "skipped" else log.info
            write("task_ended", outcome=outcome, duration_ms=duration_ms, **described)
