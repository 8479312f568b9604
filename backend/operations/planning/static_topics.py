"""Read a static topic for plans, check broker groups, and draw the segments of its queues."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from backend.brokers.requests.figures import GetRuntimeInfo
from backend.db import logical_queues
from backend.db import topics as topic_rows
from backend.db.logical_queues import StoredTopic
from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.logical_queue.change import QueueChange
from backend.domain.logical_queue.commit import Prepared, Seal, with_successor
from backend.domain.logical_queue.lookup import statuses_of
from backend.domain.logical_queue.mapping import LogicalQueue, TopicMapping
from backend.domain.logical_queue.plan_checks import ClusterGroups
from backend.domain.logical_queue.planning import Bounds
from backend.domain.plan import Check, CheckVerdict, Difference, Precondition
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import groups, masters
from backend.services.controller.group_changes import find_group
from backend.services.logical_queue.bounds import find_bounds
from backend.services.logical_queue.changes import check_no_change
from backend.services.logical_queue.copies import TopicHolders, ask_holders

ILLEGAL_OPERATION: Final = 604
DISK_RATIO: Final = "commitLogDiskRatio"
DISK_WARN, DISK_BLOCK = 0.75, 0.90
"""From the first ratio on brokers delete old files early, from the second on they refuse sends."""

DRAWN_MAX: Final = 1024
"""The maximum number of logical queues whose segments a plan shows."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold a static topic, what its brokers have of it, and the bounds of its physical queues."""

    stored: StoredTopic
    holders: TopicHolders
    bounds: Bounds

    @property
    def mapping(self) -> TopicMapping:
        """Return the mapping in Postgres."""
        return self.stored.mapping

    @property
    def preconditions(self) -> tuple[Precondition, ...]:
        """Return the epoch as a fact: every change of the topic raises it."""
        return (Precondition("epoch of the mapping", str(self.mapping.epoch)),)


async def read_present(
    cluster_name: str, topic_name: str, context: OperationContext, *, with_replicas: bool = False
) -> Present:
    """Read a static topic without an unfinished change.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. StaticTopicNotFound: it has no such topic. QueueChangeRefused: a change of the
        topic is not finished.
    """
    masters.check_topic(topic_name)
    holders = await ask_holders(
        cluster_name,
        topic_name,
        database=context.database,
        brokers=context.brokers,
        with_replicas=with_replicas,
    )
    async with context.database.connect() as connection:
        stored = await logical_queues.get(connection, cluster_name, topic_name)
    check_no_change(stored)
    bounds = await find_bounds(stored.mapping, holders, context.brokers)
    return Present(stored, holders, bounds)


async def check_ordinary(
    cluster_name: str, topic_name: str, context: OperationContext
) -> tuple[Check, ...]:
    """Forbid commands of ordinary topics on a static topic (L62)."""
    async with context.database.connect() as connection:
        is_static = await logical_queues.is_static(connection, cluster_name, topic_name)
    if not is_static:
        return ()
    why = "it is a static topic: use regent topic static"
    return (Check("it is an ordinary topic", CheckVerdict.BLOCK, why, ILLEGAL_OPERATION),)


async def check_name(
    topic_name: str, context: OperationContext, *, besides: str | None = None
) -> Check:
    """Check whether the name is free in all clusters: clients see one queue set (L5).

    `besides` is the cluster of an ordinary topic that becomes static.
    """
    name = "the name is free"
    async with context.database.connect() as connection:
        held = await topic_rows.list_of_name(connection, topic_name, within=EVERYWHERE)
    found = [f"cluster {one.cluster_name}" for one in held if one.cluster_name != besides]
    if found:
        why = f"there is a topic of the name in {masters.shortened(found)}"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "no other cluster has a topic of the name")


def check_answers(holders: TopicHolders, names: Collection[str]) -> Check:
    """Check whether the masters of broker groups answer."""
    title = "every master answers"
    silent = [f"{one} ({holders.silent[one]})" for one in sorted(names) if one in holders.silent]
    if silent:
        why = f"no answer from {masters.shortened(silent)}"
        return Check(title, CheckVerdict.BLOCK, why)
    return Check(title, CheckVerdict.PASS, f"{masters.count_groups(names)} asked")


def check_cordons(groups: ClusterGroups, takers: Iterable[str]) -> Check:
    """Warn of cordoned broker groups that would take logical queues, since they were named."""
    title = "destinations may be written"
    if cordoned := sorted(groups.cordoned.intersection(takers)):
        why = f"{masters.shortened(cordoned)} would get queues although it is cordoned"
        return Check(title, CheckVerdict.WARN, why)
    return Check(title, CheckVerdict.PASS, "none of them is cordoned")


