"""Delete a topic with all its messages, or only if it is empty; this can't be undone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetProgress
from backend.brokers.requests.topics import GetGroupsOfTopic
from backend.db import protections
from backend.db import topics as topic_rows
from backend.domain.errors import TopicNotFound
from backend.domain.orders.topic import DeleteTopic
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.protection import (
    Resource,
    ResourceKind,
    check_unprotected,
    protection_fact,
)
from backend.domain.queue_reading import add_lags
from backend.operations.actions import topics as topic_actions
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, static_topics, topic_layouts
from backend.operations.planning.masters import Master
from backend.operations.planning.placements import listed
from backend.operations.planning.topic_layouts import TopicPlacements
from backend.services.topic import topics

GROUPS_ASKED_MAX: Final = 50
"""Each group costs two requests; the lag of further groups is reported as unknown."""


@dataclass(frozen=True, slots=True)
class Content:
    """Hold a topic's messages by broker group, and lag and members by consumer group.

    None means that a master did not report the value.
    """

    messages: Mapping[str, int | None]
    lags: Mapping[str, int | None]
    member_counts: Mapping[str, int | None]

    @property
    def message_count(self) -> int | None:
        """Count all messages."""
        counts = list(self.messages.values())
        return _if_known(sum, counts)

    @property
    def text(self) -> str:
        """Describe how many messages are lost, and how many of them each group has not read."""
        behind = [
            f"{name} {'an unknown number' if lag is None else lag}"
            for name, lag in sorted(self.lags.items())
            if lag != 0
        ]
        unread = f", unread of {masters.shortened(behind)}" if behind else ""
        return f"{_count_text(self.message_count)}{unread}"

    @property
    def loss(self) -> str:
        """Describe what a deletion may lose."""
        return "the topic itself, which is empty now" if self.message_count == 0 else self.text


@dataclass(frozen=True, slots=True)
class Present:
    """Hold each master's layout of the topic, and its number of messages; None means unknown."""

    placements: TopicPlacements
    messages: Mapping[str, int | None]

    @property
    def message_count(self) -> int | None:
        """Count all messages."""
        return _if_known(sum, [*self.messages.values()])

    @property
    def precondition(self) -> Precondition:
        """Return as a fact whether the topic is empty.

        The number of messages is no fact: in a topic with producers it changes before a
        confirmation.
        """
        count = self.message_count
        presence = "unknown" if count is None else "some" if count else "none"
        return Precondition("messages in it", presence)


async def read_facts(order: DeleteTopic, context: OperationContext) -> Facts[Present]:
    """Read which masters have the topic, whether it is empty, and its protection.

    Raises:
        InvalidName: the name is invalid for a cluster, or for a topic of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
        TopicNotFound: no master that was asked has the topic.
    """
    topic = masters.check_topic(order.topic_name)
    found = await topic_layouts.read_layouts(
        order.cluster_name, topic, order.broker_groups, context
    )
    found.check_known(TopicNotFound(order.cluster_name, topic))
    present = Present(found, await _count_messages([*found.held], topic, context))
    resource = Resource(order.cluster_name, ResourceKind.TOPIC, topic)
    async with context.database.connect() as connection:
        protected = await protections.find_of(connection, [resource])
    return Facts(
        present,
        (
            found.meant.precondition,
            protection_fact(protected),
            *found.answer_facts,
            present.precondition,
        ),
        (
            check_unprotected(protected),
            *await static_topics.check_ordinary(order.cluster_name, topic, context),
            found.masters_check,
            found.answers_check,
            *(await _check_elsewhere(order, found.meant.missing, context)),
            *([_check_empty(present.message_count)] if order.only_empty else []),
        ),
    )


