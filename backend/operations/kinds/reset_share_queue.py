"""Let a consumer group go on from an offset in a share queue: skip messages, or repeat them."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.logical_queues import GetStaticTopic
from backend.brokers.requests.offsets import GetLogicalEnds
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.domain.operation_errors import BrokerSilent
from backend.domain.orders.share_queue import ResetShareQueue
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.share_queues import ResetToOffset
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.operations.planning.share_queues import OwnedQueue, count_messages, read_share_queue


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the share queue and the ends of its queue; of a static topic, the logical queue."""

    owned: OwnedQueue
    ends: QueueEnds
    is_logical: bool

    def skipped_count(self, offset: int) -> int:
        """Count the messages before an offset that are not finished; some more within the window.

        Which messages of the window are finished is only counted, so it is known past the window.
        """
        queue = self.owned.queue
        start = max(queue.start, self.ends.low)
        finished = queue.finished_count if offset >= queue.end else 0
        return max(0, min(offset, self.ends.high) - start - finished)

    def repeated_count(self, offset: int) -> int:
        """Count the messages from an offset on that were delivered before, at most."""
        return max(0, min(self.owned.queue.end, self.ends.high) - max(offset, self.ends.low))


async def read_facts(order: ResetShareQueue, context: OperationContext) -> Facts[Present]:
    """Read the share queue, and the messages that its queue holds.

    Raises:
        ShareQueueNotFound: the consumer group has no share queue there.
        BrokerSilent: no master of the broker group answers.
    """
    owned = await read_share_queue(order.cluster_name, order.broker_group_name, order.name, context)
    present = await _look(order, owned, context)
    return Facts(
        present,
        (
            owned.meant.precondition,
            Precondition("epoch of the last reset", str(owned.queue.reset_epoch)),
            Precondition("kind of topic", "static" if present.is_logical else "ordinary"),
        ),
        (_check_inside(order, present),),
    )


async def preview(order: ResetShareQueue, facts: Facts[Present], context: OperationContext) -> Plan:
    """Say what is skipped, what is received again, and which acknowledgements are refused."""
    present = facts.seen
    owned, group = present.owned, order.consumer_group_name
    skipped, repeated = (
        present.skipped_count(order.offset),
        present.repeated_count(order.offset),
    )
    action = ResetToOffset(
        order.cluster_name,
        order.broker_group_name,
        owned.master.address,
        order.name,
        order.offset,
        present.is_logical,
    )
    return Plan(
        summary=f"Consumer group {group} goes on in {order.target} from offset {order.offset}:"
        f" up to {count_messages(skipped)} skipped, up to {repeated} received again",
        risk=Risk.SERVICE,
        steps=planned_steps([action]),
        changes=(
            Difference(f"position in {order.target}", str(owned.queue.start), str(order.offset)),
        ),
        impact=_impact(group, skipped, repeated),
        checks=(
            *facts.checks,
            _check_in_flight(owned),
            await masters.check_fencing(owned.meant.found, context),
        ),
        way_back=(
            "Reset it to the former position, which the journal keeps; messages behind that"
            " position that were finished are received again"
        ),
        facts={
            "position": str(owned.queue.start),
            "acquired_count": owned.queue.acquired_count,
            "skipped_count": str(skipped),
            "repeated_count": str(repeated),
        },
    )


KIND: Final = Kind("reset_share_queue", ResetShareQueue, read_facts, preview, (ResetToOffset,))


async def _look(order: ResetShareQueue, owned: OwnedQueue, context: OperationContext) -> Present:
    address, topic, queue_id = owned.master.address, order.topic_name, order.queue_id
    try:
        layout = await context.brokers.ask(address, GetStaticTopic(topic))
        is_logical = layout is not None and layout.mapping is not None
        ends = await context.brokers.ask(
            address,
            GetLogicalEnds(topic=topic, global_ids=(queue_id,))
            if is_logical
            else GetTopicEnds(topic),
        )
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
    return Present(owned, ends.get(queue_id, QueueEnds(0, 0)), is_logical)


def _impact(group: str, skipped: int, repeated: int) -> tuple[str, ...]:
    never = f"never receives up to {count_messages(skipped)} that it has not finished"
    again = f"receives up to {count_messages(repeated)} again: consumers must handle duplicates"
    effects = [text for text, count in ((never, skipped), (again, repeated)) if count]
    none = "skips no message, and receives none again"
    return tuple(f"Consumer group {group} {one}" for one in effects or (none,))


def _check_inside(order: ResetShareQueue, present: Present) -> Check:
    name, ends = "the queue holds the offset", present.ends
    if ends.low <= order.offset <= ends.high:
        return Check(name, CheckVerdict.PASS, f"it holds {ends.low} to {ends.high}")
    return Check(name, CheckVerdict.BLOCK, f"outside: it holds {ends.low} to {ends.high}")


def _check_in_flight(owned: OwnedQueue) -> Check:
    name, count = "messages in flight", len(owned.acquired)
    if not count:
        return Check(name, CheckVerdict.PASS, "no consumer has a message of the queue")
    have = f"consumers have {count_messages(count)} of the queue"
    return Check(name, CheckVerdict.WARN, f"{have}: their acknowledgements will be refused")
