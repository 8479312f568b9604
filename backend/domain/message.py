"""Describe a stored message, where it lies, and how far consumer groups are with it."""

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
    """Hold a message and its place: broker group, topic, queue and offset tell it from all others.

    `message_id` is the address it was stored at and its position in the log there, which a
    replica's copy keeps. Times are milliseconds since 1970, of the sender's and the broker's clock.
    `body` is what was stored, compressed or not as `sys_flag` says.
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
        """Return the id that its sender gave it."""
        return self.properties.get(UNIQUE_KEY)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys it can be found by."""
        return tuple(self.properties.get(KEYS, "").split())

    @property
    def tags(self) -> str | None:
        """Return its tag."""
        return self.properties.get(TAGS)

    @property
    def order(self) -> tuple[int, str, int, int]:
        """Order messages by when they were stored, and tell each from all others of a topic."""
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
    """Hold how far a consumer group is with a message, and what that is concluded from."""

    consumer_group_name: str
    state: DeliveryState
    why: str
    attempt_count: int | None = None


@dataclass(frozen=True, slots=True)
class Copies:
    """Hold what was found of a message among those that a group could not handle.

    `retry` is its newest copy that waits or has been read again, `is_retry_read` whether the group
    has read that one; `dead` is its dead letter.
    """

    retry: StoredMessage | None = None
    is_retry_read: bool | None = None
    dead: StoredMessage | None = None


def judge_delivery(
    group: str, message: StoredMessage, committed: int | None, copies: Copies | None
) -> Delivery:
    """Conclude how far a group is from where it goes on in the message's queue.

    What a group committed past counts as consumed: also what a filter passed over, or an operator
    skipped. `copies` is `None` when nobody knows whether there are any.
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
