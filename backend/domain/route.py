"""Describe what a client is told about a topic, and who stands in for a missing master."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from backend.domain.broker import MASTER_ID
from backend.domain.topic import QueueSettings

# A broker learns its group's real members from this topic's route: ids stay as they are there.
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
    """Say where one broker group serves a topic, and how many queues it has there."""

    members: GroupMembers
    settings: QueueSettings


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """Hold every place a topic is served."""

    topic_name: str
    entries: tuple[RouteEntry, ...]


@dataclass(frozen=True, slots=True)
class TopologyChange:
    """Say that routes of a cluster may differ from those before."""

    cluster_name: str
    route_version: int


def substitute_acting_masters(route: TopicRoute) -> TopicRoute:
    """Show the smallest replica as master where a group has none (control-plane.md 4.5).

    Only the answer changes: tables keep the real ids, and a group whose queues are still writable
    is left as it is.
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


def keep_zone(route: TopicRoute, zone_name: str) -> TopicRoute:
    """Leave out groups whose master is in another zone (control-plane.md 4.8)."""
    kept = tuple(
        entry
        for entry in route.entries
        if MASTER_ID not in entry.members.addresses
        or (entry.members.zone_name or "").lower() == zone_name.lower()
    )
    return replace(route, entries=kept)
