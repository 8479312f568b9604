"""Recall messages that wait for a time (remoting.md 2.2: 370).

A recall is itself a message for the same slot, which cancels the other one (storage-and-ha.md 6.3).
An acting master appends nothing: it keeps in a file that the message must not be delivered, and the
master takes that over (RIP-32).
"""

from collections.abc import Awaitable
from functools import partial
from typing import Final

from regent_engine import Command, Store, decode_records

from backend.remoting.command import answer
from backend.remoting.headers import RecallAnswer, RecallHeader, decode_header, encode_header
from backend.remoting.names import TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.recall_handle import RecallHandle, decode_recall_handle
from workers.broker.broker import Broker
from workers.broker.commit_log.message import DELIVER_AT_MS, REAL_TOPIC, UNIQUE_KEY, Message
from workers.broker.commit_log.timed_message import CANCELLED_KEY, OUT_MS
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves
from workers.broker.tables.topics import WRITABLE

_BODY: Final = b"0"


@serves(RequestCode.RECALL_MESSAGE, role=RequiredRole.ANY, passed_on=True, target=None)
def on_recall(broker: Broker, caller: Caller, command: Command) -> Awaitable[bytes]:
    """Store a message that cancels the one that the handle names, if it still waits."""
    settings = broker.settings
    if not settings.recall_enabled:
        raise Refusal(
            ResponseCode.NO_PERMISSION, "recall failed, recallMessageEnable is false on this broker"
        )
    is_acting = broker.membership.decisions is not None
    if not is_acting:
        broker.check_writable()
    if not settings.permissions & WRITABLE:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "the broker is not writable")
    header = decode_header(RecallHeader, command.ext)
    broker.find_topic(header.topic)
    handle = _decode(header.recall_handle)
    _check(broker, handle, header.topic)
    ext = encode_header(RecallAnswer(message_id=handle.unique_key))
    if is_acting:
        return _keep_recall(broker, handle, answer(command, ext=ext))
    message = Message(
        topic=header.topic,
        queue_id=0,
        body=_BODY,
        properties={
            CANCELLED_KEY: f"{handle.topic}+{handle.unique_key}",
            UNIQUE_KEY: handle.unique_key,
            DELIVER_AT_MS: str(handle.due_ms),
        },
        born_timestamp_ms=broker.clock(),
        born_host=caller.peer,
    )
    appended = broker.append(broker.turn_aside(message))
    late = answer(command, code=ResponseCode.FLUSH_DISK_TIMEOUT, ext=ext)
    end = appended.log_position + appended.size
    return broker.membership.stored(end, answer(command, ext=ext), late)


async def _keep_recall(broker: Broker, handle: RecallHandle, reply: bytes) -> bytes:
    """Note for the absent master that a message waits no more; it is on the disk with the answer.

    Raises:
        Refusal: this replica does not find the message, or another broker is about to serve.
    """
    if not broker.settings.index_enabled:
        reason = "messageIndexEnable is false on this broker, so only the master can recall"
        raise Refusal(ResponseCode.SLAVE_NOT_AVAILABLE, f"recall failed, {reason}")
    position = await broker.read_threads.search(partial(_find_waiting, broker.store, handle))
    if position is None:
        raise _refusal("no such message waits in the log of this replica")
    if broker.membership.decisions is None or handle.due_ms <= broker.clock():
        raise _refusal("the message is due already, or the master of the group is back")
    # The broker that serves next may have asked during the search: it would not hear of the recall.
    broker.membership.check(RequiredRole.MASTER_TAKES)
    broker.escaped.add(position)
    await broker.state.save_escaped()
    return reply


def _find_waiting(store: Store, handle: RecallHandle) -> int | None:
    """Return the log position of the message that a handle names; searches the disk."""
    found = store.find_by_key(TIMER_TOPIC, handle.unique_key, kind="unique_key", with_tail=True)
    for position, content in found:
        (record,) = decode_records(content)
        slot_ms = record.properties.get(OUT_MS)
        is_meant = record.properties.get(REAL_TOPIC) == handle.topic
        if is_meant and CANCELLED_KEY not in record.properties and slot_ms is not None:
            return position if int(slot_ms) + 1 == handle.due_ms else None
    return None


def _decode(text: str) -> RecallHandle:
    try:
        return decode_recall_handle(text)
    except ValueError as error:
        raise _refusal(str(error)) from error


def _check(broker: Broker, handle: RecallHandle, topic: str) -> None:
    if handle.topic != topic:
        raise _refusal("the handle is for another topic")
    if handle.broker_name != broker.settings.broker_name:
        raise _refusal("the handle is for another broker group")
    left_ms = handle.due_ms - broker.clock()
    if left_ms <= 0:
        raise _refusal("the message is due already")
    if left_ms > broker.settings.timer_delay_s_max * 1000:
        raise _refusal("the message is due later than timerMaxDelaySec allows")


def _refusal(reason: str) -> Refusal:
    return Refusal(ResponseCode.ILLEGAL_OPERATION, f"recall failed, {reason}")
