"""Compare what Postgres and the brokers hold of a static topic, and name each difference."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers
from backend.db import logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StoredChange
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

_EXPECTED_IN_A_CHANGE: Final = frozenset({Invariant.SAME_EPOCH, Invariant.SAME_QUEUE_COUNT})
"""Until its last step a change leaves brokers at different epochs (logical-queues.md 9.4)."""

Routes = Mapping[str, Mapping[str, MappingInfo]]
"""What name servers hold, by name server and broker group."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Hold the result of a check.

    Attributes:
        truth: What Postgres holds; None for a topic without rows.
        findings: The broken invariants, ordered by their numbers.
        leftovers: Seals and reserved queues of changes that are not under way.
        overlaps: Messages of returned sources at offsets that a forced move used again.
        silent: The broker groups that were not compared, with the reason.
        unfinished: The change that is under way.
    """

    truth: TopicMapping | None
    findings: tuple[MappingFinding, ...]
    leftovers: tuple[Leftover, ...]
    overlaps: tuple[Overlap, ...]
    silent: Mapping[str, str]
    unfinished: StoredChange | None

    @property
    def is_sound(self) -> bool:
        """Return whether everything was compared, and nothing differs."""
        return not (self.findings or self.leftovers or self.overlaps or self.silent)


async def check_consistency(
    cluster_name: str,
    topic_name: str,
    *,
    database: Database,
    brokers: Brokers,
    routes: Routes | None = None,
    with_replicas: bool = True,
) -> Consistency:
    """Check a static topic against the invariants, at all its brokers and in routes (L9).

    What does not answer is not judged (D21). A replica applies a mapping a moment after its master.

    Raises:
        InvalidName: a name is invalid. ClusterNotFound: there is no cluster of the name.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    holders = await ask_holders(
        cluster_name, topic_name, database=database, brokers=brokers, with_replicas=with_replicas
    )
    # Read afterwards: a broker can't know an epoch that Postgres does not have yet.
    async with database.connect() as connection:
        stored = await logical_queues.find(connection, cluster_name, topic_name)
    truth = None if stored is None else stored.mapping
    unfinished = None if stored is None else stored.unfinished
    findings = check_topic(_observation(topic_name, truth, holders, routes or {}))
    if unfinished is not None:
        findings = tuple(one for one in findings if one.invariant not in _EXPECTED_IN_A_CHANGE)
    epoch = None if unfinished is None else unfinished.change.epoch
    left = tuple(one for one in leftovers(holders.copies) if one.epoch != epoch)
    overlaps: tuple[Overlap, ...] = ()
    if truth is not None and truth.forced:
        overlaps = find_overlaps(truth, await find_bounds(truth, holders, brokers))
    return Consistency(truth, findings, left, overlaps, holders.silent, unfinished)


def _observation(
    topic_name: str, truth: TopicMapping | None, holders: TopicHolders, routes: Routes
) -> Observation:
    copies = {
        name: _copy_of(topic_name, held)
        for name, held in holders.masters.items()
        if held.layout is not None
    }
    if truth is not None:
        # A silent broker group is taken to hold the truth, so that nothing is found about it.
        expected = copies_of(truth)
        copies |= {name: expected[name] for name in holders.silent if name in expected}
    held_copies = holders.copies
    is_ordinary = {name for name, held in holders.masters.items() if _is_ordinary(held)}
    return Observation(
        topic_name,
        truth,
        copies,
        routes,
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
        topic_holders=_named(holders.known_at),
        mapping_holders=_named(held_copies),
        ordinary_holders=_named(is_ordinary),
    )


def _copy_of(topic_name: str, held: HeldTopic) -> TopicCopy:
    if held.copy is not None:
        return copy_of(topic_name, held.copy)
    assert held.layout is not None
    layout = held.layout.layout
    counts = QueueCounts(layout.read_queue_count, layout.write_queue_count)
    return TopicCopy(counts, held.layout.mapping, topic_name)


def _is_ordinary(held: HeldTopic) -> bool:
    return held.layout is not None and held.layout.mapping is None


def _named(names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"broker group {one}" for one in names)
