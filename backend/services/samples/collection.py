"""Ask every broker for a sample, derive rates, and pass the samples on through Redis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from redis.asyncio import Redis

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.figures import GetBrokerSample
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.remoting.sample import BrokerSample
from backend.services.samples.full_disks import note_full_disks
from backend.services.samples.observed import (
    CHANNEL,
    LATEST_KEY,
    PENDING_KEY,
    STREAM_FIELD,
    ObservedQueue,
    ObservedSample,
    ObservedTopic,
    encode_sample,
)
from backend.services.samples.rate_history import note_rates
from backend.services.samples.rates import has_rates, with_rates, without_rates
from backend.services.samples.reading import read_latest

PENDING_COUNT_MAX: Final = 50_000
"""Without an archive run, the oldest samples beyond this number are lost: a gap in the history."""

# The type of the client's signatures; such mappings are invariant.
Field = bytes | bytearray | memoryview | str | int | float
Value = Field

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CollectionOutcome:
    """Count the brokers with and without a sample."""

    sampled_count: int
    silent_count: int


async def collect_samples(
    *, database: Database, redis: Redis, brokers: Brokers, clock: Clock
) -> CollectionOutcome:
    """Sample every online broker once, and publish the samples with their rates.

    A broker without a new sample keeps its last one, with unknown rates from now on (D21).
    """
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    previous = await read_latest(redis)
    answers = await brokers.ask_all(online, _Observe(clock))
    for broker, error in answers.silent.items():
        log.info("broker_not_sampled", address=broker.address, reason=error.reason)
    found = [
        sample
        for broker, (reported, at_ms) in answers.answers.items()
        if (sample := _checked(broker, reported, at_ms)) is not None
    ]
    samples = [with_rates(sample, previous.get(sample.field)) for sample in found]
    await _publish(redis, samples, previous)
    if samples:
        await note_full_disks(redis, samples)
        await note_rates(redis, samples, at_ms=clock.now_ms())
    return CollectionOutcome(sampled_count=len(samples), silent_count=len(online) - len(samples))


@dataclass(frozen=True, slots=True)
class _Observe(Inquiry[tuple[BrokerSample, int]]):
    """Ask for a sample, and record the time of the answer."""

    clock: Clock

    async def put(self, brokers: Brokers, address: str) -> tuple[BrokerSample, int]:
        reported = await brokers.ask(address, GetBrokerSample())
        return reported, self.clock.now_ms()


def _checked(broker: Broker, reported: BrokerSample, at_ms: int) -> ObservedSample | None:
    claimed = (reported.cluster_name, reported.broker_name, reported.broker_id, reported.own_id)
    is_of_group = claimed[:2] == (broker.cluster_name, broker.broker_group_name)
    # During a change of roles, only one of the two may know the new role.
    is_same = reported.broker_id == broker.broker_id or reported.own_id == broker.own_id
    if not (is_of_group and is_same):
        # Its address now belongs to another broker, which will register there.
        log.warning("sample_of_another_broker", address=broker.address, claimed=claimed)
        return None
    return _observed(reported, observed_at_ms=at_ms)


async def _publish(
    redis: Redis, samples: Sequence[ObservedSample], previous: Mapping[str, ObservedSample]
) -> None:
    sampled = {sample.field for sample in samples}
    outdated: dict[Field, Value] = {
        field: encode_sample(without_rates(sample))
        for field, sample in previous.items()
        if field not in sampled and has_rates(sample)
    }
    encoded: dict[Field, Value] = {sample.field: encode_sample(sample) for sample in samples}
    if not encoded and not outdated:
        return
    async with redis.pipeline(transaction=False) as pipeline:
        pipeline.hset(LATEST_KEY, mapping={**outdated, **encoded})
        if samples:
            pipeline.hdel(LATEST_KEY, *(sample.former_field for sample in samples))
        for data in encoded.values():
            pipeline.xadd(
                PENDING_KEY, {STREAM_FIELD: data}, maxlen=PENDING_COUNT_MAX, approximate=True
            )
            pipeline.publish(CHANNEL, data)
        await pipeline.execute()


def _observed(reported: BrokerSample, *, observed_at_ms: int) -> ObservedSample:
    return ObservedSample(
        cluster_name=reported.cluster_name,
        broker_name=reported.broker_name,
        broker_id=reported.broker_id,
        own_id=reported.own_id,
        observed_at_ms=observed_at_ms,
        reported_at_ms=reported.observed_at_ms,
        booted_at_ms=reported.booted_at_ms,
        messages_in=reported.messages_in,
        bytes_in=reported.bytes_in,
        messages_out=reported.messages_out,
        bytes_out=reported.bytes_out,
        commit_log_min_position=reported.commit_log_min_position,
        commit_log_max_position=reported.commit_log_max_position,
        flushed_position=reported.flushed_position,
        store_bytes=reported.store_bytes,
        disk_total_bytes=reported.disk_total_bytes,
        disk_free_bytes=reported.disk_free_bytes,
        resident_bytes=reported.resident_bytes,
        cpu_seconds=reported.cpu_seconds,
        topics=tuple(
            ObservedTopic(
                name=topic.name,
                messages_in=topic.messages_in,
                bytes_in=topic.bytes_in,
                queues=tuple(
                    ObservedQueue(
                        queue_id=queue.queue_id,
                        min_offset=queue.min_offset,
                        max_offset=queue.max_offset,
                    )
                    for queue in topic.queues
                ),
            )
            for topic in reported.topics
        ),
    )