async def preview(order: DeleteTopic, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe the topic's content, its consumers, and where it is deleted."""
    topic, placements = order.topic_name, facts.seen.placements
    held = placements.held
    content = await _read_content(facts.seen, topic, context)
    is_loss = not order.only_empty
    return Plan(
        summary=f"Topic {topic} is deleted on {masters.count_groups(held)}, with {content.text}",
        risk=Risk.LOSS if is_loss else Risk.SERVICE,
        steps=planned_steps(_actions(order, sorted(held))),
        changes=tuple(topic_layouts.difference(one, held[one], None) for one in sorted(held)),
        impact=_impact(topic, content),
        checks=(
            *facts.checks,
            _check_members(content),
            await masters.check_fencing(placements.meant.found, context),
        ),
        way_back=no_undo(
            "its messages and the offsets of its consumers are gone; a topic of the"
            " same name begins empty"
        ),
        loss=content.loss if is_loss else None,
        facts={
            "brokers": listed(sorted(held)),
            "messages": dict(content.messages),
            "lags": dict(content.lags),
            "members": dict(content.member_counts),
        },
    )


async def version(order: DeleteTopic, context: OperationContext) -> str:
    """Read the version of the topic's layout."""
    return await topics.find_topic_version(
        order.cluster_name, order.topic_name, database=context.database
    )


KIND: Final = Kind(
    "delete_topic",
    DeleteTopic,
    read_facts,
    preview,
    (topic_actions.DeleteTopic, topic_actions.RemoveRoutes),
    version,
)


def _actions(order: DeleteTopic, holders: Sequence[Master]) -> list[Action]:
    """Delete it on one master after another, then from the routes."""
    cluster_name, topic = order.cluster_name, order.topic_name
    return [
        *(
            topic_actions.DeleteTopic(
                cluster_name, one.broker_group_name, one.address, topic, order.only_empty
            )
            for one in holders
        ),
        topic_actions.RemoveRoutes(
            cluster_name, topic, tuple(one.broker_group_name for one in holders)
        ),
    ]


async def _count_messages(
    holders: Sequence[Master], topic: str, context: OperationContext
) -> dict[str, int | None]:
    ends = (await topic_layouts.read_ends(holders, topic, context)).answers
    return {
        one.broker_group_name: sum(e.count for e in ends[one].values()) if one in ends else None
        for one in holders
    }


async def _read_content(present: Present, topic: str, context: OperationContext) -> Content:
    consuming = await context.brokers.ask_all(present.placements.held, _GetConsumers(topic))
    lags: dict[str, list[int | None]] = {}
    member_counts: dict[str, list[int | None]] = {}
    for one in consuming.silent:
        unknown = f"groups on {one.broker_group_name}"
        lags[unknown], member_counts[unknown] = [None], [None]
    for progress in consuming.answers.values():
        for name, (lag, member_count) in progress.items():
            lags.setdefault(name, []).append(lag)
            member_counts.setdefault(name, []).append(member_count)
    return Content(
        present.messages,
        {name: _if_known(sum, found) for name, found in lags.items()},
        # A member is connected to every broker.
        {name: _if_known(max, found) for name, found in member_counts.items()},
    )


def _count_text(count: int | None) -> str:
    count_text = "an unknown number of" if count is None else str(count)
    return f"{count_text} message{'' if count == 1 else 's'}"


def _if_known(fold: Callable[[list[int]], int], found: Sequence[int | None]) -> int | None:
    known = [one for one in found if one is not None]
    return fold(known) if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class _GetConsumers(Inquiry[dict[str, tuple[int | None, int | None]]]):
    """Ask for the groups that consume a topic, and for lag and members of the first of them."""

    topic_name: str

    async def put(self, brokers: Brokers, address: str) -> dict[str, tuple[int | None, int | None]]:
        names = await brokers.ask(address, GetGroupsOfTopic(self.topic_name))
        values: dict[str, tuple[int | None, int | None]] = dict.fromkeys(names, (None, None))
        for name in names[:GROUPS_ASKED_MAX]:
            found = await brokers.find(address, _GetConsumer(name, self.topic_name))
            values[name] = found or (None, None)
        return values


@dataclass(frozen=True, slots=True)
class _GetConsumer(Inquiry[tuple[int | None, int]]):
    """Ask for a group's lag in a topic, and for the number of its connected members."""

    consumer_group_name: str
    topic_name: str

    async def put(self, brokers: Brokers, address: str) -> tuple[int | None, int]:
        progress = await brokers.ask(
            address, GetProgress(self.consumer_group_name, self.topic_name)
        )
        online = await brokers.ask(address, GetOnlineGroup(self.consumer_group_name))
        if online is None:
            return add_lags(progress), 0
        # The members of a broadcasting group keep their own offsets.
        lag = 0 if online.is_broadcasting else add_lags(progress)
        return lag, len({member.client_id for member in online.members})


def _check_empty(count: int | None) -> Check:
    if count == 0:
        return Check("it is empty", CheckVerdict.PASS, "no message is in it")
    return Check("it is empty", CheckVerdict.BLOCK, f"in it are {_count_text(count)}")


def _check_members(content: Content) -> Check:
    name = "no readers"
    reading = {k: v for k, v in content.member_counts.items() if v != 0}
    if not reading:
        return Check(name, CheckVerdict.PASS, "no consumer of it is connected")
    members = [f"{k} ({'unknown' if v is None else v})" for k, v in sorted(reading.items())]
    return Check(name, CheckVerdict.WARN, f"members connected: {masters.shortened(members)}")


async def _check_elsewhere(
    order: DeleteTopic, missing: Sequence[str], context: OperationContext
) -> list[Check]:
    """Find silent broker groups that hold the topic: with them, the topic would return."""
    async with context.database.connect() as connection:
        placed = await topic_rows.list_groups_of(connection, order.cluster_name, order.topic_name)
    away = [one for one in placed if one in missing]
    if not away:
        return []
    why = f"it comes back with {masters.shortened(away)}, whose masters are away"
    return [Check("it goes everywhere", CheckVerdict.BLOCK, why)]


def _impact(topic: str, content: Content) -> tuple[str, ...]:
    lines = [f"Sends to {topic} are refused, or create it again where brokers create topics on use"]
    for name, lag in sorted(content.lags.items()):
        unread = "an unknown number of" if lag is None else lag
        lines.append(f"Consumer group {name} loses its place, with {unread} messages unread")
    return tuple(lines)
