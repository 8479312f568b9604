"""Derive rates from two samples of one broker.

Pure: no clock, no store. An unknown rate is never zero (D21): a first sample, a restart, a counter
that decreased and a long silence each give None.
"""

from typing import Final

from msgspec.structs import replace

from backend.services.samples.observed import ObservedSample, ObservedTopic

INTERVAL_MAX_MS: Final = 60_000
"""An average over more than this is history, not a current rate."""


def with_rates(sample: ObservedSample, previous: ObservedSample | None) -> ObservedSample:
    """Return the sample with the known rates since the previous sample.

    The interval is measured by the clock of the broker, which gave both times.
    """
    seconds = _interval_seconds(sample, previous)
    if previous is None or seconds is None:
        return without_rates(sample)
    topics_before = {topic.name: topic for topic in previous.topics}
    return replace(
        sample,
        messages_in_per_second=_rate(previous.messages_in, sample.messages_in, seconds),
        messages_out_per_second=_rate(previous.messages_out, sample.messages_out, seconds),
        bytes_in_per_second=_rate(previous.bytes_in, sample.bytes_in, seconds),
        bytes_out_per_second=_rate(previous.bytes_out, sample.bytes_out, seconds),
        topics=tuple(
            _topic_with_rates(topic, topics_before.get(topic.name), seconds)
            for topic in sample.topics
        ),
    )


def without_rates(sample: ObservedSample) -> ObservedSample:
    """Return the sample with every rate unknown."""
    return replace(
        sample,
        messages_in_per_second=None,
        messages_out_per_second=None,
        bytes_in_per_second=None,
        bytes_out_per_second=None,
        topics=tuple(
            replace(topic, messages_in_per_second=None, bytes_in_per_second=None)
            for topic in sample.topics
        ),
    )


def has_rates(sample: ObservedSample) -> bool:
    """Return whether any rate of the sample is known."""
    return sample != without_rates(sample)


def _interval_seconds(sample: ObservedSample, previous: ObservedSample | None) -> float | None:
    if previous is None or previous.booted_at_ms != sample.booted_at_ms:
        return None
    interval_ms = sample.reported_at_ms - previous.reported_at_ms
    return interval_ms / 1000 if 0 < interval_ms <= INTERVAL_MAX_MS else None


def _topic_with_rates(
    topic: ObservedTopic, previous: ObservedTopic | None, seconds: float
) -> ObservedTopic:
    if previous is None:
        return replace(topic, messages_in_per_second=None, bytes_in_per_second=None)
    return replace(
        topic,
        messages_in_per_second=_rate(previous.messages_in, topic.messages_in, seconds),
        bytes_in_per_second=_rate(previous.bytes_in, topic.bytes_in, seconds),
    )


def _rate(before: int, after: int, seconds: float) -> float | None:
    return (after - before) / seconds if after >= before else None
