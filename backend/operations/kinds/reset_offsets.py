"""Set the position of a consumer group: by time, at an end, or to given offsets."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Answers
from backend.domain.errors import TopicNotFound
from backend.domain.offset_reset import ResetMode
from backend.domain.operation_errors import ConsumerGroupNotFound, InvalidParameters
from backend.domain.orders.offset import ResetOffsets
from backend.domain.orders.parameter import fields_of
from backend.domain.plan import Check, CheckVerdict, Plan, Risk, no_undo
from backend.operations.actions.offsets import CommitOffsets
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.operations.planning import offset_previews as previews
from backend.operations.planning.masters import Master, Masters
from backend.operations.planning.offset_previews import Seen


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answer of each master of the order."""

    meant: Masters
    answers: Answers[Master, Seen]

    @property
    def held(self) -> previews.Held:
        """Return the answers of the masters that hold queues of the order."""
        return {one: value for one, value in self.answers.answers.items() if value.queues}

    @property
    def is_silent(self) -> bool:
        """Return whether a master did not answer."""
        return bool(self.answers.silent)

    @property
    def members(self) -> list[str]:
        """Name the connected members."""
        return sorted({name for held_here in self.held.values() for name in held_here.members})


async def read_facts(order: ResetOffsets, context: OperationContext) -> Facts[Present]:
    """Read the group's offset in each queue, and its connected members.

    Raises:
        InvalidParameters: the position lacks its value, or has the value of another position.
        InvalidName: the name is invalid for a cluster, or for a topic or group of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
        TopicNotFound: no master that was asked has the topic.
    """
    _check_order(order)
    masters.check_consumer_group(order.consumer_group_name)
    if order.source_group is not None:
        masters.check_consumer_group(order.source_group)
    meant = await masters.find_masters(order.cluster_name, _chosen(order), context)
    answers = await context.brokers.ask_all(
        meant.found, lambda one: previews.Look(one.broker_group_name, order)
    )
    present = Present(meant, answers)
    is_held = any(one.is_held for one in answers.answers.values())
    if is_held and not present.held and not present.is_silent and order.source_group is not None:
        reason = f"{order.source_group} has committed no offset in {order.topic_name}"
        raise InvalidParameters(previews.KIND_NAME, reason)
    if not present.is_silent and not is_held:
        raise TopicNotFound(order.cluster_name, order.topic_name)
    mode = previews.mode(order, present.members)
    return Facts(
        present,
        previews.preconditions(order, meant, present.held, mode),
        _checks(order, present, present.held, answers),
    )


async def preview(order: ResetOffsets, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe for each queue the new offset, and what is skipped or repeated.

    Raises:
        ConsumerGroupNotFound: no master that was asked knows the consumer group.
    """
    present = facts.seen
    found = await context.brokers.ask_all(
        present.held, lambda one: previews.Complete(present.held[one], order)
    )
    held = found.answers
    is_silent = present.is_silent or bool(found.silent)
    if not is_silent and not any(held_here.is_known for held_here in held.values()):
        raise ConsumerGroupNotFound(order.cluster_name, order.consumer_group_name)
    members = present.members
    mode = previews.mode(order, members)
    return Plan(
        summary=previews.summary(order, held),
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(order, held, mode)),
        changes=previews.changes(held),
        impact=previews.impact(order, held, members, mode),
        checks=(
            *_checks(order, present, held, present.answers, found),
            await masters.check_fencing(present.meant.found, context),
        ),
        way_back=_undo(held),
        facts=previews.facts(held, mode, members),
    )


KIND: Final = Kind(previews.KIND_NAME, ResetOffsets, read_facts, preview, (CommitOffsets,))


def _chosen(order: ResetOffsets) -> tuple[str, ...]:
    return order.broker_groups or tuple({one.broker_group_name for one in order.offsets})


def _checks(
    order: ResetOffsets,
    present: Present,
    held: previews.Held,
    *answers: Answers[Master, Seen],
) -> tuple[Check, ...]:
    return (
        present.meant.check(CheckVerdict.BLOCK if _chosen(order) else CheckVerdict.WARN),
        masters.check_answers(*answers),
        previews.check_inside(held),
        previews.check_segments(held),
        previews.check_mode(held, present.members, previews.mode(order, present.members)),
        previews.check_size(held),
    )


def _actions(order: ResetOffsets, held: previews.Held, mode: ResetMode) -> list[CommitOffsets]:
    """Set the offsets on one master after another."""
    return [
        CommitOffsets(
            order.cluster_name,
            one.broker_group_name,
            one.address,
            order.consumer_group_name,
            order.topic_name,
            {queue.queue_id: queue.offset for queue in held[one].queues},
            tells_consumers=mode is not ResetMode.OFFLINE,
        )
        for one in sorted(held)
    ]


def _undo(held: previews.Held) -> str:
    if all(one.former is None for held_here in held.values() for one in held_here.queues):
        return no_undo("the group has committed no offset there that could be set again")
    return (
        "Set the former offsets, which the journal keeps; what was read meanwhile is read again,"
        " and queues without a former offset stay where they are"
    )


def _check_order(order: ResetOffsets) -> None:
    for one in fields_of(ResetOffsets):
        if one.about.only_with is None:
            continue
        _, position = one.about.only_with
        is_given = getattr(order, one.name) != one.default
        if is_given is not (order.position is position):
            verb = "takes no" if is_given else "needs"
            reason = f"the position {order.position} {verb} {one.name}"
            raise InvalidParameters(previews.KIND_NAME, reason)
    if order.offsets and (order.broker_groups or order.queue_ids):
        raise InvalidParameters(previews.KIND_NAME, "offsets already name their queues")
    if order.source_group == order.consumer_group_name:
        reason = "a group can't copy its own offsets: name another source_group"
        raise InvalidParameters(previews.KIND_NAME, reason)
