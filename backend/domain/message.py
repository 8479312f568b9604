"""Describe a stored message, its place, and how far consumer groups are with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

UNIQUE_KEY: Final = "UNIQ_KEY"
KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
ORIGIN_ID: Final = "ORIGIN_MESSAGE_ID"
REAL_TOPIC: Final = "REAL_TOPIC"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """Hold a message and its place: broker group, topic, queue and offset identify it.

    `message_id` contains the address of its broker and its log position there; the copy on a
    replica has the same id. Times are milliseconds since 1970, by the clocks of sender and broker.
    `body` is the stored body; `sys_flag` says whether it is compressed.
    """

    broker_group_name: str
    topic: str
    queue_id: int
    queue_offset: int
    log_position: int
    message_id: str
    born_at_ms: int
    born_host: str
    stored_at_ms: int
    store_host: str
    reconsume_times: int
    sys_flag: int
    size_bytes: int
    properties: Mapping[str, str]
    body: bytes = field(repr=False)
    flag: int = 0

    @property
    def unique_key(self) -> str | None:
        """Return the id that the sender gave."""
        return self.properties.get(UNIQUE_KEY)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return its keys."""
        return tuple(self.properties.get(KEYS, "").split())

    @property
    def tags(self) -> str | None:
        """Return its tag."""
        return self.properties.get(TAGS)

    @property
    def order(self) -> tuple[int, str, int, int]:
        """Return a key that orders messages by their store time, and identifies each in a topic."""
        return self.stored_at_ms, self.broker_group_name, self.queue_id, self.queue_offset


class DeliveryState(StrEnum):
    """Say how far a consumer group is with a message."""

    CONSUMED = "consumed"
    PENDING = "pending"
    RETRYING = "retrying"
    DEAD_LETTER = "dead_letter"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Hold how far a consumer group is with a message, and the facts that show it."""

    consumer_group_name: str
    state: DeliveryState
    why: str
    attempt_count: int | None = None


@dataclass(frozen=True, slots=True)
class Copies:
    """Hold the copies of a message that a group failed to consume.

    `retry` is its newest copy in the retry topic, and `is_retry_read` whether the group has read
    this copy. `dead` is its dead letter.
    """

    retry: StoredMessage | None = None
    is_retry_read: bool | None = None
    dead: StoredMessage | None = None


def judge_delivery(
    group: str, message: StoredMessage, committed: int | None, copies: Copies | None
) -> Delivery:
    """Conclude how far a group is with a message from its committed offset in the queue.

    All messages before the committed offset are consumed, also those that a filter or an operator
    skipped. `copies` is `None` if it is unknown whether there are copies.
    """
    if copies is not None and copies.dead is not None:
        attempts = copies.dead.reconsume_times
        why = f"given up after {attempts} attempts; its dead letter is {copies.dead.message_id}"
        return Delivery(group, DeliveryState.DEAD_LETTER, why, attempts)
    if copies is not None and copies.retry is not None:
        return _judge_retry(group, copies.retry, is_read=copies.is_retry_read)
    state = DeliveryState.UNKNOWN
    if committed is None:
        why = "the group has committed no offset in the queue"
    elif committed <= message.queue_offset:
        state, why = DeliveryState.PENDING, f"the group goes on at offset {committed} of the queue"
    elif copies is None:
        why = f"the group has passed the message, at {committed}; whether it failed is unknown"
    else:
        state = DeliveryState.CONSUMED
        why = f"the group goes on at offset {committed} of the queue, past it"
    return Delivery(group, state, why)


def _judge_retry(group: str, retry: StoredMessage, *, is_read: bool | None) -> Delivery:
    count = retry.reconsume_times
    if is_read is None:
        state = DeliveryState.UNKNOWN
        why = f"copy {count} was made for another attempt, read or not"
    elif is_read:
        state = DeliveryState.CONSUMED
        why = f"read again at attempt {count + 1}, and not sent back since"
    else:
        state = DeliveryState.RETRYING
        why = f"it failed {count} times and waits for the next attempt"
    return Delivery(group, state, why, count)
