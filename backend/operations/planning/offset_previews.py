"""Predict the effect of an offset reset on each queue, and describe it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.consumer_groups import GetGroupSettings, GetOnlineGroup
from backend.brokers.requests.logical_queues import GetStaticTopic
from backend.brokers.requests.offsets import GetCommittedOffsets, GetLogicalEnds, GetOffsetsAt
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.domain.logical_queue.lookup import find_segment
from backend.domain.logical_queue.mapping import BrokerMapping
from backend.domain.offset_reset import Position, QueueReset, ResetMode
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.offset import ResetOffsets
from backend.domain.plan import Check, CheckVerdict, Difference, Precondition
from backend.operations.planning import masters
from backend.operations.planning.masters import Master, Masters

KIND_NAME: Final = "reset_offsets"
CHANGES_SHOWN_MAX: Final = 200
QUEUE_COUNT_MAX: Final = 200
"""Each queue of a broker needs one request; a step has 40 s."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold the answer of a master: the queues of the order, and the connected members.

    `is_held` says whether the master holds the topic, and `is_known` whether it knows the group.
    Queues and offsets of a static topic are logical, and `mapping` is its mapping there.
    """

    queues: tuple[QueueReset, ...]
    members: tuple[str, ...] = ()
    is_held: bool = True
    is_known: bool = False
    mapping: BrokerMapping | None = None


Held = Mapping[Master, Seen]


@dataclass(frozen=True, slots=True)
class Look(Inquiry[Seen]):
    """Ask a master for the queues of the order, their ends and the group's offsets.

    Only `Complete` asks for the offset of a time: before that, the present one takes its place.
    """

    broker_group_name: str
    order: ResetOffsets

    async def put(self, brokers: Brokers, address: str) -> Seen:
        """Ask for the layout of the topic, then for its queues.

        Raises:
            InvalidParameters: the master has fewer queues than the order names.
        """
        order, topic = self.order, self.order.topic_name
        found = await brokers.ask(address, GetStaticTopic(topic))
        if found is None:
            return Seen((), is_held=False)
        # Of a static topic, the queues are the logical ones that the broker group leads.
        led = None if found.mapping is None else sorted(found.mapping.registered.led)
        known = range(found.layout.read_queue_count) if led is None else led
        given = {
            one.queue_id: one.offset
            for one in order.offsets
            if one.broker_group_name == self.broker_group_name
        }
        named = [one for one in order.queue_ids if led is None or one in led]
        wanted = [*given] or (named if order.queue_ids else [*known])
        self._check_held(wanted, known)
        asked: Inquiry[Mapping[int, QueueEnds]] = GetTopicEnds(topic)
        if led is not None:
            asked = GetLogicalEnds(topic=topic, global_ids=wanted)
        ends, former, online = await asyncio.gather(
            brokers.ask(address, asked),
            brokers.ask(address, self._committed(order.consumer_group_name, wanted)),
            brokers.ask(address, GetOnlineGroup(order.consumer_group_name)),
        )
        source: Mapping[int, int | None] = {}
        if order.source_group is not None:
            source = await brokers.ask(address, self._committed(order.source_group, wanted))
            wanted = [queue_id for queue_id in wanted if source[queue_id] is not None]
        queues = []
        for queue_id in wanted:
            low, high = (ends[queue_id].low, ends[queue_id].high) if queue_id in ends else (0, 0)
            offset = {
                Position.EARLIEST: low,
                Position.LATEST: high,
                Position.TIME: min(max(low, former[queue_id] or 0), high),
                Position.OFFSET: order.offset or 0,
                Position.GIVEN: given.get(queue_id, 0),
                Position.GROUP: source.get(queue_id) or 0,
            }[order.position]
            queues.append(QueueReset(queue_id, low, high, former[queue_id], offset))
        members = set() if online is None else {one.client_id for one in online.members}
        return Seen(tuple(queues), tuple(sorted(members)), mapping=found.mapping)

    def _check_held(self, wanted: Sequence[int], known: Sequence[int]) -> None:
        missing = [one for one in wanted if one not in known]
        if missing:
            raise InvalidParameters(
                KIND_NAME,
                f"{self.order.topic_name} has {len(known)} queues on {self.broker_group_name},"
                f" none is {missing[0]}",
            )

    def _committed(self, consumer_group_name: str, queue_ids: Sequence[int]) -> GetCommittedOffsets:
        return GetCommittedOffsets(
            consumer_group=consumer_group_name,
            topic=self.order.topic_name,
            queue_ids=queue_ids,
        )


@dataclass(frozen=True, slots=True)
class Complete(Inquiry[Seen]):
    """Ask a master for the values of the preview: whether it knows the group, and the time."""

    seen: Seen
    order: ResetOffsets

    async def put(self, brokers: Brokers, address: str) -> Seen:
        """Ask for the group, then for the offset of the time in each queue."""
        order, queues = self.order, self.seen.queues
        settings = await brokers.ask(address, GetGroupSettings(order.consumer_group_name))
        if order.timestamp_ms is not None:
            request = GetOffsetsAt(
                topic=order.topic_name,
                queue_ids=[queue.queue_id for queue in queues],
                timestamp_ms=order.timestamp_ms,
            )
            at = await brokers.ask(address, request)
            queues = tuple(replace(queue, offset=at.get(queue.queue_id, 0)) for queue in queues)
        return replace(self.seen, queues=queues, is_known=settings is not None)


def mode(order: ResetOffsets, members: Sequence[str]) -> ResetMode:
    """Decide whether consumers are notified."""
    if order.mode is not ResetMode.AUTO:
        return order.mode
    return ResetMode.ONLINE if members else ResetMode.OFFLINE


def preconditions(
    order: ResetOffsets, meant: Masters, held: Held, mode: ResetMode
) -> tuple[Precondition, ...]:
    """Return the facts of the plan."""
    queues = [f"{one.broker_group_name} {len(held[one].queues)} queues" for one in sorted(held)]
    return (
        meant.precondition,
        Precondition(f"queues of {order.topic_name}", ", ".join(queues) or "none"),
        # Offsets move while consumers read, so they are no facts; the connected members are.
        Precondition("consumers are notified", "yes" if mode is ResetMode.ONLINE else "no"),
        *(
            Precondition(
                f"offset of {one.broker_group_name} queue {queue.queue_id}", str(queue.former)
            )
            for one in sorted(held)
            for queue in held[one].queues
            if mode is ResetMode.OFFLINE
        ),
    )


def _totals(held: Held) -> tuple[int, int]:
    queues = [queue for held_here in held.values() for queue in held_here.queues]
    return sum(q.skipped_count for q in queues), sum(q.repeated_count for q in queues)


def summary(order: ResetOffsets, held: Held) -> str:
    """Describe the reset in one line."""
    skipped, repeated = _totals(held)
    place = f"where {order.source_group} is" if order.source_group else f"from {order.position}"
    return (
        f"Consumer group {order.consumer_group_name} goes on in {order.topic_name} {place}:"
        f" {skipped} messages skipped, {repeated} read again"
    )


def changes(held: Held) -> tuple[Difference, ...]:
    """Describe the present and the new offset of each queue."""
    changes = [
        Difference(
            f"{one.broker_group_name} queue {queue.queue_id}, holding {queue.low} to {queue.high}:"
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
    """Name the consumers that read messages again, or skip them."""
    skipped, repeated = _totals(held)
    group = f"Consumer group {order.consumer_group_name}"
    lines = [
        f"{group} never reads {skipped} messages that it has not read yet",
        f"{group} reads {repeated} messages again: the consumer must handle duplicates",
    ]
    if mode is ResetMode.ONLINE:
        who = masters.shortened(members) or "no consumer is connected now"
        lines.append(f"Consumers drop what they have fetched and go on from there: {who}")
    return tuple(lines)


def check_inside(held: Held) -> Check:
    """Name the queues that don't hold their new offset."""
    name = "the queues hold the offsets"
    outside = [
        f"{one.broker_group_name} queue {queue.queue_id} holds {queue.low} to {queue.high}"
        for one in sorted(held)
        for queue in held[one].queues
        if not queue.is_inside
    ]
    if not outside:
        return Check(name, CheckVerdict.PASS, "each offset is a message's, or the next one's")
    return Check(name, CheckVerdict.BLOCK, f"outside: {masters.shortened(outside)}")


