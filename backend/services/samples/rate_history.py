"""Store the rates of clusters: an hour in rounds, a day in means.

Each round of the collection adds up the brokers of a cluster: what masters receive, since replicas
receive the same again, and what all brokers deliver. The rates are in Redis, and may be lost.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import msgspec
import structlog
from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.db import clusters
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import InvalidSpan
from backend.services.samples.observed import ObservedSample

ROUNDS_KEY: Final = "regent:samples:rates:rounds"
MEANS_KEY: Final = "regent:samples:rates:means"
"""Sorted sets of `Totals`, as JSON, by their time in milliseconds since 1970."""

ROUNDS_KEPT_MINUTES: Final = 60
MINUTES_MAX: Final = 24 * 60

MEAN_OF_MS: Final = 300_000
"""The period of a mean: a day gives enough points for a chart, and a small answer."""

_MINUTE_MS: Final = 60_000
_LATE_MS_MAX: Final = 30_000
"""How much older than the newest round a round of a slow worker may be."""

log = structlog.get_logger(__name__)


class Rates(msgspec.Struct, frozen=True):
    """Hold messages and bytes per second; None is unknown (D21)."""

    messages_in: float | None
    messages_out: float | None
    bytes_in: float | None
    bytes_out: float | None


class Totals(msgspec.Struct, frozen=True):
    """Hold the rates of each sampled cluster at one time."""

    at_ms: int
    clusters: dict[str, Rates]


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The rates of clusters together at one time."""

    at_ms: int
    rates: Rates


async def note_rates(redis: Redis, samples: Iterable[ObservedSample], *, at_ms: int) -> None:
    """Store the sums of a round of samples, and the mean of the last five minutes at their end."""
    totals = _grouped(((one.cluster_name, _rates_of(one)) for one in samples), at_ms, sum)
    last = _readable(await redis.zrange(ROUNDS_KEY, -1, -1))
    ended = [one.at_ms // MEAN_OF_MS * MEAN_OF_MS for one in last]
    async with redis.pipeline(transaction=False) as pipeline:
        if ended and ended[0] + MEAN_OF_MS <= at_ms:
            mean = await _mean_from(redis, ended[0])
            # If the clock was set back, there may be a mean already.
            pipeline.zremrangebyscore(MEANS_KEY, mean.at_ms, mean.at_ms)
            pipeline.zadd(MEANS_KEY, {msgspec.json.encode(mean): mean.at_ms})
        pipeline.zadd(ROUNDS_KEY, {msgspec.json.encode(totals): at_ms})
        for key, kept_minutes in ((ROUNDS_KEY, ROUNDS_KEPT_MINUTES), (MEANS_KEY, MINUTES_MAX)):
            pipeline.zremrangebyscore(key, "-inf", f"({at_ms - kept_minutes * _MINUTE_MS}")
            # From before the clock was set back.
            pipeline.zremrangebyscore(key, f"({at_ms + _LATE_MS_MAX}", "+inf")
        await pipeline.execute()


async def show_rates(
    minutes: int,
    *,
    cluster_name: str | None,
    within: ClusterScope,
    redis: Redis,
    database: Database,
    clock: Clock,
) -> list[RatePoint]:
    """Return the rates of clusters over the last minutes, the oldest first.

    They are of one cluster, or of all within reach together, round by round; beyond an hour they
    are means of five minutes. A time without a sample is absent.

    Raises:
        InvalidSpan: the period is less than one minute or more than a day. ClusterNotFound: there
        is no such cluster.
    """
    if not 1 <= minutes <= MINUTES_MAX:
        raise InvalidSpan(minutes, minutes_max=MINUTES_MAX)
    if cluster_name is not None:
        async with database.connect() as connection:
            await clusters.get(connection, cluster_name)
    key = ROUNDS_KEY if minutes <= ROUNDS_KEPT_MINUTES else MEANS_KEY
    stored = await redis.zrangebyscore(key, clock.now_ms() - minutes * _MINUTE_MS, "+inf")
    points = []
    for totals in _readable(stored):
        chosen = [
            rates
            for name, rates in totals.clusters.items()
            if cluster_name in (None, name) and within.includes(name)
        ]
        if chosen:
            points.append(RatePoint(totals.at_ms, _combined(chosen, sum)))
    return points


async def _mean_from(redis: Redis, start_ms: int) -> Totals:
    stored = await redis.zrangebyscore(ROUNDS_KEY, start_ms, f"({start_ms + MEAN_OF_MS}")
    rates = (pair for totals in _readable(stored) for pair in totals.clusters.items())
    return _grouped(rates, start_ms, fmean)


def _rates_of(sample: ObservedSample) -> Rates:
    is_master = sample.broker_id == MASTER_ID
    return Rates(
        messages_in=sample.messages_in_per_second if is_master else None,
        messages_out=sample.messages_out_per_second,
        bytes_in=sample.bytes_in_per_second if is_master else None,
        bytes_out=sample.bytes_out_per_second,
    )


Combine = Callable[[Sequence[float]], float]


def _grouped(rates: Iterable[tuple[str, Rates]], at_ms: int, combine: Combine) -> Totals:
    by_cluster: dict[str, list[Rates]] = defaultdict(list)
    for cluster_name, one in rates:
        by_cluster[cluster_name].append(one)
    return Totals(at_ms, {name: _combined(all_of, combine) for name, all_of in by_cluster.items()})


def _combined(rates: Sequence[Rates], combine: Combine) -> Rates:
    """Combine the known values of each figure; a figure without a known value stays unknown."""

    def of(figures: Iterable[float | None]) -> float | None:
        known = [figure for figure in figures if figure is not None]
        return combine(known) if known else None

    return Rates(
        messages_in=of(one.messages_in for one in rates),
        messages_out=of(one.messages_out for one in rates),
        bytes_in=of(one.bytes_in for one in rates),
        bytes_out=of(one.bytes_out for one in rates),
    )


def _readable(stored: Iterable[Any]) -> list[Totals]:
    found = []
    for data in stored:
        try:
            found.append(msgspec.json.decode(data, type=Totals))
        except msgspec.DecodeError as error:
            # Another version of this program may have written it.
            log.warning("rates_unreadable", error=str(error))
    return found
