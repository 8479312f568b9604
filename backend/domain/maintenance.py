"""Name the periodic tasks, how often each runs at least, and how long one run may take.

The schedule sends for a task more often than its interval where a lost run must not wait for the
next slot: a slot that is worked off costs one statement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """Say how often a task runs at least, how often it is sent for, and how long a run may take."""

    name: str
    interval: timedelta
    deadline: timedelta
    sent_every: timedelta

    @property
    def patience(self) -> timedelta:
        """Return after how long a run that has not ended is taken for lost."""
        return self.deadline + timedelta(seconds=10)

    def is_overdue(self, *, ended_at: datetime | None, began_at: datetime, at: datetime) -> bool:
        """Tell whether no run has ended for so long that something must be wrong."""
        last = ended_at or began_at
        return at - last > 3 * self.interval + self.patience


def _tasks() -> Iterator[PeriodicTask]:
    def task(name: str, interval_s: float, deadline_s: float) -> PeriodicTask:
        interval = timedelta(seconds=interval_s)
        # Sent for twice in an interval, so that a schedule that is late misses no slot.
        sent_every = min(interval / 2, timedelta(seconds=60))
        return PeriodicTask(name, interval, timedelta(seconds=deadline_s), sent_every)

    yield task("liveness.scan", 5, 15)
    yield task("samples.collect", 5, 15)
    yield task("samples.archive", 60, 45)
    yield task("capacity.revive", 15, 15)
    yield task("events.expire", 60, 45)
    yield task("findings.scan", 2, 10)
    yield task("lags.measure", 30, 25)
    yield task("retention.apply", 3600, 50)


REPORT_DEADLINE: Final = timedelta(minutes=20)
"""How long a capacity report may take, from its start to its result."""

PERIODIC_TASKS: Final[Mapping[str, PeriodicTask]] = {task.name: task for task in _tasks()}
"""The tasks of which one run in each slot counts; `operations.reconcile` is bound by rows alone."""
