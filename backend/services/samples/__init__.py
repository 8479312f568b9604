"""Observe what brokers report of themselves: collect, derive rates, publish, archive (D25).

The latest sample of each broker lives in Redis, as does the stream of samples that wait for the
archive; the history is Parquet with its manifest in Postgres.
"""

from backend.services.samples.archive import archive_samples
from backend.services.samples.collection import collect_samples
from backend.services.samples.observed import ObservedQueue, ObservedSample, ObservedTopic
from backend.services.samples.reading import latest_samples, observe

__all__ = [
    "ObservedQueue",
    "ObservedSample",
    "ObservedTopic",
    "archive_samples",
    "collect_samples",
    "latest_samples",
    "observe",
]
