"""Find what static topics have on a broker group, and forget an empty broker group (L14)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from backend.db import logical_queues
from backend.db.engine import Connection
from backend.domain.logical_queue.expiry import holding_queues
from backend.domain.logical_queue.mapping import TopicMapping


@dataclass(frozen=True, slots=True)
class GroupSegments:
    """Hold the logical queues that have a segment on a broker group, by static topic.

    `led` are those that the broker group leads, so that no other takes their messages.
    """

    held: Mapping[str, tuple[int, ...]]
    led: Mapping[str, tuple[int, ...]]


async def find_segments(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> GroupSegments:
    """Find the logical queues that keep a broker group from being removed."""
    held, led = {}, {}
    for name in await logical_queues.list_known_by(connection, cluster_name, broker_group_name):
        mapping = (await logical_queues.get(connection, cluster_name, name)).mapping
        if ids := holding_queues(mapping, broker_group_name):
            held[name] = ids
        if ids := tuple(one.global_id for one in mapping.led_by(broker_group_name)):
            led[name] = ids
    return GroupSegments(held, led)


async def forget_group(
    connection: Connection, cluster_name: str, broker_group_name: str, *, at: datetime
) -> None:
    """Remove a broker group that is gone from the static topics that have nothing there.

    A topic with an unfinished change keeps it: the change leaves out broker groups that are gone.
    """
    for name in await logical_queues.list_known_by(connection, cluster_name, broker_group_name):
        stored = await logical_queues.lock(connection, cluster_name, name)
        if stored.unfinished is None and not holding_queues(stored.mapping, broker_group_name):
            after = _without(stored.mapping, broker_group_name)
            await logical_queues.save(connection, stored, after, at=at)


def _without(mapping: TopicMapping, broker_group_name: str) -> TopicMapping:
    return replace(
        mapping,
        counts={name: one for name, one in mapping.counts.items() if name != broker_group_name},
        retired=tuple(one for one in mapping.retired if one.broker_group_name != broker_group_name),
    )
