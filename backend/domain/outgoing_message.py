"""Check a message that the control plane sends, and choose its queue.

No broker is asked here, so a broker may still refuse the message.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from backend.domain.message import KEYS, TAGS, UNIQUE_KEY
from backend.domain.message_errors import InvalidMessage, NoQueueForMessage
from backend.domain.orders.message import BodyEncoding, SendMessage
from backend.domain.topic import QueueSettings

BODY_BYTES_MAX: Final = 512 << 10
"""A request has at most 1 MiB, and base64 makes a body a third longer."""
PROPERTIES_BYTES_MAX: Final = 32_767
DELAY: Final = "DELAY"
_WAIT: Final = "WAIT"
_TRANSIENT_PREFIX: Final = "__RMQ.TRANSIENT."
_SEPARATORS: Final = ("\x01", "\x02")
_RESERVED: Final = frozenset(
    name
    for line in (
        "KEYS TAGS UNIQ_KEY EXTEND_UNIQ_INFO WAIT DELAY TIMER_DELAY_SEC TIMER_DELAY_MS",
        "TIMER_DELIVER_MS TIMER_OUT_MS TIMER_ENQUEUE_MS TIMER_DEQUEUE_MS TIMER_ROLL_TIMES",
        "TIMER_DEL_UNIQKEY TIMER_DELAY_LEVEL REAL_TOPIC REAL_QID TRAN_MSG PGROUP",
        "__transactionId__ TRANSACTION_CHECK_TIMES TRAN_PREPARED_QUEUE_OFFSET",
        "CHECK_IMMUNITY_TIME_IN_SECONDS RETRY_TOPIC ORIGIN_MESSAGE_ID RECONSUME_TIME",
        "MAX_RECONSUME_TIMES DLQ_ORIGIN_TOPIC DLQ_ORIGIN_MESSAGE_ID CONSUME_START_TIME MIN_OFFSET",
        "MAX_OFFSET __BORNHOST ARRIVE_TIME PUSH_REPLY_TIME MSG_REGION TRACE_ON CLUSTER MSG_TYPE",
        "CORRELATION_ID REPLY_TO_CLIENT TTL POP_CK POP_CK_OFFSET 1ST_POP_TIME INSTANCE_ID",
        "BUYER_ID TRANSFER_FLAG CORRECTION_FLAG MQ2_FLAG REDIRECT PROPERTY_FORWARD_QUEUE_ID",
        "DUP_INFO TRACE_CONTEXT BORN_TIMESTAMP INNER_NUM INNER_BASE INNER_MULTI_DISPATCH",
        "INNER_MULTI_QUEUE_OFFSET __CRC32#",
    )
    for name in line.split()
)
"""Properties of brokers and clients (remoting.md 4.3)."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """Hold a message as it is sent to a broker.

    `queue_id` below 0 leaves the queue to the broker. `born_at_ms` is milliseconds since 1970.
    """

    topic: str
    queue_id: int
    properties: Mapping[str, str]
    born_at_ms: int
    flag: int = 0
    sys_flag: int = 0
    body: bytes = field(repr=False, kw_only=True)

    @property
    def unique_key(self) -> str:
        """Return the id that the sender gave."""
        return self.properties.get(UNIQUE_KEY, "")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of its body, in hexadecimal."""
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """Hold a broker group with the topic: its master, and its settings of the topic."""

    broker_group_name: str
    address: str | None
    settings: QueueSettings

    @property
    def obstacle(self) -> str | None:
        """Return why no message can be stored there, or None."""
        if self.address is None:
            return "no master is online"
        if not self.settings.is_writable or not self.settings.write_queue_count:
            return "the topic is not writable"
        return None


