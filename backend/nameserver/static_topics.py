"""Keep the mappings of static topics that broker groups register; a part of the route table.

The mapping of a broker group whose brokers are lost stays, as in RocketMQ: its queues wait for it.
It goes with the topic, or with the broker group (logical-queues.md 17.5).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import (
    Acceptance,
    LegacyMode,
    StaticCount,
    StaticRoute,
    StaticTopic,
    accept,
    by_scope,
    mappings_for_clients,
    merge,
    with_count,
)
from backend.nameserver.members import GroupKey


@dataclass(frozen=True, slots=True)
class RegisteredMapping:
    """Hold the mapping that a broker group registers, and what its old clients get.

    Without a mode, the former one stays: the registration did not contain the topic.
    """

    info: MappingInfo
    legacy: LegacyMode | None = LegacyMode.HIDE


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold what a registered mapping would change.

    Attributes:
        conflicts: The logical queues that another broker group leads in the same epoch, too, in
            the same generation or in an unknown one.
        newest_epoch: The greatest epoch that any broker group has registered for the topic.
    """

    acceptance: Acceptance
    conflicts: Mapping[int, tuple[str, ...]]
    newest_epoch: int


@dataclass(slots=True)
class _Topic:
    """Hold the mappings of one topic by broker group, and what follows from them."""

    held: dict[GroupKey, RegisteredMapping] = field(default_factory=dict)
    routes: dict[str, StaticRoute] = field(default_factory=dict)
    shown: StaticTopic = field(default_factory=lambda: StaticTopic({}, {}))

    def infos(self) -> dict[str, MappingInfo]:
        return {key[1]: one.info for key, one in sorted(self.held.items())}

    def merge(self) -> list[tuple[str, StaticRoute]]:
        """Bring routes up to date; return those that begin to show a count, by scope."""
        began: list[tuple[str, StaticRoute]] = []
        visible: dict[str, StaticRoute] = {}
        mappings: dict[str, MappingInfo] = {}
        for scope, infos in by_scope(self.infos()).items():
            previous = self.routes.get(scope)
            route = merge(infos, previous)
            if route is None:
                continue
            if previous is None or previous.since_epoch != route.since_epoch:
                began.append((scope, route))
            self.routes[scope] = visible[scope] = route
            mappings |= mappings_for_clients(infos, route)
        is_proxied = all(one.legacy is LegacyMode.PROXY for one in self.held.values())
        legacy = LegacyMode.PROXY if is_proxied else LegacyMode.HIDE
        self.shown = StaticTopic(visible, dict(sorted(mappings.items())), legacy)
        return began


class StaticTopics:
    """Hold what broker groups say of static topics."""

    def __init__(self) -> None:
        self._topics: dict[str, _Topic] = {}

    def names_of(self, key: GroupKey) -> list[str]:
        """Return the topics for which a broker group has a mapping."""
        return [name for name, topic in self._topics.items() if key in topic.held]

    def find(self, topic_name: str) -> StaticTopic | None:
        """Return what clients may see of a static topic; None: no broker group has a mapping."""
        topic = self._topics.get(topic_name)
        return topic.shown if topic is not None and topic.held else None

    def judge(self, key: GroupKey, info: MappingInfo) -> Verdict:
        """Return what a mapping would change; nothing changes yet."""
        topic = self._topics.get(info.topic_name) or _Topic()
        held = topic.held.get(key)
        own = {} if held is None else {key[1]: held.info}
        taken, acceptance = accept(own, key[1], info)
        infos = by_scope({**topic.infos(), **taken}).get(info.scope, {})
        route = merge(infos, topic.routes.get(info.scope, StaticRoute(0, {})))
        found = {} if route is None else route.conflicts
        conflicts = {one: names for one, names in found.items() if key[1] in names}
        return Verdict(acceptance, conflicts, max((one.epoch for one in infos.values()), default=0))

    def take(self, key: GroupKey, mapping: RegisteredMapping) -> tuple[bool, list[StaticCount]]:
        """Store an accepted mapping; return whether routes changed, and the counts that began."""
        name = mapping.info.topic_name
        topic = self._topics.setdefault(name, _Topic())
        held = topic.held.get(key)
        legacy = mapping.legacy
        if legacy is None:
            legacy = LegacyMode.HIDE if held is None else held.legacy
        stored = RegisteredMapping(mapping.info, legacy)
        if held == stored:
            return False, []
        topic.held[key] = stored
        return True, [
            StaticCount(name, scope, route.since_epoch, route.queue_count)
            for scope, route in topic.merge()
        ]

    def note_count(self, count: StaticCount) -> bool:
        """Take the count that a process shows; return whether routes changed."""
        topic = self._topics.setdefault(count.topic_name, _Topic())
        previous = topic.routes.get(count.scope)
        route = with_count(previous, count)
        if route == previous:
            return False
        topic.routes[count.scope] = route
        before = topic.shown
        topic.merge()
        return topic.shown != before

    def forget(self, topic_name: str, is_doomed: Callable[[GroupKey], bool]) -> bool:
        """Forget the mappings of a topic on some broker groups; return whether there was one.

        With the last mapping, the count is forgotten.
        """
        topic = self._topics.get(topic_name)
        if topic is None:
            return False
        doomed = [key for key in topic.held if is_doomed(key)]
        for key in doomed:
            del topic.held[key]
        if not topic.held:
            del self._topics[topic_name]
        elif doomed:
            topic.merge()
        return bool(doomed)
