"""Tell every process that routes of a cluster have changed, over Redis.

A notice may be lost; who hears one reads anew, and who hears none still reads the truth later.
"""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from redis.asyncio import Redis

from backend.domain.route import TopologyChange

CHANNEL: Final = "regent:topology"


async def announce(redis: Redis, change: TopologyChange) -> None:
    """Tell whoever watches of a change."""
    await redis.publish(CHANNEL, msgspec.json.encode(change))


async def watch(redis: Redis) -> AsyncIterator[TopologyChange]:
    """Yield changes from now on; close the iterator to stop listening."""
    async with redis.pubsub(ignore_subscribe_messages=True) as subscription:
        await subscription.subscribe(CHANNEL)
        async for message in subscription.listen():
            yield msgspec.json.decode(message["data"], type=TopologyChange)
