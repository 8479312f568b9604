"""Ask masters periodically for the lag of consumer groups, so that lists need not ask (G10)."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.exc import DataError

from backend.brokers.asking import Brokers, Inquiry, Round
from backend.brokers.errors import BrokerRefused, NoAnswer
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress
from backend.brokers.requests.physical_positions import GetPositionsInTopics, Positions
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import clusters, logical_queues, recorded_lags
from backend.db.engine import Database
from backend.db.recorded_lags import LagKey
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.logical_queue.group_progress import add_up_logical
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.segment import QueueBounds
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
        static = await logical_queues.list_all(connection)
    mappings: dict[str, dict[str, TopicMapping]] = {}
    for one in static:
        mappings.setdefault(one.cluster_name, {})[one.mapping.topic_name] = one.mapping
    masters = [one for one in online if one.broker_id == MASTER_ID]
    asking = Round(brokers)
    measured: dict[Broker, MeasuredGroups] = {}
    # One after another: a pool has few connections.
    turn = asyncio.Lock()

    async def measure(master: Broker) -> bool:
        topics = frozenset(mappings.get(master.cluster_name, ()))
        answer = await asking.ask(master, MeasureGroups(topics))
        if isinstance(answer, NoAnswer):
            log.info("lags_not_measured", address=master.address, reason=str(answer))
            return False
        measured[master] = answer
        async with turn:
            lags, at = answer.lags, clock.now()
            return await _record(master, lags, spared=topics, at=at, database=database)

    measured_count = sum(await asyncio.gather(*(measure(master) for master in masters)))
    for cluster_name, of_cluster in mappings.items():
        answers = {
            master.broker_group_name: one
            for master, one in measured.items()
            if master.cluster_name == cluster_name
        }
        for mapping in of_cluster.values():
            at = clock.now()
            try:
                await _record_logical(cluster_name, mapping, answers, at=at, database=database)
            except DataError:
                log.warning("lags_unwritable", topic=mapping.topic_name)
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
    master: Broker,
    lags: Sequence[ReportedGroupLag],
    *,
    spared: Collection[str],
    at: datetime,
    database: Database,
) -> bool:
    """Store the answer of a master; return whether it was valid, which does not affect others."""
    names = master.cluster_name, master.broker_group_name
    try:
        async with database.begin() as connection:
            await recorded_lags.replace(connection, *names, lags, spared=spared, at=at)
    except DataError:
        log.warning("lags_unwritable", address=master.address)
        return False
    return True


async def _record_logical(
    cluster_name: str,
    mapping: TopicMapping,
    answers: Mapping[str, "MeasuredGroups"],
    *,
    at: datetime,
    database: Database,
) -> None:
    """Store the lag in logical queues by their leaders.

    Where a broker group with a segment did not answer, the former lag and its time stay.
    """
    topic_name = mapping.topic_name
    bounds = {
        (name, queue_id): QueueBounds(ends.low, ends.high)
        for name, one in answers.items()
        for queue_id, ends in one.ends.get(topic_name, {}).items()
    }
    positions: dict[str, dict[Place, int]] = {}
    for name, one in answers.items():
        for group, offsets in one.positions.get(topic_name, {}).items():
            places = {(name, queue_id): offset for queue_id, offset in offsets.items()}
            positions.setdefault(group, {}).update(places)
    async with database.begin() as connection:
        for name in mapping.counts:
            queues = mapping.led_by(name)
            if {one.broker_group_name for queue in queues for one in queue.segments} <= (
                answers.keys()
            ):
                lags = add_up_logical(topic_name, queues, positions, bounds)
                await recorded_lags.replace_topic(
                    connection, cluster_name, name, topic_name, lags, at=at
                )


@dataclass(frozen=True, slots=True)
class MeasureGroup(Inquiry[Sequence[ReportedGroupLag] | None]):
    """Ask a broker how far a consumer group is in each topic; None for a broadcasting group."""

    name: str

    async def put(self, brokers: Brokers, address: str) -> Sequence[ReportedGroupLag] | None:
        """Ask whether its members share the messages, then how far they are."""
        online = await brokers.ask(address, GetOnlineGroup(self.name))
        if online is not None and online.is_broadcasting:
            # Its members keep their own offsets: what is stored here is of former times.
            return None
        return add_up(self.name, await brokers.ask(address, GetProgress(self.name)))


@dataclass(frozen=True, slots=True)
class MeasuredGroups:
    """Hold the lags of groups on a broker in ordinary topics, and what there is of static ones.

    `positions` are physical, by topic, group and queue id, and `ends` by topic and queue id.
    """

    lags: Sequence[ReportedGroupLag]
    positions: Mapping[str, Positions]
    ends: Mapping[str, Mapping[int, QueueEnds]]


@dataclass(frozen=True, slots=True)
class MeasureGroups(Inquiry[MeasuredGroups]):
    """Ask a broker how far all its consumer groups are."""

    patience_s = 20.0

    static_topics: frozenset[str] = frozenset()

    async def put(self, brokers: Brokers, address: str) -> MeasuredGroups:
        """Ask which groups there are, then about each, then for what static topics have here."""
        names = await brokers.ask(address, GetGroupsWithOffsets())
        asked = {name: MeasureGroup(name) for name in names}
        answers = await brokers.ask_each(address, asked, at_once_max=GROUPS_AT_ONCE_MAX)
        lags = [
            one
            for found in answers.values()
            for one in found or ()
            if one.topic_name not in self.static_topics
        ]
        if not self.static_topics:
            return MeasuredGroups(lags, {}, {})
        positions = await brokers.ask(address, GetPositionsInTopics(self.static_topics))
        ends: dict[str, Mapping[int, QueueEnds]] = {}
        for topic in sorted(self.static_topics):
            try:
                ends[topic] = await brokers.ask(address, GetTopicEnds(topic))
            except BrokerRefused:
                # A broker group that came after the last change does not have the topic.
                continue
        sharing = {name for name, found in answers.items() if found is not None}
        shared = {
            topic: {group: offsets for group, offsets in found.items() if group in sharing}
            for topic, found in positions.items()
        }
        return MeasuredGroups(lags, shared, ends)
