"""Give up brokers that have fallen silent: the safety net below the name server.

The name server sees a closed connection and a silence itself; this scan catches what it could not
record, as when it died in between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db import brokers
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.services.heartbeats import KEY, BrokerKey, list_heartbeats
from backend.services.registrations import MarkBrokerOffline, mark_broker_offline
from backend.services.topology import announce


@dataclass(frozen=True, slots=True)
class LivenessOutcome:
    """Name the brokers given up, and count those whose silence can't be judged now."""

    offline: tuple[BrokerKey, ...]
    unjudged_count: int


async def scan_liveness(*, database: Database, redis: Redis, clock: Clock) -> LivenessOutcome:
    """Mark brokers offline that nobody has heard for longer than they asked to be waited for.

    Nobody is evicted for the silence of a listener: when Redis can't be read, when a broker's
    instant is missing there (its wait begins now), and when no broker at all has been heard in
    time, which is what a stopped control plane looks like.

    Raises:
        redis.RedisError: Redis can't be read; nothing was changed.
    """
    async with database.connect() as connection:
        online = await brokers.list_online(connection)
    keys = {key_of(broker): broker for broker in online}
    heard = await list_heartbeats(redis, list(keys))
    silent = _silent(keys, heard, now_ms=clock.now_ms())
    unheard = [key for key in keys if key not in heard]
    await _begin_wait(redis, unheard, now_ms=clock.now_ms())
    if len(silent) == len(heard):
        return LivenessOutcome(offline=(), unjudged_count=len(silent) + len(unheard))
    # Read again: a broker may have come back while the scan was at work.
    heard_again = await list_heartbeats(redis, silent)
    offline = [
        key
        for key in silent
        if heard_again.get(key) == heard[key]
        and await _give_up(keys[key], database=database, redis=redis, clock=clock)
    ]
    return LivenessOutcome(offline=tuple(offline), unjudged_count=len(unheard))


def key_of(broker: Broker) -> BrokerKey:
    """Name a broker as the heartbeats do."""
    return BrokerKey(broker.cluster_name, broker.group_name, broker.broker_id)


def _silent(
    keys: Mapping[BrokerKey, Broker], heard: Mapping[BrokerKey, int], *, now_ms: int
) -> list[BrokerKey]:
    def last_heard_ms(key: BrokerKey) -> int:
        registered_at_ms = int(keys[key].last_registered_at.timestamp() * 1000)
        return max(heard[key], registered_at_ms)

    return [key for key in heard if now_ms - last_heard_ms(key) > keys[key].heartbeat_timeout_ms]


async def _begin_wait(redis: Redis, keys: Sequence[BrokerKey], *, now_ms: int) -> None:
    if not keys:
        return
    async with redis.pipeline(transaction=False) as pipeline:
        for key in keys:
            # Only where a heartbeat has not come first.
            pipeline.hsetnx(KEY, key.field, now_ms)
        await pipeline.execute()


async def _give_up(broker: Broker, *, database: Database, redis: Redis, clock: Clock) -> bool:
    command = MarkBrokerOffline(
        cluster_name=broker.cluster_name,
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        address=broker.address,
    )
    change = await mark_broker_offline(command, database=database, clock=clock)
    if change is None:
        return False
    await announce(redis, change)
    return True
