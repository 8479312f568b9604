"""Store the connected clients, their groups and their subscriptions.

Pure tables keyed by channel, which is any hashable object of the session layer. Callers pass the
time, and get the changes; they send the notifications.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Generic, NamedTuple, TypeVar

from backend.remoting.bodies import ConsumerData, SubscriptionData

CHANNEL_LIFE_MS: Final = 120_000
DEPARTED_COUNT_MAX: Final = 10_000
_CONSUME_FROM: Final = (
    "CONSUME_FROM_LAST_OFFSET",
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET",
    "CONSUME_FROM_TIMESTAMP",
)
_CONSUME_TYPES: Final = ("CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP")
BROADCASTING: Final = "BROADCASTING"
CLUSTERING: Final = "CLUSTERING"
_MODELS: Final = (BROADCASTING, CLUSTERING)

Channel = TypeVar("Channel")


@dataclass(slots=True)
class Client:
    """One member of a group, by its last heartbeat.

    `seen_at_ms` is of the clock that is never set. `subscriptions` are those of this connection's
    heartbeats, by topic.
    """

    client_id: str
    address: str
    language: str
    version: int
    seen_at_ms: int
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)


class MemberView(NamedTuple):
    """The group's settings and subscriptions by one member; members may disagree."""

    consume_type: str
    message_model: str
    consume_from_where: str
    subscriptions: tuple[SubscriptionData, ...] | None
    """None as long as the member has sent only light heartbeats."""


@dataclass(slots=True)
class ConsumerGroup(Generic[Channel]):
    """The online side of a consumer group."""

    consume_type: str
    message_model: str
    consume_from_where: str
    # Of the clock that is never set: the first heartbeat of a member.
    known_since_ms: int
    members: dict[Channel, Client] = field(default_factory=dict)
    # The last connection over which each client joined.
    newest: dict[str, Channel] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)
    views: dict[Channel, MemberView] = field(default_factory=dict)
    # The client ids of former members: lists of other brokers may still name them.
    departed: set[str] = field(default_factory=set)
    fingerprint: int = 0

    @property
    def is_broadcasting(self) -> bool:
        """Return whether every member gets every message."""
        return self.message_model == BROADCASTING

    def see(self, channel: Channel, data: ConsumerData, *, with_subscriptions: bool) -> None:
        """Store the settings of one member; a light heartbeat keeps its subscriptions."""
        known = self.views.get(channel)
        former = None if known is None else known.subscriptions
        self.views[channel] = MemberView(
            _named(data.consume_type, _CONSUME_TYPES),
            _named(data.message_model, _MODELS),
            _named(data.consume_from_where, _CONSUME_FROM),
            tuple(data.subscriptions) if with_subscriptions else former,
        )

    def note_departure(self, client_id: str) -> None:
        """Store that a client has left, unless it has a newer connection."""
        if client_id in self.newest:
            return
        if len(self.departed) >= DEPARTED_COUNT_MAX:
            self.departed.clear()
        self.departed.add(client_id)


class GroupChange(NamedTuple):
    """The changes of a consumer group by a heartbeat."""

    is_rebalance_due: bool
    topics: list[str]
    """The topics for which the group or the sender has a new subscription."""


class _PullFacts(NamedTuple):
    is_broadcasting: bool
    subscriptions: dict[str, SubscriptionData]
    own_subscriptions: dict[str, SubscriptionData] | None


