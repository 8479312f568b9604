"""Look at what a reset of offsets would do to each queue, and put it into words."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from backend.domain.offset_reset import Position, QueueReset, ResetMode
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.offset import ResetOffsets
from backend.domain.plan import Check, CheckVerdict, Difference, Precondition
from backend.services.operations import masters
from backend.services.operations.kind import OperationContext
from backend.services.operations.masters import Master, Masters

KIND_NAME: Final = "reset_offsets"
CHANGES_SHOWN_MAX: Final = 200
QUEUE_COUNT_MAX: Final = 200
"""Each queue of a broker is set by a request of its own; a step has 40 s."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold what a master tells: the queues that are meant, and who is connected.

    `is_held` says whether the master holds the topic, and `is_known` whether it knows the group.
    """

    queues: tuple[QueueReset, ...]
    members: tuple[str, ...] = ()
    is_held: bool = True
    is_known: bool = False


Held = Mapping[Master, Seen]


async def look(master: Master, order: ResetOffsets, context: OperationContext) -> Seen:
    """Ask a master for the queues that are meant, their ends and where the group is.

    Where a time is in a queue is for `complete` to ask: until then the oldest message stands there.
    """
    brokers, address = context.brokers, master.address
    group, topic = order.consumer_group, order.topic_name
    layout = await brokers.topic_layout(address, topic)
    if layout is None:
        return Seen((), is_held=False)
    given = {
        one.queue_id: one.offset for one in order.offsets if one.group_name == master.group_name
    }
    wanted = [*given] or [*order.queue_ids] or [*range(layout.read_queue_count)]
    missing = [one for one in wanted if one >= layout.read_queue_count]
    if missing:
        raise InvalidParameters(
            KIND_NAME,
            f"{topic} has {layout.read_queue_count} queues on {master.group_name},"
            f" none is {missing[0]}",
        )
    ends, former, members = await asyncio.gather(
        brokers.topic_ends(address, topic),
        brokers.committed_offsets(address, group, topic, wanted),
        brokers.members(address, group),
    )
    source: Mapping[int, int | None] = {}
    if order.source_group is not None:
        source = await brokers.committed_offsets(address, order.source_group, topic, wanted)
        wanted = [queue_id for queue_id in wanted if source[queue_id] is not None]
    queues = []
    for queue_id in wanted:
        low, high = (ends[queue_id].low, ends[queue_id].high) if queue_id in ends else (0, 0)
        offset = {
            Position.EARLIEST: low,
            Position.LATEST: high,
            Position.TIME: low,
            Position.OFFSET: order.offset or 0,
            Position.GIVEN: given.get(queue_id, 0),
            Position.GROUP: source.get(queue_id) or 0,
        }[order.position]
        queues.append(QueueReset(queue_id, low, high, former[queue_id], offset))
    return Seen(tuple(queues), tuple(members))


async def complete(
    master: Master, seen: Seen, order: ResetOffsets, context: OperationContext
) -> Seen:
    """Ask a master for what only the preview needs: whether it knows the group, and the time."""
    brokers, address = context.brokers, master.address
    settings = await brokers.group_settings(address, order.consumer_group)
    queues = seen.queues
    if order.timestamp_ms is not None:
        wanted = [queue.queue_id for queue in queues]
        at = await brokers.offsets_at(address, order.topic_name, wanted, order.timestamp_ms)
        queues = tuple(replace(queue, offset=at.get(queue.queue_id, 0)) for queue in queues)
    return replace(seen, queues=queues, is_known=settings is not None)


def mode(order: ResetOffsets, members: Sequence[str]) -> ResetMode:
    """Decide whether consumers are told."""
    if order.mode is not ResetMode.AUTO:
        return order.mode
    return ResetMode.ONLINE if members else ResetMode.OFFLINE


def preconditions(
    order: ResetOffsets, meant: Masters, held: Held, mode: ResetMode
) -> tuple[Precondition, ...]:
    """Name the facts that the preview is made from."""
    queues = [f"{one.group_name} {len(held[one].queues)} queues" for one in sorted(held)]
    return (
        meant.precondition,
        Precondition(f"queues of {order.topic_name}", ", ".join(queues) or "none"),
        # Offsets move all the time where consumers read; who must be told is what the plan is of.
        Precondition("consumers are told", "yes" if mode is ResetMode.ONLINE else "no"),
        *(
            Precondition(f"offset of {one.group_name} queue {queue.queue_id}", str(queue.former))
            for one in sorted(held)
            for queue in held[one].queues
            if mode is ResetMode.OFFLINE
        ),
    )


def _totals(held: Held) -> tuple[int, int]:
    queues = [queue for told in held.values() for queue in told.queues]
    return sum(q.skipped_count for q in queues), sum(q.repeated_count for q in queues)


def summary(order: ResetOffsets, held: Held) -> str:
    """Say it in one line."""
    skipped, repeated = _totals(held)
    place = f"where {order.source_group} is" if order.source_group else f"from {order.position}"
    return (
        f"Consumer group {order.consumer_group} goes on in {order.topic_name} {place}:"
        f" {skipped} messages skipped, {repeated} read again"
    )


def changes(held: Held) -> tuple[Difference, ...]:
    """Say of each queue where the group is and where it goes on."""
    changes = [
        Difference(
            f"{one.group_name} queue {queue.queue_id}, holding {queue.low} to {queue.high}:"
            f" {queue.skipped_count} skipped, {queue.repeated_count} read again",
            None if queue.former is None else str(queue.former),
            str(queue.offset),
        )
        for one in sorted(held)
        for queue in held[one].queues
    ]
    return tuple(changes[:CHANGES_SHOWN_MAX])


def impact(
    order: ResetOffsets, held: Held, members: Sequence[str], mode: ResetMode
) -> tuple[str, ...]:
    """Say who reads what again, or never."""
    skipped, repeated = _totals(held)
    group = f"Consumer group {order.consumer_group}"
    told = [
        f"{group} never reads {skipped} messages that it has not read yet",
        f"{group} reads {repeated} messages again: the consumer must handle duplicates",
    ]
    if mode is ResetMode.ONLINE:
        who = masters.shortened(members) or "no consumer is connected now"
        told.append(f"Consumers drop what they have fetched and go on from there: {who}")
    return tuple(told)


def check_inside(held: Held) -> Check:
    """Say which queues don't hold their offset."""
    name = "the queues hold the offsets"
    outside = [
        f"{one.group_name} queue {queue.queue_id} holds {queue.low} to {queue.high}"
        for one in sorted(held)
        for queue in held[one].queues
        if not queue.is_inside
    ]
    if not outside:
        return Check(name, CheckVerdict.PASS, "each offset is a message's, or the next one's")
    return Check(name, CheckVerdict.BLOCK, f"outside: {masters.shortened(outside)}")


