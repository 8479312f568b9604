"""Observe what brokers report of themselves: collect, derive rates, publish, archive (D25).

The latest sample of each broker lives in Redis, as does the stream of samples that wait for the
archive; the history is Parquet with its manifest in Postgres.

What writes is imported from its own module, `collection` or `archive`: the control plane only
reads, and should not load Parquet's libraries for that.
"""

from backend.services.samples.observed import ObservedQueue, ObservedSample, ObservedTopic
from backend.services.samples.reading import latest_samples, observe

__all__ = [
    "ObservedQueue",
    "ObservedSample",
    "ObservedTopic",
    "latest_samples",
    "observe",
]
