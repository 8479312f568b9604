"""Merge the mappings that brokers register, and show them to clients (logical-queues.md 16-18).

Clients of RocketMQ 5 merge the mappings themselves, by the greatest epoch. The merge here gives the
same result, except that a conflict and a half-made change stay invisible.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
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
    """Hold the broker group that leads a logical queue, and the epoch in which it said so."""

    broker_group_name: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """Hold the leaders of all visible logical queues of a topic; queues without one are absent."""

    queue_count: int
    leaders: Mapping[int, Leader]
    conflicts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def leader_name(self, global_id: int) -> str:
        """Return the broker group of a logical queue, or the name that means none."""
        leader = self.leaders.get(global_id)
        return NO_BROKER if leader is None else leader.broker_group_name


@dataclass(frozen=True, slots=True)
class Requester:
    """Hold what a client said about itself."""

    version: int
    sends_lqv: bool = False

    @property
    def is_capable(self) -> bool:
        """Return whether the client knows static topics."""
        return self.version >= CAPABLE_VERSION or self.sends_lqv


class ViewKind(StrEnum):
    """Name what a client gets to see of a static topic."""

    STATIC = "static"
    FRONT = "front"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ClientView:
    """Hold what a client gets to see.

    A front is one broker group that has `queue_count` queues: queue ids are global ids there.
    """

    kind: ViewKind
    queue_count: int = 0
    front_name: str | None = None


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


def merge(
    infos: Infos, previous: StaticRoute | None = None, *, is_published: bool = False
) -> StaticRoute | None:
    """Merge the mappings of one scope: the greatest epoch leads (logical-queues.md 17.2-17.4).

    Two leaders in one epoch are a conflict, and the previous leader stays. A new topic, or a
    greater queue count, is visible once all its queues have a leader or the change is published;
    until then the previous count stays. None: the topic is not visible.
    """
    if not infos:
        return None
    count = max(infos.values(), key=lambda one: (one.epoch, one.queue_count)).queue_count
    leaders: dict[int, Leader] = {}
    conflicts: dict[int, tuple[str, ...]] = {}
    for global_id, names in _claims(infos, count).items():
        if len(names) > 1:
            conflicts[global_id] = names
            former = previous.leaders.get(global_id) if previous is not None else None
            if former is not None:
                leaders[global_id] = former
        else:
            leaders[global_id] = Leader(names[0], infos[names[0]].epoch)
    is_whole = is_published or len(leaders) == count
    if is_whole:
        return StaticRoute(count, leaders, conflicts)
    if previous is None:
        return None
    shown = min(count, previous.queue_count)
    visible = {key: one for key, one in leaders.items() if key < shown}
    return StaticRoute(shown, visible, conflicts)


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


def forget_orphans(mappings: Mapping[str, Infos], topic_names: Collection[str]) -> dict[str, Infos]:
    """Return the mappings by topic without those of topics that do not exist (H-9, INV-36)."""
    return {name: infos for name, infos in mappings.items() if name in topic_names}


def forget_broker_group(infos: Infos, name: str) -> Infos:
    """Return the mappings without those of a removed broker group."""
    return {one: info for one, info in infos.items() if one != name}


def view_for(
    requester: Requester,
    topic_name: str,
    route: StaticRoute,
    *,
    mode: LegacyMode,
    alive: Collection[str],
) -> ClientView:
    """Return what a client gets to see of a static topic (L57, L58).

    An old client never gets physical queues: it would read their ids as global ids.
    """
    if requester.is_capable:
        return ClientView(ViewKind.STATIC, route.queue_count)
    leaders = {one.broker_group_name for one in route.leaders.values()} & set(alive)
    if mode is LegacyMode.HIDE or not leaders:
        return ClientView(ViewKind.HIDDEN)
    return ClientView(ViewKind.FRONT, route.queue_count, choose_front(topic_name, leaders))


def choose_front(topic_name: str, names: Iterable[str]) -> str:
    """Return the broker group that serves old clients of a topic.

    If another broker group goes away, the choice stays (rendezvous hashing).
    """
    return max(names, key=lambda one: (sha256(f"{topic_name}\0{one}".encode()).digest(), one))


def _claims(infos: Infos, count: int) -> dict[int, tuple[str, ...]]:
    """Return the broker groups that lead each queue in its greatest epoch."""
    epochs: dict[int, int] = {}
    names: dict[int, list[str]] = defaultdict(list)
    for name, info in sorted(infos.items()):
        for global_id in info.led:
            if not 0 <= global_id < count or info.epoch < epochs.get(global_id, info.epoch):
                continue
            if info.epoch > epochs.get(global_id, info.epoch):
                names[global_id].clear()
            epochs[global_id] = info.epoch
            names[global_id].append(name)
    return {global_id: tuple(found) for global_id, found in names.items()}