def check_segments(held: Held) -> Check:
    """Check that no logical queue goes back to an older segment.

    The broker of the newer one would keep its position there, which is the one that holds.
    """
    name = "segments"
    back = [
        f"{one.broker_group_name} queue {queue.queue_id}"
        for one in sorted(held)
        for queue in held[one].queues
        if _goes_back(held[one].mapping, queue)
    ]
    if not back:
        return Check(name, CheckVerdict.PASS, "no queue goes back to an older segment")
    why = f"these go back to an older segment, which is not possible: {masters.shortened(back)}"
    return Check(name, CheckVerdict.BLOCK, why)


def _goes_back(mapping: BrokerMapping | None, queue: QueueReset) -> bool:
    logical = None if mapping is None else mapping.queue(queue.queue_id)
    if logical is None or queue.former is None:
        return False
    before, after = (find_segment(logical, one) for one in (queue.former, queue.offset))
    return before is not None and after is not None and after.generation < before.generation


def check_mode(held: Held, members: Sequence[str], mode: ResetMode) -> Check:
    """Check whether consumers would overwrite the offsets."""
    name = "consumers"
    if mode is ResetMode.ONLINE and any(one.mapping is not None for one in held.values()):
        why = "connected consumers of a static topic are not notified: stop them first"
        return Check(name, CheckVerdict.BLOCK, why)
    if mode is ResetMode.OFFLINE and members:
        why = f"connected are {masters.shortened(members)}, who would write their own offsets over"
        return Check(name, CheckVerdict.BLOCK, f"{why} these: stop them, or reset online")
    if mode is ResetMode.ONLINE and not members:
        why = "no consumer is connected; the next consumer is notified, unless the broker restarts"
        return Check(name, CheckVerdict.WARN, why)
    why = "they are notified" if members else "no consumer is connected; the offsets are written"
    return Check(name, CheckVerdict.PASS, why)


def check_size(held: Held) -> Check:
    """Check whether a step can finish in time."""
    most = max((len(held_here.queues) for held_here in held.values()), default=0)
    verdict = CheckVerdict.PASS if most <= QUEUE_COUNT_MAX else CheckVerdict.BLOCK
    why = f"{most} queues on one broker; {QUEUE_COUNT_MAX} at most: name some of them"
    return Check("size", verdict, why)


def facts(held: Held, mode: ResetMode, members: Sequence[str]) -> dict[str, Any]:
    """Return the preview for the steps and for readers of the plan."""
    return {
        "mode": mode,
        "members": list(members),
        "brokers": [
            {
                "broker_group_name": one.broker_group_name,
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
