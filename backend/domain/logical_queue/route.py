"""Merge the mappings that brokers register, and show them to clients (logical-queues.md 16-18).

Clients of RocketMQ 5 merge the mappings themselves, by the greatest epoch. The merge here gives the
same result, except that a conflict and a half-made change stay invisible.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Final

from backend.domain.logical_queue.mapping import GLOBAL_SCOPE, MappingInfo

SYNTHETIC_PREFIX: Final = "__syslo__"
NO_BROKER: Final = "__syslo__none__"
"""The broker name of a logical queue that no broker leads."""

CAPABLE_VERSION: Final = 413
"""The first version of clients that know static topics: V5_0_0."""

Infos = Mapping[str, MappingInfo]


class Acceptance(StrEnum):
    """Name what a name server does with a registered mapping."""

    STORED = "stored"
    UNCHANGED = "unchanged"
    OUTDATED = "outdated"
    CONTRADICTS = "contradicts"
    REFUSED = "refused"


class LegacyMode(StrEnum):
    """Name what clients without static topics get (logical-queues.md 18.3)."""

    HIDE = "hide"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class Leader:
    """Hold the physical queue that leads a logical queue, and the epoch in which that began."""

    broker_group_name: str
    queue_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """Hold the leaders of all visible logical queues of a topic; queues without one are absent.

    `since_epoch` is the epoch in which the present count became visible. Name servers that heard
    the same in another order may have another one, of the same count.
    """

    queue_count: int
    leaders: Mapping[int, Leader]
    conflicts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    since_epoch: int = field(default=-1, compare=False)

    def leader_name(self, global_id: int) -> str:
        """Return the broker group of a logical queue, or the name that means none."""
        leader = self.leaders.get(global_id)
        return NO_BROKER if leader is None else leader.broker_group_name


@dataclass(frozen=True, slots=True)
class StaticTopic:
    """Hold what clients get to see of a static topic.

    Attributes:
        routes: The route of each scope that is visible; none while the topic is not.
        mappings: The mappings for clients, by broker group. A client that merges them gets the
            leaders of `routes`.
        legacy: What clients without static topics get.
    """

    routes: Mapping[str, StaticRoute]
    mappings: Mapping[str, MappingInfo]
    legacy: LegacyMode = LegacyMode.HIDE

    def front_of(self, topic_name: str, alive: Collection[str]) -> tuple[str, int] | None:
        """Return the broker group that serves old clients, and its queue count; None: hide it.

        Queue ids are global ids there. So old clients see no topic with two sets of queues.
        """
        if self.legacy is LegacyMode.HIDE or len(self.routes) != 1:
            return None
        (route,) = self.routes.values()
        leaders = {one.broker_group_name for one in route.leaders.values()} & set(alive)
        return (choose_front(topic_name, leaders), route.queue_count) if leaders else None


@dataclass(frozen=True, slots=True)
class StaticCount:
    """Hold the number of logical queues that clients see of a topic, since an epoch.

    Processes of the control plane share it. So a process that has just started shows no part of
    the queues, and hides no topic because one broker is down.
    """

    topic_name: str
    scope: str
    epoch: int
    queue_count: int


def knows_static_topics(*, version: int, is_java: bool, sends_lqv: bool) -> bool:
    """Return whether a client merges mappings: Java from 5.0.0 on, or one that says so."""
    return sends_lqv or (is_java and version >= CAPABLE_VERSION)


def synthetic_broker_name(scope: str) -> str:
    """Return the broker name that clients of RocketMQ 5 put into the queues of a scope."""
    return SYNTHETIC_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def accept(infos: Infos, name: str, info: MappingInfo) -> tuple[Infos, Acceptance]:
    """Take a mapping that a broker group registers; a lower epoch never replaces a higher one.

    A mapping that is dirty or of another broker group is refused. Another content with the same
    epoch may only be a change of leaders that the epoch already had.
    """
    held = infos.get(name)
    if info.is_dirty or info.broker_group_name != name or info.queue_count < 0:
        return infos, Acceptance.REFUSED
    if held == info:
        return infos, Acceptance.UNCHANGED
    if held is not None and held.epoch > info.epoch:
        return infos, Acceptance.OUTDATED
    is_same_epoch = held is not None and held.epoch == info.epoch
    if held is not None and is_same_epoch and held.queue_count != info.queue_count:
        return infos, Acceptance.CONTRADICTS
    return {**infos, name: info}, Acceptance.STORED


def by_scope(infos: Infos) -> dict[str, Infos]:
    """Return the mappings of each scope: equal names of two scopes are two sets of queues."""
    found: dict[str, dict[str, MappingInfo]] = defaultdict(dict)
    for name, info in sorted(infos.items()):
        found[info.scope][name] = info
    return dict(found)


def merge(infos: Infos, previous: StaticRoute | None = None) -> StaticRoute | None:
    """Merge the mappings of one scope: the greatest epoch leads (logical-queues.md 17.2-17.4).

    The queues of one change move in one epoch: there the greatest generation leads. Two leaders of
    one epoch and generation are a conflict, and the previous leader stays. A new topic, or another
    queue count, is visible once all its queues have a leader; until then the previous count stays.
    A previous route without leaders is a count that another process has shown. None: the topic is
    not visible.
    """
    if not infos:
        return None
    newest = max(infos.values(), key=lambda one: (one.epoch, one.queue_count))
    leaders: dict[int, Leader] = {}
    conflicts: dict[int, tuple[str, ...]] = {}
    for global_id, names in _claims(infos).items():
        if len(names) > 1:
            conflicts[global_id] = names
            former = previous.leaders.get(global_id) if previous is not None else None
            if former is not None and former.broker_group_name in infos:
                leaders[global_id] = former
        else:
            info = infos[names[0]]
            leaders[global_id] = Leader(names[0], info.led[global_id], info.epoch)
    count, since_epoch = newest.queue_count, newest.epoch
    is_whole = sum(global_id < count for global_id in leaders) == count
    if previous is None and not is_whole:
        return None
    is_old = previous is not None and previous.since_epoch >= newest.epoch
    if previous is not None and (is_old or not is_whole or previous.queue_count == count):
        count, since_epoch = previous.queue_count, previous.since_epoch
    visible = {key: one for key, one in sorted(leaders.items()) if key < count}
    return StaticRoute(count, visible, conflicts, since_epoch)


def with_count(route: StaticRoute | None, count: StaticCount) -> StaticRoute:
    """Return a route with the count that another process has shown, unless its own is newer."""
    if route is None:
        return StaticRoute(count.queue_count, {}, since_epoch=count.epoch)
    if count.epoch <= route.since_epoch:
        return route
    return replace(route, queue_count=count.queue_count, since_epoch=count.epoch)


def mappings_for_clients(infos: Infos, route: StaticRoute) -> dict[str, MappingInfo]:
    """Return mappings that lead every client to the leaders of a route, and to its count."""
    led: dict[str, dict[int, int]] = {name: {} for name in infos}
    for global_id, leader in route.leaders.items():
        led[leader.broker_group_name][global_id] = leader.queue_id
    return {
        name: replace(info, queue_count=route.queue_count, led=led[name])
        for name, info in sorted(infos.items())
    }


def client_endpoints(infos: Infos) -> dict[tuple[str, int], str]:
    """Return the broker group of each queue as a client of RocketMQ 5 computes it.

    The queues are named by the synthetic broker name of their scope and their global id.
    """
    endpoints: dict[tuple[str, int], str] = {}
    for scope, scoped in by_scope(infos).items():
        count = max(one.queue_count for one in scoped.values())
        epochs: dict[int, int] = {}
        found: dict[int, str] = {}
        for name, info in scoped.items():
            for global_id in info.led:
                if info.epoch >= epochs.get(global_id, info.epoch):
                    epochs[global_id], found[global_id] = info.epoch, name
        broker_name = synthetic_broker_name(scope)
        ids = sorted({*range(count), *found})
        endpoints |= {(broker_name, one): found.get(one, NO_BROKER) for one in ids}
    return endpoints


def choose_front(topic_name: str, names: Iterable[str]) -> str:
    """Return the broker group that serves old clients of a topic.

    If another broker group goes away, the choice stays (rendezvous hashing).
    """
    return max(names, key=lambda one: (sha256(f"{topic_name}\0{one}".encode()).digest(), one))


def _claims(infos: Infos) -> dict[int, tuple[str, ...]]:
    """Return the broker groups that lead each queue in its greatest epoch and generation."""
    claims: dict[int, list[MappingInfo]] = defaultdict(list)
    for _, info in sorted(infos.items()):
        for global_id in info.led:
            if global_id >= 0:
                claims[global_id].append(info)
    return {
        global_id: (found[0].broker_group_name,)
        if len(found) == 1
        else tuple(one.broker_group_name for one in _newest(found, global_id))
        for global_id, found in claims.items()
    }


def _newest(claims: Iterable[MappingInfo], global_id: int) -> list[MappingInfo]:
    """Return the newest claims to one queue; without a generation one is as new as any other."""
    epoch = max(one.epoch for one in claims)
    found = [one for one in claims if one.epoch == epoch]
    generations = [one.generations.get(global_id) for one in found]
    known = [one for one in generations if one is not None]
    if len(known) < len(found):
        return found
    last = max(known)
    return [one for one, generation in zip(found, known, strict=True) if generation == last]
