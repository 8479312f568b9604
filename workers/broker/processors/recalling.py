"""Recall messages that wait for a time (remoting.md 2.2: 370).

A recall is itself a message for the same slot, which cancels the other one (storage-and-ha.md 6.3).
"""

from collections.abc import Awaitable
from typing import Final

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.headers import RecallAnswer, RecallHeader, decode_header, encode_header
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.recall_handle import RecallHandle, decode_recall_handle
from workers.broker.broker import Broker
from workers.broker.commit_log.message import DELIVER_AT_MS, UNIQUE_KEY, Message
from workers.broker.commit_log.timed_message import CANCELLED_KEY
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
    broker.check_writable()
    if not settings.permissions & WRITABLE:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "the broker is not writable")
    header = decode_header(RecallHeader, command.ext)
    broker.find_topic(header.topic)
    handle = _decode(header.recall_handle)
    _check(broker, handle, header.topic)
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
    ext = encode_header(RecallAnswer(message_id=handle.unique_key))
    late = answer(command, code=ResponseCode.FLUSH_DISK_TIMEOUT, ext=ext)
    end = appended.log_position + appended.size
    return broker.membership.stored(end, answer(command, ext=ext), late)


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
