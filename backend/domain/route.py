"""Describe the route of a topic, and what clients get to see of it.

A missing master is replaced by an acting one, and a static topic by its front for old clients.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from backend.domain.broker import MASTER_ID
from backend.domain.errors import RouteNotFound
from backend.domain.logical_queue.route import StaticTopic
from backend.domain.topic import QueueSettings

# Brokers read the real members of their group from the route of this topic, so its ids never
# change.
SYNC_MEMBER_PREFIX: Final = "rmq_sys_SYNC_BROKER_MEMBER_"


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """Hold the addresses of a broker group by broker id."""

    cluster_name: str
    broker_group_name: str
    addresses: Mapping[int, str]
    acting_master_enabled: bool = False
    zone_name: str | None = None


@dataclass(frozen=True, slots=True)
class RouteEntry:
    """Hold the members of a broker group that serves a topic, and its queues there."""

    members: GroupMembers
    settings: QueueSettings


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """Hold all broker groups that serve a topic, and the logical queues of a static topic."""

    topic_name: str
    entries: tuple[RouteEntry, ...]
    static: StaticTopic | None = None


@dataclass(frozen=True, slots=True)
class TopologyChange:
    """Report that routes of a cluster may have changed."""

    cluster_name: str
    route_version: int


def substitute_acting_masters(route: TopicRoute) -> TopicRoute:
    """Show the replica with the lowest id as master of a group without one (control-plane.md 4.5).

    Only the answer changes: the tables keep the real ids. A group whose queues are still writable
    does not change.
    """
    if route.topic_name.startswith(SYNC_MEMBER_PREFIX):
        return route
    return replace(route, entries=tuple(_with_acting_master(entry) for entry in route.entries))


def _with_acting_master(entry: RouteEntry) -> RouteEntry:
    members = entry.members
    must_stand_in = (
        members.acting_master_enabled
        and members.addresses
        and MASTER_ID not in members.addresses
        and not entry.settings.is_writable
    )
    if not must_stand_in:
        return entry
    acting_id = min(members.addresses)
    addresses = {
        MASTER_ID if broker_id == acting_id else broker_id: address
        for broker_id, address in members.addresses.items()
    }
    return replace(entry, members=replace(members, addresses=addresses))


def without_static(route: TopicRoute) -> TopicRoute:
    """Return the route for a client that does not know static topics (logical-queues.md 18.3).

    Such a client never gets physical queues: it would send their ids as those of logical queues. A
    front is one broker group with all logical queues.

    Raises:
        RouteNotFound: the topic is static, and has no front.
    """
    if route.static is None:
        return route
    with_master = [one for one in route.entries if MASTER_ID in one.members.addresses]
    names = [one.members.broker_group_name for one in with_master]
    front = route.static.front_of(route.topic_name, names)
    if front is None:
        raise RouteNotFound(route.topic_name)
    name, count = front
    entry = with_master[names.index(name)]
    settings = replace(entry.settings, read_queue_count=count, write_queue_count=count)
    return TopicRoute(route.topic_name, (replace(entry, settings=settings),))


def keep_zone(route: TopicRoute, zone_name: str) -> TopicRoute:
    """Leave out groups whose master is in another zone (control-plane.md 4.8).

    All groups of a static topic stay: the leader of a logical queue may be in any zone.
    """
    if route.static is not None:
        return route
    kept = tuple(
        entry
        for entry in route.entries
        if MASTER_ID not in entry.members.addresses
        or (entry.members.zone_name or "").lower() == zone_name.lower()
    )
    return replace(route, entries=kept)
