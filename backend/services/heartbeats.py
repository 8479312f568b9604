"""Keep the instants of brokers' last heartbeats in Redis, in batches.

Who has left keeps the last one: people ask since when it is gone. The instants are of the control
plane's clock: a sender's clock never judges liveness (D3).
"""

from collections.abc import Mapping, Sequence
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


async def record_heartbeats(redis: Redis, heard_at_ms: Mapping[BrokerKey, int]) -> None:
    """Note when brokers were last heard, at least one of them."""
    await redis.hset(KEY, mapping={key.field: at for key, at in heard_at_ms.items()})


async def list_heartbeats(redis: Redis, keys: Sequence[BrokerKey]) -> dict[BrokerKey, int]:
    """Return when brokers were last heard, in milliseconds; who was never heard is left out."""
    if not keys:
        return {}
    values = await redis.hmget(KEY, [key.field for key in keys])
    return {key: int(value) for key, value in zip(keys, values, strict=True) if value is not None}