class Consumers(Generic[Channel]):
    """All online consumer groups."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """Take the function to call when a fact changes by which pulls are checked."""
        self._on_change = on_change
        self._groups: dict[str, ConsumerGroup[Channel]] = {}

    def find(self, group: str) -> ConsumerGroup[Channel] | None:
        """Return the online side of a group; None when it has no member."""
        return self._groups.get(group)

    def all(self) -> Iterator[tuple[str, Channel, Client]]:
        """List every member of every online group."""
        for name, group in self._groups.items():
            for channel, client in group.members.items():
                yield name, channel, client

    def subscription_of(
        self, group: ConsumerGroup[Channel], channel: Channel, topic: str
    ) -> SubscriptionData | None:
        """Return a connection's own subscription to a topic, or else that of its group."""
        member = group.members.get(channel)
        own = None if member is None else member.subscriptions.get(topic)
        return group.subscriptions.get(topic) if own is None else own

    def agree_on(self, consumer_group_name: str, topic: str) -> bool:
        """Return whether all members of a group have the same subscription to a topic."""
        group = self._groups.get(consumer_group_name)
        if group is None:
            return True
        wanted = [member.subscriptions.get(topic) for member in group.members.values()]
        filters = {_filter_of(one) for one in (*wanted, group.subscriptions.get(topic)) if one}
        return len(filters) <= 1

    def groups_of(self, topic: str) -> list[str]:
        """Return the online groups that subscribe to a topic."""
        return [name for name, group in self._groups.items() if topic in group.subscriptions]

    def register(
        self, data: ConsumerData, channel: Channel, client: Client, *, with_subscriptions: bool
    ) -> GroupChange:
        """Register one group of a heartbeat, and return the changes.

        The last message of a client is valid, by the order of receipt: its clock may have been set.
        An older connection of the same client no longer changes the group.
        """
        before = self._pull_facts(data.group_name, channel)
        change = self._register(data, channel, client, with_subscriptions=with_subscriptions)
        if self._pull_facts(data.group_name, channel) != before:
            self._on_change()
        return change

    def _pull_facts(self, consumer_group_name: str, channel: Channel) -> _PullFacts | None:
        """Return the facts for checks of pulls that a heartbeat over this connection can change."""
        group = self._groups.get(consumer_group_name)
        if group is None:
            return None
        member = group.members.get(channel)
        own = None if member is None else member.subscriptions
        return _PullFacts(group.is_broadcasting, dict(group.subscriptions), own)

    def _register(
        self, data: ConsumerData, channel: Channel, client: Client, *, with_subscriptions: bool
    ) -> GroupChange:
        group = self._groups.setdefault(
            data.group_name,
            ConsumerGroup(
                consume_type="",
                message_model="",
                consume_from_where="",
                known_since_ms=client.seen_at_ms,
            ),
        )
        group.departed.discard(client.client_id)
        known = group.members.get(channel)
        is_new = known is None or known.client_id != client.client_id
        newest = group.newest.get(client.client_id)
        before = {} if is_new or known is None else known.subscriptions
        if newest is not None:
            before = group.members[newest].subscriptions
        if known is not None and is_new and group.newest.get(known.client_id) == channel:
            del group.newest[known.client_id]
        if is_new or newest is None:
            newest = group.newest[client.client_id] = channel
        # A light heartbeat has no subscriptions: the former ones of the client stay valid.
        own = before if known is None or is_new else known.subscriptions
        if with_subscriptions:
            own = {subscription.topic: subscription for subscription in data.subscriptions}
        # A separate object, since one heartbeat names several groups.
        group.members[channel] = replace(client, subscriptions=own)
        group.see(channel, data, with_subscriptions=with_subscriptions)
        changed = [
            topic for topic, sent in own.items() if known and known.subscriptions.get(topic) != sent
        ]
        if newest != channel:
            return GroupChange(is_new, changed)
        group.consume_type = _named(data.consume_type, _CONSUME_TYPES)
        group.message_model = message_model_of(data.message_model)
        group.consume_from_where = _named(data.consume_from_where, _CONSUME_FROM)
        if not with_subscriptions:
            return GroupChange(is_new, [])
        topics = set(group.subscriptions)
        changed += _update_subscriptions(group, own, before)
        # The allocation of queues does not depend on the expressions.
        is_rebalance_due = is_new or topics != group.subscriptions.keys()
        return GroupChange(is_rebalance_due, list(dict.fromkeys(changed)))

    def compare_fingerprint(self, consumer_group_name: str, fingerprint: int) -> bool:
        """Store the fingerprint of a light heartbeat; True when another one was stored."""
        group = self._groups[consumer_group_name]
        differs = group.fingerprint != fingerprint
        group.fingerprint = fingerprint
        return differs

    def unregister(self, consumer_group_name: str, channel: Channel) -> bool:
        """Remove a channel from a group; True when it was a member."""
        group = self._groups.get(consumer_group_name)
        member = None if group is None else group.members.pop(channel, None)
        if group is None or member is None:
            return False
        self._on_change()
        group.views.pop(channel, None)
        if group.newest.get(member.client_id) == channel:
            del group.newest[member.client_id]
        group.note_departure(member.client_id)
        if not group.members:
            del self._groups[consumer_group_name]
        return True

    def client_id_of(self, channel: Channel) -> str | None:
        """Return the id of the client of a connection; None if it is in no group."""
        groups = (group for group in self._groups.values() if channel in group.members)
        return next((group.members[channel].client_id for group in groups), None)

    def drop_channel(self, channel: Channel) -> list[str]:
        """Remove a closed channel from every group and return its groups."""
        return [name for name in list(self._groups) if self.unregister(name, channel)]

    def silent_channels(self, now_ms: int) -> set[Channel]:
        """Return the channels whose heartbeats have stopped."""
        members = (item for group in self._groups.values() for item in group.members.items())
        return {channel for channel, client in members if _is_silent(client, now_ms)}


