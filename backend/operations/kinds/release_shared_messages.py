"""Release messages that POP consumers have: those of gone clients, or of a named client."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.domain.operation_errors import SharedMessagesNotFound
from backend.domain.orders.share_queue import ReleaseSharedMessages
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.queue_lock import Holder
from backend.domain.share_queue import ShareMessage
from backend.operations.actions.share_queues import NO_RELEASE_BACK, ReleaseMessages
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.operations.planning.share_queues import OwnedQueue, count_messages, read_share_queue

MESSAGE_COUNT_MAX: Final = 1_000
"""More messages are released in several operations, so that each plan stays readable."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the share queue, and its messages that the order means."""

    owned: OwnedQueue
    messages: Sequence[ShareMessage]

    @property
    def released(self) -> Sequence[ShareMessage]:
        """Return the messages of one operation."""
        return self.messages[:MESSAGE_COUNT_MAX]

    @property
    def is_connected(self) -> bool:
        """Return whether a consumer of them is connected."""
        return any(one.is_connected for one in self.messages)


async def read_facts(order: ReleaseSharedMessages, context: OperationContext) -> Facts[Present]:
    """Read the messages that the order means, and whether their consumers are connected.

    Raises:
        ShareQueueNotFound: the consumer group has no share queue there.
        SharedMessagesNotFound: no client that is meant has a message of it.
        BrokerSilent: no master of the broker group answers.
    """
    owned = await read_share_queue(order.cluster_name, order.broker_group_name, order.name, context)
    messages = [
        one
        for one in owned.acquired
        if (not one.is_connected if order.client_id is None else one.client_id == order.client_id)
    ]
    if not messages:
        of = f"message of {order.target} for group {order.consumer_group_name!r}"
        has = f"no client that is gone has a {of}"
        if order.client_id is not None:
            has = f"client {order.client_id!r} has no {of}"
        raise SharedMessagesNotFound(order.cluster_name, has)
    present = Present(owned, messages)
    return Facts(
        present,
        (
            owned.meant.precondition,
            Precondition("epoch of the last reset", str(owned.queue.reset_epoch)),
            Precondition("holder", Holder.CONNECTED if present.is_connected else Holder.GONE),
        ),
    )


async def preview(
    order: ReleaseSharedMessages, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Count the messages of each client, and name the risk."""
    present = facts.seen
    owned, released = present.owned, present.released
    holds = tuple((one.offset, one.pop_time_ms, one.tag) for one in released)
    action = ReleaseMessages(
        order.cluster_name, order.broker_group_name, owned.master.address, order.name, holds
    )
    clients = Counter(_client(one) for one in released)
    group, count = order.consumer_group_name, count_messages(len(holds))
    return Plan(
        summary=f"Consumers of {group} receive {count} of {order.target} again",
        risk=Risk.SERVICE if present.is_connected else Risk.SMALL,
        steps=planned_steps([action]),
        changes=tuple(
            Difference(f"messages of {order.target} with {client}", str(count), "0")
            for client, count in sorted(clients.items())
        ),
        impact=(_impact(group, count),),
        checks=(
            _check_holder(present),
            _check_attempts(present),
            _check_size(present),
            await masters.check_fencing(owned.meant.found, context),
        ),
        way_back=no_undo(NO_RELEASE_BACK),
        facts={
            "message_count": len(holds),
            "is_holder_connected": present.is_connected,
            "clients": dict(clients),
        },
    )


KIND: Final = Kind(
    "release_shared_messages", ReleaseSharedMessages, read_facts, preview, (ReleaseMessages,)
)


def _impact(group: str, count: str) -> str:
    return f"Clients may have processed {count} before: consumers of {group} must handle duplicates"


def _client(message: ShareMessage) -> str:
    return message.client_id or "a client without a known id"


def _check_holder(present: Present) -> Check:
    if present.is_connected:
        why = (
            "the client is connected: messages that it is processing go to another consumer too,"
            " and its acknowledgements of them are refused"
        )
        return Check("holder", CheckVerdict.WARN, why)
    longest_ms = max(one.due_in_ms for one in present.messages)
    why = (
        "no client that has them is connected; without a release they are delivered again in"
        f" {longest_ms // 1000} s at the latest"
    )
    return Check("holder", CheckVerdict.PASS, why)


def _check_attempts(present: Present) -> Check:
    name, queue = "attempts", present.owned.queue
    last = [one for one in present.released if one.delivery_count >= queue.attempt_count_max]
    if not last:
        return Check(name, CheckVerdict.PASS, "the group may receive each of them again")
    what = "discarded" if queue.discards else "dead letters"
    count = count_messages(len(last))
    why = f"{count} had the last of {queue.attempt_count_max} attempts, and will be {what}"
    return Check(name, CheckVerdict.WARN, why)


def _check_size(present: Present) -> Check:
    name, count, rest = "all of them", len(present.messages), len(present.released)
    if count == rest:
        return Check(name, CheckVerdict.PASS, f"{count_messages(count)} in one step")
    why = f"{count_messages(count)} are meant, and this releases the first {rest}: order again"
    return Check(name, CheckVerdict.WARN, why)
