"""Mark brokers without heartbeats offline: the safety net below the name server.

The name server notices closed connections and silence itself. This scan covers cases that the name
server could not record, for example after a crash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db import brokers
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.services.cluster.topology import announce
from backend.services.controller.heartbeats import (
    KEY,
    BrokerIdentity,
    Observation,
    list_heartbeats,
    list_observers,
)
from backend.services.controller.registrations import MarkBrokerOffline, mark_broker_offline

OBSERVER_SILENT_MS: Final = 3_000
"""An observer reports twice a second that it listens.

Without a report for this long, it is paused.
"""

OBSERVER_GONE_MS: Final = 30_000
"""Without a report for this long, an observer has ended, and its brokers use other processes."""


@dataclass(frozen=True, slots=True)
class LivenessOutcome:
    """Hold the brokers that were marked offline, and the number that can't be judged now."""

    offline: tuple[BrokerIdentity, ...]
    unjudged_count: int


async def scan_liveness(*, database: Database, redis: Redis, clock: Clock) -> LivenessOutcome:
    """Mark brokers offline that have sent no heartbeat for longer than their timeout.

    A problem of the listener marks no broker offline (D28). The scan does nothing if Redis can't be
    read. It also does nothing if no broker at all has sent a heartbeat in time, as after a stop of
    the control plane. The timeout of a broker without a time in Redis starts now. The time in which
    an observer was paused is not silence.

    Raises:
        redis.RedisError: Redis can't be read; nothing has changed.
    """
    async with database.connect() as connection:
        online = await brokers.list_online(connection)
    keys = {key_of(broker): broker for broker in online}
    heard = await list_heartbeats(redis, list(keys))
    now_ms = clock.now_ms()
    listened_ms = _listened_ms(await list_observers(redis), now_ms=now_ms)
    silent = _silent(keys, heard, now_ms=now_ms, listened_ms=listened_ms)
    unheard = [key for key in keys if key not in heard]
    await _begin_wait(redis, unheard, now_ms=clock.now_ms())
    if len(silent) == len(heard):
        return LivenessOutcome(offline=(), unjudged_count=len(silent) + len(unheard))
    # Read again: a broker may have sent a heartbeat during the scan.
    heard_again = await list_heartbeats(redis, silent)
    offline = [
        key
        for key in silent
        if heard_again.get(key) == heard[key]
        and await _give_up(keys[key], database=database, redis=redis, clock=clock)
    ]
    return LivenessOutcome(offline=tuple(offline), unjudged_count=len(unheard))


def key_of(broker: Broker) -> BrokerIdentity:
    """Return the key of a broker in the heartbeats."""
    return BrokerIdentity(broker.cluster_name, broker.broker_group_name, broker.broker_id)


def _listened_ms(observers: Sequence[Observation], *, now_ms: int) -> int | None:
    """Return how long all present observers have listened, or 0 if one of them is paused.

    `None` if no observer ever reported: then every silence is judged.
    """
    if not observers:
        return None
    present = [one for one in observers if abs(now_ms - one.observed_at_ms) <= OBSERVER_GONE_MS]
    is_silent = any(abs(now_ms - one.observed_at_ms) > OBSERVER_SILENT_MS for one in present)
    return 0 if is_silent else min((one.listened_ms for one in present), default=0)


def _silent(
    keys: Mapping[BrokerIdentity, Broker],
    heard: Mapping[BrokerIdentity, int],
    *,
    now_ms: int,
    listened_ms: int | None,
) -> list[BrokerIdentity]:
    def last_heard_ms(key: BrokerIdentity) -> int:
        registered_at_ms = int(keys[key].last_registered_at.timestamp() * 1000)
        return max(heard[key], registered_at_ms)

    def silence_ms(key: BrokerIdentity) -> int:
        silence_ms = now_ms - last_heard_ms(key)
        return silence_ms if listened_ms is None else min(silence_ms, listened_ms)

    return [key for key in heard if silence_ms(key) > keys[key].heartbeat_timeout_ms]


async def _begin_wait(redis: Redis, keys: Sequence[BrokerIdentity], *, now_ms: int) -> None:
    if not keys:
        return
    async with redis.pipeline(transaction=False) as pipeline:
        for key in keys:
            # Only if no heartbeat was written meanwhile.
            pipeline.hsetnx(KEY, key.field, now_ms)
        await pipeline.execute()


async def _give_up(broker: Broker, *, database: Database, redis: Redis, clock: Clock) -> bool:
    command = MarkBrokerOffline(
        cluster_name=broker.cluster_name,
        broker_group_name=broker.broker_group_name,
        broker_id=broker.broker_id,
        address=broker.address,
    )
    change = await mark_broker_offline(command, database=database, clock=clock)
    if change is None:
        return False
    await announce(redis, change)
    return True
