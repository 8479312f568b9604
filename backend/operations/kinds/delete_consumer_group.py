"""Delete a consumer group on masters, if wanted with its offsets and topics, for good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Answers
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetProgress
from backend.db import protections
from backend.domain.operation_errors import ConsumerGroupNotFound
from backend.domain.orders.consumer_group import (
    DeleteConsumerGroup,
)
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.domain.protection import (
    Protection,
    Resource,
    ResourceKind,
    check_unprotected,
    protection_fact,
)
from backend.domain.queue_reading import OnlineGroup, QueueProgress, add_lags
from backend.operations.actions import consumer_groups
from backend.operations.actions.topics import DeleteTopic, RemoveRoutes
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import group_remainders, group_settings, masters
from backend.operations.planning.group_remainders import GroupRemainder
from backend.operations.planning.group_settings import GroupPlacements
from backend.operations.planning.masters import Master
from backend.operations.planning.placements import listed

Lags = Mapping[str, int | None]
"""The number of unread messages by topic; None means unknown."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold each master's settings of the group, and the group's connected members."""

    placements: GroupPlacements
    online: Answers[Master, OnlineGroup | None]

    @property
    def members(self) -> list[str]:
        """Name the connected members."""
        online = [one for one in self.online.answers.values() if one is not None]
        return sorted({member.client_id for one in online for member in one.members})


async def read_facts(order: DeleteConsumerGroup, context: OperationContext) -> Facts[Present]:
    """Read which masters know the group, its connected members, and its protection.

    Raises:
        InvalidName: the name is invalid for a cluster, or for a consumer group of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
        ConsumerGroupNotFound: no master that was asked knows the group.
    """
    group = masters.check_consumer_group(order.consumer_group_name)
    found = await group_settings.read_settings(
        order.cluster_name, group, order.broker_groups, context
    )
    found.check_known(ConsumerGroupNotFound(order.cluster_name, group))
    online = await context.brokers.ask_all(found.held, GetOnlineGroup(group))
    present = Present(found, online)
    protected = await _find_protected(order, context)
    return Facts(
        present,
        (found.meant.precondition, protection_fact(protected), *found.answer_facts),
        (
            check_unprotected(protected),
            found.masters_check,
            masters.check_answers(found.answers, online),
            _check_members(present.members),
        ),
    )


