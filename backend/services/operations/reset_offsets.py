"""Have a consumer group go on reading elsewhere: by time, at an end, or at given offsets."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.domain.errors import TopicNotFound
from backend.domain.offset_reset import Position, ResetMode
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import (
    ChangeRefused,
    ConsumerGroupNotFound,
    InvalidParameters,
    NotUndoable,
)
from backend.domain.orders.offset import QueueOffset, ResetOffsets
from backend.domain.plan import (
    Agreement,
    CheckVerdict,
    Plan,
    PlannedStep,
    ReadBack,
    Risk,
    no_way_back,
)
from backend.services.operations import broker_steps, masters
from backend.services.operations import offset_previews as previews
from backend.services.operations.kind import (
    Effect,
    Kind,
    OperationContext,
    StepRun,
    StepWork,
    Unfinished,
)
from backend.services.operations.masters import Silence
from backend.services.operations.offset_previews import Seen


async def plan(order: ResetOffsets, context: OperationContext) -> Plan:
    """Say for each queue where the group is, where it goes on, and what that skips or repeats.

    Raises:
        InvalidParameters: the position lacks its value, or has one of another.
        InvalidName: no cluster, topic or consumer group of a user may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
        TopicNotFound: no master asked holds the topic.
        ConsumerGroupNotFound: no master asked knows the consumer group.
    """
    _check_order(order)
    masters.check_consumer_group(order.consumer_group)
    if order.source_group is not None:
        masters.check_consumer_group(order.source_group)
    chosen = order.broker_groups or tuple({one.group_name for one in order.offsets})
    meant = await masters.find_masters(order.cluster_name, chosen, context)
    seen = await masters.ask_each(meant.found, lambda one: previews.look(one, order, context))
    held = {one: told for one, told in seen.items() if isinstance(told, Seen) and told.queues}
    silent = [one for one in seen.values() if isinstance(one, Silence)]
    is_held = any(isinstance(one, Seen) and one.is_held for one in seen.values())
    if is_held and not held and not silent and order.source_group is not None:
        reason = f"{order.source_group} has committed no offset in {order.topic_name}"
        raise InvalidParameters(previews.KIND_NAME, reason)
    if not silent and not is_held:
        raise TopicNotFound(order.cluster_name, order.topic_name)
    if not silent and not any(told.is_known for told in held.values()):
        raise ConsumerGroupNotFound(order.cluster_name, order.consumer_group)
    members = sorted({name for told in held.values() for name in told.members})
    mode = previews.mode(order, members)
    return Plan(
        summary=previews.summary(order, held),
        risk=Risk.SERVICE,
        steps=tuple(
            PlannedStep(
                f"reset-{one.group_name}",
                f"Set {len(held[one].queues)} offsets on {one.group_name}",
            )
            for one in sorted(held)
        ),
        preconditions=previews.preconditions(order, meant, held, mode),
        changes=previews.changes(held),
        impact=previews.impact(order, held, members, mode),
        checks=(
            meant.check(CheckVerdict.BLOCK if chosen else CheckVerdict.WARN),
            masters.check_answers(seen),
            previews.check_inside(held),
            previews.check_mode(members, mode),
            previews.check_size(held),
            await masters.check_fencing(meant.found, context),
        ),
        way_back=_way_back(held),
        facts=previews.facts(held, mode, members),
    )


def _way_back(held: previews.Held) -> str:
    if all(one.former is None for told in held.values() for one in told.queues):
        return no_way_back("the group has committed no offset there that could be set again")
    return (
        "Set the former offsets, which the journal keeps; what was read meanwhile is read again,"
        " and queues without a former offset stay where they are"
    )


def steps(
    order: ResetOffsets, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Set the offsets that the plan names, one step a master."""
    mode = operation.plan.facts["mode"]
    return [_reset_work(order, told, mode, context) for told in operation.plan.facts["brokers"]]


