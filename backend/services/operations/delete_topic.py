"""Delete a topic with all that is in it, or only while it is empty; nothing brings it back."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.db import protections
from backend.db import topics as topic_rows
from backend.domain.errors import TopicNotFound
from backend.domain.operation import Operation
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.topic import DeleteTopic
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
    no_way_back,
)
from backend.domain.protection import (
    Resource,
    ResourceKind,
    check_unprotected,
    protection_fact,
)
from backend.domain.queue_reading import add_lags
from backend.domain.topic_layout import TopicLayout
from backend.services import topics
from backend.services.operations import masters, topic_layouts, topic_removal
from backend.services.operations.kind import Kind, OperationContext, StepWork
from backend.services.operations.masters import Master, Silence

GROUPS_ASKED_MAX: Final = 50
"""Each costs two questions; how far further ones are is not known, and is said so."""
ROUTES: Final = "routes"


@dataclass(frozen=True, slots=True)
class Content:
    """Hold what is in a topic: messages by broker group, lag and members by consumer group.

    None is what a master did not tell.
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
        """Say how many messages are lost, and who has not read how many of them."""
        count = "an unknown number of" if self.message_count is None else str(self.message_count)
        behind = [
            f"{name} {'an unknown number' if lag is None else lag}"
            for name, lag in sorted(self.lags.items())
            if lag != 0
        ]
        unread = f", unread of {masters.shortened(behind)}" if behind else ""
        return f"{count} message{'' if count == '1' else 's'}{unread}"

    @property
    def loss(self) -> str:
        """Say what a deletion may lose."""
        return "the topic itself, which is empty now" if self.message_count == 0 else self.text


async def plan(order: DeleteTopic, context: OperationContext) -> Plan:
    """Say what is in the topic, who reads it, and where it would go.

    Raises:
        InvalidName: no cluster, or no topic of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
        TopicNotFound: no master asked holds it.
    """
    topic = masters.check_topic(order.topic_name)
    meant = await masters.find_masters(order.cluster_name, order.broker_groups, context)
    layouts = await topic_layouts.read_layouts(meant.found, topic, context)
    held = {one: layout for one, layout in layouts.items() if isinstance(layout, TopicLayout)}
    if not held and not any(isinstance(one, Silence) for one in layouts.values()):
        raise TopicNotFound(order.cluster_name, topic)
    content = await _read_content([*held], topic, context)
    resource = Resource(order.cluster_name, ResourceKind.TOPIC, topic)
    async with context.database.connect() as connection:
        protected = await protections.find_of(connection, [resource])
    is_loss = not order.only_empty
    return Plan(
        summary=f"Topic {topic} is deleted on {masters.count_groups(held)}, with {content.text}",
        risk=Risk.LOSS if is_loss else Risk.SERVICE,
        steps=(
            *(
                PlannedStep(f"delete-{one.group_name}", f"Delete it on {one.group_name}")
                for one in sorted(held)
            ),
            PlannedStep(ROUTES, "Take it out of the routes"),
        ),
        preconditions=(
            meant.precondition,
            protection_fact(protected),
            *topic_layouts.preconditions(layouts),
            _emptiness(content),
        ),
        changes=tuple(topic_layouts.difference(one, held[one], None) for one in sorted(held)),
        impact=_impact(topic, content),
        checks=(
            check_unprotected(protected),
            meant.check(CheckVerdict.BLOCK if order.broker_groups else CheckVerdict.WARN),
            masters.check_answers(layouts),
            *(await _check_elsewhere(order, meant.missing, context)),
            _check_members(content),
            *([] if is_loss else [_check_empty(content)]),
            await masters.check_fencing(meant.found, context),
        ),
        way_back=no_way_back(
            "its messages and the offsets of its consumers are gone; a topic of the"
            " same name begins empty"
        ),
        loss=content.loss if is_loss else None,
        facts={
            "brokers": [
                {"group_name": one.group_name, "address": one.address} for one in sorted(held)
            ],
            "messages": dict(content.messages),
            "lags": dict(content.lags),
            "members": dict(content.member_counts),
        },
    )