async def preview(
    order: DeleteConsumerGroup, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe which offsets and topics of the group would be lost."""
    group, placements = order.consumer_group_name, facts.seen.placements
    held, holders = placements.held, sorted(placements.held)
    progress = await context.brokers.ask_all(held, GetProgress(group))
    lags = _lags(progress, facts.seen.online)
    found = await group_remainders.find_remainders(group, placements.meant.found, context)
    gone = found if order.cleans_up else []
    unprotected, masters_check, _, unused = facts.checks
    return Plan(
        summary=f"Consumer group {group} is deleted on {masters.count_groups(held)}"
        + (", with its offsets, retries and dead letters" if order.cleans_up else ""),
        risk=Risk.LOSS if order.cleans_up else Risk.SERVICE,
        steps=planned_steps(_actions(order, holders, gone)),
        changes=tuple(
            change for one in holders for change in group_settings.differences(one, held[one], None)
        ),
        impact=_impact(order, lags, found),
        checks=(
            unprotected,
            masters_check,
            masters.check_answers(
                placements.answers, facts.seen.online, progress, *(one.layouts for one in gone)
            ),
            unused,
            await masters.check_fencing(placements.meant.found, context),
        ),
        way_back="Create it again with the former settings, which the journal keeps"
        + ("; what was kept for it is not restored" if order.cleans_up else "; its offsets stay"),
        loss=_loss(lags, gone) if order.cleans_up else None,
        facts={"brokers": listed(holders), "topics": group_remainders.facts_of(gone)},
    )


async def version(order: DeleteConsumerGroup, context: OperationContext) -> str:
    """Read the version of the group's settings."""
    return await group_settings.read_version(order.cluster_name, order.consumer_group_name, context)


KIND: Final = Kind(
    "delete_consumer_group",
    DeleteConsumerGroup,
    read_facts,
    preview,
    (consumer_groups.DeleteConsumerGroup, DeleteTopic, RemoveRoutes),
    version,
)


def _actions(
    order: DeleteConsumerGroup, holders: Sequence[Master], gone: Sequence[GroupRemainder]
) -> list[Action]:
    """Delete it on one master after another, then its retry and dead-letter topics.

    In this order these topics are not created again in between: without the group, brokers accept
    no retries. Agents delete these topics together with the offsets; stock brokers do not.
    """
    return [
        *(
            consumer_groups.DeleteConsumerGroup(
                order.cluster_name,
                one.broker_group_name,
                one.address,
                order.consumer_group_name,
                order.cleans_up,
            )
            for one in holders
        ),
        *group_remainders.actions(order.cluster_name, gone),
    ]


async def _find_protected(
    order: DeleteConsumerGroup, context: OperationContext
) -> dict[Resource, Protection]:
    names = group_remainders.topic_names(order.consumer_group_name) if order.cleans_up else {}
    doomed = [
        Resource(order.cluster_name, ResourceKind.CONSUMER_GROUP, order.consumer_group_name),
        *(Resource(order.cluster_name, ResourceKind.TOPIC, name) for name in names.values()),
    ]
    async with context.database.connect() as connection:
        return await protections.find_of(connection, doomed)


def _loss(lags: Sequence[Lags], gone: Sequence[GroupRemainder]) -> str:
    unread = _unread(lags)
    lines = ["the group's place in every topic"]
    if unread:
        counts = masters.shortened(unread)
        lines.append(f"unread are {counts} messages")
    lines += [one.text for one in gone if one.message_count != 0]
    return "; ".join(lines)


def _lags(
    progress: Answers[Master, list[QueueProgress]],
    online: Answers[Master, OnlineGroup | None],
) -> list[Lags]:
    """Count the unread messages of each topic, for each master that answers."""
    counted: list[Lags] = []
    for master, queues in progress.answers.items():
        if master in online.silent:
            continue
        group = online.answers[master]
        # The members of a broadcasting group keep their own offsets.
        is_kept = group is None or not group.is_broadcasting
        topics = {queue.topic for queue in queues} if is_kept else set()
        counted.append(
            {name: add_lags([one for one in queues if one.topic == name]) for name in topics}
        )
    return counted


def _unread(lags: Sequence[Lags]) -> list[str]:
    """Name the topics with unread messages, and their number."""
    unread: dict[str, list[int | None]] = {}
    for one in lags:
        for topic, lag in one.items():
            unread.setdefault(topic, []).append(lag)
    return [
        f"{topic} {'an unknown number' if None in found else sum(lag or 0 for lag in found)}"
        for topic, found in sorted(unread.items())
        if any(lag != 0 for lag in found)
    ]


def _impact(
    order: DeleteConsumerGroup, lags: Sequence[Lags], found: Sequence[GroupRemainder]
) -> tuple[str, ...]:
    unread = _unread(lags)
    group = order.consumer_group_name
    lines = [
        f"Consumers of {group} are refused, or create it again where brokers create groups on use"
    ]
    kept = [one.text for one in found if one.message_count != 0 and not order.cleans_up]
    lines += [f"Kept: {text}" for text in kept]
    if unread:
        lines.append(f"Unread: {masters.shortened(unread)}")
    return tuple(lines)


def _check_members(connected: Sequence[str]) -> Check:
    name = "not in use"
    if not connected:
        return Check(name, CheckVerdict.PASS, "no member is connected")
    why = f"connected: {masters.shortened(connected)}; stop them first, or they create it again"
    return Check(name, CheckVerdict.BLOCK, why)
