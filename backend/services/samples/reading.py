"""Read samples: the latest one of each broker, and new samples as they arrive."""

from collections.abc import AsyncIterator

import msgspec
import structlog
from redis.asyncio import Redis

from backend.services.samples.observed import CHANNEL, LATEST_KEY, ObservedSample, decode_sample

log = structlog.get_logger(__name__)


async def latest_samples(redis: Redis, cluster_name: str) -> list[ObservedSample]:
    """Return the newest sample of each of a cluster's brokers, by name.

    A broker without a sample is absent.
    """
    found = await read_latest(redis)
    chosen = [sample for sample in found.values() if sample.cluster_name == cluster_name]
    return sorted(chosen, key=lambda sample: sample.name)


async def observe(redis: Redis) -> AsyncIterator[ObservedSample]:
    """Yield each new sample of every cluster; close the generator to unsubscribe."""
    async with redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(CHANNEL)
        async for message in channel.listen():
            sample = _readable(message["data"])
            if sample is not None:
                yield sample


async def read_latest(redis: Redis) -> dict[str, ObservedSample]:
    """Return the newest sample of every broker by its field in the hash."""
    stored = await redis.hgetall(LATEST_KEY)
    samples = [one for one in map(_readable, stored.values()) if one is not None]
    # A former field may hold an older one of the same broker.
    return {one.field: one for one in sorted(samples, key=lambda one: one.observed_at_ms)}


def _readable(data: bytes | str) -> ObservedSample | None:
    # Another version of this program may have written it; the next sample replaces it.
    try:
        return decode_sample(data)
    except msgspec.DecodeError as error:
        log.warning("sample_unreadable", error=str(error))
        return None
