"""Store which brokers have full disks, so that health need not read whole samples."""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec
from redis.asyncio import Redis

from backend.clients.losable import read_losable
from backend.services.samples.observed import ObservedSample

KEY: Final = "regent:samples:full-disks"
KEPT_S: Final = 30
"""How long this is valid: samples come every 5 s, and an old sample says nothing about now."""

WARNING_RATIO: Final = 0.9
"""The disk use at which brokers refuse messages, unless `diskSpaceWarningLevelRatio` differs."""

DiskKey = tuple[str, str, int]
"""(cluster, broker group, the own id of the broker, or its registered id if it reported none)."""


async def note_full_disks(redis: Redis, samples: Sequence[ObservedSample]) -> None:
    """Store the brokers of a round of samples whose disks are above the warning level."""
    full = [_key_of(sample) for sample in samples if _is_full(sample)]
    await redis.set(KEY, msgspec.json.encode(full), ex=KEPT_S)


async def read_full_disks(redis: Redis) -> Collection[DiskKey]:
    """Return the brokers whose disks are full; none without recent samples."""
    return await read_losable(_read(redis), unknown=frozenset())


async def _read(redis: Redis) -> frozenset[DiskKey]:
    noted = await redis.get(KEY)
    if noted is None:
        return frozenset()
    return frozenset(msgspec.json.decode(noted, type=list[DiskKey]))


def _is_full(sample: ObservedSample) -> bool:
    used = sample.disk_total_bytes - sample.disk_free_bytes
    return 0 < sample.disk_total_bytes * WARNING_RATIO <= used


def _key_of(sample: ObservedSample) -> DiskKey:
    return (sample.cluster_name, sample.broker_name, sample.name.own_id)
