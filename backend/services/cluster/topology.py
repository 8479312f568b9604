"""Notify every process over Redis that routes of a cluster have changed.

A notice may be lost. A receiver reads the routes again; without a notice it reads them later.
"""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from redis.asyncio import Redis

from backend.domain.route import TopologyChange

CHANNEL: Final = "regent:topology"


async def announce(redis: Redis, change: TopologyChange) -> None:
    """Publish a change."""
    await redis.publish(CHANNEL, msgspec.json.encode(change))


async def watch(redis: Redis) -> AsyncIterator[TopologyChange]:
    """Yield changes from now on; close the iterator to stop listening."""
    async with redis.pubsub(ignore_subscribe_messages=True) as subscription:
        await subscription.subscribe(CHANNEL)
        async for message in subscription.listen():
            yield msgspec.json.decode(message["data"], type=TopologyChange)
