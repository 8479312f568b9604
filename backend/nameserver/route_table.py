"""Keep every route in memory, by the rules of RocketMQ's RouteInfoManager (control-plane.md 4).

All route answers come from this table (D15). It is pure: it has no socket or task. One event loop
changes and reads it, so each call is atomic. The presence table, which it shares, holds the live
brokers. `version` grows by one with every change that an answer can show. It differs from RocketMQ
on purpose in four points. A refused registration changes nothing. A broker that unregisters is
removed immediately, not through a queue. A closed connection removes all its brokers. No live entry
remains without a group.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from backend.domain.broker import MASTER_ID
from backend.domain.errors import RegistrationRefused, RouteNotFound
from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import StaticCount
from backend.domain.route import (
    GroupMembers,
    RouteEntry,
    TopicRoute,
    substitute_acting_masters,
)
from backend.domain.topic import READ_WRITE, QueueSettings
from backend.nameserver.least_id_notices import LeastIdChange
from backend.nameserver.members import (
    Departure,
    Group,
    GroupKey,
    Registration,
)
from backend.nameserver.presence import PresenceTable, RegisteredBroker
from backend.nameserver.static_topics import RegisteredMapping, StaticTopics, Verdict

SINGLE_TOPIC: Final = 1
NO_MAPPINGS: Final[Mapping[str, RegisteredMapping | None]] = {}


@dataclass(frozen=True, slots=True)
class Registered:
    """Hold the result of a registration: the master of its sender, and the changed topics.

    `counts` are the numbers of logical queues that clients see from now on.
    """

    is_accepted: bool
    master: RegisteredBroker | None = None
    changed_topics: Mapping[str, QueueSettings] = field(default_factory=dict)
    counts: tuple[StaticCount, ...] = ()
    moved_from: Departure | None = None


class RouteTable:
    """Hold topics' queues by broker group, and the groups' members."""

    def __init__(self, presence: PresenceTable) -> None:
        self.version = 0
        self._presence = presence
        self._groups: dict[GroupKey, Group] = {}
        self._topics: dict[str, dict[GroupKey, QueueSettings]] = {}
        self._static = StaticTopics()
        self._note_least: Callable[[LeastIdChange], None] = lambda _: None

    def on_least_id(self, note: Callable[[LeastIdChange], None]) -> None:
        """Take the function to call when the least id of a group has changed."""
        self._note_least = note

    @property
    def topic_count(self) -> int:
        """Count the topics that have a route."""
        return len(self._topics)

    @property
    def broker_count(self) -> int:
        """Count the brokers that are in a group."""
        return sum(len(group.addresses) for group in self._groups.values())

    def register(
        self,
        registration: Registration,
        topics: Mapping[str, QueueSettings],
        *,
        connection: object,
        left_out_count: int = 0,
        mappings: Mapping[str, RegisteredMapping | None] = NO_MAPPINGS,
    ) -> Registered:
        """Register a broker, with its topics if it reports for its group.

        The announcement contained `left_out_count` further topics, which were left out. A mapping
        is one that `judge` accepts; None keeps the former one of a topic.

        Raises:
            RegistrationRefused: a broker that is not known announced exactly one topic.
        """
        known = self._groups.get(registration.group_key)
        is_known_id = known is not None and registration.broker_id in known.addresses
        if not is_known_id and len(topics) + left_out_count == SINGLE_TOPIC:
            raise RegistrationRefused(registration.broker_group_name, registration.broker_id)
        moved_from = self._leave_other_group(registration)
        before = None if known is None else known.describe()
        group = self._find_or_add(registration)
        group.remove_address(registration.address, except_id=registration.broker_id)
        if self._is_outdated_master(group, registration):
            self._presence.unregister(registration.live_key)
            self._note_change(is_changed=group.describe() != before)
            return Registered(is_accepted=False, moved_from=moved_from)
        group.addresses[registration.broker_id] = registration.address
        if before is not None and before.addresses:
            self._note_smaller(group, registration, min(before.addresses))
        changed = dict[str, QueueSettings]()
        counts: list[StaticCount] = []
        has_changed_mappings = False
        if self._reports_topics(group, registration):
            changed = self._take_topics(registration, topics, is_first=not is_known_id)
            has_changed_mappings = self._take_mappings(registration, topics, mappings, counts)
        self._presence.register(registration, connection=connection)
        is_changed = bool(changed) or has_changed_mappings or group.describe() != before
        self._note_change(is_changed=is_changed)
        master = None
        if registration.broker_id != MASTER_ID:
            master = self.find_live(registration.group_key, MASTER_ID)
        return Registered(
            is_accepted=True,
            master=master,
            changed_topics=changed,
            counts=tuple(counts),
            moved_from=moved_from,
        )

    def judge(self, key: GroupKey, info: MappingInfo) -> Verdict:
        """Return what the mapping of a broker group would change in the routes."""
        return self._static.judge(key, info)

    def has_topic(self, key: GroupKey, topic_name: str) -> bool:
        """Return whether a broker group has registered a topic."""
        return key in self._topics.get(topic_name, ())

    def note_count(self, count: StaticCount) -> None:
        """Take the number of logical queues that another process shows to clients."""
        self._note_change(is_changed=self._static.note_count(count))

    def _find_or_add(self, registration: Registration) -> Group:
        """Return the sender's group with the settings of this registration; add it if it is new."""
        group = self._groups.setdefault(
            registration.group_key, Group(registration.cluster_name, registration.broker_group_name)
        )
        group.acting_master_enabled = bool(registration.acting_master_enabled)
        group.zone_name = registration.zone_name
        return group

    def _leave_other_group(self, registration: Registration) -> Departure | None:
        """Remove a broker from its former group if it has another group now."""
        held = self._presence.find_registered(registration.live_key)
        if held is None or held.report.group_key == registration.group_key:
            return None
        departure = held.report.departure
        self.remove([departure])
        return departure

    def _is_outdated_master(self, group: Group, registration: Registration) -> bool:
        """Return whether the id is held by a live broker of a newer master epoch."""
        held_by = group.addresses.get(registration.broker_id)
        if held_by is None or held_by == registration.address:
            return False
        holder = self._presence.find_registered((registration.cluster_name, held_by))
        if holder is None:
            return False
        held_since = holder.report.data_version.state_version
        return held_since > registration.data_version.state_version

    def _reports_topics(self, group: Group, registration: Registration) -> bool:
        """Return whether the sender reports for its group: its master, or the acting master."""
        return registration.broker_id == MASTER_ID or (
            registration.acting_master_enabled is not None
            and registration.broker_id == min(group.addresses)
        )

    def _take_topics(
        self,
        registration: Registration,
        topics: Mapping[str, QueueSettings],
        *,
        is_first: bool,
    ) -> dict[str, QueueSettings]:
        previous = self._presence.find_registered(registration.live_key)
        is_new_version = (
            previous is None or previous.report.data_version != registration.data_version
        )
        is_replica = registration.broker_id != MASTER_ID
        clears_write = is_replica and bool(registration.acting_master_enabled)
        changed: dict[str, QueueSettings] = {}
        for name, announced in topics.items():
            held = self._topics.get(name, {}).get(registration.group_key)
            if not (is_first or is_new_version or held is None):
                continue
            settings = announced.without_write() if clears_write else announced
            if settings != held:
                self._topics.setdefault(name, {})[registration.group_key] = settings
                changed[name] = settings
        return changed

    def _take_mappings(
        self,
        registration: Registration,
        topics: Mapping[str, QueueSettings],
        mappings: Mapping[str, RegisteredMapping | None],
        counts: list[StaticCount],
    ) -> bool:
        """Take mappings of registered topics, and forget those of topics that come without one."""
        key = registration.group_key
        is_changed = False
        for name, mapping in mappings.items():
            if mapping is not None and self.has_topic(key, name):
                is_new, began = self._static.take(key, mapping)
                is_changed |= is_new
                counts += began
        for name in self._static.names_of(key):
            if name in topics and name not in mappings:
                is_changed |= self._static.forget(name, key.__eq__)
        return is_changed

    def find_live(self, key: GroupKey, broker_id: int) -> RegisteredBroker | None:
        """Find the live broker that holds an id of a group."""
        group = self._groups.get(key)
        address = None if group is None else group.addresses.get(broker_id)
        return None if address is None else self._presence.find_registered((key[0], address))

    def remove(self, departures: Iterable[Departure]) -> None:
        """Remove brokers as one batch, and the topics that no broker serves any more."""
        emptied: set[GroupKey] = set()
        reduced: set[GroupKey] = set()
        orphaned: dict[GroupKey, str] = {}
        is_changed = False
        for departure in departures:
            key = (departure.cluster_name, departure.broker_group_name)
            self._forget(departure)
            group = self._groups.get(key)
            if group is None:
                continue
            count, least_id = len(group.addresses), min(group.addresses, default=MASTER_ID)
            group.remove_address(departure.address)
            is_changed |= len(group.addresses) != count
            if least_id not in group.addresses and len(group.addresses) < count:
                # Replicas follow the first one, and not one that was next.
                orphaned.setdefault(key, departure.address)
            if group.addresses:
                reduced.add(key)
            else:
                del self._groups[key]
                emptied.add(key)
                is_changed = True
        self._drop_groups(emptied)
        for key in reduced - emptied:
            group = self._groups[key]
            if group.acting_master_enabled and not group.has_master:
                self._change_group(key, QueueSettings.without_write)
            if key in orphaned and group.acting_master_enabled:
                self._note_left(group, orphaned[key])
        self._note_change(is_changed=is_changed)

    def _note_smaller(self, group: Group, registration: Registration, least_id: int) -> None:
        """Report a broker with a smaller id to the other members (control-plane.md 4.4)."""
        if registration.broker_id >= least_id or not group.acting_master_enabled:
            # Brokers of other groups ignore it, at RocketMQ too.
            return
        others = [one for one in group.addresses.values() if one != registration.address]
        self._note_least(
            LeastIdChange(
                group.broker_group_name,
                registration.broker_id,
                registration.address,
                tuple(others or group.addresses.values()),
                ha_address=registration.ha_address,
            )
        )

    def _note_left(self, group: Group, offline_address: str) -> None:
        """Report that the broker with the least id is gone (control-plane.md 4.4)."""
        least_id = min(group.addresses)
        address = group.addresses[least_id]
        holder = self._presence.find_registered((group.cluster_name, address))
        self._note_least(
            LeastIdChange(
                group.broker_group_name,
                least_id,
                address,
                tuple(group.addresses.values()),
                offline_address=offline_address,
                ha_address=None if holder is None else holder.report.ha_address,
            )
        )

    def _forget(self, departure: Departure) -> None:
        """Remove the registration of a broker, unless it belongs to another group now."""
        held = self._presence.find_registered(departure.live_key)
        if held is not None and held.report.broker_group_name == departure.broker_group_name:
            self._presence.unregister(departure.live_key)

    def _drop_groups(self, keys: set[GroupKey]) -> None:
        if not keys:
            return
        for name in list(self._topics):
            held = self._topics[name]
            for key in keys:
                held.pop(key, None)
            if not held:
                del self._topics[name]

    def _change_group(self, key: GroupKey, change: Callable[[QueueSettings], QueueSettings]) -> int:
        count = 0
        for held in self._topics.values():
            if key in held:
                held[key] = change(held[key])
                count += 1
        return count

    def route(self, topic_name: str) -> TopicRoute:
        """Return the route of a topic, with an acting master where the group allows it.

        Raises:
            RouteNotFound: no broker serves it, or some of its logical queues have no leader yet.
        """
        held = self._topics.get(topic_name, {})
        entries = tuple(
            RouteEntry(self._groups[key].describe(), held[key])
            for key in sorted(held)
            if key in self._groups and self._groups[key].addresses
        )
        static = self._static.find(topic_name)
        if not entries or (static is not None and not static.routes):
            raise RouteNotFound(topic_name)
        return substitute_acting_masters(TopicRoute(topic_name, entries, static))

    def list_groups(self) -> list[GroupMembers]:
        """List every group with its members, by cluster and name."""
        groups = self._groups
        return [groups[key].describe() for key in sorted(groups) if groups[key].addresses]

    def find_group(self, cluster_name: str, broker_group_name: str) -> GroupMembers | None:
        """Find a group's members, with their real ids."""
        group = self._groups.get((cluster_name, broker_group_name))
        return None if group is None else group.describe()

    def list_topics(self, *, cluster_name: str | None = None) -> list[str]:
        """List the names of topics, of all clusters or of one."""
        return sorted(
            name
            for name, held in self._topics.items()
            if cluster_name is None or any(key[0] == cluster_name for key in held)
        )

    def list_by_flag(self, is_wanted: Callable[[int], bool]) -> list[str]:
        """List topics whose system flag, as one of their groups reports it, is wanted."""
        return sorted(
            name
            for name, held in self._topics.items()
            if held and is_wanted(next(iter(held.values())).topic_sys_flag)
        )

    def wipe_write(self, broker_group_name: str) -> int:
        """Clear the write bit of a group's topics; return how many topics it has."""
        return self._change_named(broker_group_name, QueueSettings.without_write)

    def add_write(self, broker_group_name: str) -> int:
        """Let a group's topics be read and written; return how many topics it has."""
        return self._change_named(broker_group_name, lambda held: held.with_permissions(READ_WRITE))

    def _change_named(
        self, broker_group_name: str, change: Callable[[QueueSettings], QueueSettings]
    ) -> int:
        count = sum(self._change_group(key, change) for key in self._keys_of(broker_group_name))
        self._note_change(is_changed=count > 0)
        return count

    def _keys_of(self, broker_group_name: str) -> list[GroupKey]:
        """Return the keys of all groups of this name, one for each cluster."""
        return [key for key in self._groups if key[1] == broker_group_name]

    def add_topic(self, topic_name: str, settings: Mapping[str, QueueSettings]) -> bool:
        """Add a topic to groups by name; if one group is unknown, nothing is added."""
        keys = {name: self._keys_of(name) for name in settings}
        if not settings or not all(keys.values()):
            return False
        held = self._topics.setdefault(topic_name, {})
        for name, group_keys in keys.items():
            held |= dict.fromkeys(group_keys, settings[name])
        self._note_change(is_changed=True)
        return True

    def remove_topic(
        self,
        topic_name: str,
        *,
        cluster_name: str | None = None,
        broker_group_names: Collection[str] | None = None,
    ) -> bool:
        """Remove a topic everywhere, in one cluster or in some groups; return if it existed."""

        def is_doomed(key: GroupKey) -> bool:
            is_named = broker_group_names is None or key[1] in broker_group_names
            return cluster_name in {None, key[0]} and is_named

        held = self._topics.get(topic_name, {})
        doomed = [key for key in held if is_doomed(key)]
        for key in doomed:
            del held[key]
        if doomed and not held:
            del self._topics[topic_name]
        was_static = self._static.forget(topic_name, is_doomed)
        self._note_change(is_changed=bool(doomed) or was_static)
        return bool(doomed) or was_static

    def _note_change(self, *, is_changed: bool) -> None:
        self.version += int(is_changed)
