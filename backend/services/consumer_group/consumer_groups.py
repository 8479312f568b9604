"""Describe consumer groups from the answers of the masters of their cluster.

A list reads names from the recent client snapshot. Members and lags are asked only for the groups
of one page, and only from the masters that know the group. So the cost of a page depends neither on
the list nor on the cluster.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from backend.brokers.asking import Brokers
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetCommittedOffsets, GetProgress, GetWaitingTimes
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.domain.consumer_group_lag import (
    NO_LAG,
    Coverage,
    GroupState,
    LagTotal,
    QueueKind,
    QueueLag,
    add_up,
    state_of,
)
from backend.domain.logical_queue.group_progress import in_logical_terms
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.domain.queue_lock import BrokerKey
from backend.domain.queue_reading import OnlineGroup, QueueProgress
from backend.remoting.names import BUILT_IN_GROUPS, SYSTEM_GROUP_PREFIX, retry_topic
from backend.services.cluster.broker_questions import Questions, UnknownBroker
from backend.services.consumer_group.client_snapshots import ClientSnapshots, GroupSnapshot

OBSERVED_COUNT_MAX: Final = 100
"""Each costs some questions to its masters, so a page of groups is smaller than others."""


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """Hold a consumer group's name, and which broker groups serve it."""

    name: str
    broker_group_names: tuple[str, ...]

    @property
    def is_system(self) -> bool:
        """Return whether it belongs to the brokers."""
        return is_system_group(self.name)


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Hold one page of groups, whose are not known, and when they were asked."""

    page: Page[ListedGroup, str]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """Hold the masters' present answers about a group: its members and its lag.

    `online` is by broker, without those where no member of the group is connected.
    `broker_group_names` are those of the cluster; masters that did not answer are `unknown`.
    `static` are the mappings of the static topics that it reads: their `queues` are logical.
    """

    name: str
    online: Mapping[BrokerKey, OnlineGroup]
    queues: tuple[QueueLag, ...]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime
    broker_group_names: frozenset[str]
    static: Mapping[str, TopicMapping] = field(default_factory=dict)

    @property
    def is_system(self) -> bool:
        """Return whether it belongs to the brokers."""
        return is_system_group(self.name)

    @property
    def coverage(self) -> Coverage:
        """Count the broker groups that answered completely, of those that were asked."""
        silent = {one.broker.broker_group_name for one in self.unknown}
        asked = self.broker_group_names | silent
        return Coverage(len(asked - silent), len(asked))

    @property
    def client_ids(self) -> tuple[str, ...]:
        """Name its members."""
        found = {one.client_id for online in self.online.values() for one in online.members}
        return tuple(sorted(found))

    @property
    def is_broadcasting(self) -> bool:
        """Return whether its members keep their own offsets; where they disagree some do not."""
        return bool(self.online) and all(one.is_broadcasting for one in self.online.values())

    @property
    def state(self) -> GroupState:
        """Return whether the group has a member."""
        return state_of(len(self.client_ids), self.coverage)

    @property
    def lag(self) -> LagTotal:
        """Add up what it has not read of what was sent."""
        return self._total(QueueKind.NORMAL)

    @property
    def retry_lag(self) -> LagTotal:
        """Add up what waits for another attempt."""
        return self._total(QueueKind.RETRY)

    def _total(self, kind: QueueKind) -> LagTotal:
        if self.is_broadcasting:
            return NO_LAG
        queues = [one for one in self.queues if one.kind is kind]
        return add_up(queues, is_complete=not self.unknown)


def is_system_group(name: str) -> bool:
    """Return whether a group belongs to the brokers."""
    return name in BUILT_IN_GROUPS or name.startswith(SYSTEM_GROUP_PREFIX)


async def list_consumer_groups(
    cluster_name: str,
    *,
    size: int,
    after: str | None,
    search: str | None = None,
    includes_system: bool = False,
    client_snapshots: ClientSnapshots,
) -> GroupPage:
    """List the consumer groups of a cluster by name, from recent answers.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size, size_max=OBSERVED_COUNT_MAX)
    snapshot = await client_snapshots.groups(cluster_name)
    wanted = search_text(search).lower()
    names = [
        name
        for name in snapshot.serving
        if wanted in name.lower() and (includes_system or not is_system_group(name))
    ]
    first = 0 if after is None else bisect_right(names, after)
    rest = [
        ListedGroup(name, tuple(sorted(one.broker_group_name for one in snapshot.serving[name])))
        for name in names[first : first + size + 1]
    ]
    page = cut_page(rest, size=size, key=lambda one: one.name, total_count=len(names))
    return GroupPage(page, snapshot.questions.unknown, snapshot.observed_at)


