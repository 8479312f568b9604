"""Describe a message that the agent itself stores, and divert delayed messages.

Sends to plain topics do not come here: the engine's hot path stores them (D23). Delayed messages,
retries, dead letters and deliveries do.
"""

import random
import re
from dataclasses import dataclass, replace
from typing import Final

from backend.remoting.names import SCHEDULE_TOPIC
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal

NAME_VALUE_SEPARATOR: Final = "\x01"
PROPERTY_SEPARATOR: Final = "\x02"
"""The separators after a name and after each pair (remoting.md 4.3)."""

DELAY: Final = "DELAY"
REAL_TOPIC: Final = "REAL_TOPIC"
CRC: Final = "__CRC32#"
"""The checksum of the record of a message."""
REAL_QUEUE_ID: Final = "REAL_QID"
UNIQUE_KEY: Final = "UNIQ_KEY"
RETRY_TOPIC: Final = "RETRY_TOPIC"
ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
TRANSACTION_MARK: Final = "TRAN_MSG"
POP_HANDLE: Final = "POP_CK"
COPY_KEY: Final = "REGENT_COPY_OF"
"""The property of a copy that names its message (deadLetterKey of queue-ownership.md 4.10)."""

INNER_COUNT: Final = "INNER_NUM"
LIGHT_OFFSETS: Final = "INNER_MULTI_QUEUE_OFFSET"
"""The offsets of a message in light queues. Only a broker that serves light queues may write it."""

_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,10}")
_SHOWN_LENGTH: Final = 40

# Size, magic, checksum and flag precede the length of a batch entry's body.
_BATCH_BODY_AT: Final = 16
PRIORITY: Final = "_SYS_MSG_PRIORITY_"
"""The queue id that a producer chooses by `setPriority`."""

SHARDING_KEY: Final = "__SHARDINGKEY"
DELIVER_AT_MS: Final = "TIMER_DELIVER_MS"
DELAY_S: Final = "TIMER_DELAY_SEC"
DELAY_MS: Final = "TIMER_DELAY_MS"
TIMER_PROPERTIES: Final = (DELIVER_AT_MS, DELAY_S, DELAY_MS)
"""The properties by which a producer names a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """All fields of a record, before it has a position.

    `prepared_position` is the log position of the message that this one copies, 0 for none.
    """

    topic: str
    queue_id: int
    body: bytes
    properties: dict[str, str]
    flag: int = 0
    sys_flag: int = 0
    born_timestamp_ms: int = 0
    born_host: tuple[str, int] = ("127.0.0.1", 0)
    store_host: tuple[str, int] | None = None
    reconsume_times: int = 0
    prepared_position: int = 0


def delay_level_of(properties: dict[str, str]) -> int:
    """Read the delay level; 0 without one, or for one that does not delay.

    Raises:
        Refusal: the level is no 32-bit integer.
    """
    text = properties.get(DELAY)
    if text is None:
        return 0
    if not _WHOLE_NUMBER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"the property {DELAY} is {text[:_SHOWN_LENGTH]!r}, which is no delay level: a whole"
            " number is expected",
        )
    return max(0, int(text))


def turn_aside(message: Message, level_count: int) -> Message:
    """Move a message with a delay level into its level's queue; others stay unchanged.

    The level takes precedence over every timer property, and is capped (storage-and-ha.md 6.1).
    """
    level = min(delay_level_of(message.properties), level_count)
    if level == 0:
        return message
    # The checksum is left out of the delivered copy: the diverted message must fit with it.
    left_out = (*TIMER_PROPERTIES, CRC)
    kept = {name: value for name, value in message.properties.items() if name not in left_out}
    aside = {DELAY: str(level), REAL_TOPIC: message.topic, REAL_QUEUE_ID: str(message.queue_id)}
    return replace(message, topic=SCHEDULE_TOPIC, queue_id=level - 1, properties=kept | aside)


def unique_key(address: tuple[str, int], now_ms: int, source: random.Random) -> str:
    """Create a message key for a client that sent none; readers treat it as opaque text."""
    host, port = address
    parts = host.split(".") if "." in host else ["0"] * 4
    octets = bytes(int(part) & 0xFF for part in parts).hex()
    key = f"{octets}{port & 0xFFFF:04x}{now_ms:012x}{source.getrandbits(32):08x}"
    return key.upper()


def is_batch(body: bytes) -> bool:
    """Return whether a body consists of whole batch entries (remoting.md 4.7)."""
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        body_at = at + _BATCH_BODY_AT
        body_size = int.from_bytes(body[body_at : body_at + 4], "big")
        properties_at = body_at + 4 + body_size
        properties_size = int.from_bytes(body[properties_at : properties_at + 2], "big")
        if properties_at + 2 + properties_size != at + size or at + size > len(body):
            return False
        at += size
    return at > 0
