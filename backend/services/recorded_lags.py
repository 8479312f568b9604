"""Ask masters on schedule how far consumer groups are, so that no list has to ask brokers (G10)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from sqlalchemy.exc import DataError

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import clusters, recorded_lags
from backend.db.engine import Database
from backend.db.recorded_lags import LagKey
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_reading import OnlineGroup, QueueProgress
from backend.domain.recorded_lag import RecordedLag, ToldLag, add_up

BROKERS_AT_ONCE_MAX: Final = 64
GROUPS_AT_ONCE_MAX: Final = 8
BROKER_PATIENCE_S: Final = 20.0

log = structlog.get_logger(__name__)


class ProgressSource(Protocol):
    """Speaks to brokers; each as the method of `Brokers` of that name."""

    async def groups_with_offsets(self, address: str) -> list[str]:
        """Ask which groups have committed an offset."""
        ...

    async def online_group(self, address: str, group: str) -> OnlineGroup | None:
        """Ask who of a group is connected."""
        ...

    async def progress(
        self, address: str, group: str, topic: str | None = None
    ) -> list[QueueProgress]:
        """Ask how far a group is."""
        ...


@dataclass(frozen=True, slots=True)
class MeasureOutcome:
    """Count the masters that told how far their groups are, and those that did not."""

    measured_count: int
    silent_count: int


async def measure_lags(
    *, database: Database, brokers: ProgressSource, clock: Clock
) -> MeasureOutcome:
    """Ask every master once; who does not answer leaves what it told before, with its instant.

    What one tells is kept at once, so that slow ones cost nobody else a run that is cut off.
    """
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    masters = [one for one in online if one.broker_id == MASTER_ID]
    slots = asyncio.Semaphore(BROKERS_AT_ONCE_MAX)
    # One after another: a pool has few connections.
    turn = asyncio.Lock()

    async def measure(master: Broker) -> bool:
        async with slots:
            told = await _ask(master.address, brokers)
        if told is None:
            return False
        async with turn:
            return await _record(master, told, database=database, clock=clock)

    measured_count = sum(await asyncio.gather(*(measure(master) for master in masters)))
    async with database.begin() as connection:
        await recorded_lags.forget_groups(connection)
    return MeasureOutcome(measured_count, len(masters) - measured_count)


async def list_lags(
    cluster_name: str, *, size: int, after: LagKey | None, database: Database
) -> Page[RecordedLag, LagKey]:
    """List how far the consumer groups of a cluster were when that was last measured.

    Raises:
        ClusterNotFound: there is none of that name.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        found = await recorded_lags.list_of_cluster(
            connection, cluster_name, after=after, limit=size + 1
        )
        total = await recorded_lags.count_of_cluster(connection, cluster_name)
    return cut_page(
        found,
        size=size,
        key=lambda one: (one.consumer_group, one.topic_name),
        total_count=total,
    )


async def _record(
    master: Broker, told: Sequence[ToldLag], *, database: Database, clock: Clock
) -> bool:
    """Keep what a master told; tell whether it makes sense, which is no matter for the others."""
    try:
        async with database.begin() as connection:
            await recorded_lags.replace(
                connection, master.cluster_name, master.group_name, told, at=clock.now()
            )
    except DataError:
        log.warning("lags_unwritable", address=master.address)
        return False
    return True


async def _ask(address: str, brokers: ProgressSource) -> list[ToldLag] | None:
    slots = asyncio.Semaphore(GROUPS_AT_ONCE_MAX)

    async def ask(group: str) -> list[ToldLag]:
        async with slots:
            online = await brokers.online_group(address, group)
            if online is not None and online.is_broadcasting:
                # Its members keep their own offsets: what is stored here is of former times.
                return []
            return add_up(group, await brokers.progress(address, group))

    try:
        async with asyncio.timeout(BROKER_PATIENCE_S):
            names = await brokers.groups_with_offsets(address)
            told = await asyncio.gather(*(ask(name) for name in names))
    except (BrokerUnreachable, BrokerRefused, TimeoutError) as error:
        log.info("lags_not_measured", address=address, reason=str(error) or "took too long")
        return None
    return [one for lags in told for one in lags]
