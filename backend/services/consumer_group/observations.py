"""Compute offsets and rates of a topic from the samples of brokers.

Pure: samples are passed in. A value without a sample is None, never zero (D21).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from backend.domain.broker import MASTER_ID
from backend.domain.logical_queue.lookup import ends_of
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.topic import TopicPlacement
from backend.services.samples import ObservedSample, ObservedTopic

# A rate older than this says nothing about now: samples come every 5 s.
RATE_AGE_MAX_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class QueueView:
    """Hold the ends of a queue as a sample showed them last."""

    broker_group_name: str
    queue_id: int
    min_offset: int | None
    max_offset: int | None
    observed_at_ms: int | None


@dataclass(frozen=True, slots=True)
class TopicRates:
    """Hold how much a topic takes in, over all its groups."""

    messages_in_per_second: float | None
    bytes_in_per_second: float | None


def view_queues(
    topic_name: str,
    placements: Iterable[TopicPlacement],
    samples: Sequence[ObservedSample],
    mapping: TopicMapping | None = None,
) -> list[QueueView]:
    """List every queue that a topic should have, with its ends where they were seen.

    The queues of a static topic are logical: each is named by the broker group that leads it.
    """
    if mapping is not None:
        return _logical_queues(mapping, samples)
    return [
        queue
        for placement in placements
        for queue in _queues_of_group(topic_name, placement, samples)
    ]


def _logical_queues(mapping: TopicMapping, samples: Sequence[ObservedSample]) -> list[QueueView]:
    bounds = sampled_bounds(mapping, samples)
    views = []
    for queue in mapping.queues:
        name, ends = queue.leader_name or "", ends_of(queue, bounds)
        seen = find_sampled_topic(mapping.topic_name, name, samples)
        views.append(
            QueueView(
                name,
                queue.global_id,
                ends.min_offset,
                ends.max_offset,
                None if seen is None or ends.max_offset is None else seen[0].observed_at_ms,
            )
        )
    return views


def view_rates(topic_name: str, samples: Iterable[ObservedSample], *, now_ms: int) -> TopicRates:
    """Add up what masters take in; unknown as soon as one that was just seen is unknown."""
    topics = [
        topic
        for sample in _masters(samples)
        if now_ms - sample.observed_at_ms <= RATE_AGE_MAX_MS
        for topic in sample.topics
        if topic.name == topic_name
    ]
    return TopicRates(
        messages_in_per_second=_sum([topic.messages_in_per_second for topic in topics]),
        bytes_in_per_second=_sum([topic.bytes_in_per_second for topic in topics]),
    )


def _queues_of_group(
    topic_name: str, placement: TopicPlacement, samples: Sequence[ObservedSample]
) -> list[QueueView]:
    settings = placement.settings
    seen = find_sampled_topic(topic_name, placement.broker_group_name, samples)
    ends = {} if seen is None else {queue.queue_id: queue for queue in seen[1].queues}
    observed_at_ms = None if seen is None else seen[0].observed_at_ms
    views = []
    for queue_id in range(max(settings.read_queue_count, settings.write_queue_count)):
        end = ends.get(queue_id)
        views.append(
            QueueView(
                broker_group_name=placement.broker_group_name,
                queue_id=queue_id,
                min_offset=None if end is None else end.min_offset,
                max_offset=None if end is None else end.max_offset,
                observed_at_ms=None if end is None else observed_at_ms,
            )
        )
    return views


def sampled_bounds(
    mapping: TopicMapping, samples: Sequence[ObservedSample]
) -> dict[Place, QueueBounds]:
    """Return the physical offsets of a topic's queues, as far as samples show them."""
    found = {}
    for name in mapping.counts:
        seen = find_sampled_topic(mapping.topic_name, name, samples)
        for queue in () if seen is None else seen[1].queues:
            found[name, queue.queue_id] = QueueBounds(queue.min_offset, queue.max_offset)
    return found


def find_sampled_topic(
    topic_name: str, broker_group_name: str, samples: Sequence[ObservedSample]
) -> tuple[ObservedSample, ObservedTopic] | None:
    """Take the master's sample of a topic, or a replica's if no master was sampled."""
    found = [
        (sample, topic)
        for sample in samples
        if sample.broker_name == broker_group_name
        for topic in sample.topics
        if topic.name == topic_name
    ]
    return min(found, key=lambda pair: _smallest_then_newest(pair[0]), default=None)


def _masters(samples: Iterable[ObservedSample]) -> Iterable[ObservedSample]:
    """Choose the master of each group: a former master keeps its last sample."""
    masters: dict[str, ObservedSample] = {}
    for sample in sorted(samples, key=_smallest_then_newest):
        if sample.broker_id == MASTER_ID:
            masters.setdefault(sample.broker_name, sample)
    return masters.values()


def _smallest_then_newest(sample: ObservedSample) -> tuple[int, int]:
    return (sample.broker_id, -sample.observed_at_ms)


def _sum(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None