def check_mode(members: Sequence[str], mode: ResetMode) -> Check:
    """Say whether consumers would write over the offsets."""
    name = "consumers"
    if mode is ResetMode.OFFLINE and members:
        why = f"connected are {masters.shortened(members)}, who would write their own offsets over"
        return Check(name, CheckVerdict.BLOCK, f"{why} these: stop them, or reset online")
    if mode is ResetMode.ONLINE and not members:
        why = "no consumer is connected; the next consumer is notified, unless the broker restarts"
        return Check(name, CheckVerdict.WARN, why)
    why = "they are notified" if members else "no consumer is connected; the offsets are written"
    return Check(name, CheckVerdict.PASS, why)


def check_size(held: Held) -> Check:
    """Say whether a step can be done in time."""
    most = max((len(told.queues) for told in held.values()), default=0)
    verdict = CheckVerdict.PASS if most <= QUEUE_COUNT_MAX else CheckVerdict.BLOCK
    why = f"{most} queues on one broker; {QUEUE_COUNT_MAX} at most: name some of them"
    return Check("size", verdict, why)


def facts(held: Held, mode: ResetMode, members: Sequence[str]) -> dict[str, Any]:
    """Keep the preview for the steps and for whoever reads the plan."""
    return {
        "mode": mode,
        "members": list(members),
        "brokers": [
            {
                "group_name": one.group_name,
                "address": one.address,
                "queues": [
                    {
                        "queue_id": queue.queue_id,
                        "from": None if queue.former is None else str(queue.former),
                        "to": str(queue.offset),
                        "skipped": str(queue.skipped_count),
                        "repeated": str(queue.repeated_count),
                    }
                    for queue in held[one].queues
                ],
            }
            for one in sorted(held)
        ],
    }