async def check_sets(
    cluster_name: str, names: Iterable[str], context: OperationContext
) -> list[Check]:
    """Check whether broker groups have a living master, and a replica that could replace it."""
    checks = []
    for name in sorted(names):
        view = await find_group(groups.checked(cluster_name, name), context.controller)
        title = f"set of {name}"
        if view is None:
            checks.append(Check(title, CheckVerdict.PASS, "the group has no controller"))
            continue
        living = view.liveness.alive_ids & view.group.sync_state_set.members
        if view.group.is_master_lost or view.group.master_id not in living:
            checks.append(Check(title, CheckVerdict.BLOCK, "its master is not alive"))
        elif len(living) == 1 and len(view.group.replicas) > 1:
            why = "its master is the only living member: no replica could replace it"
            checks.append(Check(title, CheckVerdict.WARN, why))
        else:
            checks.append(Check(title, CheckVerdict.PASS, f"{len(living)} living members"))
    return checks


async def check_room(holders: TopicHolders, name: str, context: OperationContext) -> Check:
    """Check whether the disk of a broker group has room for the messages of more queues."""
    title = f"room on {name}"
    address = holders.addresses.get(name)
    info = None if address is None else await context.brokers.find(address, GetRuntimeInfo())
    try:
        ratio = float((info or {})[DISK_RATIO])
    except (KeyError, ValueError):
        return Check(title, CheckVerdict.WARN, "the broker does not report how full its disk is")
    why = f"{ratio:.0%} of the disk is used"
    if ratio >= DISK_BLOCK:
        return Check(title, CheckVerdict.BLOCK, f"{why}: the broker refuses messages")
    verdict = CheckVerdict.WARN if ratio >= DISK_WARN else CheckVerdict.PASS
    return Check(title, verdict, why)


def differences(before: TopicMapping, after: TopicMapping) -> tuple[Difference, ...]:
    """Describe the segments of the logical queues that change."""
    found = []
    for queue in after.queues:
        former = before.queue(queue.global_id)
        if former != queue:
            name = f"logical queue {queue.global_id}"
            found.append(Difference(name, _queue_text(former), _queue_text(queue)))
    return tuple(found[:DRAWN_MAX])


def planned_result(change: QueueChange, bounds: Bounds) -> TopicMapping:
    """Return how the mapping would be if each queue moved now.

    The place at a destination is chosen later: the next free one is shown.
    """
    drawn = change.after
    for move in change.moves:
        queue = drawn.queue(move.global_id)
        if queue is None or queue.leader is None:
            continue
        name, end = move.relocation.destination, bounds.get(queue.leader.place)
        sealed = Seal(queue.leader.physical_start if end is None else end.max_offset)
        drawn = with_successor(
            drawn,
            move.global_id,
            name,
            Prepared(drawn.counts[name].write_count),
            seal=sealed if move.forced_start is None else None,
            forced_start=move.forced_start,
        )
    return drawn


def pictures(
    before: TopicMapping,
    after: TopicMapping,
    global_ids: Collection[int],
    bounds: Bounds | None = None,
) -> dict[str, Any]:
    """Return the segments of changed queues before and after a change, and how many are left out.

    A segment without messages in its physical queue is expired, where `bounds` show that. Offsets
    are texts, as they are long. The physical start of a new segment is not known.
    """
    drawn = sorted(global_ids)[:DRAWN_MAX]
    queues = {one: (before.queue(one), after.queue(one)) for one in drawn}
    return {
        "before": [
            segment for was, _ in queues.values() for segment in _drawn(was, was, bounds or {})
        ],
        "after": [
            segment for was, new in queues.values() for segment in _drawn(new, was, bounds or {})
        ],
        "left_out": len(global_ids) - len(drawn),
    }


def _drawn(
    queue: LogicalQueue | None, former: LogicalQueue | None, bounds: Bounds
) -> list[Mapping[str, Any]]:
    """Return the segments of a queue for programs; `former` is the queue before the change."""
    if queue is None:
        return []
    known = () if former is None else {one.place for one in former.segments}
    statuses = statuses_of(queue, bounds)
    return [
        {
            "global_id": queue.global_id,
            "generation": segment.generation,
            "broker_group_name": segment.broker_group_name,
            "queue_id": segment.queue_id,
            "status": statuses[segment.generation],
            "logical_start": str(segment.logical_start),
            "logical_end": _text_of(_end_of(queue, at)),
            "physical_start": str(segment.physical_start) if segment.place in known else None,
            "physical_end": _text_of(segment.physical_end if segment.is_ended else None),
        }
        for at, segment in enumerate(queue.segments)
    ]


def _text_of(offset: int | None) -> str | None:
    return None if offset is None else str(offset)


def _queue_text(queue: LogicalQueue | None) -> str | None:
    if queue is None:
        return None
    parts = []
    for at, one in enumerate(queue.segments):
        end = _end_of(queue, at)
        offsets = f"{one.logical_start}-" if end is None else f"{one.logical_start}-{end}"
        parts.append(f"{one.broker_group_name}:q{one.queue_id} {offsets}")
    return ", ".join(parts)


def _end_of(queue: LogicalQueue, at: int) -> int | None:
    """Return the logical end of a segment; None for one that takes messages."""
    segment = queue.segments[at]
    if segment.is_ended:
        return segment.logical_end
    following = queue.segments[at + 1 :]
    return following[0].logical_start if following else None
