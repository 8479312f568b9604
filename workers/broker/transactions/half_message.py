"""Build the records of a transaction: half messages, their copies, and op records.

A half message waits in the half topic, and consumers do not see it. The hot path of the engine
stores it. A record that replaces a half message names its log position: the committed message, the
copy that is checked again, or the copy that is checked no more. An op record names queue offsets of
half messages that are decided; a roll back has an op record only (storage-and-ha.md 7.2 to 7.5).
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from regent_engine import Record

from backend.remoting.names import HALF_OPERATION_TOPIC, HALF_TOPIC, TRANSACTION_CHECK_TOPIC
from workers.broker.commit_log.message import (
    CRC,
    DELAY,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TRANSACTION_MARK,
    UNIQUE_KEY,
    Message,
)

TRANSACTION_ID: Final = "__transactionId__"
"""A half message and its committed message have it."""

PRODUCER_GROUP: Final = "PGROUP"
CHECK_COUNT: Final = "TRANSACTION_CHECK_TIMES"
IMMUNITY_S: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
FIRST_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
"""The queue offset of the first record of a half message that was stored again."""

QUEUE_ID: Final = 0
"""The queue of each topic of transactions."""

TRANSACTION_BITS: Final = 4 | 8
COMMITTED: Final = 8
"""The transaction bits of a sysFlag, and their value in a committed message (remoting.md 4.2)."""

_OPERATION_TAG: Final = "d"
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_IPV6_BORN: Final = 16
_IPV6_STORED: Final = 32
_ADDRESS_SIZE: Final = {False: 8, True: 20}
"""The size of an address, by whether it is one of IPv6."""

_FIXED_SIZE: Final = 72
"""The size of all fields before the topic, without addresses and body."""

_QUEUE_ID_AT: Final = 12


def is_half(properties: Mapping[str, str], *, reconsume_times: int) -> bool:
    """Return whether a send is a half message; a retry that is delayed is an ordinary message."""
    is_delayed_retry = reconsume_times > 0 and properties.get(DELAY, "0") != "0"
    return properties.get(TRANSACTION_MARK, "").lower() == "true" and not is_delayed_retry


def committed(half: Record, *, topic: str, queue_id: int) -> Message:
    """Return the message that consumers of a queue see after the commit."""
    message = _copy(half, topic)
    left_out = (REAL_TOPIC, REAL_QUEUE_ID)
    return replace(
        message,
        queue_id=queue_id,
        sys_flag=half.sys_flag & ~TRANSACTION_BITS | COMMITTED,
        properties={name: one for name, one in message.properties.items() if name not in left_out},
    )


def checked_again(half: Record) -> Message:
    """Return the copy of a half message that is stored before its producer is asked."""
    count = check_count_of(half.properties) + 1
    first = str(first_offset_of(half))
    return _copy(half, HALF_TOPIC, {CHECK_COUNT: str(count), FIRST_OFFSET: first})


def renewed(half: Record) -> Message:
    """Return the copy of a half message whose producer must not be asked yet."""
    return _copy(half, HALF_TOPIC, {FIRST_OFFSET: str(first_offset_of(half))})


def given_up(half: Record) -> Message:
    """Return the copy of a half message whose producer is asked no more."""
    return _copy(half, TRANSACTION_CHECK_TOPIC)


def resumed(record: Record) -> Message:
    """Return a half message whose checks start again, from one that was given up."""
    left_out = (CHECK_COUNT, FIRST_OFFSET)
    message = _copy(record, HALF_TOPIC)
    kept = {name: value for name, value in message.properties.items() if name not in left_out}
    return replace(message, properties=kept)


def _copy(half: Record, topic: str, added: dict[str, str] | None = None) -> Message:
    """Return a copy that names the position of a record, with all that the producer gave."""
    kept = {name: value for name, value in half.properties.items() if name != CRC}
    return Message(
        topic=topic,
        queue_id=QUEUE_ID,
        body=half.body,
        properties=kept | (added or {}),
        flag=half.flag,
        sys_flag=half.sys_flag,
        reconsume_times=half.reconsume_times,
        born_timestamp_ms=half.born_timestamp_ms,
        born_host=half.born_host,
        store_host=half.store_host,
        prepared_position=half.log_position,
    )


def operation(offset: int, unique_key: str, now_ms: int) -> Message:
    """Return the op record that says that the half message at a queue offset is decided."""
    return Message(
        topic=HALF_OPERATION_TOPIC,
        queue_id=QUEUE_ID,
        body=f"{offset},".encode(),
        properties={"TAGS": _OPERATION_TAG, UNIQUE_KEY: unique_key},
        born_timestamp_ms=now_ms,
    )


def decided_offsets(body: bytes) -> list[int]:
    """Read the queue offsets of half messages in the body of an op record; skip what is none."""
    parts = body.decode("ascii", "replace").split(",")
    return [int(one) for one in parts if one and _WHOLE_NUMBER.fullmatch(one)]


def check_count_of(properties: Mapping[str, str]) -> int:
    """Return how often the producer of a half message was asked."""
    return max(0, _number(properties.get(CHECK_COUNT), 0))


def first_offset_of(half: Record) -> int:
    """Return the queue offset of the first record of a half message, which identifies it."""
    first = _number(half.properties.get(FIRST_OFFSET), -1)
    return first if 0 <= first < half.queue_offset else half.queue_offset


def immunity_ms_of(properties: Mapping[str, str], timeout_ms: int) -> int:
    """Return the age from which the producer of a half message is asked."""
    given_s = _number(properties.get(IMMUNITY_S), -1)
    return timeout_ms if given_s < 0 else given_s * 1000


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and _WHOLE_NUMBER.fullmatch(text) else default


def as_sent(content: bytes, half: Record, *, topic: str, queue_id: int) -> bytes:
    """Return a stored half message with the topic and the queue that its producer named.

    `content` is the record (storage-and-ha.md 2.2), from which a client reads the message of a
    check (remoting.md 2.5, 39).
    """
    is_long = (bool(half.sys_flag & bit) for bit in (_IPV6_BORN, _IPV6_STORED))
    addresses_size = sum(_ADDRESS_SIZE[one] for one in is_long)
    topic_at = _FIXED_SIZE + addresses_size + len(half.body)
    behind_at = topic_at + 1 + content[topic_at]
    name = topic.encode()
    changed = (
        content[4:_QUEUE_ID_AT]
        + struct.pack(">i", queue_id)
        + content[_QUEUE_ID_AT + 4 : topic_at]
        + bytes([len(name)])
        + name
        + content[behind_at:]
    )
    return struct.pack(">i", len(changed) + 4) + changed