async def observe_consumer_groups(
    cluster_name: str,
    names: Iterable[str],
    *,
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> dict[str, Observation]:
    """Ask the masters that know some groups who of them is there, and how far they are.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
    """
    snapshot = await client_snapshots.groups(cluster_name)
    wanted = list(dict.fromkeys(names))
    holders = await client_snapshots.holders(cluster_name, [retry_topic(name) for name in wanted])
    observer = Observer(
        cluster_name, snapshot, snapshot.questions.follow_up(brokers), client_snapshots, clock
    )
    return await observer.observe_all(
        {name: snapshot.masters_of(name, holders[retry_topic(name)]) for name in wanted}
    )


class Observer:
    """Ask masters for groups; missing answers are noted in the questions."""

    def __init__(
        self,
        cluster_name: str,
        snapshot: GroupSnapshot,
        questions: Questions,
        client_snapshots: ClientSnapshots,
        clock: Clock,
    ) -> None:
        self._cluster_name, self._client_snapshots = cluster_name, client_snapshots
        self._questions, self._clock = questions, clock
        self._by_group = snapshot.by_group

    async def observe_all(
        self, masters: Mapping[str, Sequence[BrokerKey]]
    ) -> dict[str, Observation]:
        """Ask the masters of each group; static topics are shown by their logical queues."""
        asked = (self._observe(name, keys) for name, keys in masters.items())
        found = dict(zip(masters, await asyncio.gather(*asked), strict=True))
        topics = {queue.topic for one in found.values() for queue in one.queues}
        static: Mapping[str, TopicMapping] = {}
        if topics:
            static = await self._client_snapshots.static_topics(self._cluster_name, topics)
        if not static:
            return found
        shown = await asyncio.gather(
            *(self._in_logical_terms(one, static) for one in found.values())
        )
        return dict(zip(found, shown, strict=True))

    async def _in_logical_terms(
        self, seen: Observation, static: Mapping[str, TopicMapping]
    ) -> Observation:
        read = {one.topic for one in seen.queues} & static.keys()
        if not read:
            return seen
        queues = [one for one in seen.queues if one.topic not in read]
        for topic in sorted(read):
            lags = await self._with_commits(
                seen.name, [one for one in seen.queues if one.topic == topic]
            )
            bounds = await self._bounds_elsewhere(static[topic], lags)
            queues += in_logical_terms(static[topic], lags, bounds)
        queues.sort(key=lambda one: one.key)
        if seen.is_broadcasting:
            queues = [one.kept_by_members() for one in queues]
        mappings = {name: static[name] for name in read}
        unknown = self._questions.unknown
        return replace(seen, queues=tuple(queues), static=mappings, unknown=unknown)

    async def _with_commits(self, name: str, lags: Sequence[QueueLag]) -> list[QueueLag]:
        """Distinguish 0 from never committed in empty queues too.

        A group that has read all segments before an empty one has a position there.
        """
        unsure: dict[str, list[int]] = {}
        for one in lags:
            if one.committed == 0 and one.end == 0:
                unsure.setdefault(one.broker_group_name, []).append(one.queue_id)
        masters = [self._by_group[group] for group in unsure]
        answers = await self._questions.ask_all(
            masters,
            lambda master: GetCommittedOffsets(
                consumer_group=name,
                topic=lags[0].topic,
                queue_ids=unsure[master.broker_group_name],
                is_logical=False,
            ),
        )
        committed = {
            (master.broker_group_name, queue_id): offset
            for master, offsets in answers.items()
            for queue_id, offset in offsets.items()
        }
        return [
            replace(one, committed=committed.get((one.broker_group_name, one.queue_id)))
            if one.queue_id in unsure.get(one.broker_group_name, ())
            else one
            for one in lags
        ]

    async def _bounds_elsewhere(
        self, mapping: TopicMapping, lags: Sequence[QueueLag]
    ) -> dict[Place, QueueBounds]:
        """Ask the other broker groups with a segment for the bounds of their queues."""
        answered = {one.broker_group_name for one in lags}
        names = {one.broker_group_name for _, one in mapping.places()} - answered
        masters = [self._by_group[name] for name in sorted(names & self._by_group.keys())]
        answers = await self._questions.ask_all(masters, GetTopicEnds(mapping.topic_name))
        return {
            (master.broker_group_name, queue_id): QueueBounds(ends.low, ends.high)
            for master, by_queue in answers.items()
            for queue_id, ends in by_queue.items()
        }

    async def _observe(self, name: str, masters: Sequence[BrokerKey]) -> Observation:
        """Ask masters of one group."""
        answers = await asyncio.gather(*(self._ask(name, master) for master in masters))
        online = {
            master: one
            for master, (one, _) in zip(masters, answers, strict=True)
            if one is not None
        }
        queues = sorted((queue for _, found in answers for queue in found), key=lambda one: one.key)
        seen = Observation(
            name,
            online,
            tuple(queues),
            self._questions.unknown,
            self._clock.now(),
            frozenset(self._by_group),
        )
        if not seen.is_broadcasting:
            return seen
        return replace(seen, queues=tuple(one.kept_by_members() for one in queues))

    async def _ask(self, name: str, master: BrokerKey) -> tuple[OnlineGroup | None, list[QueueLag]]:
        online, progress = await asyncio.gather(
            self._questions.ask(master, GetOnlineGroup(name)),
            self._questions.ask(master, GetProgress(name)),
        )
        listed = list(progress or ())
        # A topic without a commit of the group is only listed by name; it may also have retries.
        read = {retry_topic(name)} if online is None else online.topics | {retry_topic(name)}
        missing = read - {one.topic for one in listed}
        added = await asyncio.gather(
            *(self._progress_in(name, master, topic) for topic in sorted(missing))
        )
        listed += [one for found in added for one in found]
        topics = sorted({one.topic for one in listed})
        found = await asyncio.gather(
            *(
                self._measure(name, master, topic, [one for one in listed if one.topic == topic])
                for topic in topics
            )
        )
        return online, [queue for queues in found for queue in queues]

    async def _progress_in(self, name: str, master: BrokerKey, topic: str) -> list[QueueProgress]:
        progress = await self._questions.ask(master, GetProgress(name, topic))
        return [one for one in progress or () if one.topic == topic]

    async def _measure(
        self, name: str, master: BrokerKey, topic: str, progress: Sequence[QueueProgress]
    ) -> list[QueueLag]:
        """Distinguish 0 from never committed, and ask for ages, if there are unread messages."""
        ask = self._questions.ask
        started = [one.queue_id for one in progress if one.end and not one.committed]
        committed: Mapping[int, int | None] = {}
        if started:
            request = GetCommittedOffsets(
                consumer_group=name, topic=topic, queue_ids=started, is_logical=False
            )
            committed = await ask(master, request) or dict.fromkeys(started)
        ages: Mapping[int, int | None] = {}
        if any(one.lag != 0 for one in progress):
            waiting = GetWaitingTimes(consumer_group=name, topic=topic, now_ms=self._clock.now_ms())
            ages = await ask(master, waiting) or {}
        kind = QueueKind.RETRY if topic == retry_topic(name) else QueueKind.NORMAL
        return [
            QueueLag(
                broker_group_name=master.broker_group_name,
                topic=topic,
                queue_id=one.queue_id,
                kind=kind,
                committed=committed.get(one.queue_id, one.committed),
                end=one.end,
                waiting_ms=ages.get(one.queue_id) if one.lag != 0 else 0,
                consumed_at_ms=one.consumed_at_ms,
                begin=one.begin,
            )
            for one in progress
        ]
