"""Headers of the requests that producers send (remoting.md 2.2)."""

from collections.abc import Mapping
from typing import Final

import msgspec

from backend.remoting.headers.base import Header, decode_header
from backend.remoting.integers import Int32, Int64
from backend.remoting.request_code import RequestCode

# The short keys that 310, 320 and 325 use for the fields of 10.
SEND_MESSAGE_SHORT_KEYS: Final = {
    "a": "producerGroup",
    "b": "topic",
    "c": "defaultTopic",
    "d": "defaultTopicQueueNums",
    "e": "queueId",
    "f": "sysFlag",
    "g": "bornTimestamp",
    "h": "flag",
    "i": "properties",
    "j": "reconsumeTimes",
    "k": "unitMode",
    "l": "maxReconsumeTimes",
    "m": "batch",
    "n": "bname",
}


class SendMessageHeader(Header, frozen=True, kw_only=True):
    """All fields of a message except its body; a negative queue means any queue."""

    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_count: Int32 = msgspec.field(name="defaultTopicQueueNums")
    queue_id: Int32
    sys_flag: Int32
    born_timestamp_ms: Int64 = msgspec.field(name="bornTimestamp")
    flag: Int32
    properties: str = ""
    reconsume_times: Int32 = 0
    unit_mode: bool = False
    max_reconsume_times: Int32 | None = None
    batch: bool = False
    broker_name: str | None = msgspec.field(name="bname", default=None)


class SendMessageAnswer(Header, frozen=True, kw_only=True):
    """Where a message was stored; Java unboxes every field, so none may be missing."""

    message_id: str = msgspec.field(name="msgId")
    queue_id: Int32
    queue_offset: Int64
    transaction_id: str | None = None
    recall_handle: str | None = None
    region: str = msgspec.field(name="MSG_REGION", default="DefaultRegion")
    trace_on: bool = msgspec.field(name="TRACE_ON", default=True)


class RecallHeader(Header, frozen=True, kw_only=True):
    """Which waiting message is recalled."""

    topic: str
    recall_handle: str


class RecallAnswer(Header, frozen=True, kw_only=True):
    """The unique key of the message that is recalled."""

    message_id: str = msgspec.field(name="msgId")


class EndTransactionHeader(Header, frozen=True, kw_only=True):
    """The decision of a producer; both offsets are those of the half message (37)."""

    producer_group: str
    queue_offset: Int64 = msgspec.field(name="tranStateTableOffset")
    log_position: Int64 = msgspec.field(name="commitLogOffset")
    decision: Int32 = msgspec.field(name="commitOrRollback")
    """8 commits, 12 rolls back; anything else decides nothing."""
    from_check: bool = msgspec.field(name="fromTransactionCheck", default=False)


class CheckTransactionHeader(Header, frozen=True, kw_only=True):
    """The half message whose producer is asked (39); the body is the message."""

    topic: str
    queue_offset: Int64 = msgspec.field(name="tranStateTableOffset")
    log_position: Int64 = msgspec.field(name="commitLogOffset")
    message_id: str = msgspec.field(name="msgId")
    transaction_id: str
    offset_message_id: str = msgspec.field(name="offsetMsgId")
    broker_name: str = msgspec.field(name="bname")


class ResumeCheckHeader(Header, frozen=True, kw_only=True):
    """A message that was given up, by its offset message id (323)."""

    message_id: str = msgspec.field(name="msgId")


def decode_send_header(code: int, ext: Mapping[str, str]) -> SendMessageHeader:
    """Decode a send header with long names (10) or with short ones (310, 320).

    Raises:
        InvalidHeader: names the field that is missing or malformed.
    """
    if code == RequestCode.SEND_MESSAGE:
        return decode_header(SendMessageHeader, ext)
    long_names = {SEND_MESSAGE_SHORT_KEYS.get(key, key): value for key, value in ext.items()}
    return decode_header(SendMessageHeader, long_names)
