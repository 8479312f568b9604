"""Keep the instants of brokers' last heartbeats in Redis, in batches.

The instants are of the control plane's clock: a sender's clock never judges liveness (D3).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from redis.asyncio import Redis

KEY: Final = "regent:liveness"


class BrokerKey(NamedTuple):
    """Name one broker among all clusters."""

    cluster_name: str
    group_name: str
    broker_id: int

    @property
    def field(self) -> str:
        """Name the broker as the hash in Redis does; a name can't hold the separator."""
        return f"{self.cluster_name}/{self.group_name}/{self.broker_id}"


async def record_heartbeats(
    redis: Redis, heard_at_ms: Mapping[BrokerKey, int], *, departed: Collection[BrokerKey] = ()
) -> None:
    """Note when brokers were last heard, and forget those that have left, in one round trip."""
    async with redis.pipeline(transaction=False) as pipeline:
        if heard_at_ms:
            pipeline.hset(KEY, mapping={key.field: at for key, at in heard_at_ms.items()})
        if departed:
            pipeline.hdel(KEY, *(key.field for key in departed))
        await pipeline.execute()


async def list_heartbeats(redis: Redis, keys: Sequence[BrokerKey]) -> dict[BrokerKey, int]:
    """Return when brokers were last heard, in milliseconds; who was never heard is left out."""
    if not keys:
        return {}
    values = await redis.hmget(KEY, [key.field for key in keys])
    return {key: int(value) for key, value in zip(keys, values, strict=True) if value is not None}