def steps(
    order: DeleteTopic, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Delete it on one master after another, then in the routes."""
    holders, topic = topic_layouts.masters_of(operation), order.topic_name
    return [
        *(
            topic_removal.delete_work(one, topic, context, only_empty=order.only_empty)
            for one in holders
        ),
        topic_removal.routes_work(
            order.cluster_name, topic, [one.group_name for one in holders], context
        ),
    ]


async def verify(
    order: DeleteTopic, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that no master holds it, and that the records don't either."""
    holders = topic_layouts.masters_of(operation)
    return await topic_removal.read_back(order.cluster_name, order.topic_name, holders, context)


def undo(_order: DeleteTopic, _operation: Operation) -> DeleteTopic:
    """Refuse: nothing brings messages back.

    Raises:
        NotUndoable: always.
    """
    raise NotUndoable(
        "what was in the topic is gone; regent topic create makes one of the name that is empty"
    )


async def version(order: DeleteTopic, context: OperationContext) -> str:
    """Read the version of how the topic is laid out."""
    return await topics.find_topic_version(
        order.cluster_name, order.topic_name, database=context.database
    )


KIND: Final = Kind("delete_topic", DeleteTopic, plan, steps, verify, undo, version)


async def _read_content(holders: list[Master], topic: str, context: OperationContext) -> Content:
    ends, consuming = await asyncio.gather(
        topic_layouts.read_ends(holders, topic, context),
        masters.ask_each(holders, lambda one: _ask_groups(one, topic, context)),
    )
    messages = {
        one.group_name: None if isinstance(told, Silence) else sum(e.count for e in told.values())
        for one, told in ends.items()
    }
    lags: dict[str, list[int | None]] = {}
    member_counts: dict[str, list[int | None]] = {}
    for one, told in consuming.items():
        if isinstance(told, Silence):
            unknown = f"groups on {one.group_name}"
            lags[unknown], member_counts[unknown] = [None], [None]
            continue
        for name, (lag, member_count) in told.items():
            lags.setdefault(name, []).append(lag)
            member_counts.setdefault(name, []).append(member_count)
    return Content(
        messages,
        {name: _if_known(sum, found) for name, found in lags.items()},
        # A member is connected to every broker.
        {name: _if_known(max, found) for name, found in member_counts.items()},
    )


def _if_known(fold: Callable[[list[int]], int], found: Sequence[int | None]) -> int | None:
    known = [one for one in found if one is not None]
    return fold(known) if len(known) == len(found) else None


async def _ask_groups(
    master: Master, topic: str, context: OperationContext
) -> dict[str, tuple[int | None, int | None]]:
    """Ask who consumes a topic, and of the first of them how far they are and who is there."""
    names = await context.brokers.groups_of_topic(master.address, topic)
    told: dict[str, tuple[int | None, int | None]] = dict.fromkeys(names, (None, None))
    for name in names[:GROUPS_ASKED_MAX]:
        told[name] = await _ask_group(master, name, topic, context)
    return told


async def _ask_group(
    master: Master, name: str, topic: str, context: OperationContext
) -> tuple[int | None, int | None]:
    """Ask for a group's lag in a topic and how many of its members are connected."""
    brokers = context.brokers

    async def ask(one: Master) -> tuple[int | None, int]:
        progress = await brokers.progress(one.address, name, topic)
        online = await brokers.online_group(one.address, name)
        if online is None:
            return add_lags(progress), 0
        # The members of a broadcasting group keep their own offsets.
        lag = 0 if online.is_broadcasting else add_lags(progress)
        return lag, len({member.client_id for member in online.members})

    told = (await masters.ask_each([master], ask))[master]
    return (None, None) if isinstance(told, Silence) else told


def _emptiness(content: Content) -> Precondition:
    # Not how many: a topic that is written to would leave no time to confirm that it goes.
    count = content.message_count
    told = "not told" if count is None else "some" if count else "none"
    return Precondition("messages in it", told)


def _check_empty(content: Content) -> Check:
    if content.message_count == 0:
        return Check("it is empty", CheckVerdict.PASS, "no message is in it")
    return Check("it is empty", CheckVerdict.BLOCK, f"in it are {content.text}")


def _check_members(content: Content) -> Check:
    name = "nobody reads it"
    reading = {k: v for k, v in content.member_counts.items() if v != 0}
    if not reading:
        return Check(name, CheckVerdict.PASS, "no consumer of it is connected")
    told = [f"{k} ({'unknown' if v is None else v})" for k, v in sorted(reading.items())]
    return Check(name, CheckVerdict.WARN, f"members connected: {masters.shortened(told)}")


async def _check_elsewhere(
    order: DeleteTopic, missing: Sequence[str], context: OperationContext
) -> list[Check]:
    """Look for groups that hold the topic and can't be told now: it would come back with them."""
    async with context.database.connect() as connection:
        placed = await topic_rows.list_groups_of(connection, order.cluster_name, order.topic_name)
    away = [one for one in placed if one in missing]
    if not away:
        return []
    why = f"it comes back with {masters.shortened(away)}, whose masters are away"
    return [Check("it goes everywhere", CheckVerdict.BLOCK, why)]


def _impact(topic: str, content: Content) -> tuple[str, ...]:
    told = [
        f"Sends to {topic} are refused, or create it anew where brokers create topics by themselves"
    ]
    for name, lag in sorted(content.lags.items()):
        unread = "an unknown number of" if lag is None else lag
        told.append(f"Consumer group {name} loses its place, with {unread} messages unread")
    return tuple(told)