async def verify(
    order: ResetOffsets, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back where the group is; with consumers it may have read on from there already."""
    is_online = operation.plan.facts["mode"] == ResetMode.ONLINE
    found: list[ReadBack] = []
    for told in operation.plan.facts["brokers"]:
        intended = {one["queue_id"]: int(one["to"]) for one in told["queues"]}
        committed = await _read_back(told["address"], order, [*intended], context)
        for queue_id, offset in intended.items():
            what = f"{told['group_name']} queue {queue_id}"
            if committed is None:
                found.append(ReadBack(what, str(offset), None, Agreement.UNKNOWN))
            else:
                found.append(_compare(what, offset, committed[queue_id], is_online=is_online))
    return found


def undo(order: ResetOffsets, operation: Operation) -> ResetOffsets:
    """Set the offsets of before; what was read meanwhile is read again.

    Raises:
        NotUndoable: none was set, or none was there before.
    """
    former = [
        QueueOffset(
            operation.plan.facts["brokers"][step.position]["group_name"], int(queue_id), offset
        )
        for step in masters.done_steps(operation)
        for queue_id, offset in (step.before or {}).items()
        if offset is not None
    ]
    if not former:
        raise NotUndoable("no offset was set where the group had one before")
    return ResetOffsets(
        order.cluster_name,
        order.consumer_group,
        order.topic_name,
        Position.GIVEN,
        offsets=tuple(former),
        mode=ResetMode.AUTO,
    )


KIND: Final = Kind(previews.KIND_NAME, ResetOffsets, plan, steps, verify, undo)


_NEEDED: Final = {
    Position.TIME: "timestamp_ms",
    Position.OFFSET: "offset",
    Position.GIVEN: "offsets",
    Position.GROUP: "source_group",
}


def _check_order(order: ResetOffsets) -> None:
    given = {
        Position.TIME: order.timestamp_ms is not None,
        Position.OFFSET: order.offset is not None,
        Position.GIVEN: bool(order.offsets),
        Position.GROUP: order.source_group is not None,
    }
    for position, is_given in given.items():
        if is_given is not (order.position is position):
            value = _NEEDED[position]
            verb = "needs" if order.position is position else "takes no"
            reason = f"the position {order.position} {verb} {value}"
            raise InvalidParameters(previews.KIND_NAME, reason)
    if order.offsets and (order.broker_groups or order.queue_ids):
        raise InvalidParameters(previews.KIND_NAME, "offsets name their queues themselves")
    if order.source_group == order.consumer_group:
        reason = "a group's offsets are where it is already: name another source_group"
        raise InvalidParameters(previews.KIND_NAME, reason)


def _reset_work(
    order: ResetOffsets, told: Mapping[str, Any], mode: str, context: OperationContext
) -> StepWork:
    brokers = context.brokers
    address = told["address"]
    intended = {one["queue_id"]: int(one["to"]) for one in told["queues"]}
    send = brokers.commit_offset if mode == ResetMode.OFFLINE else brokers.reset_offset
    place = (address, order.consumer_group, order.topic_name)

    async def read() -> Value:
        found = await brokers.committed_offsets(*place, [*intended])
        return {str(queue_id): offset for queue_id, offset in found.items()}

    async def reset(run: StepRun) -> Value | Effect:
        fence = broker_steps.fence_of(run)
        before: dict[str, int | None] = dict(run.before or {})
        for set_count, (queue_id, offset) in enumerate(intended.items()):
            # Each queue is an effect of its own: a step that is begun again sets none twice.
            own = fence | {"regentStep": f"{run.key}/{queue_id}"}
            try:
                answer = await send(*place, queue_id, offset, own)
            except ChangeRefused as error:
                if not set_count:
                    raise
                # As a refusal it would say that none was set.
                told = f"{set_count} of {len(intended)} offsets are set, then {error}"
                raise Unfinished(told) from error
            if answer is not None:
                before[str(queue_id)] = answer.before.get(str(queue_id))
        return Effect(before, {str(queue_id): offset for queue_id, offset in intended.items()})

    return StepWork(read, reset)


async def _read_back(
    address: str, order: ResetOffsets, queue_ids: list[int], context: OperationContext
) -> dict[int, int | None] | None:
    try:
        return await context.brokers.committed_offsets(
            address, order.consumer_group, order.topic_name, queue_ids
        )
    except (BrokerUnreachable, BrokerRefused):
        return None


def _compare(what: str, intended: int, observed: int | None, *, is_online: bool) -> ReadBack:
    is_there = observed == intended
    # The broker itself has told that it set the offset; consumers go on from there at once.
    has_gone_on = is_online and observed is not None and observed > intended
    agreement = Agreement.AGREES if is_there or has_gone_on else Agreement.DIFFERS
    told = "never committed" if observed is None else str(observed)
    return ReadBack(what, str(intended), f"{told}, read on" if has_gone_on else told, agreement)
