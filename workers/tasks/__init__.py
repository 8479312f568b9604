"""The tasks: ids in, one use case called, nothing out.

Celery imports this package, and with it every task.
"""

from workers.tasks import (
    capacity,
    events,
    findings,
    lags,
    liveness,
    operations,
    retention,
    samples,
    static_topics,
)

__all__ = [
    "capacity",
    "events",
    "findings",
    "lags",
    "liveness",
    "operations",
    "retention",
    "samples",
    "static_topics",
]
