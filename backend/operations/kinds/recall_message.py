"""Recall a message that waits for a time, by the handle of its producer."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.properties import GetProperties
from backend.domain.message import StoredMessage
from backend.domain.names import check_cluster_name
from backend.domain.operation_errors import (
    BrokerSilent,
    InvalidParameters,
    WaitingMessageNotFound,
)
from backend.domain.orders.timer import RecallMessage
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.operations.actions.timers import RecallWaiting, find_waiting
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters
from backend.rules.recall_handle import RecallHandle, decode_recall_handle

SWITCH: Final = "recallMessageEnable"


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the waiting message, what its handle names, and whether its broker takes recalls."""

    handle: RecallHandle
    message: StoredMessage
    takes_recalls: bool


async def read_facts(order: RecallMessage, context: OperationContext) -> Facts[Present]:
    """Read the waiting message.

    Raises:
        InvalidParameters: the handle can't be read.
        WaitingMessageNotFound: its time has come, it is recalled, or its broker has no such
            message.
        BrokerSilent: no master of its broker group answers.
    """
    check_cluster_name(order.cluster_name)
    try:
        handle = decode_recall_handle(order.recall_handle)
    except ValueError as error:
        reason = f"{error}: use the handle that the producer got with the send result"
        raise InvalidParameters("handle", reason) from error
    if handle.due_ms <= context.clock.now().timestamp() * 1000:
        why = f"was due at {_time_text(handle)}: it is delivered, or about to be"
        raise WaitingMessageNotFound(order.cluster_name, handle.unique_key, why)
    meant = await masters.find_masters(order.cluster_name, (handle.broker_name,), context)
    if not meant.found:
        raise BrokerSilent(handle.broker_name, "no master of the broker group is online")
    address = meant.found[0].address
    try:
        found = await find_waiting(address, handle, context)
        properties = await context.brokers.ask(address, GetProperties())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
    if found.is_recalled:
        raise WaitingMessageNotFound(order.cluster_name, handle.unique_key, "is recalled already")
    if found.message is None:
        why = f"does not wait on broker group {handle.broker_name}"
        raise WaitingMessageNotFound(order.cluster_name, handle.unique_key, why)
    takes_recalls = any(one.name == SWITCH and one.value == "true" for one in properties)
    place = f"{handle.broker_name}, log position {found.message.log_position}"
    return Facts(
        Present(handle, found.message, takes_recalls),
        (meant.precondition, Precondition("waiting message", place)),
    )


async def preview(order: RecallMessage, facts: Facts[Present], _context: OperationContext) -> Plan:
    """Show the message and its time, and what consumers lose."""
    present = facts.seen
    handle, message = present.handle, present.message
    when = _time_text(handle)
    return Plan(
        summary=f"Recall message {handle.unique_key} of topic {handle.topic}, due at {when}",
        risk=Risk.LOSS,
        steps=planned_steps([RecallWaiting(order.cluster_name, order.recall_handle)]),
        changes=(Difference(f"message {handle.unique_key}", f"waits until {when}", "recalled"),),
        impact=(f"No consumer of topic {handle.topic} gets the message",),
        checks=(_check_switch(handle, takes_recalls=present.takes_recalls),),
        loss=f"the message: no consumer of topic {handle.topic} gets it",
        way_back=no_undo("a recalled message can't wait again: its producer can send it again"),
        facts={
            "topic": handle.topic,
            "broker_group_name": handle.broker_name,
            "due_ms": str(handle.due_ms),
            "message_id": message.message_id,
            "size_bytes": message.size_bytes,
        },
    )


KIND: Final = Kind("recall_message", RecallMessage, read_facts, preview, (RecallWaiting,))


def _check_switch(handle: RecallHandle, *, takes_recalls: bool) -> Check:
    name = "the broker takes recalls"
    if takes_recalls:
        return Check(name, CheckVerdict.PASS, f"{SWITCH} is true")
    why = (
        f"{SWITCH} is false on {handle.broker_name}, as it is by default: set it with"
        " `regent broker config set`"
    )
    return Check(name, CheckVerdict.BLOCK, why)


def _time_text(handle: RecallHandle) -> str:
    at = datetime.fromtimestamp(handle.due_ms / 1000, UTC)
    return at.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
