"""Compare what Postgres, brokers and name servers hold of a static topic (L9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers
from backend.db import logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StoredChange
from backend.domain.logical_queue.differences import (
    MappingDifference,
    of_finding,
    of_leftover,
    of_lost_rows,
    of_overlap,
)
from backend.domain.logical_queue.errors import StaticTopicNotFound
from backend.domain.logical_queue.expiry import Overlap
from backend.domain.logical_queue.invariant import Invariant, MappingFinding
from backend.domain.logical_queue.mapping import (
    MappingInfo,
    QueueCounts,
    TopicCopy,
    TopicMapping,
    copies_of,
)
from backend.domain.logical_queue.rebuild import Leftover, copy_of, leftovers
from backend.domain.logical_queue.topic_checks import Observation, ReplicaCopy, check_topic
from backend.domain.names import check_cluster_name, check_topic_name
from backend.services.logical_queue.bounds import find_bounds, find_overlaps
from backend.services.logical_queue.copies import HeldTopic, TopicHolders, ask_holders
from backend.services.logical_queue.routes import NO_ROUTES, NameServer, ask_routes

_EXPECTED_IN_A_CHANGE: Final = frozenset({Invariant.SAME_EPOCH, Invariant.SAME_QUEUE_COUNT})
"""Until its last step a change leaves brokers at different epochs (logical-queues.md 9.4)."""

Routes = Mapping[str, Mapping[str, MappingInfo]]
"""What name servers show, by name server and broker group."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Hold the result of a check.

    Attributes:
        truth: What Postgres holds; None for a topic without rows.
        findings: The broken invariants, ordered by their numbers.
        leftovers: Seals and reserved queues of changes that are not under way.
        overlaps: Messages of returned sources at offsets that a forced move used again.
        holders: The broker groups with a mapping.
        silent: The broker groups that were not compared, with the reason.
        silent_servers: The name servers that were not compared, with the reason.
        unfinished: The change that is under way.
    """

    topic_name: str
    truth: TopicMapping | None
    findings: tuple[MappingFinding, ...]
    leftovers: tuple[Leftover, ...]
    overlaps: tuple[Overlap, ...]
    holders: tuple[str, ...]
    silent: Mapping[str, str]
    silent_servers: Mapping[str, str]
    unfinished: StoredChange | None

    @property
    def differences(self) -> tuple[MappingDifference, ...]:
        """Return what differs, each with the next step."""
        name, truth = self.topic_name, self.truth
        found = [of_finding(name, one) for one in self.findings]
        found += [of_leftover(name, one) for one in self.leftovers]
        if truth is not None:
            found += [of_overlap(truth, one) for one in self.overlaps]
        elif self.holders:
            found.append(of_lost_rows(name, self.holders))
        return tuple(found)

    @property
    def is_whole(self) -> bool:
        """Return whether everything was compared."""
        return not (self.silent or self.silent_servers)

    @property
    def is_sound(self) -> bool:
        """Return whether everything was compared, and nothing differs."""
        return self.is_whole and not self.differences


async def check_consistency(
    cluster_name: str,
    topic_name: str,
    *,
    database: Database,
    brokers: Brokers,
    with_routes: bool = True,
    with_replicas: bool = True,
) -> Consistency:
    """Check a static topic against the invariants, at all its brokers and in routes (L9).

    What does not answer is not judged (D21). A replica applies a mapping a moment after its master.
    Routes are not judged during a change: they follow each of its steps a moment later.

    Raises:
        InvalidName: a name is invalid. ClusterNotFound: there is no cluster of the name.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    holders = await ask_holders(
        cluster_name, topic_name, database=database, brokers=brokers, with_replicas=with_replicas
    )
    seen = NO_ROUTES
    if with_routes:
        masters = [NameServer(holders.addresses[name]) for name in holders.masters]
        seen = await ask_routes(topic_name, masters, brokers)
    # Read afterwards: a broker can't know an epoch that Postgres does not have yet.
    async with database.connect() as connection:
        stored = await logical_queues.find(connection, cluster_name, topic_name)
    truth = None if stored is None else stored.mapping
    unfinished = None if stored is None else stored.unfinished
    routes = seen.routes if unfinished is None else {}
    findings = check_topic(_observation(topic_name, truth, holders, routes))
    if unfinished is not None:
        findings = tuple(one for one in findings if one.invariant not in _EXPECTED_IN_A_CHANGE)
    epoch = None if unfinished is None else unfinished.change.epoch
    overlaps: tuple[Overlap, ...] = ()
    if truth is not None and truth.forced:
        overlaps = find_overlaps(truth, await find_bounds(truth, holders, brokers))
    return Consistency(
        topic_name,
        truth,
        findings,
        leftovers=tuple(one for one in leftovers(holders.copies) if one.epoch != epoch),
        overlaps=overlaps,
        holders=tuple(sorted(holders.copies)),
        silent=holders.silent,
        silent_servers=seen.silent,
        unfinished=unfinished,
    )


