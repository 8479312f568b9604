"""Choose the broker group of each logical queue (logical-queues.md 6.1, 7, 8).

The choice depends on its input alone: equal plans are made by every process.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from backend.domain.logical_queue.mapping import RetiredQueue, TopicMapping
from backend.domain.logical_queue.segment import QueueBounds


@dataclass(frozen=True, slots=True)
class Relocation:
    """Name a logical queue that moves from one broker group to another."""

    global_id: int
    source: str
    destination: str


def allocate(new_ids: Iterable[int], led_counts: Mapping[str, int]) -> dict[int, str]:
    """Give each new logical queue to the broker group that leads the fewest, then by name.

    `led_counts` has all target groups, with 0 for a group without queues. Counts that differ by 1
    at most do so afterwards.
    """
    counts = dict(led_counts)
    chosen = {}
    for global_id in new_ids:
        name = min(sorted(counts), key=lambda one: counts[one])
        counts[name] += 1
        chosen[global_id] = name
    return chosen


def ideal_counts(
    queue_count: int, targets: Collection[str], led: Mapping[str, int]
) -> dict[str, int]:
    """Return how many queues each target leads when they are spread evenly.

    A group that leads more now gets one more of the rest, so that the fewest queues move (H-14).
    """
    base, rest = divmod(queue_count, len(targets))
    order = sorted(targets, key=lambda name: (-led.get(name, 0), name))
    return {name: base + (1 if at < rest else 0) for at, name in enumerate(order)}


def relocate(topic: TopicMapping, targets: Collection[str]) -> tuple[Relocation, ...]:
    """Return the moves that spread all logical queues evenly over the targets, and no others.

    No broker group both gives and takes queues.
    """
    leaders = {one.global_id: one.leader_name or "" for one in topic.queues}
    left = ideal_counts(len(leaders), targets, Counter(leaders.values()))
    waiting = []
    for global_id, leader in sorted(leaders.items()):
        if left.get(leader, 0) > 0:
            left[leader] -= 1
        else:
            waiting.append(global_id)
    free = [name for name in sorted(left) for _ in range(left[name])]
    return tuple(
        Relocation(global_id, leaders[global_id], name)
        for global_id, name in zip(waiting, free, strict=True)
    )


def evacuate(topic: TopicMapping, leaving: str, targets: Collection[str]) -> tuple[Relocation, ...]:
    """Return the moves of all queues of one broker group to the least loaded targets.

    The queues of other broker groups stay.
    """
    counts = {name: len(topic.led_by(name)) for name in targets}
    moving = [one.global_id for one in topic.led_by(leaving)]
    return tuple(
        Relocation(global_id, leaving, name) for global_id, name in allocate(moving, counts).items()
    )


def spread_onto(topic: TopicMapping, newcomer: str) -> tuple[Relocation, ...]:
    """Return the moves that give a new broker group its even share, and move nothing else."""
    leaders = {one.leader_name for one in topic.queues if one.leader_name is not None}
    counts = {name: len(topic.led_by(name)) for name in sorted(leaders | {newcomer})}
    share = len(topic.queues) // len(counts)
    by_leader = {name: [one.global_id for one in topic.led_by(name)] for name in counts}
    moves = []
    while counts[newcomer] < share:
        source = max(counts, key=lambda name: counts[name])
        counts[source] -= 1
        counts[newcomer] += 1
        moves.append(Relocation(by_leader[source].pop(), source, newcomer))
    return tuple(sorted(moves, key=lambda one: one.global_id))


def choose_retired(
    retired: Iterable[RetiredQueue],
    global_id: int,
    bounds: Mapping[int, QueueBounds],
    *,
    is_across_allowed: bool = False,
) -> RetiredQueue | None:
    """Return the retired physical queue of a broker group that a logical queue may use again.

    One that the same logical queue used last comes first, then the least queue id. `bounds` are
    the present bounds by queue id: a queue with messages, or without known bounds, is not used
    (logical-queues.md 12).
    """
    empty = [
        one
        for one in retired
        if one.is_reusable
        and (one.global_id == global_id or is_across_allowed)
        and one.queue_id in bounds
        and bounds[one.queue_id].min_offset == bounds[one.queue_id].max_offset
    ]
    order = sorted(empty, key=lambda one: (one.global_id != global_id, one.queue_id))
    return next(iter(order), None)