class Producers(Generic[Channel]):
    """All online producer groups."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[Channel, Client]] = {}

    def find(self, group: str) -> dict[Channel, Client] | None:
        """Return the members of a group; None when it has none."""
        return self._groups.get(group)

    def all(self) -> Iterator[tuple[str, Channel, Client]]:
        """List every member of every group."""
        for name, members in self._groups.items():
            for channel, client in members.items():
                yield name, channel, client

    def register(self, group: str, channel: Channel, client: Client) -> None:
        """Register one group of a heartbeat."""
        self._groups.setdefault(group, {})[channel] = client

    def unregister(self, group: str, channel: Channel) -> None:
        """Remove a channel from a group."""
        members = self._groups.get(group, {})
        members.pop(channel, None)
        if not members:
            self._groups.pop(group, None)

    def drop_channel(self, channel: Channel) -> None:
        """Remove a closed channel from every group."""
        for group in list(self._groups):
            self.unregister(group, channel)

    def silent_channels(self, now_ms: int) -> set[Channel]:
        """Return the channels whose heartbeats have stopped."""
        members = (item for group in self._groups.values() for item in group.items())
        return {channel for channel, client in members if _is_silent(client, now_ms)}


def _filter_of(subscription: SubscriptionData) -> tuple[str, str, tuple[int, ...]]:
    """Return the part of a subscription that decides which messages pass."""
    hashes = tuple(sorted(subscription.tag_hashes))
    return (subscription.expression_type, subscription.expression, hashes)


def _update_subscriptions(
    group: ConsumerGroup[Channel],
    wanted: dict[str, SubscriptionData],
    before: dict[str, SubscriptionData],
) -> list[str]:
    """Take over a client's subscriptions, and drop topics without a subscriber.

    A client's own change takes effect, with any version. A client that repeats itself changes
    nothing, unless the member with the valid subscription has left. For a new client among others
    the version decides. So a returning client with its former subscription does not undo the change
    of another one. Returns the topics for which the group has a new subscription.
    """
    for topic in group.subscriptions.keys() - wanted.keys():
        if not any(topic in member.subscriptions for member in group.members.values()):
            del group.subscriptions[topic]
    changed: list[str] = []
    for topic, sent in wanted.items():
        stored, known = group.subscriptions.get(topic), before.get(topic)
        if stored is None or not _is_wanted(group, stored):
            is_news = True
        else:
            is_news = sent.version > stored.version if known is None else known != sent
        if is_news:
            group.subscriptions[topic] = sent
            changed.append(topic)
    return changed


def _is_wanted(group: ConsumerGroup[Channel], stored: SubscriptionData) -> bool:
    """Return whether a member of a group still subscribes as the group does."""
    own = (member.subscriptions.get(stored.topic) for member in group.members.values())
    return any(one is not None and _filter_of(one) == _filter_of(stored) for one in own)


def message_model_of(value: str | int) -> str:
    """Write a message model: `BROADCASTING` or `CLUSTERING`."""
    return _named(value, _MODELS)


def _named(value: str | int, ordered: tuple[str, ...]) -> str:
    """Write an enumeration that some clients send by position."""
    if isinstance(value, str):
        return value
    return ordered[value] if 0 <= value < len(ordered) else ordered[0]


def _is_silent(client: Client, now_ms: int) -> bool:
    return now_ms - client.seen_at_ms > CHANNEL_LIFE_MS