async def check_static_topic(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers
) -> Consistency:
    """Check a static topic that Postgres or a broker has.

    Raises:
        InvalidName: a name is invalid. ClusterNotFound: there is no cluster of the name.
        StaticTopicNotFound: neither Postgres nor any broker has a mapping of the topic.
    """
    found = await check_consistency(cluster_name, topic_name, database=database, brokers=brokers)
    if found.truth is None and found.is_whole and not (found.holders or found.findings):
        raise StaticTopicNotFound(cluster_name, topic_name)
    return found


def _observation(
    topic_name: str, truth: TopicMapping | None, holders: TopicHolders, routes: Routes
) -> Observation:
    copies = {
        name: _copy_of(topic_name, held)
        for name, held in holders.masters.items()
        if held.layout is not None
    }
    # A silent broker group is taken to hold the truth, so that nothing is found about it.
    expected = {} if truth is None else copies_of(truth)
    supposed = {name: expected[name] for name in holders.silent if name in expected}
    copies |= supposed
    held_copies = holders.copies
    ordinary = [name for name, held in holders.masters.items() if _is_ordinary(held)]
    return Observation(
        topic_name,
        truth,
        copies,
        {server: _judged(route, truth, holders, supposed) for server, route in routes.items()},
        replicas=tuple(
            ReplicaCopy(
                broker.broker_group_name,
                broker.own_id,
                None if held.copy is None else held.copy.mapping,
            )
            for broker, held in holders.replicas.items()
        ),
        seal_epochs={
            (name, global_id): epoch
            for name, one in held_copies.items()
            for global_id, epoch in one.fences.items()
        },
        served={
            name: [one for one in held.mapping.hosted if held.admits_sends(one)]
            for name, held in held_copies.items()
        },
        topic_holders=frozenset(holders.known_at),
        mapping_holders=frozenset(held_copies),
        ordinary_holders=frozenset(ordinary),
    )


def _judged(
    route: Mapping[str, MappingInfo],
    truth: TopicMapping | None,
    holders: TopicHolders,
    supposed: Mapping[str, TopicCopy],
) -> Mapping[str, MappingInfo]:
    """Return the part of a route that is judged: of this queue set, and of no silent group.

    Topics of one name in two scopes are two queue sets (logical-queues.md 17.6).
    """
    shown = {
        name: one
        for name, one in route.items()
        if name not in holders.silent
        and (truth is None or one.scope == truth.scope or name in holders.masters)
    }
    mappings = {name: copy.mapping for name, copy in supposed.items()}
    return shown | {name: one.registered for name, one in mappings.items() if one is not None}


def _copy_of(topic_name: str, held: HeldTopic) -> TopicCopy:
    if held.copy is not None:
        return copy_of(topic_name, held.copy)
    assert held.layout is not None
    layout = held.layout.layout
    counts = QueueCounts(layout.read_queue_count, layout.write_queue_count)
    return TopicCopy(counts, held.layout.mapping, topic_name)


def _is_ordinary(held: HeldTopic) -> bool:
    return held.layout is not None and held.layout.mapping is None