def read_body(order: SendMessage) -> bytes:
    """Return the bytes of the body.

    Raises:
        InvalidMessage: the body is no base64, or is empty, or is too large.
    """
    if order.body_encoding is BodyEncoding.BASE64:
        try:
            body = base64.b64decode(order.body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidMessage("body", f"it is no base64 ({error})") from error
    else:
        body = order.body.encode()
    if not body:
        raise InvalidMessage("body", "it is empty, and brokers store no message without a body")
    if len(body) > BODY_BYTES_MAX:
        why = f"it has {len(body)} bytes, and {BODY_BYTES_MAX} are the most: use a producer"
        raise InvalidMessage("body", why)
    return body


def make_properties(order: SendMessage, unique_key: str) -> dict[str, str]:
    """Return the properties of the message, those of the protocol first.

    Raises:
        InvalidMessage: a key, the tag or a property breaks a rule of the protocol.
    """
    made = {UNIQUE_KEY: unique_key, _WAIT: "true"}
    for key in order.keys:
        if any(character.isspace() for character in key):
            why = f"{key!r} holds a blank, which separates keys: give several keys instead"
            raise InvalidMessage("keys", why)
    if order.keys:
        made[KEYS] = " ".join(order.keys)
    if order.tag is not None:
        if "|" in order.tag or order.tag != order.tag.strip():
            why = f"{order.tag!r} holds '|' or begins or ends with a blank: no filter matches it"
            raise InvalidMessage("tag", why)
        made[TAGS] = order.tag
    if order.delay_level is not None:
        made[DELAY] = str(order.delay_level)
    for one in order.properties:
        _check_property(one.name, made)
        made[one.name] = one.value
    _check_texts(made)
    return made


def choose_place(order: SendMessage, places: Sequence[Place], number: int) -> tuple[Place, int]:
    """Return the broker group that stores the message, and the number of its queue.

    If several are possible, `number` decides, so that messages are distributed.

    Raises:
        NoQueueForMessage: none accepts the message; the error has the reason of each.
    """
    meant = [one for one in places if order.broker_group_name in (None, one.broker_group_name)]
    refusals = {
        one.broker_group_name: obstacle
        for one in meant
        if (obstacle := one.obstacle or _queue_obstacle(order.queue_id, one.settings)) is not None
    }
    able = [one for one in meant if one.broker_group_name not in refusals]
    if not able:
        raise NoQueueForMessage(order.topic_name, refusals, order.broker_group_name)
    if order.queue_id is not None and len(able) > 1:
        names = ", ".join(sorted(one.broker_group_name for one in able))
        why = f"{order.queue_id} is a queue of several broker groups: name one of {names}"
        raise InvalidMessage("queue_id", why)
    place = able[number % len(able)]
    queue_count = place.settings.write_queue_count
    queue_id = (number // len(able)) % queue_count if order.queue_id is None else order.queue_id
    return place, queue_id


def check_delay(level: int, levels_text: str) -> None:
    """Refuse a delay level that the broker does not have. The broker would use its longest level.

    Raises:
        InvalidMessage: the level is beyond the last one of the broker's `messageDelayLevel`.
    """
    levels = levels_text.split()
    if level > len(levels):
        limit = f"the broker has {len(levels)} delay levels ({levels_text})"
        raise InvalidMessage("delay_level", f"{level} is too high: {limit}")


def _queue_obstacle(queue_id: int | None, settings: QueueSettings) -> str | None:
    if queue_id is None or queue_id < settings.write_queue_count:
        return None
    last = settings.write_queue_count - 1
    return f"there is no queue {queue_id} to write: its queues are 0 to {last}"


def _check_property(name: str, made: Mapping[str, str]) -> None:
    if name in _RESERVED or name.startswith(_TRANSIENT_PREFIX):
        own = {KEYS: "keys", TAGS: "tag", DELAY: "delay_level"}.get(name)
        instead = "choose another name" if own is None else f"use {own} instead"
        raise InvalidMessage("properties", f"{name} belongs to brokers and clients: {instead}")
    if name in made:
        raise InvalidMessage("properties", f"{name} is given twice")


def _check_texts(properties: Mapping[str, str]) -> None:
    for name, value in properties.items():
        if any(one in name or one in value for one in _SEPARATORS):
            why = f"{name!r} holds the character 0x01 or 0x02, which separates properties"
            raise InvalidMessage("properties", why)
    # Each name and each value is followed by a separator.
    size = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in properties.items())
    if size > PROPERTIES_BYTES_MAX:
        why = f"keys, tag and properties have {size} bytes, and {PROPERTIES_BYTES_MAX} are the most"
        raise InvalidMessage("properties", why)
