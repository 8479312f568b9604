"""Define the periodic tasks, their intervals, and the maximum duration of a run.

The schedule starts a task more often than its interval if a lost run must not wait for the next
slot. A start in a finished slot costs one statement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """Hold the interval of a task, how often the schedule starts it, and the duration of a run."""

    name: str
    interval: timedelta
    deadline: timedelta
    sent_every: timedelta

    @property
    def patience(self) -> timedelta:
        """Return the time after which a run that has not ended is treated as lost."""
        return self.deadline + timedelta(seconds=10)

    def is_overdue(self, *, ended_at: datetime | None, began_at: datetime, at: datetime) -> bool:
        """Return whether no run has ended for several intervals, which shows a fault."""
        last = ended_at or began_at
        return at - last > 3 * self.interval + self.patience


def _tasks() -> Iterator[PeriodicTask]:
    def task(name: str, interval_s: float, deadline_s: float) -> PeriodicTask:
        interval = timedelta(seconds=interval_s)
        # Started twice in an interval, so that a late schedule misses no slot.
        sent_every = min(interval / 2, timedelta(seconds=60))
        return PeriodicTask(name, interval, timedelta(seconds=deadline_s), sent_every)

    yield task("liveness.scan", 5, 15)
    yield task("samples.collect", 5, 15)
    yield task("samples.archive", 60, 45)
    yield task("capacity.revive", 15, 15)
    yield task("events.expire", 60, 45)
    yield task("findings.scan", 2, 10)
    yield task("lags.measure", 30, 25)
    yield task("static_topics.converge", 5, 20)
    yield task("static_topics.check", 30, 25)
    yield task("static_topics.expire", 60, 45)
    yield task("retention.apply", 3600, 50)


REPORT_DEADLINE: Final = timedelta(minutes=20)
"""The maximum duration of a capacity report, from its start to its result."""

PERIODIC_TASKS: Final[Mapping[str, PeriodicTask]] = {task.name: task for task in _tasks()}
"""The tasks with one run in each slot. Only rows limit the runs of `operations.reconcile`."""
