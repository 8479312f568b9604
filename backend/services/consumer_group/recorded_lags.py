"""Ask masters periodically for the lag of consumer groups, so that lists need not ask (G10)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.exc import DataError

from backend.brokers.asking import Brokers, Inquiry, Round
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import clusters, recorded_lags
from backend.db.engine import Database
from backend.db.recorded_lags import LagKey
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.recorded_lag import RecordedLag, ReportedGroupLag, add_up

GROUPS_AT_ONCE_MAX: Final = 8

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MeasureOutcome:
    """Count the masters that reported the lag of their groups, and those that did not."""

    measured_count: int
    silent_count: int


async def measure_lags(*, database: Database, brokers: Brokers, clock: Clock) -> MeasureOutcome:
    """Ask every master once; without an answer the former report and its time stay.

    Each answer is stored at once, so a slow master has no effect on others if the run is cut off.
    """
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    masters = [one for one in online if one.broker_id == MASTER_ID]
    asking = Round(brokers)
    # One after another: a pool has few connections.
    turn = asyncio.Lock()

    async def measure(master: Broker) -> bool:
        answer = await asking.ask(master, MeasureGroups())
        if isinstance(answer, NoAnswer):
            log.info("lags_not_measured", address=master.address, reason=str(answer))
            return False
        async with turn:
            return await _record(master, answer, database=database, clock=clock)

    measured_count = sum(await asyncio.gather(*(measure(master) for master in masters)))
    async with database.begin() as connection:
        await recorded_lags.forget_groups(connection)
    return MeasureOutcome(measured_count, len(masters) - measured_count)


async def list_lags(
    cluster_name: str, *, size: int, after: LagKey | None, database: Database
) -> Page[RecordedLag, LagKey]:
    """List how far the consumer groups of a cluster were when that was last measured.

    Raises:
        ClusterNotFound: there is no such cluster. InvalidPageSize: the page is empty or too large.
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
        key=lambda one: (one.consumer_group_name, one.topic_name),
        total_count=total,
    )


async def _record(
    master: Broker, lags: Sequence[ReportedGroupLag], *, database: Database, clock: Clock
) -> bool:
    """Store the answer of a master; return whether it was valid, which does not affect others."""
    try:
        async with database.begin() as connection:
            await recorded_lags.replace(
                connection, master.cluster_name, master.broker_group_name, lags, at=clock.now()
            )
    except DataError:
        log.warning("lags_unwritable", address=master.address)
        return False
    return True


@dataclass(frozen=True, slots=True)
class MeasureGroup(Inquiry[Sequence[ReportedGroupLag]]):
    """Ask a broker how far a consumer group is in each topic."""

    name: str

    async def put(self, brokers: Brokers, address: str) -> Sequence[ReportedGroupLag]:
        """Ask whether its members share the messages, then how far they are."""
        online = await brokers.ask(address, GetOnlineGroup(self.name))
        if online is not None and online.is_broadcasting:
            # Its members keep their own offsets: what is stored here is of former times.
            return ()
        return add_up(self.name, await brokers.ask(address, GetProgress(self.name)))


class MeasureGroups(Inquiry[Sequence[ReportedGroupLag]]):
    """Ask a broker how far all its consumer groups are."""

    patience_s = 20.0

    async def put(self, brokers: Brokers, address: str) -> Sequence[ReportedGroupLag]:
        """Ask which groups there are, then about each."""
        names = await brokers.ask(address, GetGroupsWithOffsets())
        asked = {name: MeasureGroup(name) for name in names}
        answers = await brokers.ask_each(address, asked, at_once_max=GROUPS_AT_ONCE_MAX)
        return [one for lags in answers.values() for one in lags]
