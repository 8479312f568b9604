"""Write the times of the last heartbeats of brokers to Redis, in batches.

A broker that has left keeps its last time, which shows since when it is gone. The times are of the
clock of the control plane: the clock of a sender never decides about liveness (D3).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from redis.asyncio import Redis

from backend.clients.clock import Clock

KEY: Final = "regent:liveness"
OBSERVERS_KEY: Final = "regent:observers"
CLOCK_STEP_MIN_MS: Final = 1_000.0
"""If the wall clock and the monotonic clock differ by more than this, the wall clock was set."""


class BrokerIdentity(NamedTuple):
    """Name one broker among all clusters."""

    cluster_name: str
    broker_group_name: str
    broker_id: int

    @property
    def field(self) -> str:
        """Return the field of the broker in the hash in Redis.

        A name can't contain the separator.
        """
        return f"{self.cluster_name}/{self.broker_group_name}/{self.broker_id}"


class Observation(NamedTuple):
    """Hold how long a process had listened without a break, and when it reported that."""

    observed_at_ms: int
    listened_ms: int


class Observer:
    """Measure how long a process has listened since its start or its last break.

    A step of the wall clock is a break too: times before and after it can't be compared.
    """

    def __init__(self, name: str, clock: Clock, elapsed_ms: Callable[[], float]) -> None:
        self.name, self._clock, self._elapsed_ms = name, clock, elapsed_ms
        self._since_ms = elapsed_ms()
        self._distance_ms = clock.now_ms() - elapsed_ms()

    def begin(self) -> None:
        """Start to listen after a break."""
        self._since_ms = self._elapsed_ms()

    def observe(self) -> Observation:
        """Return how long this process has listened."""
        now_ms, elapsed_ms = self._clock.now_ms(), self._elapsed_ms()
        distance_ms = now_ms - elapsed_ms
        if abs(distance_ms - self._distance_ms) >= CLOCK_STEP_MIN_MS:
            self.begin()
        self._distance_ms = distance_ms
        return Observation(now_ms, int(elapsed_ms - self._since_ms))


async def record_heartbeats(
    redis: Redis, heard_at_ms: Mapping[BrokerIdentity, int], *, observer: Observer | None = None
) -> None:
    """Write the times of the last heartbeats, and how long their observer has listened."""
    async with redis.pipeline(transaction=False) as pipeline:
        if heard_at_ms:
            pipeline.hset(KEY, mapping={key.field: at for key, at in heard_at_ms.items()})
        if observer is not None:
            instant = observer.observe()
            value = f"{instant.observed_at_ms}:{instant.listened_ms}"
            pipeline.hset(OBSERVERS_KEY, observer.name, value)
        await pipeline.execute()


async def list_observers(redis: Redis) -> list[Observation]:
    """List the reports of processes about how long they have listened."""
    values = await redis.hvals(OBSERVERS_KEY)
    texts = [value if isinstance(value, str) else value.decode() for value in values]
    return [Observation(*map(int, text.split(":"))) for text in texts]


async def forget_observer(redis: Redis, name: str) -> None:
    """Record that a process has stopped cleanly."""
    await redis.hdel(OBSERVERS_KEY, name)


async def list_heartbeats(
    redis: Redis, keys: Sequence[BrokerIdentity]
) -> dict[BrokerIdentity, int]:
    """Return the times of the last heartbeats in ms; brokers without a heartbeat are left out."""
    if not keys:
        return {}
    values = await redis.hmget(KEY, [key.field for key in keys])
    return {key: int(value) for key, value in zip(keys, values, strict=True) if value is not None}
